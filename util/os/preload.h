/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Loads a library of ours into programs: finds its file, and adds it to
 * LD_PRELOAD. Single-threaded, since the environment is the process's.
 */
#ifndef UR_UTIL_OS_PRELOAD_H
#define UR_UTIL_OS_PRELOAD_H

#include <stddef.h>

/* Puts the directory of this program into @buf, of size bytes. Returns 0 or
 * -errno. */
int ur_own_dir(char *buf, size_t size);

/**
 * ur_own_file() - a file of ours
 * @beside: where it lies in a build tree or one that was moved, as seen from
 * this program's directory; NULL ended
 * @installed: where it lies otherwise
 * @path, @size: its absolute name goes here; at least PATH_MAX
 * Return: 0 or -errno.
 */
int ur_own_file(const char *file, const char *const *beside,
		const char *installed, char *path, size_t size);

/**
 * ur_preload_value() - a value of LD_PRELOAD with one library more
 * @library: its absolute name, which goes in front, but behind runtimes of
 * sanitizers
 * @before: the value so far, or ""; where it has a file of that name, it stays
 * @value: the caller's, to be freed
 *
 * Return: 0; -EINVAL: the dynamic linker could not read the name; or -ENOMEM.
 */
int ur_preload_value(const char *library, const char *before, char **value);

/* Adds the library to LD_PRELOAD for this process's children. Returns as
 * ur_preload_value(), or -errno. */
int ur_preload_add(const char *library);

/* Sets the variable to the absolute name of file, since a program may change
 * its directory before it opens the file. file NULL: unsets the variable.
 * Returns 0 or -errno. */
int ur_setenv_file(const char *variable, const char *file);

#endif

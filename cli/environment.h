/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sets the environment that a program needs to use the device. */
#ifndef UR_CLI_ENVIRONMENT_H
#define UR_CLI_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct ur_options;

/* Puts the directory of this program into @buf. Returns 0 or -errno. */
int ur_own_dir(char *buf, size_t size);

/**
 * ur_environment_find() - a file of ours
 * @beside: where it lies in a build tree or one that was moved, as seen from
 * this program's directory; NULL ended
 * @installed: where it lies otherwise
 * @path, @size: its absolute name goes here; at least PATH_MAX
 * Return: 0 or -errno.
 */
int ur_environment_find(const char *file, const char *const *beside,
			const char *installed, char *path, size_t size);

/* Puts the absolute name of the preload library into @path. Returns 0 or
 * -errno. */
int ur_environment_library(char *path, size_t size);

/**
 * ur_environment_preload() - a value of LD_PRELOAD with one library more
 * @library: its absolute name, which goes in front, but behind runtimes of
 * sanitizers
 * @before: the value so far, or ""; where it has a file of that name, it stays
 * @value: the caller's, to be freed
 *
 * Return: 0; -EINVAL: the dynamic linker could not read the name; or -ENOMEM.
 */
int ur_environment_preload(const char *library, const char *before,
			   char **value);

/**
 * ur_environment_set() - UROCE_RUN_DIR and LD_PRELOAD, for this process's
 * children; says on stderr what is wrong. Return: 0 or -errno.
 */
int ur_environment_set(const char *run_dir);

/* Returns whether a program of that name comes with us, which
 * ur_environment_set() lets be found. */
bool ur_environment_has_tool(const char *name);

/**
 * ur_environment_check() - does what --check, --check-json and --check-mute ask
 * for: puts the checking library into LD_PRELOAD, in front of all others;
 * nothing where --check was not given. Prints errors on stderr. Return: 0 or
 * -errno.
 */
int ur_environment_check(const struct ur_options *options);

/**
 * ur_environment_adverse() - puts what --adverse asks for into UROCE_ADVERSE;
 * nothing where it was not given. Prints errors on stderr. Return: 0 or -errno.
 */
int ur_environment_adverse(const struct ur_options *options);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds out whether a preloaded library can be loaded into a program. */
#ifndef UR_UTIL_OS_ELF_H
#define UR_UTIL_OS_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum ur_elf {
	UR_ELF_DYNAMIC,	   /* it can */
	UR_ELF_STATIC,	   /* statically linked: LD_PRELOAD is ignored */
	UR_ELF_PRIVILEGED, /* setuid, setgid or file capabilities */
	UR_ELF_FOREIGN,	   /* for another machine, or 32 bits */
	UR_ELF_MUSL,	   /* linked with musl */
	UR_ELF_OTHER,	   /* no ELF file, such as a script */
	UR_ELF_DENIED,	   /* not executable by this user */
	UR_ELF_MISSING,
};

/* Finds the file of @program as execvp() would. path, size bytes, gets its
 * name. Returns 0, -ENOENT or -EACCES, or another -errno. Any thread. */
int ur_program_find(const char *program, char *path, size_t size);

/* Returns the kind of @program, which is found as execvp() would. @path, size
 * bytes, gets the file's name. Any thread. */
enum ur_elf ur_elf_kind(const char *program, char *path, size_t size);

/* Returns whether the file imports dlopen() or dlmopen(): the program may load
 * libibverbs past a preloaded library. */
bool ur_elf_opens_libraries(const char *path);

#endif

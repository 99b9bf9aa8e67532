/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds out whether a preloaded library can get into a program. */
#ifndef UR_UTIL_OS_ELF_H
#define UR_UTIL_OS_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum ur_elf {
	UR_ELF_DYNAMIC,	   /* it can */
	UR_ELF_STATIC,	   /* no dynamic linker looks at LD_PRELOAD */
	UR_ELF_PRIVILEGED, /* setuid, setgid or file capabilities */
	UR_ELF_FOREIGN,	   /* another machine's, or of 32 bits: not ours */
	UR_ELF_MUSL,	   /* of another C library than ours */
	UR_ELF_OTHER,	   /* a script */
	UR_ELF_DENIED,	   /* it may not be executed */
	UR_ELF_MISSING,
};

/* Finds @program as execvp() would: path, of size bytes, gets the name of its
 * file. Returns 0, -ENOENT or -EACCES, or another -errno. Any thread. */
int ur_program_find(const char *program, char *path, size_t size);

/* Returns what kind of program @program is, which is looked up as execvp()
 * would. @path gets the name of the file, of size bytes. Any thread. */
enum ur_elf ur_elf_kind(const char *program, char *path, size_t size);

/* Returns whether the program's file asks for dlopen() or dlmopen(): it may load
 * libibverbs in a way that passes by a preloaded library. */
bool ur_elf_opens_libraries(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds out whether a preloaded library can get into a program. */
#ifndef UR_CLI_ELF_H
#define UR_CLI_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum ur_elf {
	UR_ELF_DYNAMIC,	   /* it can */
	UR_ELF_STATIC,	   /* no dynamic linker looks at LD_PRELOAD */
	UR_ELF_PRIVILEGED, /* setuid, setgid or file capabilities */
	UR_ELF_OTHER,	   /* a script, another machine's program */
	UR_ELF_MISSING,
};

/* Returns what kind of program @program is, which is looked up as execvp()
 * would. @path gets the name of the file. */
enum ur_elf ur_elf_kind(const char *program, char *path, size_t size);

/* Returns whether the program's file asks for dlopen() or dlmopen(): it may load
 * libibverbs in a way that passes by a preloaded library. */
bool ur_elf_opens_libraries(const char *path);

#endif

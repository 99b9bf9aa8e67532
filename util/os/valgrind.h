/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Detects Valgrind, which follows memory only through system calls that it
 * knows. */
#ifndef UR_UTIL_OS_VALGRIND_H
#define UR_UTIL_OS_VALGRIND_H

#include <stdbool.h>

/* A function of the library that Valgrind loads into each program. */
extern void _vgnU_freeres(void) __attribute__((weak));

/* Returns whether the program runs under Valgrind. Makes no system call. Any thread. */
static inline bool ur_is_under_valgrind(void)
{
	return _vgnU_freeres;
}

#endif

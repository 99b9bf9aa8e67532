/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Valgrind knows what system calls read and write, as far as it knows the calls. */
#ifndef UR_UTIL_OS_VALGRIND_H
#define UR_UTIL_OS_VALGRIND_H

#include <stdbool.h>

/* A function of the library that Valgrind puts into each program. */
extern void _vgnU_freeres(void) __attribute__((weak));

/* Returns whether the program runs under one of its tools. Calls nothing. Any thread. */
static inline bool ur_is_under_valgrind(void)
{
	return _vgnU_freeres;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The preload library's message to an engine in the program about the program's first
 * thread. */
#ifndef UR_UTIL_OS_FIRST_THREAD_H
#define UR_UTIL_OS_FIRST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Nonzero once the first thread of this process is about to end alone (pthread_exit(3)), or may
 * do so by exit(2), which is all that the strict mode of seccomp(2) leaves it; never zero again.
 * The process then ends with the last thread of the program, which an engine's must not outlive.
 * The preload library defines it (preload/exit.c); weak, since an engine may be there without.
 * Atomic.
 */
extern uint32_t ur_preload_first_ends __attribute__((weak));

/* Returns whether that is so. Calls nothing. Any thread. */
static inline bool ur_first_thread_ends(void)
{
	return &ur_preload_first_ends &&
	       __atomic_load_n(&ur_preload_first_ends, __ATOMIC_RELAXED);
}

#endif

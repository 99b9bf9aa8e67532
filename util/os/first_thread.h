/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The end of the program's first thread, as the preload library reports it to
 * an engine in the program. */
#ifndef UR_UTIL_OS_FIRST_THREAD_H
#define UR_UTIL_OS_FIRST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Nonzero once the first thread of this process ends alone (pthread_exit(3)), or may do so by
 * exit(2), as the strict mode of seccomp(2) requires; never zero again. The process then ends with
 * the program's last thread, which an engine's thread must not outlive. Defined by the preload
 * library (preload/exit.c); weak, since an engine also runs without it. Atomic.
 */
extern uint32_t ur_preload_first_ends __attribute__((weak));

/* Returns whether the first thread ends or may end. Makes no system call. Any
 * thread. */
static inline bool ur_first_thread_ends(void)
{
	return &ur_preload_first_ends &&
	       __atomic_load_n(&ur_preload_first_ends, __ATOMIC_RELAXED);
}

#endif

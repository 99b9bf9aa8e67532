/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* System call filters of the process, as the preload library reports them to
 * the provider. */
#ifndef UR_UTIL_OS_FILTERED_H
#define UR_UTIL_OS_FILTERED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Nonzero once this process has asked the kernel for a system call filter, or
 * for PR_SET_NO_NEW_PRIVS, which precedes one; never zero again. Defined by the
 * preload library (preload/filter.c); weak, since the provider also runs
 * without it. Atomic.
 */
extern uint32_t ur_preload_filtered __attribute__((weak));

/* Returns whether the process has asked for a filter. Makes no system call. Any
 * thread. */
static inline bool ur_is_filtered(void)
{
	return &ur_preload_filtered &&
	       __atomic_load_n(&ur_preload_filtered, __ATOMIC_RELAXED);
}

#endif

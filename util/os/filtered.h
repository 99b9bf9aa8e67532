/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The preload library's message to the provider about filters of system
 * calls. */
#ifndef UR_UTIL_OS_FILTERED_H
#define UR_UTIL_OS_FILTERED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Nonzero once this process has asked the kernel for a filter of its system
 * calls, or for PR_SET_NO_NEW_PRIVS, which comes before one; never zero again.
 * The preload library defines it (preload/filter.c); weak, since the provider
 * may be there without. Atomic.
 */
extern uint32_t ur_preload_filtered __attribute__((weak));

/* Returns whether that is so. Calls nothing. Any thread. */
static inline bool ur_is_filtered(void)
{
	return &ur_preload_filtered &&
	       __atomic_load_n(&ur_preload_filtered, __ATOMIC_RELAXED);
}

#endif

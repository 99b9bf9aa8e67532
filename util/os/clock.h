/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kernel's clocks, even where something in the program fakes the time. Any thread; nothing is
 * allocated. */
#ifndef UR_UTIL_OS_CLOCK_H
#define UR_UTIL_OS_CLOCK_H

#include <time.h>
#include "util/bytes.h"

/* Fills *ts with the kernel's time of a clock. errno may change for an unknown clock. */
void ur_kernel_clock(clockid_t id, struct timespec *ts);

/* Returns the nanoseconds of a clock. */
static inline u64 ur_clock_ns(clockid_t id)
{
	struct timespec ts;

	ur_kernel_clock(id, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

/* Sleeps for ns nanoseconds, or until a signal comes. No cancellation point. */
void ur_nap_ns(u64 ns);

#endif

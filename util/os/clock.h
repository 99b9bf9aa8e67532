/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Clocks of the system. */
#ifndef UR_UTIL_OS_CLOCK_H
#define UR_UTIL_OS_CLOCK_H

#include <time.h>
#include "util/bytes.h"

/* Returns the nanoseconds of a clock. Any thread. */
static inline u64 ur_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

#endif

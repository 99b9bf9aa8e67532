/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A mutex lock with a time limit. */
#ifndef UR_UTIL_OS_TIMED_LOCK_H
#define UR_UTIL_OS_TIMED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include "util/bytes.h"
#include "util/os/clock.h"

/* Locks the mutex within ns nanoseconds. Returns whether it did. Any thread. */
static inline bool ur_lock_within(pthread_mutex_t *mutex, u64 ns)
{
	struct timespec until;

	ur_kernel_clock(CLOCK_REALTIME, &until);
	ns += (u64)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	return !pthread_mutex_timedlock(mutex, &until);
}

#endif

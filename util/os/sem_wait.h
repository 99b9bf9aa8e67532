/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A semaphore wait with a time limit. */
#ifndef UR_UTIL_OS_SEM_WAIT_H
#define UR_UTIL_OS_SEM_WAIT_H

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>
#include "util/bytes.h"

/* Waits for sem, ms milliseconds at most, 999 at most. Returns whether it was posted. Changes of
 * the clock change the time. Programs that fake the clock fake sem_timedwait(), too. Any thread. */
static inline bool ur_sem_wait_ms(sem_t *sem, u32 ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)ms * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (sem_timedwait(sem, &until) < 0)
		if (errno == ETIMEDOUT)
			return false;
	return true;
}

#endif

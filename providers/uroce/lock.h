/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The lock of a queue. It costs one atomic exchange, and nothing at all where
 * the application has promised a single thread (thread domain,
 * SINGLE_THREADED). A thread that waits for long yields, since the device may
 * share its processor.
 */
#ifndef UR_PROVIDERS_UROCE_LOCK_H
#define UR_PROVIDERS_UROCE_LOCK_H

#include <sched.h>

#include "allowed.h"
#include "util/bytes.h"

struct ur_lock {
	u32 held;
	bool elided; /* set before the queue is used, then constant */
};

/* Takes the lock. Not recursive. */
static inline void ur_lock_get(struct ur_lock *l)
{
	unsigned int spins = 0;

	if (l->elided)
		return;
	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED))
			if (++spins > 64 && ur_calls_allowed())
				sched_yield();
}

/* Releases it. */
static inline void ur_lock_put(struct ur_lock *l)
{
	if (!l->elided)
		__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The lock of a queue: one atomic exchange, nothing at all when the
 * application promised a single thread (thread domain, SINGLE_THREADED).
 * It yields instead of burning: cores are shared with the device.
 */
#ifndef UR_PROVIDER_LOCK_H
#define UR_PROVIDER_LOCK_H

#include <sched.h>

#include "util/bytes.h"

struct ur_lock {
	u32 held;
	bool elided; /* set before the queue is used, then constant */
};

static inline void ur_lock_get(struct ur_lock *l)
{
	unsigned int spins = 0;

	if (l->elided)
		return;
	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED))
			if (++spins > 64)
				sched_yield();
}

static inline void ur_lock_put(struct ur_lock *l)
{
	if (!l->elided)
		__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine thread between two turns: what idle.h decides is done here.
 * Engine thread only.
 */
#ifndef UR_DEVICE_WAIT_H
#define UR_DEVICE_WAIT_H

#include <time.h>
#include "device/engine/engine_impl.h"

/* Once, by the thread itself: its scheduling attributes. */
void ur_wait_init(struct ur_engine *engine);
/* The last turn found nothing: wait somehow, for an hour at most. */
void ur_wait(struct ur_engine *engine);
/* Has any client rung since its doorbell was taken? The caller holds the owner
 * lock. */
bool ur_doorbells_rung(const struct ur_engine *engine);
/* Wait for the engine's descriptors and serve them (poll_loop.c); true when there
 * were any. */
bool ur_poll_dispatch(struct ur_engine *engine, const struct timespec *timeout);

static inline u64 ur_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

#endif

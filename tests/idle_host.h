/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Callbacks of struct ur_host_ops for programs that post no receives and look at
 * no event. */
#ifndef UR_TESTS_IDLE_HOST_H
#define UR_TESTS_IDLE_HOST_H

#include "transport/host.h"

static inline void idle_sq_retire(void *ctx, u32 ring_end)
{
	(void)ctx, (void)ring_end;
}

static inline int idle_rq_next(void *ctx, struct ur_recv_wr *wr)
{
	(void)ctx, (void)wr;
	return 0;
}

static inline u32 idle_rq_count(void *ctx)
{
	(void)ctx;
	return 0;
}

static inline void idle_rq_want_kick(void *ctx, bool on)
{
	(void)ctx, (void)on;
}

static inline void idle_event(void *ctx, enum ur_event event)
{
	(void)ctx, (void)event;
}

/* A host that posts no receives; next and push are its sq_next and cq_push. */
#define IDLE_HOST(next, push)                                       \
	(struct ur_host_ops)                                        \
	{                                                           \
		.sq_next = next, .sq_retire = idle_sq_retire,       \
		.rq_next = idle_rq_next, .rq_count = idle_rq_count, \
		.rq_want_kick = idle_rq_want_kick, .cq_push = push, \
		.qp_event = idle_event, .srq_event = idle_event,    \
	}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two hosts of the transport, to which a test adds the callbacks that it is about:
 * an idle host posts no receives and looks at no event; a ring host knows what is
 * posted to a queue pair. ctx of its queues is a struct host_ring, or begins with one.
 */
#ifndef UR_TESTS_TRANSPORT_HOST_H
#define UR_TESTS_TRANSPORT_HOST_H

#include <errno.h>

#include "tests/check.h"
#include "transport/host.h"

/* ---- idle ---- */

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

/* An idle host; next and push are its sq_next and cq_push. */
#define IDLE_HOST(next, push)                                       \
	(struct ur_host_ops)                                        \
	{                                                           \
		.sq_next = next, .sq_retire = idle_sq_retire,       \
		.rq_next = idle_rq_next, .rq_count = idle_rq_count, \
		.rq_want_kick = idle_rq_want_kick, .cq_push = push, \
		.qp_event = idle_event, .srq_event = idle_event,    \
	}

/* ---- rings ---- */

/* The rings of a queue pair; indices run free. */
struct host_ring {
	struct ur_send_wr *send;
	u32 places; /* of send */
	u32 send_head, send_tail, retired;
	u32 recv_head, recv_tail;
	bool want_kick;
	bool corrupt; /* sq_next() fails */
};

/* Posts a copy of *wr, which gets the index of its place. Returns it, to be changed
 * before the transport takes it. */
static inline struct ur_send_wr *ring_post(struct host_ring *r,
					   const struct ur_send_wr *wr)
{
	struct ur_send_wr *place = &r->send[r->send_tail % r->places];

	CHECK(r->send_tail - r->send_head < r->places);
	*place = *wr;
	place->wqe_counter = r->send_tail++;
	place->ring_end = r->send_tail;
	return place;
}

static inline int ring_sq_next(void *ctx, struct ur_send_wr *wr)
{
	struct host_ring *r = ctx;

	if (r->corrupt)
		return -EINVAL;
	if (r->send_head == r->send_tail)
		return 0;
	*wr = r->send[r->send_head++ % r->places];
	return 1;
}

static inline void ring_sq_retire(void *ctx, u32 ring_end)
{
	struct host_ring *r = ctx;

	CHECK(ring_end - r->retired <= r->send_head - r->retired);
	r->retired = ring_end;
}

static inline u32 ring_rq_count(void *ctx)
{
	struct host_ring *r = ctx;

	return r->recv_tail - r->recv_head;
}

static inline void ring_rq_want_kick(void *ctx, bool on)
{
	((struct host_ring *)ctx)->want_kick = on;
}

/* A ring host; next is its rq_next, push its cq_push, event its qp_event and
 * srq_event. */
#define RING_HOST(next, push, event)                                  \
	(struct ur_host_ops)                                          \
	{                                                             \
		.sq_next = ring_sq_next, .sq_retire = ring_sq_retire, \
		.rq_next = next, .rq_count = ring_rq_count,           \
		.rq_want_kick = ring_rq_want_kick, .cq_push = push,   \
		.qp_event = event, .srq_event = event,                \
	}

#endif

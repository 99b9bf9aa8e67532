// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The host of a wiretap: rings are arrays, completions and events are kept. */
#include "tests/scenario/transport/wiretap.h"

static int sq_next(void *ctx, struct ur_send_wr *wr)
{
	struct wt_qp *q = ctx;

	if (q->ring_corrupt)
		return -22;
	if (q->send_head == q->send_tail)
		return 0;
	*wr = q->send[q->send_head++ % WT_RING];
	return 1;
}

static void sq_retire(void *ctx, u32 ring_end)
{
	((struct wt_qp *)ctx)->retired = ring_end;
}

static int rq_next(void *ctx, struct ur_recv_wr *wr)
{
	struct wt_qp *q = ctx;

	if (q->recv_head == q->recv_tail)
		return 0;
	*wr = q->recv[q->recv_head++ % WT_RING];
	return 1;
}

static u32 rq_count(void *ctx)
{
	struct wt_qp *q = ctx;

	return q->recv_tail - q->recv_head;
}

static void rq_want_kick(void *ctx, bool on)
{
	((struct wt_qp *)ctx)->want_kick = on;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	struct wt_qp *q = ctx;

	if (q->wc_tail - q->wc_head >= q->cq_room)
		return -28;
	q->wc[q->wc_tail++ % WT_RING] = *wc;
	return 0;
}

static void qp_event(void *ctx, enum ur_event ev)
{
	struct wt_qp *q = ctx;

	q->events |= 1u << ev;
	q->event_count++;
}

const struct ur_host_ops wt_host_ops = {
	.sq_next = sq_next,
	.sq_retire = sq_retire,
	.rq_next = rq_next,
	.rq_count = rq_count,
	.rq_want_kick = rq_want_kick,
	.cq_push = cq_push,
	.qp_event = qp_event,
	.srq_event = qp_event,
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The host of a wiretap: completions and events are kept. */
#include "tests/scenario/transport/wiretap.h"

static int rq_next(void *ctx, struct ur_recv_wr *wr)
{
	struct wt_qp *q = ctx;

	if (q->ring.recv_head == q->ring.recv_tail)
		return 0;
	*wr = q->recv[q->ring.recv_head++ % WT_RING];
	return 1;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	struct wt_qp *q = ctx;

	if (q->wc_tail - q->wc_head >= q->cq_room)
		return -28;
	q->wc[q->wc_tail++ % WT_RING] = *wc;
	return 0;
}

static void event(void *ctx, enum ur_event ev)
{
	struct wt_qp *q = ctx;

	q->events |= 1u << ev;
	q->event_count++;
}

const struct ur_host_ops wt_host_ops = RING_HOST(rq_next, cq_push, event);

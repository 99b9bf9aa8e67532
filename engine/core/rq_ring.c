// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The common part of receive queues of queue pairs and SRQs: the transport's host
 * callbacks, and doorbells, which are asked for only while the transport waits. */
#include <errno.h>
#include "engine/core/engine_impl.h"

void ur_rq_init(struct ur_erq *rq, struct ur_ectx *ectx)
{
	rq->ectx = ectx;
	rq->want_kick = false;
	ur_list_init(&rq->kick_node);
}

int ur_rq_next(void *rq_ctx, struct ur_recv_wr *wr)
{
	struct ur_erq *rq = rq_ctx;

	return rq->ring.hdr ? ur_ring_read_recv(&rq->ring, wr) : 0;
}

u32 ur_rq_count(void *rq_ctx)
{
	struct ur_erq *rq = rq_ctx;
	s64 n = rq->ring.hdr ? ur_ring_avail(&rq->ring) : 0;

	return n > 0 ? (u32)n : 0;
}

void ur_rq_want_kick(void *rq_ctx, bool on)
{
	struct ur_erq *rq = rq_ctx;

	if (!rq->ring.hdr || on == rq->want_kick)
		return;
	rq->want_kick = on;
	__atomic_store_n(&rq->ring.hdr->flags, on ? UROCE_RING_F_NEED_DB : 0,
			 __ATOMIC_RELAXED);
	if (!on) {
		ur_list_del(&rq->kick_node);
		return;
	}
	/* [K2]: either the client sees the flag, or we see its receive here. The
	 * kick comes later, since this is a call of the transport. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ur_rq_count(rq) && ur_list_empty(&rq->kick_node))
		ur_list_add_tail(&rq->ectx->engine->kicks, &rq->kick_node);
}

void ur_rq_ring(struct ur_erq *rq)
{
	if (!rq->want_kick || !ur_rq_count(rq))
		return;
	if (rq->qp)
		ur_qp_rq_kick(rq->qp->qp);
	else
		ur_srq_kick(rq->srq->srq);
}

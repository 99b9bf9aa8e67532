// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queues as the transport sees them: where work comes from, where completions
 * and events go.
 */
#include "tests/sim/transport/endpoint.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/sim/transport/oracle.h"
#include "tests/sim/transport/workload.h"

/* ------------------------------------------------------------------ */
/* Receive queues                                                      */

struct sim_rq *endpoint_rq_new(struct sim_host *h)
{
	struct sim_world *w = h->w;
	struct sim_rq *rq = sim_zalloc(sizeof(*rq));

	rq->host = h;
	rq->slot_bytes = (u32)ur_align_up(w->max_bytes + UR_GRH_BYTES + 16, 64);
	rq->want =
		w->drill ? w->depth : 1 + ur_rng_below(&w->rng_work, w->depth);
	sim_region_init(&rq->region, h, (u64)rq->slot_bytes * w->depth,
			UR_ACCESS_LOCAL_WRITE, &w->rng_work);
	sim_region_leave(&rq->region, &w->rng_work);
	return rq;
}

void endpoint_rq_reset(struct sim_rq *rq)
{
	for (u32 i = 0; i < SIM_MAX_DEPTH; i++)
		rq->recv[i].state = SIM_RECV_FREE;
	rq->posted = rq->taken = rq->next_flush = 0;
	rq->kick_wanted = false;
	rq->limit = 0;
	rq->limit_due = false;
}

void endpoint_rq_open(struct sim_rq *rq, bool srq, bool xrc)
{
	struct sim_host *h = rq->host;
	struct ur_srq_attr attr = {
		.pd = SIM_PD,
		.xrc = xrc,
		.xrcd = SIM_XRCD,
		.cq_ctx = &h->cq[2],
		.rq_ctx = rq,
		.ctx = rq,
	};
	int err;

	endpoint_rq_reset(rq);
	if (!rq->region.mr)
		sim_region_register(&rq->region);
	if (!srq)
		return;
	err = ur_srq_create(h->port, &attr, &rq->srq);
	SIM_CHECK(h->w, !err, "ur_srq_create: %d", err);
	rq->srqn = ur_srq_number(rq->srq);
}

void endpoint_rq_close(struct sim_rq *rq)
{
	if (rq->srq && rq->host->port) {
		int err = ur_srq_destroy(rq->srq);

		SIM_CHECK(rq->host->w, !err, "ur_srq_destroy: %d", err);
	}
	rq->srq = NULL;
	if (rq->region.mr && rq->host->port) {
		int err = ur_mr_destroy(rq->region.mr);

		SIM_CHECK(rq->host->w, !err, "ur_mr_destroy: %d", err);
	}
	rq->region.mr = NULL;
	endpoint_rq_reset(rq);
}

void endpoint_rq_free(struct sim_rq *rq)
{
	if (!rq)
		return;
	free(rq->region.base);
	free(rq);
}

/* Scatter list over the slot: pieces in falling order of address, so that a
 * write past one piece does not land where the next byte belongs. */
static void scatter(struct sim_rq *rq, struct sim_recv *r, u32 slot, u32 bytes)
{
	struct ur_rng *rng = &rq->host->w->rng_work;
	u64 end = rq->region.iova + (u64)(slot + 1) * rq->slot_bytes;
	u32 pieces = 1 + ur_rng_below(rng, 4), left = bytes;

	r->wr.num_sge = pieces;
	for (u32 i = 0; i < pieces; i++) {
		u32 n = i + 1 == pieces ? left : ur_rng_below(rng, left + 1);

		end -= n;
		left -= n;
		r->wr.sge[i] = (struct ur_sge){end, n, rq->region.key};
	}
	r->bytes = bytes;
}

static bool post_recv(struct sim_rq *rq)
{
	struct sim_world *w = rq->host->w;
	u32 slot;

	for (slot = 0; slot < w->depth; slot++)
		if (rq->recv[slot].state == SIM_RECV_FREE)
			break;
	if (slot == w->depth || rq->posted - rq->taken == w->depth)
		return false;

	struct sim_recv *r = &rq->recv[slot];
	u32 bytes = rq->slot_bytes - 8;

	if (w->faults_on && sim_chance(&w->rng_fault, w->faults.short_recv)) {
		bytes = ur_rng_below(&w->rng_fault, bytes);
		for (u32 i = 0; i < w->n_pairs; i++)
			w->pair[i]->reasons |= SIM_WHY_SHORT;
	}
	memset(rq->region.base + (u64)slot * rq->slot_bytes, 0xa5,
	       rq->slot_bytes);
	scatter(rq, r, slot, bytes);
	r->wr.wr_id = ++rq->serial << 8 | slot;
	r->wr.wqe_counter = rq->posted;
	r->state = SIM_RECV_POSTED;
	rq->order[rq->posted++ % w->depth] = slot;
	return true;
}

void endpoint_rq_fill(struct sim_rq *rq, u32 count)
{
	u32 posted = 0;

	while (posted < count && rq->posted - rq->taken < rq->want &&
	       post_recv(rq))
		posted++;
	if (!posted)
		return;
	/* Armed with enough posted, so that it cannot be due at once. */
	if (rq->srq && !rq->limit && rq->posted - rq->taken > 1 &&
	    ur_rng_below(&rq->host->w->rng_work, 4) == 0) {
		rq->limit = 1 + ur_rng_below(&rq->host->w->rng_work,
					     rq->posted - rq->taken);
		ur_srq_set_limit(rq->srq, rq->limit);
	}
	sim_trace(&rq->host->w->trace, rq->host->w->now, "post_recv",
		  rq->host->index, rq->qp ? rq->qp->qpn : 0, posted,
		  rq->posted);
	if (rq->kick_wanted) {
		if (rq->srq)
			ur_srq_kick(rq->srq);
		else
			ur_qp_rq_kick(rq->qp->qp);
		sim_host_wake(rq->host, rq->host->w->now);
	}
}

int endpoint_rq_next(void *rq_ctx, struct ur_recv_wr *wr)
{
	struct sim_rq *rq = rq_ctx;
	struct sim_recv *r;

	SIM_CHECK(rq->host->w, !rq->dead, "receive taken from a dead queue");
	if (rq->posted == rq->taken)
		return 0;
	r = &rq->recv[rq->order[rq->taken++ % rq->host->w->depth]];
	*wr = r->wr;
	r->state = SIM_RECV_TAKEN;
	if (rq->limit && rq->posted - rq->taken < rq->limit)
		rq->limit_due = true;
	workload_rq_taken(rq);
	return 1;
}

u32 endpoint_rq_count(void *rq_ctx)
{
	struct sim_rq *rq = rq_ctx;

	return rq->posted - rq->taken;
}

void endpoint_rq_want_kick(void *rq_ctx, bool on)
{
	struct sim_rq *rq = rq_ctx;

	rq->kick_wanted = on;
}

/* ------------------------------------------------------------------ */
/* Send queues, completions, events                                    */

int endpoint_sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct sim_qp *qp = qp_ctx;
	struct sim_flow *f = qp->out;
	struct sim_op *op;

	SIM_CHECK(qp->host->w, qp->life != SIM_QP_GONE,
		  "work taken from a queue pair that is gone");
	if (!f || f->taken == f->posted)
		return 0;
	op = &f->ops[f->taken++];
	op->state = SIM_OP_TAKEN;
	*wr = op->wr;
	return 1;
}

void endpoint_sq_retire(void *qp_ctx, u32 ring_end)
{
	struct sim_qp *qp = qp_ctx;
	struct sim_flow *f = qp->out;
	struct sim_world *w = qp->host->w;
	u32 taken_end = qp->retired;

	if (f && f->taken)
		taken_end = f->ops[f->taken - 1].wr.ring_end;
	SIM_CHECK(w, ring_end - qp->retired <= taken_end - qp->retired,
		  "%s: retired to %u, was %u, taken to %u", endpoint_name(qp),
		  ring_end, qp->retired, taken_end);
	qp->retired = ring_end;
	workload_qp_room(qp);
}

static void poll_cq(struct sim_world *w, void *arg, u64 n)
{
	struct sim_cq *cq = arg;

	cq->poll_pending = false;
	if (cq->stalled)
		return;
	cq->count = 0;
}

int endpoint_cq_push(void *cq_ctx, const struct ur_wc *wc)
{
	struct sim_cq *cq = cq_ctx;
	struct sim_world *w = cq->host->w;

	w->n_wc++;
	w->last_wc = w->now;
	sim_trace(&w->trace, w->now, wc->recv ? "wc_recv" : "wc_send",
		  (u64)cq->host->index << 32 | wc->qpn, wc->wr_id, wc->status,
		  (u64)wc->opcode << 32 | wc->byte_len);
	if (cq->count >= cq->room) {
		oracle_overrun(cq, wc);
		return -ENOSPC;
	}
	cq->count++;
	if (!cq->poll_pending && !cq->stalled) {
		cq->poll_pending = true;
		sim_event_add(&w->events,
			      w->now + sim_exp(&cq->host->rng, 3000), poll_cq,
			      cq, 0);
	}
	oracle_completion(cq, wc);
	return 0;
}

void endpoint_qp_event(void *qp_ctx, enum ur_event ev)
{
	struct sim_qp *qp = qp_ctx;
	struct sim_world *w = qp->host->w;

	sim_trace(&w->trace, w->now, "event", qp->host->index, qp->qpn, ev, 0);
	SIM_CHECK(w, qp->life != SIM_QP_GONE, "event of a gone queue pair");
	switch (ev) {
	case UR_EVENT_QP_FATAL:
	case UR_EVENT_QP_REQ_ERR:
	case UR_EVENT_QP_ACCESS_ERR:
	case UR_EVENT_CQ_ERR:
		qp->saw_fatal_event = qp->broken = true;
		if (qp->pair)
			workload_pair_broken(qp->pair);
		break;
	case UR_EVENT_QP_LAST_WQE_REACHED:
		SIM_CHECK(w, qp->rq && qp->rq->srq,
			  "%s: last WQE reached without an SRQ",
			  endpoint_name(qp));
		SIM_CHECK(w, !qp->last_wqe, "%s: last WQE reached twice",
			  endpoint_name(qp));
		qp->last_wqe = true;
		break;
	case UR_EVENT_SQ_DRAINED:
		SIM_CHECK(w, qp->draining, "%s: drained without being asked",
			  endpoint_name(qp));
		break;
	default:
		break;
	}
}

void endpoint_srq_event(void *srq_ctx, enum ur_event ev)
{
	struct sim_rq *rq = srq_ctx;

	sim_trace(&rq->host->w->trace, rq->host->w->now, "srq_event",
		  rq->host->index, ev, 0, 0);
	SIM_CHECK(rq->host->w,
		  ev != UR_EVENT_SRQ_LIMIT_REACHED ||
			  (rq->limit && rq->posted - rq->taken < rq->limit),
		  "SRQ limit event with %u left, limit %u",
		  rq->posted - rq->taken, rq->limit);
	rq->limit = 0;
	rq->limit_due = false;
}

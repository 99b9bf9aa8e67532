// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rules that hold when work is over: nothing missing, nothing left, memory
 * as the operations made it.
 */
#include "tests/sim/transport/oracle.h"

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/workload.h"

void oracle_overrun(struct sim_cq *cq, const struct ur_wc *wc)
{
	struct sim_world *w = cq->host->w;
	struct sim_qp *qp = oracle_qp(cq->host, wc->qpn);

	sim_trace(&w->trace, w->now, "overrun", cq->host->index, wc->qpn, 0, 0);
	if (!qp)
		return;
	qp->broken = qp->lost = true;
	if (qp->pair) {
		qp->pair->reasons |= SIM_WHY_CQ;
		workload_pair_broken(qp->pair);
	}
}

bool oracle_flow_idle(const struct sim_flow *f)
{
	return !f || (f->done == f->posted && f->posted >= f->target);
}

/* Work that nobody reported on: unsignalled and acknowledged, or lost. */
static void check_left(struct sim_flow *f)
{
	struct sim_world *w = f->pair->w;

	for (u32 i = f->done; i < f->posted; i++) {
		const struct sim_op *op = &f->ops[i];
		bool quiet =
			!f->from->sig_all && !(op->wr.flags & UR_WR_F_SIGNALED);

		SIM_CHECK(w, quiet && op->state == SIM_OP_TAKEN,
			  "%s: operation %u of %u (opcode %u, %s) never "
			  "completed",
			  endpoint_name(f->from), i, f->posted, op->wr.opcode,
			  quiet ? "unsignalled" : "signalled");
	}
}

/* Every byte of the target is that of the last operation that surely wrote
 * it, or of a later one that may have. */
static void check_memory(struct sim_flow *f)
{
	struct sim_world *w = f->pair->w;

	for (u64 i = 0; i < f->dst.bytes; i++) {
		bool ok = f->dst.base[i] == f->model[i];

		/* Mostly all are; a target is a multiple of 64 bytes. */
		if (i % 64 == 0 && !memcmp(f->dst.base + i, f->model + i, 64)) {
			i += 63;
			continue;
		}
		for (u32 k = f->model_ops; !ok && k < f->posted; k++) {
			const struct sim_op *op = &f->ops[k];

			ok = sim_op_writes(op) && !op->bad &&
			     i >= op->dst_off && i - op->dst_off < op->bytes &&
			     op->payload[i - op->dst_off] == f->dst.base[i];
		}
		/* UC: what was lost leaves what was there before. */
		for (u32 k = 0; !ok && !sim_reliable(f) && k < f->posted; k++) {
			const struct sim_op *op = &f->ops[k];

			ok = sim_op_writes(op) && i >= op->dst_off &&
			     i - op->dst_off < op->bytes;
		}
		SIM_CHECK(w, ok, "%s: byte %llu of the target is wrong",
			  endpoint_name(f->to), (unsigned long long)i);
	}
}

static void check_receives(struct sim_pair *p, int k)
{
	struct sim_qp *qp = p->qp[k];
	struct sim_rq *rq = p->own_rq[k];

	if (qp->rq && qp->rq->srq && qp->broken)
		SIM_CHECK(p->w, qp->last_wqe,
			  "%s: no word that the last WQE was reached",
			  endpoint_name(qp));
	if (!rq || !qp->broken || qp->lost)
		return;
	for (u32 i = 0; i < p->w->depth; i++)
		SIM_CHECK(p->w, rq->recv[i].state == SIM_RECV_FREE,
			  "%s: receive 0x%llx was not flushed",
			  endpoint_name(qp),
			  (unsigned long long)rq->recv[i].wr.wr_id);
}

void oracle_pair_end(struct sim_pair *p)
{
	struct sim_world *w = p->w;

	for (int k = 0; k < 2; k++) {
		struct sim_flow *f = p->flow[k];
		struct sim_qp *qp = p->qp[k];

		if (qp->life == SIM_QP_LIVE)
			check_receives(p, k);
		if (!f)
			continue;
		if (qp->life == SIM_QP_LIVE && !qp->lost) {
			check_left(f);
			SIM_CHECK(w, qp->retired == qp->ring_index,
				  "%s: ring retired to %u, not %u",
				  endpoint_name(qp), qp->retired,
				  qp->ring_index);
		}
		check_memory(f);
		for (u32 i = 0; i < f->posted; i++)
			sim_trace(&w->trace, w->now, "end", f->ops[i].status,
				  f->ops[i].state, f->ops[i].old, i);
	}
}

void oracle_ud_end(struct sim_world *w, u32 index)
{
	struct sim_qp *qp = w->ud[index];
	struct sim_flow *f = w->ud_flow[index];

	if (qp->life != SIM_QP_LIVE || qp->broken)
		return;
	SIM_CHECK(w, f->done == f->posted && qp->retired == qp->ring_index,
		  "%s: %u of %u datagrams completed", endpoint_name(qp),
		  f->done, f->posted);
}

/* When all adds to a word are known to have happened, it is their sum. */
void oracle_words(struct sim_host *h)
{
	struct sim_world *w = h->w;
	u64 sum[SIM_WORDS] = {0};
	bool known = h->starts == 1 && h->port && h->words.direct;

	for (u32 i = 0; i < w->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			struct sim_flow *f = w->pair[i]->flow[k];

			known = known && w->pair[i]->connected &&
				w->pair[i]->epoch == 1;
			for (u32 n = 0; f && n < f->posted; n++) {
				const struct sim_op *op = &f->ops[n];

				if (!sim_op_atomic(op) || f->to->host != h ||
				    op->bad)
					continue;
				sum[op->word] += op->wr.swap_add;
				known = known && op->state == SIM_OP_DONE &&
					op->status == UR_WC_SUCCESS;
			}
		}
	for (u32 i = 0; known && i < SIM_WORDS; i++)
		SIM_CHECK(w, h->word[i] == h->word_start[i] + sum[i],
			  "host %u: word %u is not the sum of what was added",
			  h->index, i);
}

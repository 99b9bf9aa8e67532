// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive completions: each is that of the next message of its sender, and the
 * buffer holds the message and nothing else.
 */
#include "tests/sim/transport/oracle.h"

#include <stdlib.h>

#include "tests/sim/transport/endpoint.h"
#include "tests/sim/transport/workload.h"

static bool all_are(const u8 *p, u32 bytes, u8 v)
{
	return !bytes || (p[0] == v && !memcmp(p, p + 1, bytes - 1));
}

/* Does the buffer hold bytes of expected at skip, and nothing behind them? */
static bool recv_holds(const struct sim_rq *rq, const struct sim_recv *r,
		       u32 skip, const u8 *expected, u32 bytes, bool tail)
{
	u8 *got = malloc(r->bytes + 1);
	bool same;

	oracle_gather(&rq->region, r->wr.sge, r->wr.num_sge, got, r->bytes);
	same = skip + bytes <= r->bytes &&
	       (!bytes || !memcmp(got + skip, expected, bytes));
	if (same && tail)
		same = all_are(got + skip + bytes, r->bytes - skip - bytes,
			       0xa5);
	free(got);
	return same;
}

/* Is this completion that of operation op? */
static bool recv_matches(const struct sim_rq *rq, const struct sim_recv *r,
			 const struct sim_op *op, const struct ur_wc *wc,
			 u32 skip, bool tail)
{
	bool imm = op->wr.opcode == UR_WR_SEND_IMM ||
		   op->wr.opcode == UR_WR_WRITE_IMM;
	bool inv = op->wr.opcode == UR_WR_SEND_INV;
	bool write = op->wr.opcode == UR_WR_WRITE_IMM;

	if (op->bad ||
	    wc->opcode != (write ? UR_WC_RECV_RDMA_WITH_IMM : UR_WC_RECV) ||
	    wc->byte_len != op->bytes + skip ||
	    !(wc->wc_flags & UR_WC_F_IMM) != !imm ||
	    !(wc->wc_flags & UR_WC_F_INV) != !inv ||
	    ((imm || inv) && wc->imm_inv != op->wr.imm_inv))
		return false;
	return recv_holds(rq, r, skip, op->payload, write ? 0 : op->bytes,
			  tail);
}

static void take_recv_rc(struct sim_qp *qp, struct sim_rq *rq,
			 struct sim_recv *r, const struct ur_wc *wc)
{
	struct sim_world *w = qp->host->w;
	struct sim_flow *f = qp->in;
	u32 i;

	SIM_CHECK(w, f->recv_done < f->recv_posted,
		  "%s: receive completion for a message never sent",
		  endpoint_name(qp));
	i = f->recv_ops[f->recv_done++];
	SIM_CHECK(w, recv_matches(rq, r, &f->ops[i], wc, 0, true),
		  "%s: receive %u does not hold operation %u "
		  "(opcode %u, %u bytes; completion opcode %u, %u bytes)",
		  endpoint_name(qp), f->recv_done - 1, i, f->ops[i].wr.opcode,
		  f->ops[i].bytes, wc->opcode, wc->byte_len);
	SIM_CHECK(w,
		  wc->solicited == !!(f->ops[i].wr.flags & UR_WR_F_SOLICITED),
		  "%s: receive %u is %ssolicited", endpoint_name(qp),
		  f->recv_done - 1, wc->solicited ? "" : "not ");
	oracle_settle(f);
	if (!f->dst.direct)
		SIM_CHECK(w, f->cursor_op >= i,
			  "%s: message %u completed before WRITE %u",
			  endpoint_name(qp), i, f->cursor_op);
	if (f->ops[i].wr.opcode == UR_WR_SEND_INV) {
		f->mw_state = SIM_MW_NONE;
		f->mw_old = f->mw_rkey;
	}
}

static void take_recv_uc(struct sim_qp *qp, struct sim_rq *rq,
			 struct sim_recv *r, const struct ur_wc *wc)
{
	struct sim_flow *f = qp->in;

	if (oracle_uc_repeats(qp->host->w))
		f->recv_done = 0;
	for (; f->recv_done < f->recv_posted; f->recv_done++)
		if (recv_matches(rq, r, &f->ops[f->recv_ops[f->recv_done]], wc,
				 0, false)) {
			f->recv_done++;
			return;
		}
	sim_fail(qp->host->w,
		 "%s: receive completion (opcode %u, %u bytes) of no message",
		 endpoint_name(qp), wc->opcode, wc->byte_len);
}

static void take_recv_ud(struct sim_qp *qp, struct sim_rq *rq,
			 struct sim_recv *r, const struct ur_wc *wc)
{
	struct sim_world *w = qp->host->w;

	SIM_CHECK(w, wc->wc_flags & UR_WC_F_GRH, "%s: datagram without GRH",
		  endpoint_name(qp));
	for (u32 u = 0; u < w->n_ud; u++) {
		struct sim_flow *f = w->ud_flow[u];

		if (!f || wc->src_qp != f->from->qpn)
			continue;
		for (u32 i = 0; i < f->posted; i++)
			if (f->ops[i].ud_to == qp &&
			    recv_matches(rq, r, &f->ops[i], wc, UR_GRH_BYTES,
					 false))
				return;
	}
	sim_fail(w, "%s: datagram of %u bytes from %u was never sent",
		 endpoint_name(qp), wc->byte_len, wc->src_qp);
}

static void recv_error(struct sim_qp *qp, const struct ur_wc *wc)
{
	struct sim_world *w = qp->host->w;
	u32 reasons = qp->pair ? qp->pair->reasons : 0;
	u32 need = ~0u;

	if (wc->status != UR_WC_WR_FLUSH_ERR)
		need = SIM_WHY_SHORT | SIM_WHY_MR | SIM_WHY_BAD_OP;
	SIM_CHECK(w, qp->pair ? (reasons & need) : qp->broken,
		  "%s: receive fails with status %u for no reason",
		  endpoint_name(qp), wc->status);
	if (wc->status != UR_WC_WR_FLUSH_ERR)
		qp->broken = true;
	SIM_CHECK(w, qp->broken, "%s: receive flushed without an error",
		  endpoint_name(qp));
	if (qp->pair)
		workload_pair_broken(qp->pair);
}

void oracle_recv(struct sim_qp *qp, const struct ur_wc *wc)
{
	struct sim_world *w = qp->host->w;
	struct sim_rq *rq = qp->rq;
	struct sim_recv *r;

	if (!rq && qp->pair)
		rq = qp->pair->xrc_rq;
	SIM_CHECK(w, rq && (wc->wr_id & 0xff) < w->depth,
		  "%s: receive completion of no queue", endpoint_name(qp));
	r = &rq->recv[wc->wr_id & 0xff];
	SIM_CHECK(w, r->wr.wr_id == wc->wr_id && r->state == SIM_RECV_TAKEN,
		  "%s: completion of receive 0x%llx, which is not taken",
		  endpoint_name(qp), (unsigned long long)wc->wr_id);
	if (!rq->srq && !qp->lost)
		SIM_CHECK(w, r->wr.wqe_counter == rq->next_flush++,
			  "%s: receives complete out of order",
			  endpoint_name(qp));
	r->state = SIM_RECV_FREE;
	workload_rq_taken(rq);
	if (wc->status != UR_WC_SUCCESS)
		recv_error(qp, wc);
	else if (qp->type == UR_QPT_UD)
		take_recv_ud(qp, rq, r, wc);
	else if (qp->type == UR_QPT_UC)
		take_recv_uc(qp, rq, r, wc);
	else
		take_recv_rc(qp, rq, r, wc);
}

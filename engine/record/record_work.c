// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The recorder's callbacks of the port, which record and call the ordinary ones: work requests,
 * completions, and what the transport traces. */
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "engine/record/record_impl.h"
#include "transport/qp.h"

/* Least time between two reports of failures, since each writes a file. */
#define REPORT_NS 1000000000ull

_Static_assert((int)UR_VERDICT_DUPLICATE == UROCE_RECORD_DUPLICATE &&
		       (int)UR_VERDICT_CLASS_J == UROCE_RECORD_CLASS_J,
	       "verdicts are told as they are");

static void mark_failed(struct ur_engine *e)
{
	if (!e->record.recorder || e->now < e->record.next_report)
		return;
	e->record.next_report = e->now + REPORT_NS;
	ur_recorder_count_failure(e->record.recorder);
}

/* ---- work requests and completions ---- */

static u64 length_of(const struct ur_send_wr *wr)
{
	u64 length = 0;

	if (wr->flags & UR_WR_F_INLINE)
		return (u64)wr->inl_len[0] + wr->inl_len[1];
	for (u32 i = 0; i < wr->num_sge && i < UR_MAX_SGE; i++)
		length += wr->sge[i].length;
	return length;
}

/* Computes the request's first PSN, which follows those of requests fetched before and not
 * sent yet. */
static bool first_psn(struct ur_engine *e, struct ur_eqp *qp, u32 psns,
		      u32 *psn)
{
	bool known = ur_qp_next_psn(qp->qp, psn);

	if (!known && qp->record_run == e->record.run) {
		*psn = qp->record_psn;
		known = true;
	}
	qp->record_psn = (*psn + psns) & UR_PSN_MASK;
	qp->record_run = known ? e->record.run : 0;
	return known && psns;
}

static void record_send(struct ur_engine *e, struct ur_eqp *qp,
			const struct ur_send_wr *wr)
{
	struct uroce_record r = ur_record_begin(UROCE_RECORD_SEND, qp->qpn);
	u64 length = length_of(wr);
	u8 opcode = wr->opcode & UR_WR_FAILS ? 0 : wr->opcode;

	ur_record_owned(&r, qp->uid, qp->pid);
	r.op = opcode;
	r.length = (u32)ur_min_u64(length, UINT32_MAX);
	r.wr_id = wr->wr_id;
	r.va = wr->raddr;
	r.rkey = wr->rkey;
	r.imm = wr->imm_inv;
	r.dest_qpn = qp->type == UR_QPT_UD ? wr->dqpn : ur_qp_dest(qp->qp);
	r.psns = ur_qp_psns(qp->qp, opcode, length);
	if (wr->flags & UR_WR_F_SIGNALED || qp->init.sq_sig_all)
		r.flags |= UROCE_RECORD_F_SIGNALED;
	if (first_psn(e, qp, r.psns, &r.psn))
		r.flags |= UROCE_RECORD_F_PSN;
	PROBE(5, work_request, r.qpn, r.wr_id, r.op, r.length, r.psn);
	ur_record_keep(e, &r);
}

static int sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct ur_eqp *qp = qp_ctx;
	int ret = qp->engine->ops->sq_next(qp_ctx, wr);

	if (ret > 0)
		record_send(qp->engine, qp, wr);
	return ret;
}

static int rq_next(void *rq_ctx, struct ur_recv_wr *wr)
{
	struct ur_erq *rq = rq_ctx;
	struct ur_engine *e = rq->ectx->engine;
	int ret = e->ops->rq_next(rq_ctx, wr);
	struct uroce_record r;
	u64 length = 0;

	if (ret <= 0)
		return ret;
	r = ur_record_begin(UROCE_RECORD_RECV, rq->qp ? rq->qp->qpn : 0);
	ur_record_owned(&r, rq->ectx->mem->uid, rq->ectx->mem->pid);
	for (u32 i = 0; i < wr->num_sge && i < UR_MAX_SGE; i++)
		length += wr->sge[i].length;
	r.length = (u32)ur_min_u64(length, UINT32_MAX);
	r.wr_id = wr->wr_id;
	r.psns = rq->srq ? ur_srq_number(rq->srq->srq) : 0;
	PROBE(3, receive, r.qpn, r.wr_id, r.length);
	ur_record_keep(e, &r);
	return ret;
}

static int cq_push(void *cq_ctx, const struct ur_wc *wc)
{
	struct ur_ecq *cq = cq_ctx;
	struct ur_engine *e = cq->ectx->engine;
	struct uroce_record r =
		ur_record_begin(UROCE_RECORD_COMPLETION, wc->qpn);

	ur_record_owned(&r, cq->ectx->mem->uid, cq->ectx->mem->pid);
	r.op = wc->opcode;
	r.status = wc->status;
	r.flags = wc->recv ? UROCE_RECORD_F_RECV : 0;
	r.length = wc->byte_len;
	r.wr_id = wc->wr_id;
	r.psn = wc->vendor_err;
	r.rkey = wc->src_qp;
	r.imm = wc->imm_inv;
	PROBE(5, completion, r.qpn, r.wr_id, r.status, r.op, r.length);
	ur_record_keep(e, &r);
	if (wc->status && wc->status != UR_WC_WR_FLUSH_ERR)
		mark_failed(e);
	return e->ops->cq_push(cq_ctx, wc);
}

/* ---- what the transport traces ---- */

static bool is_fatal(u64 event)
{
	return event == UR_EVENT_QP_FATAL || event == UR_EVENT_QP_REQ_ERR ||
	       event == UR_EVENT_QP_ACCESS_ERR;
}

static void retry(struct uroce_record *r, u8 op, u64 psn, u64 va)
{
	r->kind = UROCE_RECORD_RETRY;
	r->op = op;
	r->psn = (u32)psn;
	r->va = va;
	PROBE(4, retransmit, r->qpn, r->op, r->psn, r->va);
}

/* Makes a record of a trace event. Returns false if the event is not recorded. */
static bool translate(struct uroce_record *r, u32 id, u64 a, u64 b)
{
	switch (id) {
	case UR_TRACE_QP_STATE:
		r->kind = UROCE_RECORD_STATE;
		r->status = (u8)a;
		r->op = (u8)b;
		PROBE(3, qp_state, r->qpn, r->status, r->op);
		return true;
	case UR_TRACE_EVENT:
		r->kind = UROCE_RECORD_EVENT;
		r->op = (u8)a;
		return true;
	case UR_TRACE_VERDICT:
		r->kind = UROCE_RECORD_VERDICT;
		r->op = (u8)a;
		r->psn = (u32)b;
		return a != UR_VERDICT_ACCEPT;
	case UR_TRACE_REWIND:
		retry(r, UROCE_RECORD_REWIND, a, b);
		return true;
	case UR_TRACE_TIMEOUT:
		retry(r, UROCE_RECORD_TIMEOUT, b, a);
		return true;
	case UR_TRACE_PROBE:
		retry(r, UROCE_RECORD_PROBE, b, a);
		return true;
	case UR_TRACE_RNR_WAIT:
		retry(r, UROCE_RECORD_RNR_WAIT, b, a);
		return true;
	case UR_TRACE_IMPLIED_NAK:
		retry(r, UROCE_RECORD_MISSING, b, a);
		return true;
	case UR_TRACE_LOOP:
		r->kind = UROCE_RECORD_LOOP;
		r->op = (u8)a;
		r->length = (u32)b;
		return true;
	default:
		return false;
	}
}

static void trace(void *port_ctx, u32 id, u32 qpn, u64 a, u64 b)
{
	struct ur_engine *e = port_ctx;
	struct uroce_record r = {.qpn = qpn, .uid = UROCE_RECORD_NOBODY};
	const struct ur_eqp *qp;

	if (!translate(&r, id, a, b))
		return;
	r.ns = ur_clock_ns(CLOCK_MONOTONIC);
	qp = ur_port_qp_ctx(e->port, qpn);
	if (qp) {
		ur_record_owned(&r, qp->uid, qp->pid);
		r.dest_qpn = ur_qp_dest(qp->qp);
	}
	ur_record_keep(e, &r);
	if (r.kind == UROCE_RECORD_EVENT && is_fatal(a))
		mark_failed(e);
}

/* ---- on and off ---- */

void ur_record_choose(struct ur_engine *e)
{
	struct ur_engine_record *rec = &e->record;

	if (!rec->on) {
		ur_port_set_ops(e->port, e->ops);
		return;
	}
	rec->ops = *e->ops;
	rec->ops.sq_next = sq_next;
	rec->ops.rq_next = rq_next;
	rec->ops.cq_push = cq_push;
	rec->ops.trace = trace;
	ur_port_set_ops(e->port, &rec->ops);
}

void ur_record_set_ops(struct ur_engine *e, const struct ur_host_ops *ops)
{
	e->ops = ops;
	ur_record_choose(e);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work queues: takes entries from the rings, completes them, and flushes.
 */
#include "transport/internal.h"
#include "util/assert.h"

#include <errno.h>

#define FLUSH_PER_QUANTUM 128
_Static_assert(FLUSH_PER_QUANTUM <= UR_QUANTUM_ENTRIES,
	       "what a turn may complete");

static void push_wc(struct ur_qp *qp, void *cq_ctx, struct ur_wc *wc)
{
	wc->qpn = qp->qpn;
	ur_trace(qp->port, UR_TRACE_WC, qp->qpn,
		 (u64)wc->status << 8 | wc->opcode, wc->wr_id);
	if (wc->status) {
		if (wc->recv)
			ur_count(qp->port, wc->status == UR_WC_WR_FLUSH_ERR
						   ? UR_CNT_resp_cqe_flush_error
						   : UR_CNT_resp_cqe_error);
		else
			ur_count(qp->port, wc->status == UR_WC_WR_FLUSH_ERR
						   ? UR_CNT_req_cqe_flush_error
						   : UR_CNT_req_cqe_error);
	}
	if (qp->port->ops->cq_push(cq_ctx, wc) && qp->state != UR_QP_ERR) {
		/* IBTA 11.6.3.2: the completion was lost. */
		ur_failure_broken(qp, UR_REASON_CQ);
		if (!qp->fatal_said)
			ur_qp_event(qp, UR_EVENT_QP_FATAL);
		qp->fatal_said = true;
		ur_qp_fail(qp);
	}
}

/* ---- send queue ---- */

static const u8 wc_opcode[UR_WR_OPCODES] = {
	[UR_WR_SEND] = UR_WC_SEND,
	[UR_WR_SEND_IMM] = UR_WC_SEND,
	[UR_WR_SEND_INV] = UR_WC_SEND,
	[UR_WR_WRITE] = UR_WC_RDMA_WRITE,
	[UR_WR_WRITE_IMM] = UR_WC_RDMA_WRITE,
	[UR_WR_READ] = UR_WC_RDMA_READ,
	[UR_WR_CMP_SWAP] = UR_WC_COMP_SWAP,
	[UR_WR_FETCH_ADD] = UR_WC_FETCH_ADD,
	[UR_WR_MASK_CMP_SWAP] = UR_WC_COMP_SWAP,
	[UR_WR_MASK_FETCH_ADD] = UR_WC_FETCH_ADD,
	[UR_WR_BIND_MW] = UR_WC_BIND_MW,
	[UR_WR_LOCAL_INV] = UR_WC_LOCAL_INV,
	[UR_WR_ATOMIC_WRITE] = UR_WC_ATOMIC_WRITE,
	[UR_WR_FLUSH] = UR_WC_FLUSH,
};

#define OPS_SEND  ((1u << UR_WR_SEND) | (1u << UR_WR_SEND_IMM))
#define OPS_WRITE ((1u << UR_WR_WRITE) | (1u << UR_WR_WRITE_IMM))
#define OPS_LOCAL ((1u << UR_WR_BIND_MW) | (1u << UR_WR_LOCAL_INV))
#define OPS_ALL	  (((1u << UR_WR_OPCODES) - 1) & ~1u)

static u32 allowed_ops(const struct ur_qp *qp)
{
	switch (qp->svc) {
	case UR_SVC_UD:
		return OPS_SEND;
	case UR_SVC_RAW:
		return 1u << UR_WR_SEND;
	case UR_SVC_UC:
		return OPS_SEND | OPS_WRITE | OPS_LOCAL;
	default:
		return OPS_ALL;
	}
}

/* Checks only the form of the request. Returns 0 or the completion status. */
static u8 check_form(const struct ur_qp *qp, const struct ur_send_wr *wr,
		     u64 length)
{
	if (wr->opcode == UR_WR_NOP)
		return 0;
	if (wr->opcode >= UR_WR_OPCODES)
		return wr->opcode & UR_WR_FAILS
			       ? (u8)(wr->opcode & ~UR_WR_FAILS)
			       : UR_WC_LOC_QP_OP_ERR;
	if (!(allowed_ops(qp) & (1u << wr->opcode)))
		return UR_WC_LOC_QP_OP_ERR;
	if (wr->num_sge > qp->init.max_send_sge)
		return UR_WC_LOC_QP_OP_ERR;
	if (length > UR_MAX_MSG_BYTES)
		return UR_WC_LOC_LEN_ERR;
	if (qp->svc == UR_SVC_UD && !wr->av)
		return UR_WC_LOC_QP_OP_ERR;
	if (wr->opcode >= UR_WR_CMP_SWAP &&
	    wr->opcode <= UR_WR_MASK_FETCH_ADD && length != 8)
		return UR_WC_LOC_LEN_ERR;
	if (wr->opcode == UR_WR_ATOMIC_WRITE && length != 8)
		return UR_WC_LOC_LEN_ERR;
	if (wr->opcode == UR_WR_FLUSH && wr->flush_length > UR_MAX_MSG_BYTES)
		return UR_WC_LOC_LEN_ERR;
	/* more than FETH has bits for */
	if (wr->opcode == UR_WR_FLUSH &&
	    (wr->flush_type > 15 || wr->flush_level > 3))
		return UR_WC_LOC_QP_OP_ERR;
	return 0;
}

static void copy_operands(struct ur_swqe *e, const struct ur_send_wr *wr,
			  const struct ur_qp *qp)
{
	/* For any opcode: release_entry() goes by the service. */
	if (qp->svc == UR_SVC_UD) {
		e->ud.av = wr->av ? ur_av_get(wr->av) : NULL;
		e->ud.dqpn = wr->dqpn;
		e->ud.qkey = wr->qkey;
		return;
	}
	switch (wr->opcode) {
	case UR_WR_CMP_SWAP:
	case UR_WR_FETCH_ADD:
	case UR_WR_MASK_CMP_SWAP:
	case UR_WR_MASK_FETCH_ADD:
		e->atomic.swap_add = wr->swap_add;
		e->atomic.compare = wr->compare;
		e->atomic.swap_add_mask = wr->swap_add_mask;
		e->atomic.compare_mask = wr->compare_mask;
		break;
	case UR_WR_BIND_MW:
		e->bind.addr = wr->bind_addr;
		e->bind.length = wr->bind_length;
		e->bind.mw_rkey = wr->bind_mw_rkey;
		e->bind.new_rkey = wr->bind_new_rkey;
		e->bind.mr_lkey = wr->bind_mr_lkey;
		e->bind.access = wr->bind_access;
		break;
	case UR_WR_FLUSH:
		e->flush.type = wr->flush_type;
		e->flush.level = wr->flush_level;
		e->flush.length = wr->flush_length;
		break;
	default:
		break;
	}
}

static void fill_entry(struct ur_qp *qp, struct ur_swqe *e,
		       const struct ur_send_wr *wr)
{
	u64 length = 0;

	e->wr_id = wr->wr_id;
	e->wqe_counter = wr->wqe_counter;
	e->ring_end = wr->ring_end;
	e->opcode = wr->opcode;
	e->flags = wr->flags;
	e->state = UR_SWQE_PULLED;
	e->num_sge = 0;
	e->imm_inv = wr->imm_inv;
	e->rkey = wr->rkey;
	e->raddr = wr->raddr;
	e->xrc_srqn = wr->xrc_srqn;
	e->loop_off = 0;
	e->cur = (struct ur_cursor){0};
	if (wr->flags & UR_WR_F_INLINE) {
		e->inl[0] = wr->inl[0];
		e->inl[1] = wr->inl[1];
		e->inl_len[0] = wr->inl_len[0];
		e->inl_len[1] = wr->inl_len[1];
		length = (u64)wr->inl_len[0] + wr->inl_len[1];
	} else {
		for (u32 i = 0; i < wr->num_sge && i < UR_MAX_SGE; i++)
			length += wr->sge[i].length;
		if (wr->num_sge <= qp->init.max_send_sge) {
			e->num_sge = wr->num_sge;
			memcpy(e->sge, wr->sge,
			       wr->num_sge * sizeof(e->sge[0]));
		}
	}
	e->status = check_form(qp, wr, length);
	e->length = (u32)length;
	copy_operands(e, wr, qp);
}

bool ur_sq_pull(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	struct ur_port *port = qp->port;
	int err;

	if (req->dry || req->dead || req->tail - req->head > req->mask)
		return false;
	err = port->ops->sq_next(qp->init.ctx, &port->wr);
	if (err == 0) {
		req->dry = true;
		return false;
	}
	if (err < 0) {
		req->dead = true;
		ur_failure_broken(qp, UR_REASON_RING);
		ur_qp_event(qp, UR_EVENT_QP_FATAL);
		ur_qp_fail(qp);
		return false;
	}
	ur_assert_hot(req->tail - req->head <= req->mask);
	fill_entry(qp, ur_sq_entry(qp, req->tail), &port->wr);
	req->tail++;
	return true;
}

static void release_entry(struct ur_qp *qp, struct ur_swqe *e)
{
	ur_assert_hot((const u8 *)e >= (const u8 *)qp->req.entries);
	if (qp->svc == UR_SVC_UD) {
		ur_port_av_put(qp->port, e->ud.av);
		e->ud.av = NULL;
	}
}

void ur_sq_complete(struct ur_qp *qp, struct ur_swqe *e, u8 status)
{
	bool signaled = (e->flags & UR_WR_F_SIGNALED) || qp->init.sq_sig_all;
	struct ur_wc wc = {
		.wr_id = e->wr_id,
		.wqe_counter = e->wqe_counter,
		.byte_len = e->length,
		.opcode = e->opcode < UR_WR_OPCODES ? wc_opcode[e->opcode] : 0,
		.status = status,
		.solicited = status != 0,
	};

	ur_assert_hot(e == ur_sq_entry(qp, qp->req.head));
	ur_assert_hot(qp->req.head != qp->req.tail);
	qp->req.head++;
	if ((s32)(qp->req.tx - qp->req.head) < 0)
		qp->req.tx = qp->req.head;
	release_entry(qp, e);
	/* Before the completion: a program that sees it may post again at
	 * once. */
	qp->port->ops->sq_retire(qp->init.ctx, e->ring_end);
	/* An error completes even if unsignaled (IBTA 10.7.3.1). */
	if ((signaled && e->opcode != UR_WR_NOP) || status)
		push_wc(qp, qp->init.send_cq_ctx, &wc);
}

/* ---- receive queue ---- */

static bool rq_next(struct ur_qp *qp, struct ur_srq *srq)
{
	struct ur_port *port = qp->port;
	int err;

	if (srq ? srq->dead : qp->resp.rq_dead)
		return false;
	err = port->ops->rq_next(srq ? srq->attr.rq_ctx : qp->init.rq_ctx,
				 &port->rwr);
	if (err > 0 && port->rwr.num_sge > qp->resp.rqe_max_sge)
		err = -EINVAL;
	if (err >= 0) {
		if (err && srq)
			ur_srq_taken(srq);
		return err;
	}
	if (srq) {
		ur_srq_fail(srq);
	} else {
		qp->resp.rq_dead = true;
		ur_failure_broken(qp, UR_REASON_RING);
		ur_qp_event(qp, UR_EVENT_QP_FATAL);
		ur_qp_fail(qp);
	}
	return false;
}

bool ur_rq_take(struct ur_qp *qp, struct ur_srq *srq)
{
	const struct ur_recv_wr *wr = &qp->port->rwr;
	struct ur_rqe *rqe = &qp->resp.rqe;
	u64 length = 0;

	ur_assert_hot(!srq || srq->port == qp->port);
	if (rqe->held)
		return true;
	if (!rq_next(qp, srq))
		return false;
	for (u32 i = 0; i < wr->num_sge; i++) {
		qp->resp.rqe_sge[i] = wr->sge[i];
		length += wr->sge[i].length;
	}
	rqe->held = true;
	qp->resp.place.gen = 0;
	rqe->wr_id = wr->wr_id;
	rqe->wqe_counter = wr->wqe_counter;
	rqe->num_sge = wr->num_sge;
	rqe->length = (u32)ur_min_u64(length, UR_MAX_MSG_BYTES);
	rqe->cur = (struct ur_cursor){0};
	rqe->srqn = srq ? srq->srqn : 0;
	rqe->pd = srq ? srq->attr.pd : qp->init.pd;
	rqe->cq_ctx =
		srq && srq->attr.xrc ? srq->attr.cq_ctx : qp->init.recv_cq_ctx;
	return true;
}

void ur_rq_complete(struct ur_qp *qp, struct ur_wc *wc)
{
	struct ur_rqe *rqe = &qp->resp.rqe;

	wc->wr_id = rqe->wr_id;
	wc->wqe_counter = rqe->wqe_counter;
	wc->srqn = rqe->srqn;
	wc->recv = true;
	rqe->held = false;
	push_wc(qp, rqe->cq_ctx, wc);
}

/* ---- flush ---- */

static bool flush_send(struct ur_qp *qp, u32 *budget)
{
	struct ur_requester *req = &qp->req;

	while (req->head != req->tail || ur_sq_pull(qp)) {
		if (!*budget)
			return true;
		--*budget;
		ur_sq_complete(qp, ur_sq_entry(qp, req->head),
			       UR_WC_WR_FLUSH_ERR);
	}
	req->tx = req->head;
	return false;
}

static bool flush_recv(struct ur_qp *qp, u32 *budget)
{
	while (qp->resp.rqe.held ||
	       (qp->has_rq && !qp->init.srq && ur_rq_take(qp, NULL))) {
		struct ur_wc wc = {.opcode = UR_WC_RECV,
				   .status = UR_WC_WR_FLUSH_ERR,
				   .solicited = true};

		if (!*budget)
			return true;
		--*budget;
		ur_rq_complete(qp, &wc);
	}
	return false;
}

bool ur_wq_flush(struct ur_qp *qp)
{
	u32 budget = FLUSH_PER_QUANTUM;

	if (qp->has_sq && flush_send(qp, &budget))
		return true;
	if (qp->state != UR_QP_ERR)
		return false;
	if (qp->has_rq && !qp->init.srq && !qp->resp.rq_wanted) {
		/* First, so that no receive posted from here on is missed. */
		qp->resp.rq_wanted = true;
		qp->port->ops->rq_want_kick(qp->init.rq_ctx, true);
	}
	if (flush_recv(qp, &budget))
		return true;
	if (qp->init.srq && !qp->last_wqe_said) {
		qp->last_wqe_said = true;
		ur_qp_event(qp, UR_EVENT_QP_LAST_WQE_REACHED);
	}
	return false;
}

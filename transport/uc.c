// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The responder of UC: nothing is answered, and a message with a gap or a
 * fault is dropped whole. IBTA volume 1, 9.8.2.
 */
#include "transport/internal.h"

/* Drops the message under way; its receive WQE serves the next one
 * (9.8.2.2.4). */
static void drop_message(struct ur_qp *qp)
{
	qp->resp.msg = UR_RX_NONE;
}

/* 9.8.2.2.1, 9.8.2.2.2: a gap ends the message under way; a first or only
 * packet restarts at its own PSN. */
static bool in_sequence(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	bool gap = pkt->psn != resp->epsn;

	resp->epsn = ur_psn_add(pkt->psn, 1);
	if (gap) {
		ur_count(qp->port, UR_CNT_out_of_sequence);
		ur_qp_count(qp, UR_QP_CNT_out_of_sequence, 1);
	}
	if (flags & UR_OPF_START) {
		drop_message(qp);
		return true;
	}
	if (gap ||
	    resp->msg != (flags & UR_OPF_SEND ? UR_RX_SEND : UR_RX_WRITE)) {
		drop_message(qp);
		return false;
	}
	return true;
}

static bool length_fits(const struct ur_qp *qp, const struct ur_pkt *pkt,
			u32 off)
{
	u32 flags = pkt->op->flags, n = pkt->payload_bytes;
	u32 total = flags & UR_OPF_START ? pkt->dma_bytes : qp->resp.length;

	if ((flags & (UR_OPF_FIRST | UR_OPF_MIDDLE)) && n != qp->mtu)
		return false;
	if (n > qp->mtu || ((flags & UR_OPF_LAST) && !n))
		return false;
	if (flags & UR_OPF_SEND)
		return true;
	if (total > UR_MAX_MSG_BYTES)
		return false;
	return flags & UR_OPF_END ? n == total - off : n < total - off;
}

static bool place_send(struct ur_qp *qp, const struct ur_pkt *pkt, u32 off)
{
	struct ur_responder *resp = &qp->resp;
	enum ur_verdict v;
	int err;

	if ((pkt->op->flags & UR_OPF_START) && !ur_responder_take(qp, 0, &v)) {
		ur_count(qp->port, UR_CNT_out_of_buffer);
		return false;
	}
	if (pkt->payload_bytes > resp->rqe.length - off) {
		ur_responder_fatal(qp, UR_VERDICT_NAK_INVALID,
				   UR_WC_LOC_LEN_ERR, NULL);
		return false;
	}
	err = ur_mem_scatter(qp->port, resp->rqe.pd, resp->rqe_sge,
			     resp->rqe.num_sge, &resp->rqe.cur, off,
			     pkt->payload, pkt->payload_bytes,
			     pkt->op->flags & UR_OPF_END);
	if (err) {
		ur_responder_fatal(qp,
				   ur_responder_blame(err, UR_VERDICT_NAK_OP),
				   UR_WC_LOC_PROT_ERR, NULL);
		return false;
	}
	return true;
}

static bool place_write(struct ur_qp *qp, const struct ur_pkt *pkt, u32 off)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	struct ur_span span;
	enum ur_verdict v;

	if (flags & UR_OPF_START) {
		if (!ur_rx_check_allows(qp, flags, 0))
			return false;
		if (pkt->dma_bytes &&
		    !ur_mem_remote(qp, pkt->rkey, pkt->va, pkt->dma_bytes,
				   UR_ACCESS_REMOTE_WRITE, &span))
			return false;
		ur_count(qp->port, UR_CNT_rx_write_requests);
		resp->va = pkt->va;
		resp->rkey = pkt->rkey;
		resp->length = pkt->dma_bytes;
	}
	if ((flags & UR_OPF_RECV_WQE) && !ur_responder_take(qp, 0, &v)) {
		ur_count(qp->port, UR_CNT_out_of_buffer);
		return false;
	}
	return !pkt->payload_bytes ||
	       (ur_mem_remote(qp, resp->rkey, resp->va + off,
			      pkt->payload_bytes, UR_ACCESS_REMOTE_WRITE,
			      &span) &&
		!ur_span_write(&span, pkt->payload, pkt->payload_bytes,
			       flags & UR_OPF_END));
}

void ur_uc_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags, off;
	bool good;

	if (!in_sequence(qp, pkt))
		return;
	off = flags & UR_OPF_START ? 0 : resp->offset;
	good = length_fits(qp, pkt, off) &&
	       (flags & UR_OPF_SEND ? place_send(qp, pkt, off)
				    : place_write(qp, pkt, off));
	if (!good) {
		drop_message(qp);
		return;
	}
	if (qp->state == UR_QP_RTR && !qp->comm_est) {
		qp->comm_est = true;
		ur_qp_event(qp, UR_EVENT_COMM_EST);
	}
	resp->offset = off + pkt->payload_bytes;
	resp->msg = flags & UR_OPF_END	  ? UR_RX_NONE
		    : flags & UR_OPF_SEND ? UR_RX_SEND
					  : UR_RX_WRITE;
	if ((flags & UR_OPF_END) && (flags & (UR_OPF_SEND | UR_OPF_RECV_WQE)))
		ur_execute_complete(qp, flags, resp->offset, pkt->imm, 0,
				    pkt->se);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The completer: handles the peer's answers to our requests. IBTA volume 1,
 * 9.7.5 (acknowledge messages).
 */
#include "transport/internal.h"
#include "transport/retry.h"

static void take_credits(struct ur_qp *qp, u8 syndrome, u32 msn)
{
	struct ur_requester *req = &qp->req;
	u8 code = syndrome & UR_AETH_VALUE_MASK;
	u32 limit;

	if ((syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK)
		return;
	if (code == UR_AETH_CREDIT_NONE) {
		req->credit_limited = false;
		return;
	}
	limit = ur_psn_add(msn, ur_credit_count(code));
	/* An old acknowledgement must not take credits back. */
	if (req->credit_limited && ur_psn_diff(limit, req->credit_ssn) < 0)
		return;
	req->credit_limited = true;
	req->credit_ssn = limit;
}

/* Returns the oldest entry that has PSNs, after popping completed ones. */
static struct ur_swqe *oldest(struct ur_qp *qp)
{
	struct ur_swqe *e;

	ur_completer_retire(qp);
	if (qp->req.head == qp->req.tail)
		return NULL;
	e = ur_sq_entry(qp, qp->req.head);
	return e->state == UR_SWQE_STARTED ? e : NULL;
}

void ur_completer_advance(struct ur_qp *qp, u32 una)
{
	struct ur_requester *req = &qp->req;

	ur_inflight_answered(qp, ur_psn_sub(una, req->una));
	if (ur_psn_diff(req->tx_psn, una) < 0) {
		/* Answered before its repetition was sent. */
		req->tx_psn = una;
		req->tx = req->head;
	}
	req->una = una;
	ur_retry_progress(qp);
}

/* Acknowledges everything up to psn. Returns false where a READ or atomic
 * before that was not answered: an acknowledgement cannot replace its
 * answer. */
static bool ack_through(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	while (ur_psn_diff(psn, req->una) >= 0) {
		struct ur_swqe *e = oldest(qp);
		u32 left, count;

		if (!e || qp->state == UR_QP_ERR)
			break;
		if (ur_swqe_is_read_type(e))
			return false;
		/* A message may span half the PSN space: no signs here. */
		left = ur_psn_sub(ur_swqe_end(e), req->una);
		count = ur_psn_sub(psn, req->una) + 1;
		ur_completer_advance(
			qp, ur_psn_add(req->una, ur_min_u32(left, count)));
	}
	ur_completer_retire(qp);
	return true;
}

static void implied_nak(struct ur_qp *qp, u32 psn)
{
	u32 missing = ur_psn_sub(psn, qp->req.una);

	ur_trace(qp->port, UR_TRACE_IMPLIED_NAK, qp->qpn, psn, qp->req.una);
	/* Answers to the first request that are still under way say nothing
	 * new. If the second request is lost too, the timer notices. */
	if (qp->req.asked_again)
		return;
	ur_count(qp->port, UR_CNT_implied_nak_seq_err);
	if (qp->req.asked_in_vain ? ur_retry_again(qp, missing)
				  : ur_retry_sequence(qp, missing))
		qp->req.asked_again = true;
}

/* Returns whether the NAK has failed the peer's queue pair (IBTA 9.9.3). */
static bool is_fatal(const struct ur_pkt *pkt)
{
	return (pkt->syndrome & UR_AETH_CLASS_MASK) == UR_AETH_NAK &&
	       (pkt->syndrome & UR_AETH_VALUE_MASK) != UR_NAK_PSN_SEQ;
}

/*
 * A request was refused, and data of a READ before it, or of that READ itself, are missing. If the
 * READ itself was refused, the missing data never come. If a later request was refused, the NAK may
 * have overtaken the data: they are requested again, but not for long if the peer does not answer.
 */
static void refused(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	const struct ur_swqe *e = oldest(qp);

	if (e && ur_swqe_is_read_type(e) &&
	    ur_psn_within(pkt->psn, e->psn, e->npkts)) {
		ur_completer_nak(qp, pkt->syndrome & UR_AETH_VALUE_MASK);
		return;
	}
	implied_nak(qp, pkt->psn);
	qp->req.peer_failed = true;
	qp->req.failed_una = qp->req.una;
}

static void rx_nak(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u8 value = pkt->syndrome & UR_AETH_VALUE_MASK;

	/* All packets before the refused one have arrived. */
	if (!ack_through(qp, ur_psn_add(pkt->psn, -1))) {
		if (is_fatal(pkt))
			refused(qp, pkt);
		else
			implied_nak(qp, pkt->psn);
		return;
	}
	if (qp->state == UR_QP_ERR || qp->req.una != pkt->psn)
		return;
	if ((pkt->syndrome & UR_AETH_CLASS_MASK) == UR_AETH_RNR_NAK) {
		ur_count(qp->port, UR_CNT_rcvd_rnr_err);
		ur_retry_rnr(qp, value);
	} else if (value == UR_NAK_PSN_SEQ) {
		ur_count(qp->port, UR_CNT_rcvd_seq_err);
		ur_count(qp->port, UR_CNT_packet_seq_err);
		ur_retry_hole(qp);
	} else {
		ur_completer_nak(qp, value);
	}
}

static void rx_ack(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	ur_trace(qp->port, UR_TRACE_ACK_RCVD, qp->qpn, pkt->syndrome, pkt->psn);
	switch (pkt->syndrome & UR_AETH_CLASS_MASK) {
	case UR_AETH_ACK:
		if (!ack_through(qp, pkt->psn))
			implied_nak(qp, pkt->psn);
		else
			ur_retry_hole_acked(qp, pkt->psn);
		break;
	case UR_AETH_RNR_NAK:
	case UR_AETH_NAK:
		rx_nak(qp, pkt);
		break;
	default:
		break; /* reserved syndrome: ignored */
	}
}

static bool read_answer_fits(const struct ur_qp *qp, const struct ur_swqe *e,
			     const struct ur_pkt *pkt, u32 i)
{
	u32 chunk_end = ur_read_end(qp, e, i);
	u32 want = ur_min_u32(qp->mtu, e->length - (i << qp->mtu_shift));

	/* A READ that was requested again from its middle answers with a FIRST
	 * there; a late MIDDLE of the first answer is as good. */
	if (!!(pkt->op->flags & UR_OPF_END) != (i + 1 == chunk_end))
		return false;
	return pkt->payload_bytes == want;
}

static void take_response(struct ur_qp *qp, u32 psn, bool request_done)
{
	struct ur_requester *req = &qp->req;

	/* Counted in rd_out only if it was sent since the last go-back. */
	if (request_done && req->rd_out && ur_psn_diff(psn, req->tx_psn) < 0)
		req->rd_out--;
	ur_completer_advance(qp, ur_psn_add(psn, 1));
	ur_completer_retire(qp);
}

static void rx_read_data(struct ur_qp *qp, struct ur_swqe *e,
			 const struct ur_pkt *pkt)
{
	u32 i = ur_psn_sub(pkt->psn, e->psn);

	if (!read_answer_fits(qp, e, pkt, i)) {
		ur_completer_fail(qp, UR_WC_BAD_RESP_ERR);
		return;
	}
	if (ur_mem_scatter(qp->port, qp->init.pd, e->sge, e->num_sge, &e->cur,
			   i << qp->mtu_shift, pkt->payload, pkt->payload_bytes,
			   i + 1 == e->npkts)) {
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return;
	}
	take_response(qp, pkt->psn, pkt->op->flags & UR_OPF_END);
}

static void rx_atomic_ack(struct ur_qp *qp, struct ur_swqe *e,
			  const struct ur_pkt *pkt)
{
	u64 orig = pkt->atomic_orig; /* host order, as verbs gives it */

	if (ur_mem_scatter(qp->port, qp->init.pd, e->sge, e->num_sge, &e->cur,
			   0, (const u8 *)&orig, sizeof(orig), true)) {
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return;
	}
	take_response(qp, pkt->psn, true);
}

/* Answers come in the order of PSNs. An earlier PSN means that they are of the
 * second request, and the awaited one was lost again; or that the network
 * reordered them. So this counts as no retry: if nothing comes of it, the
 * timer's retries count. */
static void gap_in_answers(struct ur_qp *qp, u32 psn)
{
	if (qp->req.asked_again && ur_psn_diff(psn, qp->req.answer_psn) < 0) {
		qp->req.asked_again = false;
		qp->req.asked_in_vain = true;
	}
	qp->req.answer_psn = psn;
	if (qp->share.stale)
		qp->share.stale--;
	implied_nak(qp, psn);
}

static void rx_data(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	struct ur_swqe *e;

	if (!ack_through(qp, ur_psn_add(pkt->psn, -1)) ||
	    qp->req.una != pkt->psn) {
		if (qp->state != UR_QP_ERR)
			gap_in_answers(qp, pkt->psn);
		return;
	}
	e = oldest(qp);
	if (!e)
		return;
	if (e->opcode == UR_WR_READ && (flags & UR_OPF_READ_RESP))
		rx_read_data(qp, e, pkt);
	else if ((e->opcode == UR_WR_ATOMIC_WRITE ||
		  e->opcode == UR_WR_FLUSH) &&
		 pkt->opcode == (qp->svc | UR_OPC_READ_RESP_ONLY) &&
		 !pkt->payload_bytes)
		take_response(qp, pkt->psn, true);
	else if (e->opcode >= UR_WR_CMP_SWAP &&
		 e->opcode <= UR_WR_MASK_FETCH_ADD &&
		 (flags & UR_OPF_ATOMIC_ACK))
		rx_atomic_ack(qp, e, pkt);
	else
		ur_completer_fail(qp, UR_WC_BAD_RESP_ERR);
}

/*
 * Returns whether this packet may answer what is outstanding. With many packets
 * in flight a forged answer easily hits one, so an answer must come from the
 * source port of the last ones. Another port is accepted only while requests
 * are being repeated: the peer's path may have changed.
 */
static bool credible(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_requester *req = &qp->req;

	/* Without a timeout no request would be repeated. */
	if (qp->attr.timeout && req->origin.known &&
	    req->origin.sport != pkt->sport && !req->retries && !req->probes &&
	    !req->rnr_retries)
		return false;
	ur_origin_learn(&req->origin, pkt->sport);
	return true;
}

/* Notes an answer to nothing outstanding, for the report of a failure. */
__attribute__((cold, noinline)) static void note_stray(struct ur_qp *qp,
						       const struct ur_pkt *pkt)
{
	if (!(pkt->op->flags & UR_OPF_AETH))
		return;
	qp->req.stray_syndrome = pkt->syndrome;
	qp->req.stray_psn = pkt->psn;
	qp->req.stray_at = qp->port->now;
}

void ur_completer_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_requester *req = &qp->req;
	u32 open;

	if (!ur_qp_is_reliable(qp) || !qp->has_sq ||
	    (qp->state != UR_QP_RTS && qp->state != UR_QP_SQD)) {
		ur_count(qp->port, UR_CNT_bad_state);
		return;
	}
	/* IBTA 9.7.5.1.1: only answers to outstanding packets count, and for
	 * credits (9.7.7.2) also to the last one answered. */
	open = ur_psn_sub(req->max_psn, req->una);
	if (!ur_psn_within(pkt->psn, ur_psn_add(req->una, -1), open + 1)) {
		note_stray(qp, pkt);
		return;
	}
	if (!credible(qp, pkt))
		return;
	if (pkt->op->flags & UR_OPF_AETH)
		take_credits(qp, pkt->syndrome, pkt->msn);
	if (ur_psn_within(pkt->psn, req->una, open)) {
		if (pkt->op->flags & UR_OPF_ACK)
			rx_ack(qp, pkt);
		else
			rx_data(qp, pkt);
	} else if (req->una != req->max_psn && pkt->op->flags & UR_OPF_ACK) {
		ur_retry_moves(qp);
	}
	/* Window or credits may have grown, or repetitions are due. */
	if (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD) {
		ur_port_activate(qp->port, qp);
		ur_qp_rearm(qp);
		if (ur_path_holds(qp))
			ur_path_answered(qp);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The responder of RC and XRC. One short function has the control flow: it gets
 * the verdict of rx_check.c on a packet, and acts on it. IBTA volume 1, 9.7.4.
 */
#include "transport/internal.h"

/* A missing packet may be lost again. The responder repeats the NAK after this
 * time, or after this many packets behind the gap. Both double with each
 * repetition: a network that reorders packets looks the same, and its packet
 * only needs time. */
#define RENAK_NS	50000u
#define RENAK_PKTS	64u
#define RENAK_SHIFT_MAX 7

void ur_responder_reset(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;

	resp->epsn = 0;
	resp->msn = 0;
	resp->msg = UR_RX_NONE;
	resp->nak_sent = false;
	resp->rnr_sent = false;
	resp->ack_due = false;
	resp->cnp_due = false;
	resp->since_nak = 0;
	resp->renak_shift = 0;
	resp->place.gen = 0;
	resp->origin.known = false;
	ur_ooo_drop_all(qp);
	ur_replay_reset(qp);
}

/* Requests the missing PSN. */
static void send_nak(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;

	if (resp->nak_sent && resp->renak_shift < RENAK_SHIFT_MAX)
		resp->renak_shift++;
	resp->nak_sent = true;
	resp->nak_at = qp->port->now;
	resp->since_nak = 0;
	ur_answer_ack(qp, UR_AETH_NAK | UR_NAK_PSN_SEQ, resp->epsn);
}

static void nak_sequence(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	u64 patience = (u64)RENAK_NS << resp->renak_shift;
	/* A PSN that does not grow: the peer has gone back, and the missing
	 * packet was lost again. */
	bool again = ur_psn_diff(pkt->psn, resp->ooo_last) <= 0 &&
		     qp->port->now - resp->nak_at >= patience;

	ur_ooo_keep(qp, pkt);
	resp->ooo_last = pkt->psn;
	/* Packets after an RNR NAK were sent before it arrived, and the peer
	 * goes back anyway. */
	if (++resp->since_nak >= RENAK_PKTS << resp->renak_shift &&
	    !resp->rnr_sent)
		again = true;
	ur_count(qp->port, UR_CNT_out_of_sequence);
	ur_qp_count(qp, UR_QP_CNT_out_of_sequence, 1);
	if (resp->nak_sent && !again)
		return;
	resp->rnr_sent = false;
	send_nak(qp);
}

static void note_established(struct ur_qp *qp)
{
	if (qp->state != UR_QP_RTR || qp->comm_est)
		return;
	qp->comm_est = true;
	ur_qp_event(qp, UR_EVENT_COMM_EST);
}

static void note_accepted(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;

	resp->rnr_sent = false;
	resp->nak_sent = false;
	resp->renak_shift = 0;
	resp->since_nak = 0;
	if (resp->ack_due && resp->ack_psn == pkt->psn &&
	    (resp->ack_syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK)
		/* the missing packet has arrived by itself */
		resp->ack_due = false;
	if (pkt->ackreq && !(pkt->op->flags & UR_OPF_OWN_ANSWER))
		ur_answer_ack(qp, ur_answer_credits(qp), pkt->psn);
}

/* Asks the host whether to refuse this valid request. */
static enum ur_verdict ask_host(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	switch (qp->port->ops->refuse(qp->init.ctx, pkt->opcode)) {
	case UR_REFUSE_INV_REQ:
		qp->resp.by_rule = true;
		return UR_VERDICT_NAK_INVALID;
	case UR_REFUSE_ACCESS:
		qp->resp.by_rule = true;
		return UR_VERDICT_NAK_ACCESS;
	case UR_REFUSE_OP:
		qp->resp.by_rule = true;
		return UR_VERDICT_NAK_OP;
	case UR_REFUSE_RNR:
		return UR_VERDICT_RNR;
	default:
		return UR_VERDICT_ACCEPT;
	}
}

static u8 opcode_of(const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (flags & UR_OPF_SEND)
		return flags & UR_OPF_INV   ? UR_WR_SEND_INV
		       : flags & UR_OPF_IMM ? UR_WR_SEND_IMM
					    : UR_WR_SEND;
	if (flags & UR_OPF_WRITE)
		return flags & UR_OPF_IMM ? UR_WR_WRITE_IMM : UR_WR_WRITE;
	if (flags & UR_OPF_READ_REQ)
		return UR_WR_READ;
	if (flags & UR_OPF_ATOMIC_WRITE)
		return UR_WR_ATOMIC_WRITE;
	if (flags & UR_OPF_FLUSH)
		return UR_WR_FLUSH;
	return (pkt->opcode & UR_OPC_MASK) == UR_OPC_CMP_SWAP ? UR_WR_CMP_SWAP
							      : UR_WR_FETCH_ADD;
}

__attribute__((cold, noinline)) static void
refuse(struct ur_qp *qp, const struct ur_pkt *pkt, enum ur_verdict v, u8 status)
{
	struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	struct ur_asked asked = {
		.opcode = opcode_of(pkt),
		.reason = (u8)ur_rx_check_reason(qp, pkt),
		.need = ur_access_needed(flags, pkt->flush_placement),
		.rkey = pkt->rkey,
		.psn = pkt->psn,
		.payload = pkt->payload_bytes,
		.va = pkt->va,
		.length = flags & UR_OPF_ATOMIC ? 8 : pkt->dma_bytes,
	};

	if (flags & UR_OPF_SEND) {
		asked.length = pkt->payload_bytes +
			       (flags & UR_OPF_START ? 0 : resp->offset);
	} else if ((flags & UR_OPF_WRITE) && !(flags & UR_OPF_START)) {
		asked.rkey = resp->rkey;
		asked.va = resp->va;
		asked.length = resp->length;
	}
	if (resp->by_rule)
		asked.reason = UR_REASON_RULE;
	else if (!asked.reason && v == UR_VERDICT_NAK_ACCESS)
		/* the memory has gone meanwhile */
		asked.reason = UR_REASON_MEMORY;
	else if (!asked.reason && (flags & UR_OPF_SEND) && !qp->has_rq)
		asked.reason = UR_REASON_NO_RECEIVES;
	resp->by_rule = false;
	if (v == UR_VERDICT_NAK_ACCESS &&
	    ur_responder_take_refused(qp, flags, pkt->xrc_srqn))
		status = UR_WC_LOC_ACCESS_ERR;
	ur_responder_refuse(qp, v, status, &asked);
}

static enum ur_verdict rx_one(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	enum ur_verdict v;
	u8 status = 0;

	ur_responder_domain(qp, pkt->xrc_srqn);
	v = ur_rx_check(qp, pkt);
	if (v == UR_VERDICT_ACCEPT && qp->port->ops->refuse)
		v = ask_host(qp, pkt);
	if (v == UR_VERDICT_ACCEPT)
		v = ur_execute(qp, pkt, &status);
	if (v != UR_VERDICT_ACCEPT)
		ur_trace(qp->port, UR_TRACE_VERDICT, qp->qpn, v, pkt->psn);
	switch (v) {
	case UR_VERDICT_ACCEPT:
		note_established(qp);
		note_accepted(qp, pkt);
		break;
	case UR_VERDICT_DUPLICATE:
		ur_replay_duplicate(qp, pkt);
		break;
	case UR_VERDICT_DROP:
		break;
	case UR_VERDICT_NAK_SEQ:
		nak_sequence(qp, pkt);
		break;
	case UR_VERDICT_RNR:
		resp->nak_sent = true;
		resp->rnr_sent = true;
		resp->ooo_last = pkt->psn;
		ur_answer_ack(qp, UR_AETH_RNR_NAK | qp->attr.min_rnr_timer,
			      pkt->psn);
		break;
	default:
		refuse(qp, pkt, v, status);
	}
	return v;
}

/* Receives the packets kept behind a closed gap, up to the next gap, for which
 * a NAK leaves at once. */
static void resume(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;
	bool any = false, answered = false;
	struct ur_pkt pkt;

	while (qp->state != UR_QP_ERR && ur_ooo_find(qp, resp->epsn, &pkt)) {
		enum ur_verdict v = rx_one(qp, &pkt);

		ur_ooo_drop(qp, pkt.psn);
		if (v != UR_VERDICT_ACCEPT)
			return; /* RNR: the peer repeats all of it */
		any = true;
		answered = pkt.op->flags & UR_OPF_OWN_ANSWER;
	}
	if (qp->state == UR_QP_ERR)
		return;
	if (ur_ooo_waiting(qp)) {
		send_nak(qp);
	} else if (any && !answered) {
		/* Also without a request: the acknowledgement jumps, which
		 * shows the peer that the rest of its repetition is
		 * needless. */
		ur_answer_ack(qp, ur_answer_credits(qp),
			      ur_psn_add(resp->epsn, -1));
	}
}

void ur_responder_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	if (rx_one(qp, pkt) != UR_VERDICT_ACCEPT)
		return;
	ur_origin_learn(&qp->resp.origin, pkt->sport);
	if (qp->resp.ooo && qp->resp.ooo->count)
		resume(qp);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of RC and XRC. Checks in the order of IBTA volume 1, 9.7.4.1,
 * each of them pure; one short function owns the control flow.
 */
#include <errno.h>

#include "transport/engine.h"

/* Lost a second time, the missing packet is asked for again after so long or so
 * many. Each time doubles both: a network that reorders looks the same, and
 * its packet only needs time. */
#define RENAK_NS	50000u
#define RENAK_PKTS	64u
#define RENAK_SHIFT_MAX 7
/* Requests answered by a packet of their own. */
#define KEPT_ANSWERS \
	(UR_OPF_READ_REQ | UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE | UR_OPF_FLUSH)

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
	ur_ooo_drop_all(qp);
	ur_replay_reset(qp);
}

/* ---- checks ---- */

/* 9.7.4.1.1: is it the packet expected, one from before, or one too far? */
static enum ur_verdict check_psn(const struct ur_qp *qp,
				 const struct ur_pkt *pkt)
{
	s32 d = ur_psn_diff(pkt->psn, qp->resp.epsn);

	return d == 0  ? UR_VERDICT_ACCEPT
	       : d < 0 ? UR_VERDICT_DUPLICATE
		       : UR_VERDICT_NAK_SEQ;
}

/* 9.7.4.1.2: does the opcode go on where the last packet stopped? */
static enum ur_verdict check_sequence(const struct ur_qp *qp,
				      const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	bool good;

	switch (qp->resp.msg) {
	case UR_RX_SEND:
		good = (flags & UR_OPF_SEND) && !(flags & UR_OPF_START);
		break;
	case UR_RX_WRITE:
		good = (flags & UR_OPF_WRITE) && !(flags & UR_OPF_START);
		break;
	default:
		good = flags & UR_OPF_START;
	}
	return good ? UR_VERDICT_ACCEPT : UR_VERDICT_NAK_INVALID;
}

u32 ur_responder_access(u32 flags, u8 placement)
{
	u32 access = 0;

	if (flags & (UR_OPF_WRITE | UR_OPF_ATOMIC_WRITE))
		access |= UR_ACCESS_REMOTE_WRITE;
	if (flags & UR_OPF_READ_REQ)
		access |= UR_ACCESS_REMOTE_READ;
	if (flags & UR_OPF_ATOMIC)
		access |= UR_ACCESS_REMOTE_ATOMIC;
	if (flags & UR_OPF_FLUSH) {
		if (placement & UR_FETH_GLOBAL)
			access |= UR_ACCESS_FLUSH_GLOBAL;
		if (placement & UR_FETH_PERSISTENT)
			access |= UR_ACCESS_FLUSH_PERSISTENT;
	}
	return access;
}

bool ur_responder_allows(const struct ur_qp *qp, u32 flags, u8 placement)
{
	u32 need = ur_responder_access(flags, placement);

	/* Flush rights are the region's business; the queue pair has the
	 * bits only where verbs can express them. */
	need &= UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ |
		UR_ACCESS_REMOTE_ATOMIC;
	return !(need & ~qp->attr.access);
}

/* 9.7.4.1.3: is the operation one that this queue pair supports? */
static enum ur_verdict check_operation(const struct ur_qp *qp,
				       const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (!(flags & UR_OPF_REQUEST))
		return UR_VERDICT_DROP;
	if ((flags & UR_OPF_START) &&
	    !ur_responder_allows(qp, flags, pkt->flush_placement))
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_FLUSH) &&
	    (!(pkt->flush_placement & (UR_FETH_GLOBAL | UR_FETH_PERSISTENT)) ||
	     pkt->flush_selectivity > UR_FETH_SEL_MR))
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.6: payload against path MTU and position in the message. */
static enum ur_verdict check_length(const struct ur_qp *qp,
				    const struct ur_pkt *pkt)
{
	const struct ur_responder *resp = &qp->resp;
	u32 flags = pkt->op->flags, n = pkt->payload_bytes, length;

	if (!(flags & (UR_OPF_SEND | UR_OPF_WRITE)))
		return (flags & UR_OPF_RETH) &&
				       pkt->dma_bytes > UR_MAX_MSG_BYTES
			       ? UR_VERDICT_NAK_INVALID
			       : UR_VERDICT_ACCEPT;
	if ((flags & (UR_OPF_FIRST | UR_OPF_MIDDLE)) && n != qp->mtu)
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_LAST) && (n == 0 || n > qp->mtu))
		return UR_VERDICT_NAK_INVALID;
	if ((flags & UR_OPF_ONLY) && n > qp->mtu)
		return UR_VERDICT_NAK_INVALID;
	if (flags & UR_OPF_SEND)
		return UR_VERDICT_ACCEPT;
	/* C9-93: the payloads of a WRITE add up to its DMA length. */
	length = flags & UR_OPF_START ? pkt->dma_bytes : resp->length;
	if (length > UR_MAX_MSG_BYTES)
		return UR_VERDICT_NAK_INVALID;
	length -= flags & UR_OPF_START ? 0 : resp->offset;
	if (flags & UR_OPF_END ? n != length : n >= length)
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.4: responder resources for READ and atomic. */
static enum ur_verdict check_resources(const struct ur_qp *qp,
				       const struct ur_pkt *pkt)
{
	if ((pkt->op->flags & KEPT_ANSWERS) && !ur_replay_free(qp))
		return UR_VERDICT_NAK_INVALID;
	return UR_VERDICT_ACCEPT;
}

/* 9.7.4.1.5: key, range and rights of the remote memory. */
static enum ur_verdict check_memory(const struct ur_qp *qp,
				    const struct ur_pkt *pkt)
{
	u32 flags = pkt->op->flags;
	u64 len = flags & UR_OPF_ATOMIC ? 8 : pkt->dma_bytes;
	struct ur_span span;

	if (!(flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)))
		return UR_VERDICT_ACCEPT;
	if ((flags & (UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE)) && (pkt->va & 7))
		return UR_VERDICT_NAK_INVALID; /* C9-98 */
	if (flags & UR_OPF_FLUSH)
		return ur_mem_flushed(qp, pkt->rkey, pkt->va, len,
				      pkt->flush_placement,
				      pkt->flush_selectivity, &span)
			       ? UR_VERDICT_ACCEPT
			       : UR_VERDICT_NAK_ACCESS;
	if (!len)
		return UR_VERDICT_ACCEPT; /* C9-88: the key is not looked at */
	if (!ur_mem_remote(qp, pkt->rkey, pkt->va, len,
			   ur_responder_access(flags, 0), &span))
		return UR_VERDICT_NAK_ACCESS;
	return UR_VERDICT_ACCEPT;
}

void ur_responder_domain(struct ur_qp *qp, u32 xrc_srqn)
{
	struct ur_srq *srq;

	if (qp->init.type != UR_QPT_XRC_TGT)
		return;
	srq = ur_table_lookup(&qp->port->srqs, xrc_srqn);
	if (srq && srq->attr.xrc && srq->attr.xrcd == qp->init.xrcd)
		qp->init.pd = srq->attr.pd;
}

bool ur_responder_take(struct ur_qp *qp, u32 xrc_srqn, enum ur_verdict *v)
{
	struct ur_srq *srq = qp->init.srq;

	*v = UR_VERDICT_RNR;
	if (qp->init.type == UR_QPT_XRC_TGT) {
		srq = ur_table_lookup(&qp->port->srqs, xrc_srqn);
		/* Annex A14: the SRQ must be an XRC one of the same domain. */
		if (!srq || !srq->attr.xrc || srq->attr.xrcd != qp->init.xrcd) {
			*v = UR_VERDICT_NAK_INVALID;
			return false;
		}
	} else if (!qp->has_rq) {
		*v = UR_VERDICT_NAK_INVALID;
		return false;
	}
	if (ur_rq_take(qp, srq))
		return true;
	if (qp->state == UR_QP_ERR || (srq && srq->dead))
		*v = UR_VERDICT_NAK_OP;
	return false;
}

/* ---- verdicts ---- */

/* A process's memory goes before its device is closed. An adapter has the
 * pages pinned and notices nothing, so nothing is said here either: what the
 * peer hears of the end is what closing the device says. */
enum ur_verdict ur_responder_blame(int err, enum ur_verdict v)
{
	return !err ? UR_VERDICT_ACCEPT : err == -ESRCH ? UR_VERDICT_GONE : v;
}

void ur_responder_fatal(struct ur_qp *qp, enum ur_verdict v, u8 status)
{
	struct ur_wc wc = {.opcode = UR_WC_RECV, .solicited = true};

	if (v == UR_VERDICT_GONE) {
		ur_qp_fail(qp);
		return;
	}
	if (status && qp->resp.rqe.held) {
		wc.status = status;
		if (status == UR_WC_LOC_LEN_ERR)
			ur_count(qp->port, UR_CNT_resp_local_length_error);
		ur_qp_fail(qp);
		ur_rq_complete(qp, &wc);
		return;
	}
	if (v == UR_VERDICT_NAK_ACCESS) {
		ur_count(qp->port, UR_CNT_resp_remote_access_errors);
		ur_qp_event(qp, UR_EVENT_QP_ACCESS_ERR);
	} else if (v == UR_VERDICT_NAK_OP) {
		ur_qp_event(qp, UR_EVENT_QP_FATAL);
	} else {
		ur_qp_event(qp, UR_EVENT_QP_REQ_ERR);
	}
	ur_qp_fail(qp);
}

/* Ask for the PSN that is missing. */
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
	/* PSNs that do not grow: the peer has gone back and the packet that
	 * we wait for was lost once more. */
	bool again = ur_psn_diff(pkt->psn, resp->ooo_last) <= 0 &&
		     qp->port->now - resp->nak_at >= patience;

	ur_ooo_keep(qp, pkt);
	resp->ooo_last = pkt->psn;
	/* What follows a packet answered by an RNR NAK was sent before that
	 * arrived, and the peer goes back all the same. */
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

void ur_responder_refuse(struct ur_qp *qp, enum ur_verdict v, u32 psn,
			 u8 status)
{
	struct ur_responder *resp = &qp->resp;
	u8 code;

	switch (v) {
	case UR_VERDICT_NAK_ACCESS:
		code = UR_NAK_REM_ACCESS;
		break;
	case UR_VERDICT_NAK_OP:
		code = UR_NAK_REM_OP;
		break;
	default:
		code = UR_NAK_INV_REQ;
	}
	resp->ack_due = false;
	if (v != UR_VERDICT_GONE)
		ur_answer_ack(qp, UR_AETH_NAK | code, psn);
	ur_responder_fatal(qp, v, status);
}

static enum ur_verdict judge(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	enum ur_verdict v;

	v = check_psn(qp, pkt);
	if (!v)
		v = check_sequence(qp, pkt);
	if (!v)
		v = check_operation(qp, pkt);
	if (!v)
		v = check_resources(qp, pkt);
	if (!v)
		v = check_length(qp, pkt);
	if (!v)
		v = check_memory(qp, pkt);
	return v;
}

static void established(struct ur_qp *qp)
{
	if (qp->state != UR_QP_RTR || qp->comm_est)
		return;
	qp->comm_est = true;
	ur_qp_event(qp, UR_EVENT_COMM_EST);
}

static void accepted(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;

	resp->rnr_sent = false;
	resp->nak_sent = false;
	resp->renak_shift = 0;
	resp->since_nak = 0;
	if (resp->ack_due && resp->ack_psn == pkt->psn &&
	    (resp->ack_syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK)
		resp->ack_due = false; /* it came before we asked for it */
	if (pkt->ackreq && !(pkt->op->flags & KEPT_ANSWERS))
		ur_answer_ack(qp, ur_answer_credits(qp), pkt->psn);
}

static enum ur_verdict rx_one(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	enum ur_verdict v;
	u8 status = 0;

	ur_responder_domain(qp, pkt->xrc_srqn);
	v = judge(qp, pkt);
	if (v == UR_VERDICT_ACCEPT)
		v = ur_execute(qp, pkt, &status);
	if (v != UR_VERDICT_ACCEPT)
		ur_trace(qp->port, UR_TRACE_VERDICT, qp->qpn, v, pkt->psn);
	switch (v) {
	case UR_VERDICT_ACCEPT:
		established(qp);
		accepted(qp, pkt);
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
		ur_responder_refuse(qp, v, pkt->psn, status);
	}
	return v;
}

/* A gap has closed: what was kept behind it comes in, up to the next gap,
 * which is told at once. */
static void resume(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;
	bool any = false, answered = false;
	struct ur_pkt pkt;

	while (qp->state != UR_QP_ERR && ur_ooo_find(qp, resp->epsn, &pkt)) {
		enum ur_verdict v = rx_one(qp, &pkt);

		ur_ooo_drop(qp, pkt.psn);
		if (v != UR_VERDICT_ACCEPT)
			return; /* RNR: the peer sends all of it again */
		any = true;
		answered = pkt.op->flags & KEPT_ANSWERS;
	}
	if (qp->state == UR_QP_ERR)
		return;
	if (ur_ooo_waiting(qp)) {
		send_nak(qp);
	} else if (any && !answered) {
		/* Also where nobody asked: the jump tells the peer that the
		 * rest of its repetition is not needed. */
		ur_answer_ack(qp, ur_answer_credits(qp),
			      ur_psn_add(resp->epsn, -1));
	}
}

void ur_responder_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	if (rx_one(qp, pkt) == UR_VERDICT_ACCEPT && qp->resp.ooo &&
	    qp->resp.ooo->count)
		resume(qp);
}

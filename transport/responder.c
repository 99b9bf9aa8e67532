// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of RC and XRC. Checks in the order of IBTA volume 1, 9.7.4.1,
 * each of them pure; one short function owns the control flow.
 */
#include "transport/engine.h"

/* Lost a second time, the missing packet is asked for again after so many. */
#define RENAK_NS      50000u /* the network itself may repeat or reorder */
#define UR_RENAK_PKTS 64
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
	ur_ooo_drop_all(qp);
	ur_replay_reset(qp);
}

/* ---- acknowledgements ---- */

u8 ur_responder_credits(struct ur_qp *qp)
{
	struct ur_port *port = qp->port;
	u32 count;

	/* With an SRQ nothing can be promised (IBTA 10.2.9.5). */
	if (!port->cfg.credits || qp->init.srq || !qp->has_rq)
		return UR_AETH_CREDIT_NONE;
	count = port->ops->rq_count(qp->init.rq_ctx) + qp->resp.rqe.held;
	if (!count && !qp->resp.rq_wanted) {
		qp->resp.rq_wanted = true;
		port->ops->rq_want_kick(qp->init.rq_ctx, true);
		count = port->ops->rq_count(qp->init.rq_ctx);
	}
	return ur_credit_code(count);
}

void ur_responder_ack(struct ur_qp *qp, u8 syndrome, u32 psn)
{
	struct ur_responder *resp = &qp->resp;
	bool fatal = resp->ack_due &&
		     (resp->ack_syndrome & UR_AETH_CLASS_MASK) == UR_AETH_NAK &&
		     (resp->ack_syndrome & UR_AETH_VALUE_MASK);

	if (fatal)
		return; /* nothing comes after a refusal */
	if (!qp->port->cfg.coalesce && resp->ack_due &&
	    ur_replay_ack_room(qp)) {
		struct ur_resp_item *it =
			&resp->items[resp->item_tail++ & resp->item_mask];

		it->kind = UR_RESP_ACK;
		it->syndrome = resp->ack_syndrome;
		it->psn = resp->ack_psn;
		it->msn = resp->msn;
	}
	resp->ack_due = true;
	resp->ack_syndrome = syndrome;
	resp->ack_psn = psn;
	ur_port_activate(qp->port, qp);
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
	if (!len && !(flags & UR_OPF_FLUSH))
		return UR_VERDICT_ACCEPT; /* C9-88: the key is not looked at */
	if (!ur_mem_remote(qp, pkt->rkey, pkt->va, len,
			   ur_responder_access(flags, pkt->flush_placement),
			   &span))
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

void ur_responder_fatal(struct ur_qp *qp, enum ur_verdict v, u8 status)
{
	struct ur_wc wc = {.opcode = UR_WC_RECV, .solicited = true};

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

static void nak_sequence(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	struct ur_responder *resp = &qp->resp;
	/* PSNs that do not grow: the peer has gone back and the packet that
	 * we wait for was lost once more. */
	bool again = ur_psn_diff(pkt->psn, resp->ooo_last) <= 0 &&
		     qp->port->now - resp->nak_at >= RENAK_NS;

	ur_ooo_keep(qp, pkt);
	resp->ooo_last = pkt->psn;
	/* What follows a packet answered by an RNR NAK was sent before that
	 * arrived, and the peer goes back all the same. */
	if (++resp->since_nak >= UR_RENAK_PKTS && !resp->rnr_sent)
		again = true;
	ur_count(qp->port, UR_CNT_out_of_seq_request);
	ur_count(qp->port, UR_CNT_out_of_sequence);
	if (resp->nak_sent && !again)
		return;
	resp->nak_sent = true;
	resp->nak_at = qp->port->now;
	resp->rnr_sent = false;
	resp->since_nak = 0;
	ur_responder_ack(qp, UR_AETH_NAK | UR_NAK_PSN_SEQ, resp->epsn);
}

static void refuse(struct ur_qp *qp, enum ur_verdict v, u32 psn, u8 status)
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
	ur_responder_ack(qp, UR_AETH_NAK | code, psn);
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
	resp->since_nak = 0;
	if (resp->ack_due && resp->ack_psn == pkt->psn &&
	    (resp->ack_syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK)
		resp->ack_due = false; /* it came before we asked for it */
	if (pkt->ackreq && !(pkt->op->flags & KEPT_ANSWERS))
		ur_responder_ack(qp, ur_responder_credits(qp), pkt->psn);
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
		ur_count(qp->port, UR_CNT_send_rnr_err);
		ur_count(qp->port, UR_CNT_out_of_buffer);
		resp->nak_sent = true;
		resp->rnr_sent = true;
		resp->ooo_last = pkt->psn;
		ur_responder_ack(qp, UR_AETH_RNR_NAK | qp->attr.min_rnr_timer,
				 pkt->psn);
		break;
	default:
		refuse(qp, v, pkt->psn, status);
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
		resp->nak_sent = true;
		resp->since_nak = 0;
		ur_responder_ack(qp, UR_AETH_NAK | UR_NAK_PSN_SEQ, resp->epsn);
	} else if (any && !answered) {
		/* Also where nobody asked: the jump tells the peer that the
		 * rest of its repetition is not needed. */
		ur_responder_ack(qp, ur_responder_credits(qp),
				 ur_psn_add(resp->epsn, -1));
	}
}

void ur_responder_rx(struct ur_qp *qp, const struct ur_pkt *pkt)
{
	if (rx_one(qp, pkt) == UR_VERDICT_ACCEPT && qp->resp.ooo &&
	    qp->resp.ooo->count)
		resume(qp);
}

/* ---- answers ---- */

static struct ur_pkt answer_of(const struct ur_qp *qp, u8 opc, u32 psn, u32 msn)
{
	return (struct ur_pkt){
		.opcode = qp->svc | opc,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->attr.dest_qpn,
		.psn = psn,
		.syndrome = UR_AETH_CREDIT_NONE,
		.msn = msn,
	};
}

static bool send_ack(struct ur_qp *qp, struct ur_tx *tx, u8 syndrome, u32 psn,
		     u32 msn)
{
	struct ur_pkt pkt = answer_of(qp, UR_OPC_ACK, psn, msn);
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES);

	if (!p)
		return false;
	pkt.syndrome = syndrome;
	ur_tx_commit(qp->port, tx, qp->attr.av, (u32)ur_pkt_build(&pkt, p));
	ur_trace(qp->port, UR_TRACE_ACK_SENT, qp->qpn, syndrome, psn);
	return true;
}

static bool send_atomic(struct ur_qp *qp, struct ur_tx *tx,
			const struct ur_resp_item *it)
{
	struct ur_pkt pkt = answer_of(qp, UR_OPC_ATOMIC_ACK, it->psn, it->msn);
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES);

	if (!p)
		return false;
	pkt.syndrome = ur_responder_credits(qp);
	pkt.atomic_orig = qp->resp.res[it->resource].orig;
	ur_tx_commit(qp->port, tx, qp->attr.av, (u32)ur_pkt_build(&pkt, p));
	return true;
}

/* One packet of read data. The memory is looked at again for each. */
static enum ur_turn send_read(struct ur_qp *qp, struct ur_tx *tx,
			      struct ur_resp_item *it)
{
	const struct ur_resource *res = &qp->resp.res[it->resource];
	u32 off = ur_psn_sub(it->next, res->psn) << qp->mtu_shift;
	u32 n = res->opc == UR_OPC_READ_REQ
			? ur_min_u32(qp->mtu, res->length - off)
			: 0;
	bool first = it->next == it->psn;
	bool last = ur_psn_add(it->next, 1) == it->end;
	struct ur_pkt pkt = answer_of(qp,
				      first  ? last ? UR_OPC_READ_RESP_ONLY
						    : UR_OPC_READ_RESP_FIRST
				      : last ? UR_OPC_READ_RESP_LAST
					     : UR_OPC_READ_RESP_MIDDLE,
				      it->next, it->msn);
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + n + 3);
	struct ur_span span;
	u32 len;

	if (!p)
		return UR_TURN_FULL;
	pkt.payload_bytes = n;
	pkt.syndrome = ur_responder_credits(qp);
	len = (u32)ur_pkt_build(&pkt, p);
	qp->init.pd = res->pd;
	if (n && (!ur_mem_remote(qp, res->rkey, res->va + off, n,
				 UR_ACCESS_REMOTE_READ, &span) ||
		  ur_span_read(&span, p + len, n))) {
		refuse(qp, UR_VERDICT_NAK_ACCESS, it->next, 0);
		return UR_TURN_IDLE;
	}
	memset(p + len + n, 0, ur_pkt_pad(n));
	len += n + ur_pkt_pad(n);
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	it->next = ur_psn_add(it->next, 1);
	ur_cc_sent(qp, len);
	return UR_TURN_MORE;
}

static bool send_cnp(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_pkt pkt = {
		.opcode = UR_OP_CNP,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->attr.dest_qpn,
		.becn = true,
	};
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES);

	if (!p)
		return false;
	ur_tx_commit(qp->port, tx, qp->attr.av, (u32)ur_pkt_build(&pkt, p));
	ur_count(qp->port, UR_CNT_np_cnp_sent);
	qp->resp.cnp_due = false;
	return true;
}

/* UR_TURN_MORE: this item is done. */
static enum ur_turn send_item(struct ur_qp *qp, struct ur_tx *tx,
			      struct ur_resp_item *it, u32 *budget)
{
	switch (it->kind) {
	case UR_RESP_NONE:
		return UR_TURN_MORE;
	case UR_RESP_ACK:
		return send_ack(qp, tx, it->syndrome, it->psn, it->msn)
			       ? UR_TURN_MORE
			       : UR_TURN_FULL;
	case UR_RESP_ATOMIC:
		if (!send_atomic(qp, tx, it))
			return UR_TURN_FULL;
		break;
	default:
		while (it->next != it->end) {
			enum ur_turn turn;

			if (qp->cc && !ur_cc_may_send(qp))
				return UR_TURN_IDLE;
			turn = *budget ? send_read(qp, tx, it) : UR_TURN_IDLE;
			if (turn != UR_TURN_MORE)
				return turn;
			--*budget;
		}
	}
	qp->resp.res[it->resource].queued = false;
	qp->resp.res[it->resource].answered = true;
	return UR_TURN_MORE;
}

static void drop_items(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;

	for (u32 i = 0; i < resp->res_count; i++)
		resp->res[i].queued = false;
	resp->item_head = resp->item_tail;
}

enum ur_turn ur_responder_run(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_responder *resp = &qp->resp;
	u32 budget = UR_TURN_PKTS;
	enum ur_turn turn;

	if (!qp->attr.av || qp->state < UR_QP_RTR)
		return UR_TURN_IDLE;
	if (resp->cnp_due && !send_cnp(qp, tx))
		return UR_TURN_FULL;
	while (resp->item_head != resp->item_tail) {
		turn = send_item(
			qp, tx, &resp->items[resp->item_head & resp->item_mask],
			&budget);
		if (qp->state == UR_QP_ERR && turn == UR_TURN_IDLE && budget) {
			/* The read was refused on the way. */
			drop_items(qp);
			break;
		}
		if (turn == UR_TURN_IDLE)
			return budget ? UR_TURN_IDLE : UR_TURN_MORE;
		if (turn == UR_TURN_FULL)
			return UR_TURN_FULL;
		resp->item_head++;
	}
	if (resp->ack_due) {
		if (!send_ack(qp, tx, resp->ack_syndrome, resp->ack_psn,
			      resp->msn))
			return UR_TURN_FULL;
		resp->ack_due = false;
	}
	return UR_TURN_IDLE;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The answers of an RC or XRC responder: acknowledgements, read data and
 * results of atomics, in the order of their PSNs. IBTA volume 1, 9.7.5. */
#include <errno.h>

#include "transport/cc.h"
#include "transport/fastpath_range.h"
#include "transport/internal.h"

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

/* Counted when it leaves: a packet that arrives before may make a NAK
 * needless. */
static void count_nak(struct ur_port *port, u8 syndrome)
{
	if (syndrome == (UR_AETH_NAK | UR_NAK_PSN_SEQ))
		ur_count(port, UR_CNT_out_of_seq_request);
	if ((syndrome & UR_AETH_CLASS_MASK) != UR_AETH_RNR_NAK)
		return;
	ur_count(port, UR_CNT_send_rnr_err);
	ur_count(port, UR_CNT_out_of_buffer);
}

static struct ur_pkt ack_of(const struct ur_qp *qp, u8 syndrome, u32 psn,
			    u32 msn)
{
	struct ur_pkt pkt = answer_of(qp, UR_OPC_ACK, psn, msn);

	pkt.syndrome = syndrome;
	return pkt;
}

/*
 * Between hosts an ACK carries the present credits: receives posted since the message came count,
 * and the peer can send more in one datagram. On one host, where a datagram costs nothing, the peer
 * had better begin with a part of them.
 */
static u8 credits_now(struct ur_qp *qp, u8 syndrome)
{
	if (qp->attr.av->loop || (syndrome & UR_AETH_CLASS_MASK) != UR_AETH_ACK)
		return syndrome;
	return ur_answer_credits(qp);
}

static bool send_ack(struct ur_qp *qp, struct ur_tx *tx, u8 syndrome, u32 psn,
		     u32 msn)
{
	struct ur_pkt pkt;
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES);

	if (!p)
		return false;
	syndrome = credits_now(qp, syndrome);
	pkt = ack_of(qp, syndrome, psn, msn);
	ur_tx_commit(qp->port, tx, qp->attr.av, (u32)ur_pkt_build(&pkt, p));
	count_nak(qp->port, syndrome);
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
	pkt.syndrome = ur_answer_credits(qp);
	pkt.atomic_orig = qp->resp.res[it->resource].orig;
	ur_tx_commit(qp->port, tx, qp->attr.av, (u32)ur_pkt_build(&pkt, p));
	return true;
}

static void drop_items(struct ur_qp *qp)
{
	struct ur_responder *resp = &qp->resp;

	for (u32 i = 0; i < resp->res_count; i++)
		resp->res[i].queued = false;
	resp->item_head = resp->item_tail;
}

/* Reads one packet's data, where they are fetched ahead: from the first packet of several on. */
static bool fetched(struct ur_qp *qp, const struct ur_resp_item *it, u32 off,
		    u8 *to, u32 bytes)
{
	struct ur_responder *resp = &qp->resp;
	const struct ur_resource *res = &resp->res[it->resource];

	if (res->length <= qp->mtu)
		return false;
	if (bytes == qp->mtu)
		ur_range_find_remote(qp, &resp->source, it->resource, res->rkey,
				     res->va, off, res->length,
				     UR_ACCESS_REMOTE_READ, UR_RANGE_READ);
	return ur_range_take(qp, &resp->source, it->resource, off, to, bytes);
}

/* Sends one packet of read data. The memory is checked for each. */
static enum ur_quantum send_read(struct ur_qp *qp, struct ur_tx *tx,
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
	int err = 0;
	u32 len;

	if (!p)
		return UR_QUANTUM_FULL;
	pkt.payload_bytes = n;
	pkt.syndrome = ur_answer_credits(qp);
	len = (u32)ur_pkt_build(&pkt, p);
	qp->init.pd = res->pd;
	if (n && !fetched(qp, it, off, p + len, n))
		err = ur_mem_remote(qp, res->rkey, res->va + off, n,
				    UR_ACCESS_REMOTE_READ, &span)
			      ? ur_span_read(&span, p + len, n)
			      : -EFAULT;
	if (err) {
		const struct ur_asked asked = {.opcode = UR_WR_READ,
					       .reason = UR_REASON_MEMORY,
					       .need = UR_ACCESS_REMOTE_READ,
					       .rkey = res->rkey,
					       .psn = it->next,
					       .va = res->va,
					       .length = res->length};

		ur_responder_refuse(
			qp, ur_responder_blame(err, UR_VERDICT_NAK_ACCESS), 0,
			&asked);
		drop_items(qp);
		return UR_QUANTUM_IDLE;
	}
	memset(p + len + n, 0, ur_pkt_pad(n));
	len += n + ur_pkt_pad(n);
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	it->next = ur_psn_add(it->next, 1);
	ur_cc_sent(qp, len);
	if (qp->cc)
		qp->cc->answered = true;
	return UR_QUANTUM_MORE;
}

static bool send_cnp(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_pkt pkt = {
		.opcode = UR_OP_CNP,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->svc == UR_SVC_UD ? qp->resp.cnp_dqpn
					     : qp->attr.dest_qpn,
		.becn = true,
	};
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES);

	if (!p)
		return false;
	ur_tx_commit(qp->port, tx, ur_cc_cnp_av(qp),
		     (u32)ur_pkt_build(&pkt, p));
	ur_count(qp->port, UR_CNT_np_cnp_sent);
	qp->resp.cnp_due = false;
	return true;
}

/* Returns UR_QUANTUM_MORE when the item is done. */
static enum ur_quantum send_item(struct ur_qp *qp, struct ur_tx *tx,
				 struct ur_resp_item *it, u32 *budget)
{
	switch (it->kind) {
	case UR_RESP_NONE:
		return UR_QUANTUM_MORE;
	case UR_RESP_ACK:
		return send_ack(qp, tx, it->syndrome, it->psn, it->msn)
			       ? UR_QUANTUM_MORE
			       : UR_QUANTUM_FULL;
	case UR_RESP_ATOMIC:
		if (!send_atomic(qp, tx, it))
			return UR_QUANTUM_FULL;
		break;
	default:
		while (it->next != it->end) {
			enum ur_defer defer = UR_DEFER_NOT;
			enum ur_quantum result;
			u32 n;

			if (qp->cc && !ur_cc_may_send(qp))
				return UR_QUANTUM_IDLE;
			if (qp->cc && ur_cc_yields(qp)) {
				*budget = 0;
				return UR_QUANTUM_IDLE;
			}
			n = ur_fastpath_answer(qp, it, tx, *budget, &defer);
			if (defer == UR_DEFER_ROOM)
				return UR_QUANTUM_FULL;
			if (defer)
				*budget = 0;
			*budget -= n;
			if (n)
				continue;
			result = *budget ? send_read(qp, tx, it)
					 : UR_QUANTUM_IDLE;
			if (result != UR_QUANTUM_MORE)
				return result;
			--*budget;
		}
	}
	qp->resp.res[it->resource].queued = false;
	qp->resp.res[it->resource].answered = true;
	return UR_QUANTUM_MORE;
}

enum ur_quantum ur_answer_run(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_responder *resp = &qp->resp;
	u32 budget = UR_QUANTUM_PKTS;
	enum ur_quantum result;

	/* A UD queue pair owes nothing but CNPs. */
	if (resp->cnp_due && !send_cnp(qp, tx))
		return UR_QUANTUM_FULL;
	if (!qp->attr.av || qp->state < UR_QP_RTR)
		return UR_QUANTUM_IDLE;
	while (resp->item_head != resp->item_tail) {
		result = send_item(
			qp, tx, &resp->items[resp->item_head & resp->item_mask],
			&budget);
		if (resp->item_head == resp->item_tail)
			break; /* a READ was refused meanwhile */
		if (result == UR_QUANTUM_IDLE)
			return budget ? UR_QUANTUM_IDLE : UR_QUANTUM_MORE;
		if (result == UR_QUANTUM_FULL)
			return UR_QUANTUM_FULL;
		resp->item_head++;
	}
	if (resp->ack_due) {
		if (!send_ack(qp, tx, resp->ack_syndrome, resp->ack_psn,
			      resp->msn))
			return UR_QUANTUM_FULL;
		resp->ack_due = false;
	}
	return UR_QUANTUM_IDLE;
}

/* ---- destroyed queue pairs ---- */

/*
 * A program that has its last message may destroy its queue pair before the
 * wire had room for the acknowledgement. Without it the peer would use up its
 * retries and report as lost what has arrived.
 */
void ur_answer_orphan(struct ur_qp *qp)
{
	const struct ur_responder *resp = &qp->resp;
	struct ur_port *port = qp->port;
	struct ur_orphan_ack *a;
	struct ur_pkt pkt;

	if (!resp->ack_due || !qp->attr.av ||
	    port->orphan_ack_tail - port->orphan_ack_head == UR_ORPHAN_ACKS)
		return;
	a = &port->orphan_ack[port->orphan_ack_tail++ % UR_ORPHAN_ACKS];
	a->av = ur_av_get(qp->attr.av);
	a->syndrome = resp->ack_syndrome;
	pkt = ack_of(qp, resp->ack_syndrome, resp->ack_psn, resp->msn);
	ur_pkt_build(&pkt, a->bth);
}

bool ur_answer_last(struct ur_port *port, struct ur_tx *tx)
{
	while (port->orphan_ack_head != port->orphan_ack_tail) {
		const struct ur_orphan_ack *a =
			&port->orphan_ack[port->orphan_ack_head %
					  UR_ORPHAN_ACKS];
		u8 *p = ur_tx_room(tx, sizeof(a->bth));

		if (!p || port->av_put_count == UR_AV_PUT_SLOTS)
			return true;
		memcpy(p, a->bth, sizeof(a->bth));
		ur_tx_commit(port, tx, a->av, sizeof(a->bth));
		count_nak(port, a->syndrome);
		ur_port_av_put(port, a->av);
		port->orphan_ack_head++;
	}
	return false;
}

void ur_answer_last_drop(struct ur_port *port)
{
	for (; port->orphan_ack_head != port->orphan_ack_tail;
	     port->orphan_ack_head++)
		ur_av_put(
			port->orphan_ack[port->orphan_ack_head % UR_ORPHAN_ACKS]
				.av);
}

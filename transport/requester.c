// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: takes posted work in order, and turns it into packets, into
 * local operations, or into direct execution where the peer is on this port.
 * IBTA volume 1, 9.7.2 (requester), 9.7.3 (packet sequence numbers).
 */
#include "transport/engine.h"

/* What one attempt on the entry being sent came to. */
enum step {
	STEP_NEXT,  /* look again */
	STEP_BLOCK, /* until an answer, a timer or a kick */
	STEP_MORE,  /* let others run first */
	STEP_FULL,  /* no room for a packet */
};

static u32 inflight(const struct ur_requester *req)
{
	return ur_psn_sub(req->tx_psn, req->una);
}

void ur_requester_fail(struct ur_qp *qp, u8 status, u8 syndrome)
{
	struct ur_swqe *e = ur_sq_entry(qp, qp->req.head);
	bool reliable = ur_qp_is_reliable(qp);

	/* First the state: the completion tells the program about it. */
	if (reliable) {
		ur_qp_fail(qp);
	} else {
		ur_qp_set_state(qp, UR_QP_SQE);
		ur_retry_reset(qp);
		ur_port_activate(qp->port, qp);
	}
	if (qp->req.head != qp->req.tail)
		ur_sq_complete(qp, e, status);
}

void ur_requester_retire(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	while (req->head != req->tail) {
		struct ur_swqe *e = ur_sq_entry(qp, req->head);

		if (e->state == UR_SWQE_PULLED)
			break;
		if (e->state == UR_SWQE_STARTED &&
		    ur_psn_within(req->una, e->psn, e->npkts))
			break;
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
	}
	/* Draining is over when what was started is answered. */
	if (qp->state == UR_QP_SQD && qp->attr.sq_draining &&
	    req->una == req->max_psn &&
	    (req->head == req->tail ||
	     ur_sq_entry(qp, req->head)->state == UR_SWQE_PULLED)) {
		qp->attr.sq_draining = 0;
		if (qp->attr.en_sqd_async_notify)
			ur_qp_event(qp, UR_EVENT_SQ_DRAINED);
	}
}

/* ---- starting an entry ---- */

static u32 packets_of(const struct ur_qp *qp, u32 bytes)
{
	return bytes ? (bytes + qp->mtu - 1) >> qp->mtu_shift : 1;
}

static bool takes_receive(const struct ur_swqe *e)
{
	return e->opcode <= UR_WR_SEND_INV || e->opcode == UR_WR_WRITE_IMM;
}

/* IBTA 9.7.7.2.5: beyond the credits, one request may go as a probe. */
static bool credit_allows(const struct ur_qp *qp, const struct ur_swqe *e)
{
	const struct ur_requester *req = &qp->req;

	if (!req->credit_limited || !takes_receive(e))
		return true;
	return ur_psn_diff(ur_psn_add(req->ssn, 1), req->credit_ssn) <= 0 ||
	       req->una == req->max_psn;
}

static u32 local_access(const struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_READ:
	case UR_WR_CMP_SWAP:
	case UR_WR_FETCH_ADD:
	case UR_WR_MASK_CMP_SWAP:
	case UR_WR_MASK_FETCH_ADD:
		return UR_ACCESS_LOCAL_WRITE;
	default:
		return 0;
	}
}

/* Masked atomics have no packets in the standard; those whose masks say
 * nothing special are ordinary ones. */
static bool has_wire_form(const struct ur_swqe *e)
{
	if (e->opcode == UR_WR_MASK_CMP_SWAP)
		return e->atomic.compare_mask == UINT64_MAX &&
		       e->atomic.swap_add_mask == UINT64_MAX;
	if (e->opcode == UR_WR_MASK_FETCH_ADD)
		return e->atomic.swap_add_mask == 0;
	return true;
}

static u8 check_start(struct ur_qp *qp, const struct ur_swqe *e)
{
	if (e->status)
		return e->status;
	if (!(e->flags & UR_WR_F_INLINE) &&
	    !ur_mem_check_list(qp->port, qp->init.pd, e->sge, e->num_sge,
			       local_access(e)))
		return UR_WC_LOC_PROT_ERR;
	if (ur_swqe_is_read_type(e) && !qp->attr.max_rd_atomic)
		return UR_WC_LOC_QP_OP_ERR;
	return 0;
}

/* NOP, LOCAL_INV, BIND_MW: no packet. */
static bool run_local(struct ur_qp *qp, struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_NOP:
		return true;
	case UR_WR_BIND_MW:
		e->status = e->status ? e->status : ur_mw_bind(qp, e);
		return true;
	case UR_WR_LOCAL_INV:
		if (!e->status && !ur_mw_invalidate(qp, e->imm_inv, true))
			e->status = UR_WC_MW_BIND_ERR;
		return true;
	default:
		return false;
	}
}

/* A failing entry waits until all before it are answered. */
static enum step fail_in_turn(struct ur_qp *qp, struct ur_swqe *e, u8 status)
{
	e->status = status;
	if (qp->req.tx != qp->req.head)
		return STEP_BLOCK;
	ur_requester_fail(qp, status, 0);
	return STEP_BLOCK;
}

static void count_start(struct ur_qp *qp, const struct ur_swqe *e)
{
	if (e->opcode <= UR_WR_SEND_INV)
		ur_count(qp->port, UR_CNT_rdma_sends);
}

static enum step start_entry(struct ur_qp *qp, struct ur_swqe *e)
{
	struct ur_requester *req = &qp->req;
	u8 status;

	if (qp->state == UR_QP_SQD) {
		ur_requester_retire(qp);
		return STEP_BLOCK;
	}
	/* IBTA 10.8.3.3: a fence waits for the reads and atomics before. */
	if ((e->flags & UR_WR_F_FENCE) && req->rd_out)
		return STEP_BLOCK;
	if (run_local(qp, e)) {
		if (e->status)
			return fail_in_turn(qp, e, e->status);
		e->state = UR_SWQE_DONE;
		req->tx++;
		ur_requester_retire(qp);
		return STEP_NEXT;
	}
	status = check_start(qp, e);
	if (!status && !has_wire_form(e))
		status = UR_WC_LOC_QP_OP_ERR;
	if (status)
		return fail_in_turn(qp, e, status);
	if (!credit_allows(qp, e))
		return STEP_BLOCK;
	ur_stretch_forget(&req->source, req->tx);
	ur_stretch_forget(&req->place, req->tx);
	e->state = UR_SWQE_STARTED;
	e->psn = req->tx_psn;
	e->npkts = e->opcode == UR_WR_FLUSH ? 1 : packets_of(qp, e->length);
	req->ssn = ur_psn_add(req->ssn, e->opcode != UR_WR_READ
						? 1
						: (e->npkts + UR_READ_PKTS -
						   1) / UR_READ_PKTS);
	e->ssn = req->ssn;
	count_start(qp, e);
	return STEP_NEXT;
}

/* ---- packets ---- */

/* First or only, middle or last, with what the last one carries. */
static u8 send_write_opc(const struct ur_swqe *e, bool first, bool last)
{
	bool write = e->opcode == UR_WR_WRITE || e->opcode == UR_WR_WRITE_IMM;

	if (!last)
		return write ? first ? UR_OPC_WRITE_FIRST : UR_OPC_WRITE_MIDDLE
		       : first ? UR_OPC_SEND_FIRST
			       : UR_OPC_SEND_MIDDLE;
	switch (e->opcode) {
	case UR_WR_SEND:
		return first ? UR_OPC_SEND_ONLY : UR_OPC_SEND_LAST;
	case UR_WR_SEND_IMM:
		return first ? UR_OPC_SEND_ONLY_IMM : UR_OPC_SEND_LAST_IMM;
	case UR_WR_SEND_INV:
		return first ? UR_OPC_SEND_ONLY_INV : UR_OPC_SEND_LAST_INV;
	case UR_WR_WRITE:
		return first ? UR_OPC_WRITE_ONLY : UR_OPC_WRITE_LAST;
	default:
		return first ? UR_OPC_WRITE_ONLY_IMM : UR_OPC_WRITE_LAST_IMM;
	}
}

static u8 read_type_opc(const struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_READ:
		return UR_OPC_READ_REQ;
	case UR_WR_CMP_SWAP:
	case UR_WR_MASK_CMP_SWAP:
		return UR_OPC_CMP_SWAP;
	case UR_WR_ATOMIC_WRITE:
		return UR_OPC_ATOMIC_WRITE;
	case UR_WR_FLUSH:
		return UR_OPC_FLUSH;
	default:
		return UR_OPC_FETCH_ADD;
	}
}

static struct ur_pkt packet_of(const struct ur_qp *qp, const struct ur_swqe *e,
			       u8 opc)
{
	return (struct ur_pkt){
		.opcode = qp->svc | opc,
		.pkey = UR_PKEY_DEFAULT,
		.dqpn = qp->attr.dest_qpn,
		.psn = qp->req.tx_psn,
		.xrc_srqn = e->xrc_srqn,
		.rkey = e->rkey,
		.va = e->raddr,
	};
}

void ur_requester_sent(struct ur_qp *qp, u32 psns, u32 packets)
{
	struct ur_requester *req = &qp->req;

	req->tx_psn = ur_psn_add(req->tx_psn, psns);
	if (ur_psn_sub(req->tx_psn, req->una) >
	    ur_psn_sub(req->max_psn, req->una)) {
		req->max_psn = req->tx_psn;
		req->fresh = true;
	} else {
		req->fresh = false;
		ur_qp_count(qp, UR_QP_CNT_resent_pkts, packets);
	}
}

static enum step send_read_type(struct ur_qp *qp, struct ur_swqe *e,
				struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	struct ur_pkt pkt = packet_of(qp, e, read_type_opc(e));
	u32 i = ur_psn_sub(req->tx_psn, e->psn), psns = 1, off, len;
	u8 *p;

	if (req->rd_out >= qp->attr.max_rd_atomic)
		return STEP_BLOCK;
	pkt.ackreq = true;
	switch (e->opcode) {
	case UR_WR_READ:
		/* Long reads go as several requests, so that the answers in
		 * flight stay within bounds. */
		psns = ur_min_u32((i | (UR_READ_PKTS - 1)) + 1, e->npkts) - i;
		off = i << qp->mtu_shift;
		len = ur_min_u32(psns << qp->mtu_shift, e->length - off);
		pkt.va = e->raddr + off;
		pkt.dma_bytes = len;
		break;
	case UR_WR_ATOMIC_WRITE:
		pkt.dma_bytes = 8;
		pkt.payload_bytes = 8;
		break;
	case UR_WR_FLUSH:
		pkt.dma_bytes = (u32)e->flush.length;
		pkt.flush_placement = (u8)e->flush.type;
		pkt.flush_selectivity = (u8)e->flush.level;
		break;
	default:
		pkt.swap_add = e->atomic.swap_add;
		pkt.compare = e->atomic.compare;
	}
	p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + 8);
	if (!p)
		return STEP_FULL;
	len = (u32)ur_pkt_build(&pkt, p);
	if (pkt.payload_bytes &&
	    ur_swqe_gather(qp, e, 0, p + len, pkt.payload_bytes))
		return fail_in_turn(qp, e, UR_WC_LOC_PROT_ERR);
	len += pkt.payload_bytes;
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	req->rd_out++;
	req->since_ackreq = 0;
	ur_requester_sent(qp, psns, 1);
	ur_cc_sent(qp, len);
	ur_retry_sent(qp, true);
	return STEP_NEXT;
}

static u32 pad_payload(u8 *payload, u32 bytes)
{
	u32 pad = ur_pkt_pad(bytes);

	memset(payload + bytes, 0, pad);
	return bytes + pad;
}

static enum step send_data(struct ur_qp *qp, struct ur_swqe *e,
			   struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 i = ur_psn_sub(req->tx_psn, e->psn);
	u32 off = i << qp->mtu_shift;
	u32 bytes = ur_min_u32(qp->mtu, e->length - off);
	bool first = i == 0, last = i + 1 == e->npkts, ackreq = false;
	u8 opc = send_write_opc(e, first, last);
	u8 *p = ur_tx_room(tx, UR_HEADERS_MAX_BYTES + bytes + 3);
	u32 len;

	if (!p)
		return STEP_FULL;
	if (ur_qp_is_reliable(qp)) {
		req->since_ackreq++;
		ackreq = last || req->since_ackreq >= UR_ACK_PKTS ||
			 inflight(req) + 1 >= req->window;
	}
	if (!first && !last && qp->svc != UR_SVC_XRC) {
		ur_bth_build(p, qp->svc | opc, 0, 0, UR_PKEY_DEFAULT,
			     qp->attr.dest_qpn, ackreq, req->tx_psn);
		len = UR_BTH_BYTES;
	} else {
		struct ur_pkt pkt = packet_of(qp, e, opc);

		pkt.ackreq = ackreq;
		pkt.payload_bytes = bytes;
		pkt.dma_bytes = e->length;
		pkt.imm = __builtin_bswap32(e->imm_inv);
		pkt.inv_rkey = e->imm_inv;
		pkt.se = last && (e->flags & UR_WR_F_SOLICITED);
		len = (u32)ur_pkt_build(&pkt, p);
	}
	if (ur_swqe_gather(qp, e, off, p + len, bytes))
		return fail_in_turn(qp, e, UR_WC_LOC_PROT_ERR);
	len += pad_payload(p + len, bytes);
	ur_tx_commit(qp->port, tx, qp->attr.av, len);
	ur_requester_sent(qp, 1, 1);
	ur_cc_sent(qp, len);
	if (ackreq)
		req->since_ackreq = 0;
	if (ur_qp_is_reliable(qp))
		ur_retry_sent(qp, ackreq);
	return STEP_NEXT;
}

/* UC: a packet is done when it has gone. */
static void unreliable_done(struct ur_qp *qp)
{
	qp->req.una = qp->req.max_psn = qp->req.tx_psn;
	ur_requester_retire(qp);
}

static enum step send_packet(struct ur_qp *qp, struct ur_swqe *e,
			     struct ur_tx *tx, u32 *budget)
{
	struct ur_requester *req = &qp->req;
	enum step step = STEP_NEXT;
	u32 n = 0;

	if (req->tx_psn == ur_swqe_end(e)) {
		req->tx++;
		return STEP_NEXT;
	}
	if (e->status)
		return fail_in_turn(qp, e, e->status);
	if (ur_qp_is_reliable(qp) && inflight(req) >= req->window)
		return STEP_BLOCK;
	if (qp->cc && !ur_cc_may_send(qp))
		return STEP_BLOCK;
	if (ur_swqe_is_read_type(e))
		step = send_read_type(qp, e, tx);
	else if (e->npkts > 2)
		n = ur_middle_send(qp, e, tx, *budget);
	*budget -= n;
	if (!n && !ur_swqe_is_read_type(e))
		step = send_data(qp, e, tx);
	if (qp->svc == UR_SVC_UC && step == STEP_NEXT)
		unreliable_done(qp);
	return step;
}

static enum step send_ud(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx)
{
	u8 status;

	if (qp->state == UR_QP_SQD) {
		ur_requester_retire(qp);
		return STEP_BLOCK;
	}
	if (e->opcode == UR_WR_NOP) {
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return STEP_NEXT;
	}
	status = check_start(qp, e);
	if (status)
		return fail_in_turn(qp, e, status);
	return ur_ud_send(qp, e, tx) == UR_TURN_FULL ? STEP_FULL : STEP_NEXT;
}

static enum step try_loop(struct ur_qp *qp, struct ur_swqe *e, u32 *bytes,
			  bool *packets)
{
	u8 status;

	*packets = false;
	if ((e->flags & UR_WR_F_FENCE) && qp->req.rd_out)
		return STEP_BLOCK;
	status = check_start(qp, e);
	if (status)
		return fail_in_turn(qp, e, status);
	switch (ur_loopback_run(qp, e, bytes)) {
	case UR_LOOP_DONE:
		return STEP_NEXT;
	case UR_LOOP_MORE:
		return STEP_MORE;
	case UR_LOOP_WAIT:
		return STEP_BLOCK;
	default:
		*packets = true;
		return STEP_NEXT;
	}
}

/* May the entry run directly? Only with nothing in packet form before it. */
static bool loop_candidate(const struct ur_qp *qp, const struct ur_swqe *e)
{
	return qp->attr.av && qp->attr.av->loop && qp->port->cfg.loop &&
	       qp->svc != UR_SVC_UD && e->state == UR_SWQE_PULLED &&
	       e->opcode != UR_WR_NOP && e->opcode != UR_WR_BIND_MW &&
	       e->opcode != UR_WR_LOCAL_INV && qp->state == UR_QP_RTS &&
	       qp->req.una == qp->req.max_psn && qp->req.tx == qp->req.head;
}

static enum step step_entry(struct ur_qp *qp, struct ur_tx *tx, u32 *budget,
			    u32 *bytes)
{
	struct ur_swqe *e = ur_sq_entry(qp, qp->req.tx);
	enum step step;
	bool packets;

	if (qp->svc == UR_SVC_UD)
		return send_ud(qp, e, tx);
	if (e->state == UR_SWQE_DONE) {
		qp->req.tx++;
		return STEP_NEXT;
	}
	if (loop_candidate(qp, e)) {
		step = try_loop(qp, e, bytes, &packets);
		if (!packets)
			return step;
	}
	if (e->state == UR_SWQE_PULLED)
		return start_entry(qp, e);
	return send_packet(qp, e, tx, budget);
}

/* The one packet that the peer misses, and then on from where we were. */
static enum step send_hole(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	struct ur_swqe *e = ur_sq_entry(qp, req->head);
	u32 tx_index = req->tx, tx_psn = req->tx_psn;
	enum step step = STEP_NEXT;

	if (req->una == req->hole_psn && req->head != req->tail &&
	    e->state == UR_SWQE_STARTED && !e->status) {
		req->tx = req->head;
		req->tx_psn = req->una;
		req->since_ackreq = UR_ACK_PKTS; /* it asks for an answer */
		step = send_data(qp, e, tx);
		if (step != STEP_NEXT && step != STEP_FULL)
			return step;
		req->tx = tx_index;
		req->tx_psn = tx_psn;
		if (step == STEP_FULL)
			return step;
		req->hole_open = true;
	}
	req->hole_due = false;
	return step;
}

enum ur_turn ur_requester_run(struct ur_qp *qp, struct ur_tx *tx)
{
	struct ur_requester *req = &qp->req;
	u32 budget = UR_TURN_PKTS * 2, bytes = UR_TURN_BYTES;

	if (req->rnr_until) {
		if (qp->port->now < req->rnr_until)
			return UR_TURN_IDLE;
		req->rnr_until = 0;
	}
	if (req->hole_due && send_hole(qp, tx) == STEP_FULL)
		return UR_TURN_FULL;
	while (qp->state == UR_QP_RTS || qp->state == UR_QP_SQD) {
		if (req->tx == req->tail && !ur_sq_pull(qp)) {
			/* The window may be full of work in flight; what
			 * frees it activates the queue pair. */
			ur_requester_retire(qp);
			return UR_TURN_IDLE;
		}
		if (!budget--)
			return UR_TURN_MORE;
		switch (step_entry(qp, tx, &budget, &bytes)) {
		case STEP_NEXT:
			break;
		case STEP_BLOCK:
			return UR_TURN_IDLE;
		case STEP_MORE:
			return UR_TURN_MORE;
		case STEP_FULL:
			return UR_TURN_FULL;
		}
	}
	return UR_TURN_IDLE;
}

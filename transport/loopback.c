// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A peer on the same port: the message is executed with one copy and no packet.
 * Checks, completions and sequence numbers are those of packets, and both sides
 * must be in step, so that packets and copies can alternate at message
 * boundaries.
 */
#include "transport/internal.h"
#include "transport/retry.h"

#include <errno.h>

static bool receives(const struct ur_qp *peer)
{
	return peer->state == UR_QP_RTR || peer->state == UR_QP_RTS ||
	       peer->state == UR_QP_SQD;
}

/* Returns the connected queue pair, if it expects exactly our next message and
 * owes no packet. */
static struct ur_qp *peer_in_step(const struct ur_qp *qp)
{
	const struct ur_av *av = qp->attr.av, *back;
	struct ur_qp *peer = ur_port_qp(qp->port, qp->attr.dest_qpn);

	if (!peer || peer->svc != qp->svc || !receives(peer) ||
	    peer->init.type == UR_QPT_XRC_INI ||
	    peer->attr.dest_qpn != qp->qpn || peer->mtu != qp->mtu)
		return NULL;
	if (peer->init.realm != qp->init.realm || peer->init.packets)
		return NULL;
	back = peer->attr.av;
	if (!back || !back->loop || back->v1 != av->v1 ||
	    memcmp(back->dgid, av->sgid, 16) ||
	    memcmp(back->sgid, av->dgid, 16))
		return NULL;
	if (peer->resp.epsn != qp->req.tx_psn || peer->resp.msg != UR_RX_NONE ||
	    peer->resp.nak_sent || peer->resp.ack_due ||
	    peer->resp.item_head != peer->resp.item_tail)
		return NULL;
	return peer;
}

static u32 flags_of(const struct ur_swqe *e)
{
	switch (e->opcode) {
	case UR_WR_SEND:
		return UR_OPF_SEND;
	case UR_WR_SEND_IMM:
		return UR_OPF_SEND | UR_OPF_IMM;
	case UR_WR_SEND_INV:
		return UR_OPF_SEND | UR_OPF_INV;
	case UR_WR_WRITE:
		return UR_OPF_WRITE;
	case UR_WR_WRITE_IMM:
		return UR_OPF_WRITE | UR_OPF_IMM;
	case UR_WR_READ:
		return UR_OPF_READ_REQ;
	case UR_WR_ATOMIC_WRITE:
		return UR_OPF_ATOMIC_WRITE;
	case UR_WR_FLUSH:
		return UR_OPF_FLUSH;
	default:
		return UR_OPF_ATOMIC;
	}
}

/* Advances both sides by one message. */
static void advance(struct ur_qp *qp, struct ur_qp *peer,
		    const struct ur_swqe *e)
{
	struct ur_requester *req = &qp->req;
	u32 n = e->length && e->opcode != UR_WR_FLUSH
			? (e->length + qp->mtu - 1) >> qp->mtu_shift
			: 1;

	req->tx_psn = ur_psn_add(req->tx_psn, n);
	req->una = req->max_psn = req->tx_psn;
	req->ssn = ur_psn_add(req->ssn, 1);
	req->retries = 0;
	req->rnr_retries = 0;
	peer->resp.epsn = req->tx_psn;
	peer->resp.msn = ur_psn_add(peer->resp.msn, 1);
	if (peer->state == UR_QP_RTR && !peer->comm_est) {
		peer->comm_est = true;
		ur_qp_event(peer, UR_EVENT_COMM_EST);
	}
}

static u8 reason_of(const struct ur_qp *peer, const struct ur_swqe *e,
		    enum ur_verdict v)
{
	u32 flags = flags_of(e);

	if (!ur_rx_check_allows(peer, flags, (u8)e->flush.type))
		return UR_REASON_QP_RIGHTS;
	if (ur_swqe_is_read_type(e) && !peer->resp.res_count)
		return UR_REASON_RESOURCES;
	if ((flags & (UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE)) && (e->raddr & 7))
		return UR_REASON_ALIGN;
	return v == UR_VERDICT_NAK_ACCESS ? UR_REASON_MEMORY : UR_REASON_NONE;
}

static void peer_fails(const struct ur_qp *qp, struct ur_qp *peer,
		       const struct ur_swqe *e, enum ur_verdict v, u8 status)
{
	bool flush = e->opcode == UR_WR_FLUSH;
	const struct ur_asked asked = {
		e->opcode,
		reason_of(peer, e, v),
		ur_access_needed(flags_of(e), (u8)e->flush.type),
		e->rkey,
		qp->req.tx_psn,
		0,
		e->raddr,
		flush ? e->flush.length : e->length};

	ur_responder_fatal(peer, v, status, &asked);
}

/* Handles a refusal: both sides get what a NAK would cause. UC reports nothing
 * to the sender. */
static enum ur_loopback refuse_packet(struct ur_qp *qp, struct ur_qp *peer,
				      struct ur_swqe *e, enum ur_verdict v,
				      u8 status)
{
	u8 code = v == UR_VERDICT_NAK_ACCESS ? UR_NAK_REM_ACCESS
		  : v == UR_VERDICT_NAK_OP   ? UR_NAK_REM_OP
					     : UR_NAK_INV_REQ;

	if (v == UR_VERDICT_GONE || v == UR_VERDICT_CLASS_J) {
		peer_fails(qp, peer, e, v, status);
		e->loop_off = 0;
		return UR_LOOP_PACKETS; /* packets that nobody answers */
	}
	if (qp->svc == UR_SVC_UC) {
		if (status)
			peer_fails(qp, peer, e, v, status);
		advance(qp, peer, e);
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return UR_LOOP_DONE;
	}
	peer_fails(qp, peer, e, v, status);
	ur_completer_nak(qp, code);
	return UR_LOOP_DONE;
}

static enum ur_loopback not_ready(struct ur_qp *qp, struct ur_qp *peer,
				  struct ur_swqe *e)
{
	ur_count(qp->port, UR_CNT_out_of_buffer);
	if (qp->svc == UR_SVC_UC) {
		advance(qp, peer, e);
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
		return UR_LOOP_DONE;
	}
	ur_count(qp->port, UR_CNT_send_rnr_err);
	ur_count(qp->port, UR_CNT_rcvd_rnr_err);
	ur_retry_rnr(qp, peer->attr.min_rnr_timer);
	if (qp->state == UR_QP_ERR)
		return UR_LOOP_DONE;
	if (peer->has_rq && !peer->init.srq) {
		peer->loop_waiter = qp->qpn;
		if (!peer->resp.rq_wanted) {
			peer->resp.rq_wanted = true;
			qp->port->ops->rq_want_kick(peer->init.rq_ctx, true);
		}
	}
	return UR_LOOP_WAIT;
}

/* Finds one piece of the sender's message at offset off. */
static bool local_span(struct ur_qp *qp, struct ur_swqe *e, u32 off, u32 len,
		       u32 access, struct ur_span *span)
{
	u32 piece = 0;

	if (!(e->flags & UR_WR_F_INLINE))
		return ur_mem_list_span(qp->port, qp->init.pd, e->sge,
					e->num_sge, &e->cur, off, len, access,
					span);
	if (off >= e->inl_len[0]) {
		off -= e->inl_len[0];
		piece = 1;
	}
	span->ptr = (u8 *)e->inl[piece] + off;
	span->len = ur_min_u32(len, e->inl_len[piece] - off);
	return true;
}

/* The side on which a copy failed. */
enum side { SIDE_NONE, SIDE_LOCAL, SIDE_REMOTE, SIDE_REMOTE_GONE };

static bool remote_span(struct ur_qp *peer, const struct ur_swqe *e, u32 off,
			u32 len, u32 flags, struct ur_span *span)
{
	struct ur_responder *resp = &peer->resp;

	if (flags & UR_OPF_SEND)
		return ur_mem_list_span(peer->port, resp->rqe.pd, resp->rqe_sge,
					resp->rqe.num_sge, &resp->rqe.cur, off,
					len, UR_ACCESS_LOCAL_WRITE, span);
	return ur_mem_remote(peer, e->rkey, e->raddr + off, len,
			     ur_access_needed(flags, 0), span);
}

/* Copies at most *bytes from the entry's position on, in either direction. */
static enum side copy_message(struct ur_qp *qp, struct ur_qp *peer,
			      struct ur_swqe *e, u32 flags, u32 *bytes)
{
	bool read = flags & UR_OPF_READ_REQ;

	while (e->loop_off < e->length && *bytes) {
		u32 len = ur_min_u32(e->length - e->loop_off, *bytes);
		struct ur_span here, there;
		const struct ur_span *blame;
		bool last;
		int err;

		if (!local_span(qp, e, e->loop_off, len,
				read ? UR_ACCESS_LOCAL_WRITE : 0, &here))
			return SIDE_LOCAL;
		if (!remote_span(peer, e, e->loop_off, (u32)here.len, flags,
				 &there))
			return SIDE_REMOTE;
		len = (u32)there.len;
		last = e->loop_off + len == e->length;
		err = ur_span_copy(qp->port, read ? &here : &there,
				   read ? &there : &here, len, last, &blame);
		if (err)
			return blame == &here  ? SIDE_LOCAL
			       : err == -ESRCH ? SIDE_REMOTE_GONE
					       : SIDE_REMOTE;
		e->loop_off += len;
		*bytes -= len;
	}
	return SIDE_NONE;
}

static enum ur_loopback finish_entry(struct ur_qp *qp, struct ur_qp *peer,
				     struct ur_swqe *e, u32 flags)
{
	bool recv = (flags & UR_OPF_SEND) ||
		    (flags & (UR_OPF_WRITE | UR_OPF_IMM)) ==
			    (UR_OPF_WRITE | UR_OPF_IMM);

	ur_count(qp->port, UR_CNT_loop_msgs);
	ur_count_many(qp->port, UR_CNT_loop_bytes, e->length);
	ur_qp_count_loop(qp, e->length);
	ur_qp_count_loop(peer, e->length);
	ur_trace(qp->port, UR_TRACE_LOOP, qp->qpn, e->opcode, e->length);
	if (flags & UR_OPF_INV)
		ur_mw_invalidate(peer, e->imm_inv, true);
	if (flags & UR_OPF_SEND)
		ur_count(qp->port, UR_CNT_rdma_sends);
	else if (flags & UR_OPF_WRITE)
		ur_count(qp->port, UR_CNT_rx_write_requests);
	else if (flags & UR_OPF_READ_REQ)
		ur_count(qp->port, UR_CNT_rx_read_requests);
	else
		ur_count(qp->port, UR_CNT_rx_atomic_requests);
	advance(qp, peer, e);
	if (recv)
		ur_execute_complete(peer, flags, e->length,
				    __builtin_bswap32(e->imm_inv), e->imm_inv,
				    e->flags & UR_WR_F_SOLICITED);
	/* The peer's completion queue may be ours too, and full. */
	if (qp->state == UR_QP_RTS)
		ur_sq_complete(qp, e, UR_WC_SUCCESS);
	return UR_LOOP_DONE;
}

/* Returns the status of the receive for a WRITE with immediate whose memory is
 * refused; 0: no receive. A message of one packet, or its last packet, takes
 * one. */
static u8 take_refused(const struct ur_qp *qp, struct ur_qp *peer,
		       const struct ur_swqe *e, u32 flags)
{
	bool last = e->length - e->loop_off <= qp->mtu;

	return last && qp->svc != UR_SVC_UC &&
			       ur_responder_take_refused(peer, flags,
							 e->xrc_srqn)
		       ? UR_WC_LOC_ACCESS_ERR
		       : 0;
}

static enum ur_loopback run_data(struct ur_qp *qp, struct ur_qp *peer,
				 struct ur_swqe *e, u32 flags, u32 *bytes)
{
	struct ur_span span;
	enum ur_verdict v;
	u8 status = 0;

	if (!(flags & UR_OPF_SEND) && e->length &&
	    !ur_mem_remote(peer, e->rkey, e->raddr, e->length,
			   ur_access_needed(flags, 0), &span))
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_ACCESS,
				     take_refused(qp, peer, e, flags));
	if ((flags & UR_OPF_SEND) || (flags & UR_OPF_IMM)) {
		if (!ur_responder_take(peer, e->xrc_srqn, &v))
			return v == UR_VERDICT_RNR
				       ? not_ready(qp, peer, e)
				       : refuse_packet(qp, peer, e, v, 0);
	}
	if ((flags & UR_OPF_SEND) && e->length > peer->resp.rqe.length)
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_INVALID,
				     UR_WC_LOC_LEN_ERR);
	if ((flags & UR_OPF_INV) && !ur_mw_invalidate(peer, e->imm_inv, false))
		return refuse_packet(qp, peer, e, UR_VERDICT_CLASS_J,
				     UR_WC_MW_BIND_ERR);
	switch (copy_message(qp, peer, e, flags, bytes)) {
	case SIDE_LOCAL:
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return UR_LOOP_DONE;
	case SIDE_REMOTE:
		status = flags & UR_OPF_SEND ? UR_WC_LOC_PROT_ERR
					     : take_refused(qp, peer, e, flags);
		return refuse_packet(qp, peer, e,
				     flags & UR_OPF_SEND
					     ? UR_VERDICT_NAK_OP
					     : UR_VERDICT_NAK_ACCESS,
				     status);
	case SIDE_REMOTE_GONE:
		return refuse_packet(qp, peer, e, UR_VERDICT_GONE, 0);
	default:
		break;
	}
	if (e->loop_off < e->length)
		return UR_LOOP_MORE;
	return finish_entry(qp, peer, e, flags);
}

static int atomic_op(const struct ur_swqe *e, const struct ur_span *span,
		     u64 *orig)
{
	switch (e->opcode) {
	case UR_WR_MASK_CMP_SWAP:
		return ur_span_cas(span, e->atomic.compare,
				   e->atomic.compare_mask, e->atomic.swap_add,
				   e->atomic.swap_add_mask, orig);
	case UR_WR_MASK_FETCH_ADD:
		return ur_span_faa(span, e->atomic.swap_add,
				   e->atomic.swap_add_mask, orig);
	default:
		return ur_execute_atomic(span, e->opcode == UR_WR_CMP_SWAP,
					 e->atomic.swap_add, e->atomic.compare,
					 orig);
	}
}

static enum ur_loopback run_atomic(struct ur_qp *qp, struct ur_qp *peer,
				   struct ur_swqe *e, u32 flags)
{
	struct ur_span span;
	u64 value = 0;
	int err;

	if (e->raddr & 7)
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_INVALID, 0);
	if (!ur_mem_remote(peer, e->rkey, e->raddr, 8,
			   ur_access_needed(flags, 0), &span))
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_ACCESS, 0);
	if (flags & UR_OPF_ATOMIC_WRITE) {
		if (ur_swqe_gather(qp, e, 0, (u8 *)&value, 8)) {
			ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
			return UR_LOOP_DONE;
		}
		err = ur_span_write(&span, &value, 8, false);
	} else {
		err = atomic_op(e, &span, &value);
	}
	if (err)
		return refuse_packet(
			qp, peer, e,
			ur_responder_blame(err, UR_VERDICT_NAK_ACCESS), 0);
	if (flags & UR_OPF_ATOMIC_WRITE)
		return finish_entry(qp, peer, e, flags);
	if (ur_mem_scatter(qp->port, qp->init.pd, e->sge, e->num_sge, &e->cur,
			   0, (const u8 *)&value, 8, true)) {
		ur_completer_fail(qp, UR_WC_LOC_PROT_ERR);
		return UR_LOOP_DONE;
	}
	return finish_entry(qp, peer, e, flags);
}

static enum ur_loopback run_flush(struct ur_qp *qp, struct ur_qp *peer,
				  struct ur_swqe *e)
{
	struct ur_span span;
	u8 type = (u8)e->flush.type;

	if (!(type & (UR_FETH_GLOBAL | UR_FETH_PERSISTENT)) ||
	    e->flush.level > UR_FETH_SEL_MR)
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_INVALID, 0);
	if (!ur_mem_flushed(peer, e->rkey, e->raddr, e->flush.length, type,
			    (u8)e->flush.level, &span))
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_ACCESS, 0);
	if (ur_span_flush(&span, type))
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_OP, 0);
	return finish_entry(qp, peer, e, UR_OPF_FLUSH);
}

enum ur_loopback ur_loopback_run(struct ur_qp *qp, struct ur_swqe *e,
				 u32 *bytes)
{
	struct ur_qp *peer = peer_in_step(qp);
	u32 flags = flags_of(e);

	if (!peer) {
		e->loop_off = 0; /* the whole message goes as packets */
		return UR_LOOP_PACKETS;
	}
	ur_responder_domain(peer, e->xrc_srqn);
	if (!ur_rx_check_allows(peer, flags, (u8)e->flush.type))
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_INVALID, 0);
	if (ur_swqe_is_read_type(e) && !peer->resp.res_count)
		return refuse_packet(qp, peer, e, UR_VERDICT_NAK_INVALID, 0);
	if (flags & (UR_OPF_ATOMIC | UR_OPF_ATOMIC_WRITE))
		return run_atomic(qp, peer, e, flags);
	if (flags & UR_OPF_FLUSH)
		return run_flush(qp, peer, e);
	return run_data(qp, peer, e, flags, bytes);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fast path for incoming middle packets of RC. Memory is checked once for a range; a packet
 * that differs in anything goes the ordinary way.
 */
#include <errno.h>

#include "transport/fastpath_range.h"

/* Bits of byte 1 of the BTH that are 0 in a middle packet: pad, version. */
#define PLAIN_BITS (UR_BTH_PAD_MASK | UR_BTH_TVER_MASK)

static __attribute__((noinline)) bool
write_unmapped(const struct ur_qp *qp, const struct ur_mr_range *s, u32 off,
	       const u8 *payload)
{
	return !s->write(s->mr->attr.mem, s->off + (off - s->first), payload,
			 qp->mtu);
}

/* Writes a packet's bytes to message offset off. Returns false with nothing
 * done: the ordinary way will find out why. */
static inline bool range_write(const struct ur_qp *qp,
			       const struct ur_mr_range *s, u32 off,
			       const u8 *payload)
{
	if (__builtin_expect(!s->ptr, 0))
		return write_unmapped(qp, s, off, payload);
	memcpy(s->ptr + (off - s->first), payload, qp->mtu);
	return true;
}

static enum ur_range_use range_use(u32 num_sge)
{
	return num_sge == 1 ? UR_RANGE_WRITE_WHOLE : UR_RANGE_WRITE;
}

/* Returns whether the packet, which is in order, is a middle packet whose memory is known, then in
 * resp->place. */
UR_RANGE_INLINE bool find_place(struct ur_qp *qp, const u8 *bth, u32 psn)
{
	struct ur_responder *resp = &qp->resp;
	u32 off = resp->offset;
	bool write = (bth[0] & UR_OPC_MASK) == UR_OPC_WRITE_MIDDLE;

	/* After a NAK the ordinary way must reset its state. */
	if (psn != resp->epsn || resp->nak_sent ||
	    (resp->ooo && resp->ooo->count))
		return false;
	if (write) {
		/* C9-93: the last packet needs some bytes too. */
		if (resp->msg != UR_RX_WRITE || resp->length - off <= qp->mtu ||
		    !ur_range_find_remote(qp, &resp->place, 0, resp->rkey,
					  resp->va, off, resp->length,
					  UR_ACCESS_REMOTE_WRITE,
					  UR_RANGE_WRITE_WHOLE))
			return false;
	} else {
		if (resp->msg != UR_RX_SEND ||
		    resp->rqe.length - off < qp->mtu ||
		    !ur_range_find_local(qp, &resp->place, 0, resp->rqe.pd,
					 resp->rqe_sge, resp->rqe.num_sge,
					 &resp->rqe.cur, off, resp->rqe.length,
					 UR_ACCESS_LOCAL_WRITE,
					 range_use(resp->rqe.num_sge)))
			return false;
	}
	return true;
}

/* Returns how many packets from this one on fit into the place. */
static u32 count_places(const struct ur_qp *qp, const u8 *bth)
{
	const struct ur_responder *resp = &qp->resp;
	bool write = (bth[0] & UR_OPC_MASK) == UR_OPC_WRITE_MIDDLE;
	u32 left = (write ? resp->length - 1 : resp->rqe.length) - resp->offset;

	return ur_min_u32(left, resp->place.end - resp->offset) >>
	       qp->mtu_shift;
}

/* Accounts for n received packets whose bytes were written: psn is the first, and their BTHs are
 * stride bytes apart. */
UR_RANGE_INLINE void took_requests(struct ur_qp *qp, const u8 *bth, u32 stride,
				   u32 psn, u32 n)
{
	qp->resp.epsn = ur_psn_add(psn, n);
	qp->resp.offset += n << qp->mtu_shift;
	for (u32 i = 0; i < n; i++, bth += stride)
		if (bth[8] & UR_BTH_ACKREQ)
			ur_answer_ack(qp, ur_answer_credits(qp),
				      ur_psn_add(psn, i));
}

static bool rx_request(struct ur_qp *qp, const u8 *bth, u32 psn)
{
	u32 off = qp->resp.offset;

	if (!find_place(qp, bth, psn) ||
	    !range_write(qp, &qp->resp.place, off, bth + UR_BTH_BYTES))
		return false;
	took_requests(qp, bth, 0, psn, 1);
	return true;
}

/* Does the same for answers to a READ: the place is req->place, *off the
 * message offset. */
UR_RANGE_INLINE bool find_read_place(struct ur_qp *qp, u32 psn, u16 sport,
				     u32 *off)
{
	struct ur_requester *req = &qp->req;
	struct ur_swqe *e;
	u32 i;

	if (!qp->has_sq || (qp->state != UR_QP_RTS && qp->state != UR_QP_SQD) ||
	    psn != req->una || req->una == req->max_psn ||
	    req->head == req->tail || !ur_origin_familiar(&req->origin, sport))
		return false;
	e = ur_sq_entry(qp, req->head);
	if (e->state != UR_SWQE_STARTED || e->opcode != UR_WR_READ ||
	    (e->flags & UR_WR_F_INLINE))
		return false;
	i = ur_psn_sub(psn, e->psn);
	*off = i << qp->mtu_shift;
	/* Excludes the end of a request, and so of the message. */
	return i + 1 < e->npkts && (i + 1) % qp->read_pkts &&
	       ur_range_find_local(qp, &req->place, req->head, qp->init.pd,
				   e->sge, e->num_sge, &e->cur, *off, e->length,
				   UR_ACCESS_LOCAL_WRITE,
				   range_use(e->num_sge));
}

static u32 count_read_places(const struct ur_qp *qp, u32 psn, u32 off)
{
	const struct ur_requester *req = &qp->req;
	const struct ur_swqe *e = ur_sq_entry(qp, req->head);
	u32 i = ur_psn_sub(psn, e->psn);
	u32 most = ur_min_u32(e->npkts - 1 - i,
			      qp->read_pkts - 1 - i % qp->read_pkts);

	most = ur_min_u32(most, ur_psn_sub(req->max_psn, psn));
	return ur_min_u32(most, (req->place.end - off) >> qp->mtu_shift);
}

/* Accounts for n received answers from psn on. */
UR_RANGE_INLINE void took_read_data(struct ur_qp *qp, u32 psn, u32 n)
{
	ur_completer_advance(qp, ur_psn_add(psn, n));
	ur_port_activate(qp->port, qp);
	ur_qp_rearm(qp);
	if (qp->share.held)
		ur_path_answered(qp);
}

static bool rx_read_data(struct ur_qp *qp, const u8 *bth, u32 psn, u16 sport)
{
	u32 off;

	if (!find_read_place(qp, psn, sport, &off) ||
	    !range_write(qp, &qp->req.place, off, bth + UR_BTH_BYTES))
		return false;
	took_read_data(qp, psn, 1);
	return true;
}

/* FECN, BECN and CE marks need the ordinary way. */
UR_RANGE_INLINE bool is_plain(const struct ur_qp *qp,
			      const struct ur_rx_meta *meta, const u8 *bth,
			      u32 len)
{
	return len == UR_BTH_BYTES + qp->mtu &&
	       ur_get_be32(bth + 4) == qp->qpn && !(bth[1] & PLAIN_BITS) &&
	       ur_get_be16(bth + 2) == UR_PKEY_DEFAULT &&
	       qp->svc == UR_SVC_RC && qp->state >= UR_QP_RTR &&
	       qp->state <= UR_QP_SQE &&
	       (meta->tos & UR_ECN_MASK) != UR_ECN_CE &&
	       ur_qp_addresses_fit(qp, meta);
}

bool ur_fastpath_rx(struct ur_port *port, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len)
{
	struct ur_qp *qp = port->rx_qp;
	bool done;
	u32 psn;

	if (!is_plain(qp, meta, bth, len))
		return false;
	psn = ur_bth_psn(bth);
	switch (bth[0]) {
	case UR_SVC_RC | UR_OPC_SEND_MIDDLE:
	case UR_SVC_RC | UR_OPC_WRITE_MIDDLE:
		done = rx_request(qp, bth, psn);
		break;
	case UR_SVC_RC | UR_OPC_READ_RESP_MIDDLE:
		done = rx_read_data(qp, bth, psn, meta->udp_sport);
		break;
	default:
		return false;
	}
	if (done) {
		ur_trace(port, UR_TRACE_RX, qp->qpn, bth[0], psn);
		ur_qp_count_rx(qp, len);
	}
	return done;
}

/* Returns how many of the n packets are like the first, with consecutive PSNs. */
static u32 count_alike(const u8 *bth, u32 stride, u32 n)
{
	u32 psn = ur_bth_psn(bth), i = 1;

	while (i < n && !memcmp(bth + (size_t)i * stride, bth, 8) &&
	       ur_bth_psn(bth + (size_t)i * stride) == ur_psn_add(psn, i))
		i++;
	return i;
}

/* Returns whether the payloads are contiguous. */
static bool is_solid(const struct ur_qp *qp, const struct ur_rx_run *run)
{
	return run->payload_stride == qp->mtu;
}

static int write_pieces(const struct ur_qp *qp, const struct ur_mr_range *s,
			u32 off, const struct ur_rx_run *run, u32 n)
{
	const struct ur_pieces from = {.first = (u8 *)run->payload,
				       .stride = run->payload_stride,
				       .len = qp->mtu,
				       .n = n,
				       .more = s->more};

	if (!s->mr->attr.ops->write_pieces)
		return -EOPNOTSUPP;
	return s->mr->attr.ops->write_pieces(s->mr->attr.mem,
					     s->off + (off - s->first), &from);
}

/* Writes the payloads of n packets with one call. */
static bool write_all(struct ur_qp *qp, const struct ur_mr_range *s, u32 off,
		      const struct ur_rx_run *run, u32 n)
{
	const u8 *from = run->payload;
	u8 *to = qp->port->bounce;
	int err;

	if (s->ptr) {
		memcpy(s->ptr + (off - s->first), from, n << qp->mtu_shift);
		return true;
	}
	if (!is_solid(qp, run)) {
		err = write_pieces(qp, s, off, run, n);
		if (err != -EOPNOTSUPP)
			return !err;
		for (u32 i = 0; i < n; i++, to += qp->mtu)
			memcpy(to, from + (size_t)i * run->payload_stride,
			       qp->mtu);
		from = qp->port->bounce;
	}
	return !s->write(s->mr->attr.mem, s->off + (off - s->first), from,
			 n << qp->mtu_shift);
}

/* Returns how many packets can be written at once. */
static u32 run_most(const struct ur_qp *qp, const struct ur_mr_range *s,
		    const struct ur_rx_run *run)
{
	if (run->frail && (s->ptr || !s->mr->attr.ops->bears_frail))
		return 0;
	if (is_solid(qp, run))
		return UINT32_MAX;
	return s->ptr ? 0 : UR_BOUNCE_BYTES >> qp->mtu_shift;
}

u32 ur_fastpath_rx_run(struct ur_port *port, const struct ur_rx_meta *meta,
		       const struct ur_rx_run *run)
{
	struct ur_qp *qp = port->rx_qp;
	const u8 *bth = run->bth;
	u32 psn = ur_bth_psn(bth), off = qp->resp.offset, len = run->len, n;
	const struct ur_mr_range *s = &qp->resp.place;
	bool read = bth[0] == (UR_SVC_RC | UR_OPC_READ_RESP_MIDDLE);

	if ((!read && bth[0] != (UR_SVC_RC | UR_OPC_SEND_MIDDLE) &&
	     bth[0] != (UR_SVC_RC | UR_OPC_WRITE_MIDDLE)) ||
	    !is_plain(qp, meta, bth, len))
		return 0;
	if (read)
		s = &qp->req.place;
	if (!(read ? find_read_place(qp, psn, meta->udp_sport, &off)
		   : find_place(qp, bth, psn)))
		return 0;
	n = read ? count_read_places(qp, psn, off) : count_places(qp, bth);
	n = ur_min_u32(ur_min_u32(n, run->n), run_most(qp, s, run));
	if (n < 2)
		return 0;
	n = count_alike(bth, run->stride, n);
	if (n < 2 || !write_all(qp, s, off, run, n))
		return 0;
	for (u32 i = 0; i < n && port->ops->trace; i++)
		ur_trace(port, UR_TRACE_RX, qp->qpn, bth[0],
			 ur_psn_add(psn, i));
	ur_qp_count_rx_many(qp, n, (u64)n * len);
	if (read)
		took_read_data(qp, psn, n);
	else
		took_requests(qp, bth, run->stride, psn, n);
	return n;
}

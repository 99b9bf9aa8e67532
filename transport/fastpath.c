// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fast path of middle packets: RC in both directions, UC where it sends.
 * Memory is checked once for a range; the first packet that differs goes the
 * ordinary way.
 */
#include <errno.h>

#include "transport/internal.h"
#include "transport/retry.h"

/* Bits of byte 1 of the BTH that are zero in a middle packet: pad, version. */
#define PLAIN_BITS (UR_BTH_PAD_MASK | UR_BTH_TVER_MASK)

/* ---- checked ranges of memory ---- */

static bool range_holds(const struct ur_qp *qp, const struct ur_mr_range *s,
			u32 owner, u32 off)
{
	return s->gen == qp->port->mem_gen && s->owner == owner &&
	       off >= s->first && off < s->end && s->end - off >= qp->mtu;
}

/* These serve one packet and a run of packets: a call would cost a twentieth of what a
 * packet does. */
#define INLINE static inline __attribute__((always_inline))

static __attribute__((noinline)) bool keep_range(const struct ur_qp *qp,
						 struct ur_mr_range *s,
						 u32 owner, u32 off,
						 const struct ur_span *span)
{
	if ((!span->ptr && span->mr->attr.null_mr) || span->len < qp->mtu)
		return false;
	s->ptr = span->ptr;
	s->mr = span->mr;
	s->off = span->off;
	s->gen = qp->port->mem_gen;
	s->owner = owner;
	s->first = off;
	s->end = off + (u32)span->len;
	return true;
}

/* Finds the memory of a scatter or gather list from message offset off on. */
INLINE bool find_local(struct ur_qp *qp, struct ur_mr_range *s, u32 owner,
		       const struct ur_sge *sge, u32 count,
		       struct ur_cursor *cur, u32 off, u32 length, u32 access)
{
	struct ur_span span;

	if (range_holds(qp, s, owner, off))
		return true;
	return ur_mem_list_span(qp->port, qp->init.pd, sge, count, cur, off,
				length - off, access, &span) &&
	       keep_range(qp, s, owner, off, &span);
}

/* Finds the memory that the peer named. */
INLINE bool find_remote(struct ur_qp *qp, struct ur_mr_range *s, u32 owner,
			u32 rkey, u64 va, u32 off, u32 length, u32 access)
{
	struct ur_span span;

	if (range_holds(qp, s, owner, off))
		return true;
	return ur_mem_remote(qp, rkey, va + off, length - off, access, &span) &&
	       keep_range(qp, s, owner, off, &span);
}

/* The next len bytes from message offset off on: where they are, or a copy, which is made
 * at once, since each read costs a system call. NULL: the ordinary way finds out which
 * byte cannot be read. */
static const u8 *range_read(const struct ur_mr_range *s, u32 off, u32 len,
			    u8 *copy)
{
	if (s->ptr)
		return s->ptr + (off - s->first);
	return s->mr->attr.ops->read(s->mr->attr.mem, s->off + (off - s->first),
				     copy, len)
		       ? NULL
		       : copy;
}

static u8 *room_apart(const struct ur_qp *qp, u32 len)
{
	const struct ur_port_config *cfg = &qp->port->cfg;

	return cfg->ops->payload_room(cfg->ctx, qp->attr.av, qp->attr.dest_qpn,
				      len);
}

/* Payloads are in one of these places before their packets are built. */
enum payloads {
	IN_MEMORY, /* there, or in a copy of ours */
	IN_ROOM,   /* where they stay, apart from the packets */
	IN_PLACE,  /* in memory, where the peer's host reads them */
	IN_PACKETS,
};

/* Bytes of memory that is not mapped are copied to one of those places. */
struct copies {
	enum payloads where;
	u32 most; /* packets that can be had at once */
};

/* An unreliable message is done, and its memory the program's again, before the peer has read
 * it. */
static const u8 *place_of(struct ur_qp *qp, const struct ur_mr_range *s,
			  u32 off, u32 len)
{
	const struct ur_port_config *cfg = &qp->port->cfg;

	if (!cfg->ops->payload_place || qp->svc != UR_SVC_RC)
		return NULL;
	return cfg->ops->payload_place(cfg->ctx, qp->attr.av, qp->attr.dest_qpn,
				       s->mr->attr.mem,
				       s->off + (off - s->first), len);
}

static struct copies copies_of(struct ur_qp *qp, const struct ur_mr_range *s,
			       u32 off)
{
	if (s->ptr)
		return (struct copies){IN_MEMORY, UINT32_MAX};
	if (place_of(qp, s, off, 0))
		return (struct copies){IN_PLACE, UR_QUANTUM_PKTS};
	if (qp->port->cfg.ops->payload_room && room_apart(qp, 0))
		return (struct copies){IN_ROOM, UR_QUANTUM_PKTS};
	if (s->mr->attr.ops->read_pieces)
		return (struct copies){IN_PACKETS, UR_QUANTUM_PKTS};
	return (struct copies){IN_MEMORY, UR_BOUNCE_BYTES >> qp->mtu_shift};
}

/* Reads them to where they will be in the next n packets of tx. NULL as range_read(), with
 * *where changed if it is to be done in another way. */
static const u8 *read_in_place(const struct ur_qp *qp,
			       const struct ur_mr_range *s, u32 off, u32 n,
			       const struct ur_tx *tx, enum payloads *where)
{
	const struct ur_pieces to = {
		.first = tx->buf + tx->used + UR_BTH_BYTES,
		.stride = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES,
		.len = qp->mtu,
		.n = n,
	};
	int err = s->mr->attr.ops->read_pieces(s->mr->attr.mem,
					       s->off + (off - s->first), &to);

	if (err == -EOPNOTSUPP)
		*where = IN_MEMORY;
	return err ? NULL : to.first;
}

/* Reads *n packets' bytes, or fewer where the room that the host had is no more. Returns
 * where they are, as range_read(). */
static const u8 *read_packets(struct ur_qp *qp, const struct ur_mr_range *s,
			      u32 off, u32 *n, const struct ur_tx *tx,
			      enum payloads *where)
{
	u8 *to = qp->port->bounce;
	u32 whole;

	if (*where == IN_PLACE && *n) {
		const u8 *p = place_of(qp, s, off, *n << qp->mtu_shift);

		if (p) {
			qp->placed = qp->port->placed = true;
			return p;
		}
		*where = IN_ROOM;
	}
	if (*where == IN_PACKETS && *n) {
		const u8 *p = read_in_place(qp, s, off, *n, tx, where);

		if (p || *where == IN_PACKETS)
			return p;
		*n = ur_min_u32(*n, UR_BOUNCE_BYTES >> qp->mtu_shift);
		whole = ur_burst_whole(qp, ur_burst_open(qp, tx), *n);
		*n = whole ? whole : *n;
	}
	if (*where == IN_ROOM) {
		to = *n ? room_apart(qp, *n << qp->mtu_shift) : NULL;
		*where = to ? IN_ROOM : IN_MEMORY;
	}
	if (*where == IN_MEMORY && !s->ptr) {
		to = qp->port->bounce;
		*n = ur_min_u32(*n, UR_BOUNCE_BYTES >> qp->mtu_shift);
	}
	if (!*n)
		return NULL;
	return range_read(s, off, *n << qp->mtu_shift, to);
}

static __attribute__((noinline)) bool
write_unmapped(const struct ur_qp *qp, const struct ur_mr_range *s, u32 off,
	       const u8 *payload)
{
	return !s->mr->attr.ops->write(
		s->mr->attr.mem, s->off + (off - s->first), payload, qp->mtu);
}

/* A packet's bytes to message offset off. False: nothing is done, and the
 * ordinary way finds that out too. */
static inline bool range_write(const struct ur_qp *qp,
			       const struct ur_mr_range *s, u32 off,
			       const u8 *payload)
{
	if (__builtin_expect(!s->ptr, 0))
		return write_unmapped(qp, s, off, payload);
	memcpy(s->ptr + (off - s->first), payload, qp->mtu);
	return true;
}

/* ---- receiving ---- */

/* Whether the packet, which is in order, is in the middle of the message and has a place,
 * in resp->place; else the ordinary way. */
INLINE bool find_place(struct ur_qp *qp, const u8 *bth, u32 psn)
{
	struct ur_responder *resp = &qp->resp;
	u32 off = resp->offset;
	bool write = (bth[0] & UR_OPC_MASK) == UR_OPC_WRITE_MIDDLE;

	/* After a NAK there is something to forget. */
	if (psn != resp->epsn || resp->nak_sent ||
	    (resp->ooo && resp->ooo->count))
		return false;
	if (write) {
		/* C9-93: something must be left for the last packet. */
		if (resp->msg != UR_RX_WRITE || resp->length - off <= qp->mtu ||
		    !find_remote(qp, &resp->place, 0, resp->rkey, resp->va, off,
				 resp->length, UR_ACCESS_REMOTE_WRITE))
			return false;
	} else {
		if (resp->msg != UR_RX_SEND ||
		    resp->rqe.length - off < qp->mtu ||
		    !find_local(qp, &resp->place, 0, resp->rqe_sge,
				resp->rqe.num_sge, &resp->rqe.cur, off,
				resp->rqe.length, UR_ACCESS_LOCAL_WRITE))
			return false;
	}
	return true;
}

/* How many packets from that one on have a place there. */
static u32 count_places(const struct ur_qp *qp, const u8 *bth)
{
	const struct ur_responder *resp = &qp->resp;
	bool write = (bth[0] & UR_OPC_MASK) == UR_OPC_WRITE_MIDDLE;
	u32 left = (write ? resp->length - 1 : resp->rqe.length) - resp->offset;

	return ur_min_u32(left, resp->place.end - resp->offset) >>
	       qp->mtu_shift;
}

/* The packet, whose bytes have their place, has been taken. */
INLINE void took_request(struct ur_qp *qp, const u8 *bth, u32 psn, u32 off)
{
	qp->resp.epsn = ur_psn_add(psn, 1);
	qp->resp.offset = off + qp->mtu;
	if (bth[8] & UR_BTH_ACKREQ)
		ur_answer_ack(qp, ur_answer_credits(qp), psn);
}

static bool rx_request(struct ur_qp *qp, const u8 *bth, u32 psn)
{
	u32 off = qp->resp.offset;

	if (!find_place(qp, bth, psn) ||
	    !range_write(qp, &qp->resp.place, off, bth + UR_BTH_BYTES))
		return false;
	took_request(qp, bth, psn, off);
	return true;
}

/* The same for the answers of a READ, at the offset *off of its message, in
 * req->place. */
INLINE bool find_read_place(struct ur_qp *qp, u32 psn, u16 sport, u32 *off)
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
	/* Neither the end of a request nor, by that, of the message. */
	return i + 1 < e->npkts && (i + 1) % qp->read_pkts &&
	       find_local(qp, &req->place, req->head, e->sge, e->num_sge,
			  &e->cur, *off, e->length, UR_ACCESS_LOCAL_WRITE);
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

/* So many answers, the first with that PSN, have been taken. */
INLINE void took_read_data(struct ur_qp *qp, u32 psn, u32 n)
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

/* FECN, BECN and a CE mark ask for more than a place in memory. */
INLINE bool is_plain(const struct ur_qp *qp, const struct ur_rx_meta *meta,
		     const u8 *bth, u32 len)
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

/* Returns how many of the n packets are as the first one, in the order of their PSNs. */
static u32 count_alike(const u8 *bth, u32 stride, u32 n)
{
	u32 psn = ur_bth_psn(bth), i = 1;

	while (i < n && !memcmp(bth + (size_t)i * stride, bth, 8) &&
	       ur_bth_psn(bth + (size_t)i * stride) == ur_psn_add(psn, i))
		i++;
	return i;
}

/* Whether the payloads lie as they will in memory. */
static bool is_solid(const struct ur_qp *qp, const struct ur_rx_run *run)
{
	return run->payload_stride == qp->mtu;
}

static int write_pieces(const struct ur_qp *qp, const struct ur_mr_range *s,
			u32 off, const struct ur_rx_run *run, u32 n)
{
	const struct ur_pieces from = {(u8 *)run->payload, run->payload_stride,
				       qp->mtu, n};

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
	return !s->mr->attr.ops->write(s->mr->attr.mem,
				       s->off + (off - s->first), from,
				       n << qp->mtu_shift);
}

/* Returns how many can be written at once. */
static u32 run_most(const struct ur_qp *qp, const struct ur_mr_range *s,
		    const struct ur_rx_run *run)
{
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
	for (u32 i = 0; i < n; i++, bth += run->stride) {
		if (!read)
			took_request(qp, bth, qp->resp.epsn, qp->resp.offset);
		ur_trace(port, UR_TRACE_RX, qp->qpn, bth[0],
			 ur_psn_add(psn, i));
		ur_qp_count_rx(qp, len);
	}
	if (read)
		took_read_data(qp, psn, n);
	return n;
}

/* ---- sending ---- */

/* Returns how many whole packets tx has room for. */
static u32 room_for(const struct ur_qp *qp, const struct ur_tx *tx)
{
	u32 bytes = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES;

	return ur_min_u32(tx->max_desc - tx->n_desc,
			  (tx->cap - tx->used) / bytes);
}

static bool is_apart(enum payloads where)
{
	return where == IN_ROOM || where == IN_PLACE;
}

static void put_packet(struct ur_qp *qp, struct ur_tx *tx, u8 opc, bool ackreq,
		       u32 psn, const u8 *payload, enum payloads where)
{
	bool apart = is_apart(where);
	struct ur_tx_desc *d = &tx->desc[tx->n_desc++];
	u8 *p = tx->buf + tx->used;

	ur_bth_build(p, qp->svc | opc, 0, 0, UR_PKEY_DEFAULT, qp->attr.dest_qpn,
		     ackreq, psn);
	if (where == IN_MEMORY)
		memcpy(p + UR_BTH_BYTES, payload, qp->mtu);
	d->off = tx->used;
	d->len = UR_BTH_BYTES + qp->mtu;
	d->av = qp->attr.av;
	d->apart = apart ? payload : NULL;
	tx->used += (apart ? UR_BTH_BYTES : d->len) + UR_ICRC_BYTES;
	ur_trace(qp->port, UR_TRACE_TX, qp->attr.dest_qpn, qp->svc | opc, psn);
}

/* The bytes that a turn has put into tx are counted at its end; those that lie apart are
 * not in there. */
static void count_sent(struct ur_qp *qp, u32 packets, bool apart)
{
	u64 bytes = (u64)packets * (UR_BTH_BYTES + qp->mtu);

	ur_count_tx_prio(qp->port, qp->attr.av, packets, bytes);
	ur_count_many(qp->port, UR_CNT_sent_pkts, packets);
	ur_count_many(qp->port, UR_CNT_port_xmit_data, bytes / 4);
	if (apart)
		ur_qp_count(qp, UR_QP_CNT_sent_bytes,
			    (u64)packets << qp->mtu_shift);
}

/* Returns how many packets there are from here to the one that asks for an
 * acknowledgement: the last of a burst, about as often as without bursts. */
static u32 until_ask(const struct ur_qp *qp, u32 open)
{
	u32 every = ur_inflight_ask(qp), burst = qp->burst;
	u32 since = qp->req.since_ackreq, n, over;

	if (every < UR_ACK_PKTS)
		burst = 0;
	if (burst)
		every = every / burst * burst;
	n = every > since ? every - since : 1;
	over = burst ? (open + n) % burst : 0;
	return over ? n + burst - over : n;
}

/* Returns how many of n packets, fewer than there are to send, to send now:
 * those up to the end of a burst. Returns 0 where no burst ends among them and
 * *defer says what may bring the rest. */
static u32 cut_short(struct ur_qp *qp, const struct ur_tx *tx, u32 open, u32 n,
		     u32 quantum, u32 room, enum ur_defer *defer)
{
	const struct ur_requester *req = &qp->req;
	u32 whole = ur_burst_whole(qp, open, n);

	if (whole || !qp->burst)
		return whole ? whole : n;
	if (n == room && tx->used > tx->cap / 2)
		*defer = UR_DEFER_ROOM;
	else if (n == quantum)
		*defer = UR_DEFER_QUANTUM;
	else if (n != room && req->asked_end == req->tx_psn && ur_inflight(req))
		*defer = UR_DEFER_ANSWER;
	return *defer ? 0 : n;
}

u32 ur_fastpath_send(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx,
		     u32 quantum, enum ur_defer *defer)
{
	struct ur_requester *req = &qp->req;
	u32 i = ur_psn_sub(req->tx_psn, e->psn), off = i << qp->mtu_shift;
	u32 window = UINT32_MAX, left = e->npkts - 1 - i;
	u32 open = ur_burst_open(qp, tx), room = room_for(qp, tx), n, wanted;
	bool reliable = qp->svc == UR_SVC_RC, closing;
	struct copies copies;
	const u8 *payload;
	bool write = e->opcode == UR_WR_WRITE || e->opcode == UR_WR_WRITE_IMM;
	u8 opc = write ? UR_OPC_WRITE_MIDDLE : UR_OPC_SEND_MIDDLE;

	if (!qp->port->cfg.fast || qp->cc || qp->svc == UR_SVC_XRC || !i ||
	    i + 1 >= e->npkts || (e->flags & UR_WR_F_INLINE) || qp->share.test)
		return 0;
	if (reliable)
		window = req->window - ur_psn_sub(req->tx_psn, req->una);
	if (qp->share.held)
		window = ur_min_u32(window, qp->share.turn);
	/* Packets sent again and packets never sent before do not go
	 * together. */
	if (reliable && req->tx_psn != req->max_psn)
		left = ur_min_u32(left, ur_psn_sub(req->max_psn, req->tx_psn));
	n = ur_min_u32(ur_min_u32(quantum, room), ur_min_u32(window, left));
	if (!n || !find_local(qp, &req->source, req->tx, e->sge, e->num_sge,
			      &e->cur, off, e->length, 0))
		return 0;
	left = ur_min_u32(left, (req->source.end - off) >> qp->mtu_shift);
	copies = copies_of(qp, &req->source, off);
	n = ur_min_u32(n, copies.most);
	closing = n == window;
	/* A window of hardly more than a burst would be half empty. */
	if (n < left && !qp->share.held &&
	    (!reliable || req->window >= 2 * qp->burst))
		n = cut_short(qp, tx, open, n, quantum, room, defer);
	n = wanted = ur_min_u32(n, left);
	payload = read_packets(qp, &req->source, off, &n, tx, &copies.where);
	if (!payload)
		return 0;
	closing &= n == wanted;
	for (u32 sent = 0, piece; sent < n; sent += piece) {
		u32 ask = until_ask(qp, open + sent);
		bool last;

		piece = ur_min_u32(n - sent, reliable ? ask : n);
		last = reliable &&
		       (piece == ask || (closing && sent + piece == n));
		for (u32 k = 1; k <= piece; k++, payload += qp->mtu)
			put_packet(qp, tx, opc, last && k == piece,
				   ur_psn_add(e->psn, i + sent + k - 1),
				   payload, copies.where);
		req->since_ackreq = last ? 0 : req->since_ackreq + piece;
		ur_requester_sent(qp, piece, piece);
		if (reliable)
			ur_retry_sent(qp, last);
	}
	ur_burst_count(tx, n);
	count_sent(qp, n, is_apart(copies.where));
	return n;
}

u32 ur_fastpath_answer(struct ur_qp *qp, struct ur_resp_item *it,
		       struct ur_tx *tx, u32 quantum, enum ur_defer *defer)
{
	struct ur_responder *resp = &qp->resp;
	const struct ur_resource *res = &resp->res[it->resource];
	u32 off = ur_psn_sub(it->next, res->psn) << qp->mtu_shift;
	u32 left = ur_psn_sub(it->end, it->next) - 1, room = room_for(qp, tx);
	u32 n = ur_min_u32(ur_min_u32(quantum, room), left);
	struct copies copies;
	const u8 *payload;

	if (!qp->port->cfg.fast || qp->cc || qp->svc != UR_SVC_RC ||
	    res->opc != UR_OPC_READ_REQ || it->next == it->psn)
		return 0;
	if (!n ||
	    !find_remote(qp, &resp->source, it->resource, res->rkey, res->va,
			 off, res->length, UR_ACCESS_REMOTE_READ))
		return 0;
	left = ur_min_u32(left, (resp->source.end - off) >> qp->mtu_shift);
	copies = copies_of(qp, &resp->source, off);
	n = ur_min_u32(n, copies.most);
	if (n < left)
		n = cut_short(qp, tx, ur_burst_open(qp, tx), n, quantum, room,
			      defer);
	else
		n = left;
	payload = read_packets(qp, &resp->source, off, &n, tx, &copies.where);
	if (!payload)
		return 0;
	for (u32 k = 0; k < n; k++, payload += qp->mtu) {
		put_packet(qp, tx, UR_OPC_READ_RESP_MIDDLE, false, it->next,
			   payload, copies.where);
		it->next = ur_psn_add(it->next, 1);
	}
	ur_burst_count(tx, n);
	count_sent(qp, n, is_apart(copies.where));
	return n;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The fast path for outgoing middle packets of RC and UC: the place of their bytes, and how many
 * leave at once. */
#include <errno.h>

#include "transport/fastpath_range.h"
#include "transport/retry.h"

/* Returns the next len bytes at message offset off: in memory, or as one copy, since each read
 * costs a system call. NULL: the ordinary way will find the byte that cannot be read. */
static const u8 *range_read(const struct ur_mr_range *s, u32 off, u32 len,
			    u8 *copy)
{
	const struct ur_mem_ops *ops = s->mr->attr.ops;
	const struct ur_pieces to = {
		.first = copy, .stride = len, .len = len, .n = 1, .reader = s};
	u64 at = s->off + (off - s->first);

	if (s->ptr)
		return s->ptr + (off - s->first);
	if (s->ahead)
		return ops->read_pieces(s->mr->attr.mem, at, &to) ? NULL : copy;
	return ops->read(s->mr->attr.mem, at, copy, len) ? NULL : copy;
}

static u8 *room_apart(const struct ur_qp *qp, u32 len)
{
	const struct ur_port_config *cfg = &qp->port->cfg;

	return cfg->ops->payload_room(cfg->ctx, qp->attr.av, qp->attr.dest_qpn,
				      len);
}

/* The place of payloads before their packets are built. */
enum payloads {
	IN_MEMORY, /* the program's memory, or our copy */
	IN_ROOM,   /* the host's payload_room(), apart from the packets */
	IN_PLACE,  /* memory that the peer's host reads (payload_place()) */
	IN_PACKETS,
};

/* The place for bytes of unmapped memory. */
struct copies {
	enum payloads where;
	u32 most; /* packets that can be read at once */
};

/* Only RC: an unreliable message completes, and its memory may change, before the peer has read
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

/* Reads the bytes to their place in the next n packets of tx. Returns NULL as range_read(); changes
 * *where if another place must be used. */
static const u8 *read_in_place(const struct ur_qp *qp,
			       const struct ur_mr_range *s, u32 off, u32 n,
			       const struct ur_tx *tx, enum payloads *where)
{
	const struct ur_pieces to = {
		.first = tx->buf + tx->used + UR_BTH_BYTES,
		.stride = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES,
		.len = qp->mtu,
		.n = n,
		.reader = s,
	};
	int err = s->mr->attr.ops->read_pieces(s->mr->attr.mem,
					       s->off + (off - s->first), &to);

	if (err == -EOPNOTSUPP)
		*where = IN_MEMORY;
	return err ? NULL : to.first;
}

/* Reads the bytes of *n packets, or of fewer (then in *n) for lack of room. Returns their address,
 * as range_read(). */
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

/* Returns how many whole packets tx has room for. */
static u32 room_for(const struct ur_qp *qp, const struct ur_tx *tx)
{
	u32 bytes = UR_BTH_BYTES + qp->mtu + UR_ICRC_BYTES;

	return ur_min_u32(tx->max_desc - tx->n_desc,
			  (tx->cap - tx->used) / bytes);
}

static bool is_split(enum payloads where)
{
	return where == IN_ROOM || where == IN_PLACE;
}

static void put_packet(struct ur_qp *qp, struct ur_tx *tx, u8 opc, bool ackreq,
		       u32 psn, const u8 *payload, enum payloads where)
{
	bool split = is_split(where);
	struct ur_tx_desc *d = &tx->desc[tx->n_desc++];
	u8 *p = tx->buf + tx->used;

	ur_bth_build(p, qp->svc | opc, 0, 0, UR_PKEY_DEFAULT, qp->attr.dest_qpn,
		     ackreq, psn);
	if (where == IN_MEMORY)
		memcpy(p + UR_BTH_BYTES, payload, qp->mtu);
	d->off = tx->used;
	d->len = UR_BTH_BYTES + qp->mtu;
	d->av = qp->attr.av;
	d->split = split ? payload : NULL;
	tx->used += (split ? UR_BTH_BYTES : d->len) + UR_ICRC_BYTES;
	ur_trace(qp->port, UR_TRACE_TX, qp->attr.dest_qpn, qp->svc | opc, psn);
}

/* Bytes in tx are counted at the end of the turn; payloads apart from tx are counted here. */
static void count_sent(struct ur_qp *qp, u32 packets, bool split)
{
	u64 bytes = (u64)packets * (UR_BTH_BYTES + qp->mtu);

	ur_count_tx_prio(qp->port->counters, qp->attr.av, packets, bytes);
	ur_count_many(qp->port, UR_CNT_sent_pkts, packets);
	ur_count_many(qp->port, UR_CNT_port_xmit_data, bytes / 4);
	if (split)
		ur_qp_count(qp, UR_QP_CNT_sent_bytes,
			    (u64)packets << qp->mtu_shift);
}

/* Returns the number of packets up to the next acknowledgement request: at the
 * end of a burst, about as often as without bursts. */
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

/* Returns how many of n packets, which are not all, to send now: those that
 * complete bursts. 0: none does, and *defer says what to wait for. */
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
	/* Packets sent for the first time and repetitions do not mix. */
	if (reliable && req->tx_psn != req->max_psn)
		left = ur_min_u32(left, ur_psn_sub(req->max_psn, req->tx_psn));
	n = ur_min_u32(ur_min_u32(quantum, room), ur_min_u32(window, left));
	if (!n || !ur_range_find_local(qp, &req->source, req->tx, qp->init.pd,
				       e->sge, e->num_sge, &e->cur, off,
				       e->length, 0, UR_RANGE_READ))
		return 0;
	left = ur_min_u32(left, (req->source.end - off) >> qp->mtu_shift);
	copies = copies_of(qp, &req->source, off);
	n = ur_min_u32(n, copies.most);
	closing = n == window;
	/* With a window hardly larger than a burst, half of it would stay
	 * empty. */
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
	count_sent(qp, n, is_split(copies.where));
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
	if (!n || !ur_range_find_remote(qp, &resp->source, it->resource,
					res->rkey, res->va, off, res->length,
					UR_ACCESS_REMOTE_READ, UR_RANGE_READ))
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
	count_sent(qp, n, is_split(copies.where));
	return n;
}

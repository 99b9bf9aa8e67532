// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device reads the outboxes in turn, and sends the packets that it permits. */
#include <errno.h>
#include <netinet/udp.h>
#include "engine/wire/udp_message.h"
#include "engine/local/udp_outbox_fits.h"
#include "engine/local/udp_outbox_impl.h"
#include "util/assert.h"

/* Limits of the cost in one turn: of one program; of all. */
#define TURN_BYTES (128u << 10)
#define TURN_ALL   (256u << 10)
/* The same when a slot ends: all that the outbox has, unless it is many small messages. */
#define DRAIN_ALL (1u << 20)
/* Cost of a datagram and of a message in addition to their bytes. */
#define DATAGRAM_COST 8192u
#define MESSAGE_COST  256u
/* Longer messages are not merged with others. */
#define LONG (UR_UDP_BURST / 2)
/* Retry interval when a socket had no room. */
#define AGAIN_NS 100000u
/* ---- sending ---- */

/* Writes the ICRCs of the packets of one datagram. */
static void put_icrcs(struct ur_wire_udp *w, const struct ur_peer_message *m,
		      u16 sport, u8 *data, u32 len)
{
	const struct ur_udp_flow flow = {m->saddr, m->daddr, sport,
					 ur_gid_is_v4(m->daddr)};
	u32 heads = 0, known = 0;

	ur_assert(m->seg && (len - 1) / m->seg < UR_UDP_SEGS);
	for (u32 at = 0; at < len; at += m->seg) {
		u32 bytes = ur_min_u32(m->seg, len - at) - UR_ICRC_BYTES, crc;

		if (bytes != known)
			heads = ur_udp_icrc_headers(w, &flow, bytes, 0);
		known = bytes;
		crc = flow.v4 ? heads ^ w->id_crc[at / m->seg] : heads;
		crc = ur_icrc_packet(w->icrc_cache, crc, data + at, bytes);
		if (m->first & UR_OUTBOX_SPOILT)
			crc = ~crc;
		ur_put_le32(data + at + bytes, crc);
	}
}

/* Sets the socket's traffic class and priority. The priority comes second, since IP_TOS changes it. */
static void set_service(struct ur_wire_udp *w, struct ur_outbox_port *p,
			bool v4, const struct ur_peer_message *m)
{
	int sl = m->first & UR_OUTBOX_SL;

	if (p->tos == m->tos && p->sl == sl)
		return;
	p->tos = m->tos;
	p->sl = sl;
	if (v4)
		ur_udp_set(p->fd, IPPROTO_IP, IP_TOS, m->tos);
	else
		ur_udp_set(p->fd, IPPROTO_IPV6, IPV6_TCLASS, m->tos);
	if (ur_udp_set(p->fd, SOL_SOCKET, SO_PRIORITY, ur_sl_priority((u8)sl)))
		atomic_store(&w->wire.engine->sl_refused, true);
}

/* Sends one datagram. Returns 0, the errno of a refusal, or -EAGAIN if there is no room now. */
static int put_out(struct ur_udp_outbox *o, const struct ur_peer_message *m,
		   u8 *data, u32 len)
{
	struct ur_wire_udp *w = o->wire;
	bool v4 = ur_gid_is_v4(m->daddr);
	struct ur_outbox_port *p = &o->port[v4];
	u8 control[UR_UDP_CTRL] __attribute__((aligned(8)));
	struct iovec iov = {data, len};
	union ur_sockaddr to;
	struct mmsghdr msg = {.msg_hdr = {.msg_name = &to,
					  .msg_iov = &iov,
					  .msg_iovlen = 1,
					  .msg_control = control}};
	u16 size = m->seg;
	int refused;

	if (p->fd < 0)
		return EADDRNOTAVAIL;
	put_icrcs(w, m, ur_udp_local_port(w->local, w->device, o->slot), data,
		  len);
	set_service(w, p, v4, m);
	msg.msg_hdr.msg_namelen =
		ur_udp_sockaddr(w, &to, m->daddr, UR_ROCE_V2_UDP_PORT);
	if (!v4 && !o->no_label)
		to.v6.sin6_flowinfo = htonl(m->flow_label);
	ur_udp_add_source(w, &msg.msg_hdr, m->saddr);
	ur_udp_add_ttl(&msg.msg_hdr, v4, m->ttl, ur_gid_is_mcast(m->daddr));
	if (len > m->seg)
		ur_udp_add_cmsg(&msg.msg_hdr, IPPROTO_UDP, UDP_SEGMENT, &size,
				sizeof(size));
	if (ur_wire_put(p->fd, &msg, 1, &refused))
		return 0;
	return refused ? refused : -EAGAIN;
}

/* Handles a refusal. If the route does not segment, or another program leases flow labels, stops using
 * these, so that only one datagram is lost by that. */
static void learn(struct ur_udp_outbox *o, const struct ur_peer_message *m,
		  u32 len, int refused)
{
	if (refused == EINVAL && m->flow_label && !ur_gid_is_v4(m->daddr))
		o->no_label = true;
	else if (len > m->seg && (refused == EIO || refused == EINVAL))
		o->no_gso = true;
}

static u32 bytes_at_once(const struct ur_udp_outbox *o,
			 const struct ur_peer_message *m)
{
	return o->no_gso || !o->wire->wire.engine->opt.gso ? m->seg : m->len;
}

static void refuse(struct ur_udp_outbox *o, const struct ur_peer_message *m,
		   u32 len, int error)
{
	learn(o, m, len, error);
	ur_engine_tally(o->wire->wire.engine, UR_CNT_send_err,
			(len + m->seg - 1) / m->seg);
	atomic_store_explicit(
		&o->word->refusal,
		ur_outbox_refusal(++o->refusals, (u16)error, m->daddr),
		memory_order_relaxed);
}

/* Sends a message. Returns false if there is no room now. */
static bool forward(struct ur_udp_outbox *o, const struct ur_peer_message *m,
		    u8 *data)
{
	u32 each = bytes_at_once(o, m);

	for (u32 at = 0; at < m->len; at += each) {
		u32 len = ur_min_u32(each, m->len - at);
		int err = put_out(o, m, data + at, len);

		if (err == -EAGAIN && !at)
			return false;
		if (err)
			refuse(o, m, len, err);
	}
	return true;
}

/* ---- waking others ---- */

static bool is_wake(const struct ur_peer_message *m)
{
	return m->len == UR_UDP_WAKE_BYTES && !m->split;
}

/* Sends a wake-up to another program: from this slot's port, to the address that the message names. */
static void wake_other(struct ur_udp_outbox *o, const struct ur_peer_message *m,
		       const u8 *data)
{
	struct ur_wire_udp *w = o->wire;
	u32 slot = data[5] >> (8 - UR_PLACE_BITS);
	u8 bytes[UR_UDP_WAKE_BYTES] = {[5] = data[5]};
	u8 control[UR_UDP_CTRL] __attribute__((aligned(8)));
	struct iovec iov = {bytes, sizeof(bytes)};
	bool v4 = ur_gid_is_v4(m->daddr);
	union ur_sockaddr to;
	struct msghdr msg = {.msg_name = &to,
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control};
	u16 port = ur_udp_local_port(w->local, w->device, slot);

	if (!port || ur_udp_outbox_ring(w, slot) || o->port[v4].fd < 0 ||
	    ur_gid_is_v4(m->saddr) != v4 || ur_gid_is_mcast(m->saddr) ||
	    !ur_udp_find(w, m->daddr) ||
	    !ur_udp_relay_has(w, o->slot, m->saddr))
		return;
	msg.msg_namelen = ur_udp_sockaddr(
		w, &to, m->daddr, w->relays[slot] ? port : UR_ROCE_V2_UDP_PORT);
	ur_udp_add_source(w, &msg, m->saddr);
	sendmsg(o->port[v4].fd, &msg, MSG_DONTWAIT);
}

/* ---- turns ---- */

/* Returns whether packets of b may follow those of a in one datagram. */
static bool same_headers(const struct ur_peer_message *a,
			 const struct ur_peer_message *b)
{
	return a->flow_label == b->flow_label && a->first == b->first &&
	       a->tos == b->tos && a->ttl == b->ttl &&
	       !memcmp(a->saddr, b->saddr, 16) &&
	       !memcmp(a->daddr, b->daddr, 16);
}

/* Returns whether two packets are for the same engine of the peer. A datagram arrives at one socket, so all its packets
 * must be. */
static bool same_slot(const u8 *a, const u8 *b)
{
	return !((a[5] ^ b[5]) >> (8 - UR_PLACE_BITS));
}

static bool may_join(const struct ur_peer_message *all,
		     const struct ur_peer_message *m, const u8 *data)
{
	return !(all->len % all->seg) && m->seg <= all->seg &&
	       (m->seg == all->seg || m->len == m->seg) &&
	       all->len + m->len <= UR_UDP_BURST &&
	       all->len / all->seg + (m->len + m->seg - 1) / m->seg <=
		       UR_UDP_SEGS &&
	       !((all->first | m->first) & UR_OUTBOX_SPOILT) &&
	       same_headers(all, m) && same_slot(data, data + all->len);
}

/* Returns whether the program may send the message. */
static bool may_leave(const struct ur_udp_outbox *o,
		      const struct ur_peer_message *m, const u8 *data)
{
	return ur_udp_outbox_fits(m, data, o->slot) &&
	       ur_udp_relay_has(o->wire, o->slot, m->saddr);
}

/* Handles the first message of a datagram, whose packets are at data. */
static void take_first(struct ur_udp_outbox *o, struct ur_peer_message *m,
		       const u8 *data)
{
	if (is_wake(m)) {
		wake_other(o, m, data);
		m->len = 0;
	} else if (!may_leave(o, m, data)) {
		ur_engine_tally(o->wire->wire.engine, UR_CNT_send_err,
				(m->len + m->seg - 1) / m->seg);
		m->len = 0;
	}
}

/* Copies messages that form one datagram to data, and moves past them. Returns their number, or 0. *all
 * describes the datagram, which may be empty. */
static u32 collect(struct ur_udp_outbox *o, struct ur_peer_message *all,
		   u8 *data)
{
	struct ur_peer_message m;
	struct ur_peer_in before;
	u32 n = 1;
	int got = ur_peer_get(&o->in, all, data);

	o->broken |= got < 0;
	if (got <= 0)
		return 0;
	ur_peer_pass(&o->in);
	take_first(o, all, data);
	for (; all->len && all->len < LONG && n < UR_UDP_SEGS; n++) {
		before = o->in;
		if (ur_peer_get(&o->in, &m, data + all->len) <= 0)
			break;
		if (!may_leave(o, &m, data + all->len) ||
		    !may_join(all, &m, data)) {
			o->in = before;
			break;
		}
		ur_peer_pass(&o->in);
		all->len += m.len;
	}
	ur_assert(all->len <= UR_PEER_BYTES);
	return n;
}

static u32 cost_of(const struct ur_udp_outbox *o,
		   const struct ur_peer_message *m)
{
	u32 each = bytes_at_once(o, m);

	return m->len +
	       (m->len ? (m->len + each - 1) / each : 1) * DATAGRAM_COST;
}

/* Empties an outbox as far as its turn allows. Returns the cost. */
static u32 empty(struct ur_udp_outbox *o)
{
	struct ur_wire_udp *w = o->wire;
	struct ur_engine *e = w->wire.engine;
	struct ur_peer_message m;
	u32 cost = 0, n = 1;

	ur_assert(!o->broken && w->relays[o->slot]);
	o->again = 0;
	while (n && cost < TURN_BYTES) {
		struct ur_peer_in before = o->in;

		n = collect(o, &m, w->rx_buf);
		if (n && m.len && !forward(o, &m, w->rx_buf)) {
			o->in = before;
			o->again = e->now + AGAIN_NS;
			e->wire_retry_at =
				ur_min_u64(e->wire_retry_at, o->again);
			break;
		}
		if (n)
			ur_peer_done(&o->in);
		cost += n ? cost_of(o, &m) + n * MESSAGE_COST : 0;
	}
	if (cost && ur_peer_woken(&o->in))
		ur_udp_outbox_call(o);
	return cost;
}

void ur_udp_outbox_drain(struct ur_wire_udp *w, u32 slot)
{
	const struct ur_engine *e = w->wire.engine;
	struct ur_udp_outbox *o = w->outboxes[slot];
	u32 cost = 0;

	if (!ur_slot_set_has(&w->forwarding, slot))
		return;
	while (cost < DRAIN_ALL && ur_udp_outbox_has_some(o, e->now)) {
		u32 more = empty(o);

		if (!more)
			return;
		cost += more;
	}
}

bool ur_udp_outboxes_empty(struct ur_wire *wire)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	struct ur_engine *e = w->wire.engine;
	u32 cost = 0, slot = w->outbox_next;

	for (u32 i = 0; i < e->forwards && cost < TURN_ALL; i++, slot++) {
		slot = ur_slot_set_next(&w->forwarding, slot);
		if (slot == UR_SLOTS)
			slot = ur_slot_set_next(&w->forwarding, 0);
		if (!ur_udp_outbox_has_some(w->outboxes[slot], e->now))
			continue;
		cost += empty(w->outboxes[slot]);
		w->outbox_next = slot + 1;
	}
	return cost;
}

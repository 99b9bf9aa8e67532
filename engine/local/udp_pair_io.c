// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sends packets to and receives them from the engines of other programs, by rings. */
#include <errno.h>
#include "engine/ground/user.h"
#include "engine/wire/udp_message.h"
#include "engine/wire/wire_udp.h"
#include "engine/faults/faults.h"
#include "transport/frame.h"

/* Most messages of one peer in one turn. */
#define TURN_MESSAGES 32u
/* The same in bytes of long messages: then acknowledgements leave, so that the sender goes on meanwhile. */
#define TURN_BULK (128u << 10)

/* Interval of repeated wake-ups of a sleeping reader: a firewall may drop one, and retransmissions in the
 * ring would not wake it. */
#define ASK_AGAIN_NS 1000000u

/* Most payload bytes that a queue pair reserves at once. */
#define LONGEST_BULK (UR_PEER_PACKETS * 4096u)

/* ---- waking ---- */

/* Sends a wake-up datagram. It contains a queue pair number, by which the BPF program steers it. */
static void wake(struct ur_wire_udp *w, const struct ur_udp_pair *p)
{
	u8 bytes[UR_UDP_WAKE_BYTES] = {
		[5] = (u8)(p->slot << (8 - UR_PLACE_BITS))};
	bool v4 = ur_gid_is_v4(p->addrs[0]);
	struct iovec iov = {bytes, sizeof(bytes)};
	u8 control[UR_UDP_CTRL] __attribute__((aligned(8))) = {0};
	union ur_sockaddr to;
	struct msghdr msg = {
		.msg_name = &to,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
	};

	if (w->wake_fd >= 0) {
		ur_udp_outbox_wake(w, p);
		return;
	}
	if (!p->has_addrs || w->granted[v4].fd < 0)
		return;
	msg.msg_namelen =
		ur_udp_sockaddr(w, &to, p->addrs[1],
				p->relayed ? p->port : UR_ROCE_V2_UDP_PORT);
	ur_udp_add_source(w, &msg, p->addrs[0]);
	sendmsg(w->granted[v4].fd, &msg, MSG_DONTWAIT);
}

static void note_addrs(struct ur_udp_pair *p, const u8 own[16],
		       const u8 other[16])
{
	memcpy(p->addrs[0], own, 16);
	memcpy(p->addrs[1], other, 16);
	p->has_addrs = true;
}

/* ---- sending ---- */

static u32 slot_of(const struct ur_tx *tx, u32 i)
{
	return ur_slot_of(ur_get_be24(tx->buf + tx->desc[i].off + 5));
}

/* Returns whether the payload of a packet is still there: the packet may have waited, and its ring may have
 * ended. */
static bool has_payload(const struct ur_udp_pair *p, const u8 *split)
{
	uintptr_t at = (uintptr_t)split, file = (uintptr_t)p->out_file;
	struct ur_peer_message m;

	return !split || at - file < UR_PEER_FILE_BYTES ||
	       ur_udp_shown_place(p, split, &m);
}

/* Returns whether the packet is for the slot's present holder, who reads all of the ring. A connection counts for the
 * holder at the time of connecting. A datagram may be for a number of an earlier holder, which only the device can
 * tell. */
static bool is_for(const struct ur_udp_pair *p, const struct ur_av *av)
{
	return av->grant_id ? av->grant_id == p->grant_id
			    : !av->lqpn && p->same_user;
}

struct ur_udp_pair *ur_udp_pair_for(struct ur_wire_udp *w,
				    const struct ur_tx *tx, u32 i)
{
	struct ur_udp_pair *p = ur_udp_pair_at(w, slot_of(tx, i));

	/* The device reads no pair. Packets with a wrong ICRC go by the socket, since a ring has no ICRCs. */
	return p && p->slot && is_for(p, tx->desc[i].av) &&
			       ur_peer_is_read(&p->out) &&
			       has_payload(p, tx->desc[i].split) &&
			       !ur_faults_spoils(w->wire.engine, i)
		       ? p
		       : NULL;
}

u8 *ur_udp_pair_payload_room(struct ur_wire_udp *w, const struct ur_av *av,
			     u32 dqpn, u32 len)
{
	struct ur_udp_pair *p = ur_udp_pair_at(w, ur_slot_of(dqpn));
	u32 bulk;

	if (!p || !p->slot || !is_for(p, av) || !ur_peer_is_read(&p->out))
		return NULL;
	if (!len)
		return ur_peer_may_reserve(&p->out, LONGEST_BULK) ? p->out_file
								  : NULL;
	return ur_peer_reserve(&p->out, len, &bulk);
}

u8 *ur_udp_payload_room(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			u32 len)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	const struct ur_udp_out *o;

	if (!w->paired)
		return NULL;
	o = ur_udp_out(w, (struct ur_av *)av);
	return o && o->granted ? ur_udp_pair_payload_room(w, av, dqpn, len)
			       : NULL;
}

const u8 *ur_udp_payload_place(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, struct ur_emr *mr, u64 off, u32 len)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	u32 slot = ur_slot_of(dqpn);
	const struct ur_udp_out *o;
	struct ur_udp_pair *p;

	if (!slot || ur_slot_is_small(slot) || !(w->paired >> slot & 1))
		return NULL;
	o = ur_udp_out(w, (struct ur_av *)av);
	p = o && o->granted ? ur_udp_pair_at(w, slot) : NULL;
	return p && is_for(p, av) ? ur_udp_shown_find(p, av, mr, off, len,
						      ur_udp_memory(w))
				  : NULL;
}

static u32 bytes_of(const struct ur_tx_desc *d)
{
	return d->split ? UR_PEER_BTH_ROOM : d->len + UR_ICRC_BYTES;
}

/* Returns whether packet next may follow in the message that packet d begins: it has the same size, or is
 * shorter and the last; if split, its payload begins where the one before ends. */
static bool may_follow(const struct ur_tx_desc *d,
		       const struct ur_tx_desc *next)
{
	if (next->av != d->av || !next->split != !d->split)
		return false;
	if (d->split)
		return next->len == d->len &&
		       next->split == next[-1].split + d->len - UR_BTH_BYTES;
	return next->len <= d->len && next[-1].len == d->len;
}

/* Returns how many packets from first on can form one message; *bytes: their size. */
static u32 run_length(const struct ur_engine *e, const struct ur_tx *tx,
		      u32 first, u32 end, u32 *bytes)
{
	const struct ur_tx_desc *d = &tx->desc[first];
	u32 slot = slot_of(tx, first), n = 0;

	*bytes = 0;
	for (; first + n < end && n < UR_PEER_PACKETS; n++) {
		const struct ur_tx_desc *next = &tx->desc[first + n];
		u32 each = bytes_of(next);

		if (n &&
		    (!may_follow(d, next) || *bytes + each > UR_PEER_BYTES ||
		     slot_of(tx, first + n) != slot ||
		     ur_faults_spoils(e, first + n)))
			break;
		*bytes += each;
	}
	return n;
}

/* Leaves the place of the ICRCs empty: memory between two programs of one host needs no
 * check. */
static void copy(u8 *to, const struct ur_tx *tx, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++) {
		u32 len = bytes_of(&tx->desc[i]) - UR_ICRC_BYTES;

		memcpy(to, tx->buf + tx->desc[i].off, len);
		ur_put_le32(to + len, 0);
		to += len + UR_ICRC_BYTES;
	}
}

u32 ur_udp_pair_send(struct ur_wire_udp *w, struct ur_udp_pair *p,
		     const struct ur_tx *tx, u32 first, u32 end)
{
	const struct ur_tx_desc *d = &tx->desc[first];
	const struct ur_av *av = d->av;
	struct ur_peer_message m = {
		.flow_label = av->flow_label,
		.seg = (u16)(d->split ? d->len - UR_BTH_BYTES
				      : d->len + UR_ICRC_BYTES),
		.split = d->split != NULL,
		.tos = av->traffic_class,
		.ttl = av->hop_limit,
	};
	u32 n = run_length(w->wire.engine, tx, first, end, &m.len);
	u64 shown = d->split ? ur_udp_shown_place(p, d->split, &m) : 0;
	u8 *to;

	if (shown && n > shown / m.seg) {
		n = (u32)(shown / m.seg);
		m.len = n * UR_PEER_BTH_ROOM;
	}
	if (d->split && !shown)
		m.bulk = ur_peer_place(&p->out, d->split);
	memcpy(m.saddr, av->sgid, 16);
	memcpy(m.daddr, av->dgid, 16);
	to = ur_peer_room(&p->out, &m);
	if (!to) {
		ur_engine_tally(w->wire.engine, UR_CNT_send_err, n);
		if (m.split && !m.shown)
			ur_peer_release(&p->out, m.bulk + n * m.seg);
		return n;
	}
	copy(to, tx, first, n);
	ur_peer_put(&p->out, &m);
	note_addrs(p, av->sgid, av->dgid);
	p->put = true;
	return n;
}

void ur_udp_pairs_publish(struct ur_wire_udp *w)
{
	for (u32 left = w->paired & ~1u; left; left &= left - 1) {
		struct ur_udp_pair *p = w->pairs[__builtin_ctz(left)];

		ur_udp_shown_announce(p);
		if (!p->put)
			continue;
		p->put = false;
		ur_udp_pair_retry(w, p);
		if (!ur_peer_publish(&p->out) &&
		    (!ur_peer_still_sleeps(&p->out) ||
		     w->wire.engine->now - p->asked < ASK_AGAIN_NS))
			continue;
		p->asked = w->wire.engine->now;
		wake(w, p);
	}
	ur_udp_pairs_report(w);
}

void ur_udp_pairs_retry(struct ur_wire_udp *w)
{
	for (u32 left = w->held.little; left; left &= left - 1)
		if (ur_udp_pair_at(w, (u32)__builtin_ctz(left)))
			ur_udp_pair_retry(w, w->pairs[__builtin_ctz(left)]);
	ur_udp_pairs_report(w);
}

bool ur_udp_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
		  bool datagram)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	const struct ur_udp_out *o;

	if (!ur_udp_pair_holds(w, dqpn, datagram))
		return false;
	o = ur_udp_out(w, (struct ur_av *)av);
	return o && o->granted;
}

bool ur_udp_pair_unread(struct ur_wire_udp *w, const struct ur_av *av, u32 dqpn)
{
	struct ur_udp_pair *p = ur_udp_pair_at(w, ur_slot_of(dqpn));

	if (!p || !p->slot || !is_for(p, av) || !ur_peer_is_read(&p->out) ||
	    !ur_peer_is_behind(&p->out))
		return false;
	/* The first wake-up may be lost. */
	if (ur_peer_still_sleeps(&p->out))
		wake(w, p);
	return true;
}

bool ur_udp_unread(struct ur_wire *wire, const struct ur_av *av, u32 dqpn)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	const struct ur_udp_out *o;

	if (!w->paired)
		return false;
	o = ur_udp_out(w, (struct ur_av *)av);
	return o && o->granted && ur_udp_pair_unread(w, av, dqpn);
}

void ur_udp_payload_taken_back(struct ur_wire *wire)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	for (u32 left = w->paired & ~1u; left; left &= left - 1)
		ur_peer_take_back(&w->pairs[__builtin_ctz(left)]->out);
}

void ur_udp_hide(struct ur_wire *wire, const struct ur_emr *mr)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	for (u32 left = w->paired & ~1u; left; left &= left - 1)
		ur_udp_shown_hide(w->pairs[__builtin_ctz(left)], mr);
	ur_udp_pairs_publish(w);
}

/* ---- receiving ---- */

/* Returns whether a message is from an address of the device to one of ours, as for packets of a
 * socket. */
static bool is_known(struct ur_wire_udp *w, struct ur_udp_pair *p,
		     const struct ur_peer_message *m)
{
	u32 gen = ur_udp_local_generation(w->local);

	if (p->known_gen == gen && !memcmp(p->known[0], m->saddr, 16) &&
	    !memcmp(p->known[1], m->daddr, 16))
		return true;
	if (ur_gid_is_v4(m->saddr) != ur_gid_is_v4(m->daddr) ||
	    !ur_udp_local_whose(w->local, m->saddr, w->device).here ||
	    !ur_udp_find(w, m->daddr))
		return false;
	p->known_gen = gen;
	memcpy(p->known[0], m->saddr, 16);
	memcpy(p->known[1], m->daddr, 16);
	note_addrs(p, m->daddr, m->saddr);
	return true;
}

static bool is_good(const void *in)
{
	return ur_peer_is_good(in);
}

/* Handles packets whose payload is in an exported file, which its writer may truncate or change. */
static void take_shown(struct ur_wire_udp *w, struct ur_udp_pair *p,
		       const struct ur_rx_meta *meta,
		       const struct ur_peer_message *m)
{
	struct ur_engine *e = w->wire.engine;
	struct ur_user_mem *mem = ur_udp_memory(w);
	u32 n = m->len / UR_PEER_BTH_ROOM, len = UR_BTH_BYTES + m->seg;
	const u8 *bth = w->rx_buf, *bytes;
	u8 *one = w->rx_buf + UR_UDP_RX_STRIDE;

	bytes = mem ? ur_udp_seen_bytes(p, m, (u64)n * m->seg) : NULL;
	while (n && bytes) {
		u32 took = 0;

		if (mem->direct) {
			mem->is_good = is_good;
			mem->source = &p->in;
			took = ur_engine_rx_split(e, meta, bth,
						  UR_PEER_BTH_ROOM, bytes, len,
						  n, true);
			mem->is_good = NULL;
		}
		if (!took) {
			took = 1;
			memcpy(one, bth, UR_BTH_BYTES);
			if (ur_user_read(mem, (uintptr_t)bytes,
					 one + UR_BTH_BYTES, m->seg))
				break;
			if (!ur_peer_is_good(&p->in))
				return;
			ur_engine_rx(e, meta, one, len);
		}
		n -= took;
		bth += took * UR_PEER_BTH_ROOM;
		bytes += took * m->seg;
	}
	if (n)
		ur_udp_seen_refuse(p, m);
}

/* Handles split packets. Those that cannot be handled together are assembled one by one. */
static void take_apart(struct ur_wire_udp *w, struct ur_udp_pair *p,
		       const struct ur_rx_meta *meta,
		       const struct ur_peer_message *m)
{
	struct ur_engine *e = w->wire.engine;
	const u8 *bth = w->rx_buf, *payload = ur_peer_bulk(&p->in, m);
	u32 n = m->len / UR_PEER_BTH_ROOM, len = UR_BTH_BYTES + m->seg;
	u8 *one = w->rx_buf + UR_UDP_RX_STRIDE;

	for (u32 i = 0, took; i < n; i += took) {
		const u8 *head = bth + (size_t)i * UR_PEER_BTH_ROOM;
		const u8 *bytes = payload + (size_t)i * m->seg;

		took = ur_engine_rx_split(e, meta, head, UR_PEER_BTH_ROOM,
					  bytes, len, n - i, false);
		if (took)
			continue;
		took = 1;
		memcpy(one, head, UR_BTH_BYTES);
		memcpy(one + UR_BTH_BYTES, bytes, m->seg);
		ur_engine_rx(e, meta, one, len);
	}
}

/* Handles a message of the relay. Wake-ups of the device go to the address where it arrived. */
static void take_relayed(struct ur_wire_udp *w, struct ur_udp_pair *p,
			 const struct ur_peer_message *m)
{
	struct ur_rx_meta meta = {
		.v4 = ur_gid_is_v4(m->daddr),
		.tos = m->tos,
		.ttl = m->ttl,
		.udp_sport = m->sport,
		.flow_label = m->flow_label & 0xfffff,
	};
	const struct ur_udp_addr *a = ur_udp_find(w, m->daddr);

	if (!a || ur_gid_is_v4(m->saddr) != meta.v4)
		return;
	note_addrs(p, m->daddr, m->daddr);
	memcpy(meta.saddr, m->saddr, 16);
	memcpy(meta.daddr, m->daddr, 16);
	ur_udp_take_relayed(w, a->mcast, &meta, w->rx_buf, m->len, m->seg,
			    m->first);
}

static void take(struct ur_wire_udp *w, struct ur_udp_pair *p,
		 const struct ur_peer_message *m)
{
	struct ur_rx_meta meta = {
		.v4 = ur_gid_is_v4(m->saddr),
		.tos = m->tos,
		.ttl = m->ttl,
		.udp_sport = p->port,
		.flow_label = m->flow_label & 0xfffff,
		.slot = (u16)p->slot,
		.slot_bits = UR_PLACE_BITS,
		.grant_id = p->grant_id,
	};

	if (!is_known(w, p, m)) {
		ur_engine_tally(w->wire.engine, UR_CNT_bad_gid, 1);
		return;
	}
	memcpy(meta.saddr, m->saddr, 16);
	memcpy(meta.daddr, m->daddr, 16);
	if (m->shown)
		take_shown(w, p, &meta, m);
	else if (m->split)
		take_apart(w, p, &meta, m);
	else
		ur_udp_take(w, &meta, w->rx_buf, m->len, m->seg);
}

/* Returns whether there was any message, or -EPROTO if the ring is invalid. */
static int receive(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	struct ur_peer_message m;
	u32 bulk = 0;
	int ret = 0;

	for (u32 i = 0; i < TURN_MESSAGES && bulk < TURN_BULK; i++) {
		int got = ur_peer_get(&p->in, &m, w->rx_buf);

		if (got < 0)
			return got;
		if (!got)
			break;
		ret = 1;
		bulk += m.split	  ? m.len / UR_PEER_BTH_ROOM * m.seg
			: p->slot ? 0
				  : m.len;
		if (m.shows && p->slot)
			ur_udp_seen_take(p, w->rx_buf);
		else if (p->slot)
			take(w, p, &m);
		else if (!m.split)
			take_relayed(w, p, &m);
		ur_peer_done(&p->in);
	}
	if (ret && ur_peer_woken(&p->in))
		wake(w, p);
	return ret;
}

bool ur_udp_pairs_receive(struct ur_wire_udp *w)
{
	bool any = false;

	for (u32 left = w->paired; left; left &= left - 1) {
		u32 i = (u32)__builtin_ctz(left);
		struct ur_udp_pair *p = w->pairs[i];
		int got;

		if (!p || !ur_peer_any(&p->in))
			continue;
		p = ur_udp_pair_at(w, i);
		got = p ? receive(w, p) : 0;
		if (got < 0)
			ur_udp_pair_end(w, p);
		any |= got > 0;
		w->wire.engine->rx_memory |= got > 0 && i;
	}
	if (any) {
		w->wire.engine->rx_any = true;
		w->last_ring = w->wire.engine->now;
	}
	return any;
}

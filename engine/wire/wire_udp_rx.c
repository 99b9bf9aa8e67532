// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receiving: splits datagrams that the kernel may have merged (UDP_GRO), and checks
 * the ICRC of each packet.
 *
 * A UDP socket does not show the IPv4 identification, which the ICRC covers. The CRC
 * is computed with a guess, which is right for peers that send from UDP sockets (0,
 * or the index in the burst) and for those that count. If it does not match,
 * ur_icrc_solve_id() finds the one value that does. That alone would accept one
 * damaged packet in 32768, so the value must fit the peer's pattern: one in 400 000,
 * see udp_ids.h.
 */
#include "engine/faults/faults.h"
#include "engine/core/engine_impl.h"
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"

_Static_assert(UR_IS_POW2(UR_UDP_PEERS), "a peer's place is bits of a hash");

/* ---- ICRC ---- */

static struct ur_udp_peer *find_peer(struct ur_wire_udp *w, const u8 *gid)
{
	u32 h = ur_get_le32(gid + 12) * 0x9e3779b1u ^
		ur_get_le32(gid + 8) * 0x85ebca6bu;
	struct ur_udp_peer *p = &w->peers[(h >> 16) & (UR_UDP_PEERS - 1)];
	struct ur_udp_whose whose;

	if (memcmp(p->gid, gid, 16)) { /* a new peer replaces the old one */
		memset(p, 0, sizeof(*p));
		memcpy(p->gid, gid, 16);
	}
	if (p->local_gen != ur_udp_local_generation(w->local)) {
		p->local_gen = ur_udp_local_generation(w->local);
		whose = ur_udp_local_whose(w->local, gid, w->device);
		p->local = whose.local;
		p->device = whose.device;
		p->here = whose.here || ur_udp_find(w, gid);
	}
	return p;
}

/* A realm that is nobody's. */
#define STRANGER UINT32_MAX

/* Returns the realm of the sender, if users are isolated: that of its slot. The device's own engines carry packets of all users,
 * so their realm is nobody's. Other devices of this host count as other hosts. */
static u32 realm_of(const struct ur_wire_udp *w, const struct ur_udp_peer *peer,
		    u32 slot, u32 grant_id)
{
	u32 realm;

	if (!w->wire.engine->config.isolated || !peer->here)
		return 0;
	realm = ur_udp_local_realm(w->local, w->device, slot, grant_id);
	return slot && realm ? realm : STRANGER;
}

/*
 * Returns whether a packet from an address of this host has a forged sender. Else sets slot,
 * slot_bits, grant_id and realm of *meta. Genuine senders are:
 *  - other devices of this process, and the device towards a program: from a port that
 *    uroced holds;
 *  - a program: from the port that was granted to its slot by the device with that address.
 *    Its packets count only for queue pairs whose peer is in that slot, and, if connected,
 *    were connected during that grant.
 * A device's packets to itself come here only if one end is in a program; otherwise feed_loop()
 * handles them.
 */
static bool forged(const struct ur_wire_udp *w, const struct ur_udp_peer *peer,
		   struct ur_rx_meta *meta)
{
	u32 slot;

	if (!peer->local && !peer->here)
		return false;
	slot = ur_udp_local_slot(w->local, peer->device, meta->udp_sport,
				 &meta->grant_id);
	meta->slot = (u16)ur_slot_prefix(slot);
	meta->realm = realm_of(w, peer, slot, meta->grant_id);
	if (slot) {
		meta->slot_bits = (u8)ur_slot_bits(slot);
		return false;
	}
	if (peer->here && !w->wire.engine->config.inproc)
		return true;
	return !ur_udp_local_holds(w->local, meta->udp_sport, meta->v4);
}

void ur_wire_udp_sender(struct ur_wire *wire, u32 slot, struct ur_rx_meta *meta)
{
	const struct ur_wire_udp *w =
		ur_container_of(wire, struct ur_wire_udp, wire);
	const struct ur_udp_peer peer = {.local = true, .here = true};

	meta->grant_id =
		slot ? ur_udp_local_grant_id(w->local, w->device, slot) : 0;
	meta->slot = (u16)ur_slot_prefix(slot);
	meta->slot_bits = slot ? (u8)ur_slot_bits(slot) : 0;
	meta->realm = realm_of(w, &peer, slot, meta->grant_id);
}

/* Returns whether the engine itself sent the multicast packet. The kernel loops it back for
 * other engines of this host; the members here already have it. */
static bool is_own(const struct ur_wire_udp *w, const struct ur_udp_peer *peer,
		   const struct ur_rx_meta *meta)
{
	u32 grant_id;

	if (!peer->here)
		return false;
	if (w->wire.engine->config.inproc)
		return meta->udp_sport == w->granted[meta->v4].sport;
	return !ur_udp_local_slot(w->local, w->device, meta->udp_sport,
				  &grant_id);
}

/*
 * CRC of the headers before the BTH, with identification 0: the same for all packets
 * of one length in a datagram.
 */
struct seed {
	struct ur_udp_flow flow;
	u32 len; /* 0: none yet */
	u32 crc;
};

static u32 seed_for(const struct ur_wire_udp *w, struct seed *seed, u32 len)
{
	if (seed->len != len) {
		seed->len = len;
		seed->crc = ur_udp_icrc_headers(w, &seed->flow, len, 0);
	}
	return seed->crc;
}

/* Checks the ICRC of the packet at index in its burst. len: bytes from BTH to pad. */
static bool check_icrc(struct ur_wire_udp *w, struct ur_udp_peer *peer,
		       struct seed *seed, const u8 *bth, u32 len, u32 index,
		       ur_time now)
{
	u32 got = ur_get_le32(bth + len);
	u32 crc = seed_for(w, seed, len);
	struct ur_icrc_id diff;
	u16 id;

	if (!seed->flow.v4)
		return ur_icrc_packet(w->icrc_cache, crc, bth, len) == got;
	id = ur_udp_ids_guess(&peer->ids, index);
	if (id < UR_UDP_SEGS)
		crc ^= w->id_crc[id];
	else
		crc = ur_udp_icrc_headers(w, &seed->flow, len, id);
	crc = ur_icrc_packet(w->icrc_cache, crc, bth, len);
	if (crc == got)
		return ur_udp_ids_take(&peer->ids, now, id, true);
	/* The CRC is linear, so the solution is the difference to the guess. */
	if (!ur_icrc_solve_id(w->icrc_cache, crc, got,
			      UR_IPV4_BYTES + UR_UDP_BYTES + len, &diff))
		return false;
	return ur_udp_ids_take(&peer->ids, now, id ^ diff.id, false);
}

/* ---- datagrams ---- */

/* A part of a datagram: n packets of seg bytes, ICRC included. The last may be
 * shorter. */
struct rx_part {
	u8 *data;
	u32 len, seg, n;
};

#define PART_PACKETS 64u

static u32 bytes_of(const struct rx_part *p, u32 i)
{
	return ur_min_u32(p->seg, p->len - i * p->seg) - UR_ICRC_BYTES;
}

/* Returns the good packets, a bit each. first: index of the first one in its burst. seed NULL:
 * the packets have no ICRCs. */
static u64 check_part(struct ur_wire_udp *w, struct ur_udp_peer *peer,
		      struct seed *seed, const struct rx_part *p, u32 first)
{
	struct ur_engine *e = w->wire.engine;
	u64 good = 0;

	for (u32 i = 0; i < p->n; i++) {
		u32 bytes = ur_min_u32(p->seg, p->len - i * p->seg);

		if (bytes < UR_BTH_BYTES + UR_ICRC_BYTES || bytes % 4)
			ur_engine_tally(e, UR_CNT_bad_length, 1);
		else if (seed &&
			 !check_icrc(w, peer, seed, p->data + i * p->seg,
				     bytes - UR_ICRC_BYTES, first + i, e->now))
			ur_engine_tally(e, UR_CNT_rx_icrc_encapsulated, 1);
		else
			good |= 1ull << i;
	}
	return good;
}

/* Returns the number of consecutive good packets of full size from i on. */
static u32 run_from(const struct rx_part *p, u64 good, u32 i)
{
	u64 gaps = ~(good >> i);
	u32 n = gaps ? (u32)__builtin_ctzll(gaps) : 64;

	return ur_min_u32(n, p->len / p->seg - i);
}

static void hand_in_one(struct ur_engine *e, const struct ur_rx_meta *meta,
			const struct rx_part *p, u32 i)
{
	u8 *bth = p->data + (size_t)i * p->seg;

	ur_engine_rx(e, meta, bth, bytes_of(p, i));
}

/* Returns whether the part is a request and an acknowledgement to us (put_answer_last() in engine/core/transmit.c).
 * Then the acknowledgement is handled first: a program that gets the message may post the next one at once, which may
 * need the send queue entry that the acknowledgement frees. */
static bool has_answer_last(const struct rx_part *p, u64 good)
{
	return p->n == 2 && good == 3 && p->data[p->seg] == UR_OP_RC_ACK &&
	       p->data[0] <= UR_OP_RC_READ_REQ;
}

/* Only middle packets of messages are handled several at once. */
static bool is_middle(u8 opcode)
{
	return opcode == UR_OP_RC_SEND_MIDDLE ||
	       opcode == UR_OP_RC_WRITE_MIDDLE ||
	       opcode == UR_OP_RC_READ_RESP_MIDDLE;
}

static void hand_in(struct ur_engine *e, const struct ur_rx_meta *meta,
		    const struct rx_part *p, u64 good)
{
	u32 refusals = 0; /* in a row */

	for (u32 i = 0, took; i < p->n; i += took) {
		u8 *bth = p->data + (size_t)i * p->seg;

		took = 1;
		if (!(good >> i & 1))
			continue;
		if (is_middle(*bth) && refusals < 2) {
			took = ur_engine_rx_run(e, meta, bth, bytes_of(p, i),
						p->seg, run_from(p, good, i));
			refusals = took ? 0 : refusals + 1;
			if (took)
				continue;
			took = 1;
		}
		hand_in_one(e, meta, p, i);
	}
}

static void take_all(struct ur_wire_udp *w, struct ur_udp_peer *peer,
		     struct seed *seed, const struct ur_rx_meta *meta, u8 *data,
		     u32 len, u32 seg, u32 index)
{
	for (u32 at = 0; at < len; at += seg * PART_PACKETS) {
		struct rx_part p = {data + at,
				    ur_min_u32(len - at, seg * PART_PACKETS),
				    seg, 0};
		u64 good;

		p.n = (p.len + seg - 1) / seg;
		good = check_part(w, peer, seed, &p, index);
		if (has_answer_last(&p, good)) {
			hand_in_one(w->wire.engine, meta, &p, 1);
			good = 1;
		}
		hand_in(w->wire.engine, meta, &p, good);
		index += p.n;
	}
}

void ur_udp_take(struct ur_wire_udp *w, const struct ur_rx_meta *meta, u8 *data,
		 u32 len, u32 seg)
{
	take_all(w, NULL, NULL, meta, data, len, seg, 0);
}

void ur_udp_take_datagram(struct ur_wire_udp *w, bool mcast,
			  struct ur_rx_meta *meta, u8 *data, u32 len, u32 seg,
			  u32 first)
{
	struct ur_engine *e = w->wire.engine;
	struct ur_udp_peer *peer = find_peer(w, meta->saddr);
	struct seed seed = {
		.flow = {meta->saddr, meta->daddr, meta->udp_sport, meta->v4}};

	if (mcast && is_own(w, peer, meta))
		return;
	if (forged(w, peer, meta)) {
		ur_engine_tally(e, UR_CNT_bad_gid, 1);
		return;
	}
	/* A wake-up: a ring has records, or room again. */
	if (meta->slot && seg == UR_UDP_WAKE_BYTES) {
		ur_udp_relay_woken(
			w, ur_slot_of(meta->slot << (24 - meta->slot_bits)));
		return;
	}
	w->last_datagram = e->now;
	take_all(w, peer, &seed, meta, data, len, seg, first);
}

void ur_udp_take_relayed(struct ur_wire_udp *w, bool mcast,
			 const struct ur_rx_meta *meta, u8 *data, u32 len,
			 u32 seg, u32 first)
{
	struct ur_rx_meta copy = *meta;

	ur_udp_take_datagram(w, mcast, &copy, data, len, seg, first);
}

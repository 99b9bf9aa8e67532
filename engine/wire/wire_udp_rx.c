// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receiving: recvmmsg of datagrams that the kernel may have put together
 * (UDP_GRO), cut apart again, the ICRC of each packet checked.
 *
 * A UDP socket does not show the IPv4 identification, which the ICRC covers.
 * The CRC is computed with a guess, which is right for peers that send from UDP
 * sockets (0, or its place in the burst) and for those that count; where it
 * does not fit, ur_icrc_solve_id() finds the one value that would. That alone
 * lets one damaged packet in 32768 pass, so a peer that has shown a pattern is
 * held to it: one in 400 000, see udp_ids.h.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include "engine/faults.h"
#include "engine/shards.h"
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"

_Static_assert(UR_IS_POW2(UR_UDP_PEERS), "a peer's place is bits of a hash");

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* recvmmsg calls for one readable socket in one turn. */
#define ROUNDS 4
/* Ask all sockets this often. */
#define SOCKETS_QUIET_NS 5000u
/* And so often while packets come in rings. */
#define SOCKETS_RINGS_NS 20000u
#define SOCKETS_HOT_NS	 200000u
/* Messages of a batch of long bursts, so that it stays in the cache. */
#define BATCH_BULK 4u

struct packet_info {
	struct ur_rx_meta meta;
	u32 seg_bytes; /* 0: a single packet */
};

/* ---- ICRC ---- */

static struct ur_udp_peer *find_peer(struct ur_wire_udp *w, const u8 *gid)
{
	u32 h = ur_get_le32(gid + 12) * 0x9e3779b1u ^
		ur_get_le32(gid + 8) * 0x85ebca6bu;
	struct ur_udp_peer *p = &w->peers[(h >> 16) & (UR_UDP_PEERS - 1)];
	struct ur_udp_whose whose;

	if (memcmp(p->gid, gid, 16)) { /* a newcomer takes the place over */
		memset(p, 0, sizeof(*p));
		memcpy(p->gid, gid, 16);
	}
	if (p->own_gen != ur_udp_own_generation(w->own)) {
		p->own_gen = ur_udp_own_generation(w->own);
		whose = ur_udp_own_whose(w->own, gid, w->device);
		p->own = whose.own;
		p->device = whose.device;
		p->here = whose.here || ur_udp_find(w, gid);
	}
	return p;
}

/*
 * Returns whether a stranger uses an address of ours. A device's packets to
 * itself come here only where the engine of one end is in a program; else
 * feed_loop() of the engine has them. Its neighbours send from a port that this
 * process holds, and so does the device to a program. A program sends from the port
 * that was lent to it, by the device that has its address, and its packets count only
 * for queue pairs whose peer it may have.
 */
static bool forged(const struct ur_wire_udp *w, const struct ur_udp_peer *peer,
		   struct ur_rx_meta *meta)
{
	if (!peer->own && !peer->here)
		return false;
	meta->slot = (u8)ur_udp_own_slot(w->own, peer->device, meta->udp_sport);
	if (meta->slot) {
		meta->slot_bits = UR_SLOT_BITS;
		return false;
	}
	if (peer->here && !w->wire.engine->config.guest)
		return true;
	return !ur_udp_own_holds(w->own, meta->udp_sport, meta->v4);
}

/* A packet to a group comes back from the kernel, which gives it to the other engines of
 * this host in that way; the members here have had it. */
static bool is_own(const struct ur_wire_udp *w, const struct ur_udp_peer *peer,
		   const struct ur_rx_meta *meta)
{
	if (!peer->here)
		return false;
	if (w->wire.engine->config.guest)
		return meta->udp_sport == w->lent[meta->v4].sport;
	return !ur_udp_own_slot(w->own, w->device, meta->udp_sport);
}

/*
 * CRC of what is before the BTH, identification 0: the same for all packets of
 * one length in a datagram.
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

/* The packet at index within its burst. len: BTH to pad. */
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
	/* by linearity the solution is the difference to the guess */
	if (!ur_icrc_solve_id(w->icrc_cache, crc, got,
			      UR_IPV4_BYTES + UR_UDP_BYTES + len, &diff))
		return false;
	return ur_udp_ids_take(&peer->ids, now, id ^ diff.id, false);
}

/* ---- datagrams ---- */

static void read_control(struct msghdr *msg, struct packet_info *info)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		int v = 0;

		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			info->meta.tos = *CMSG_DATA(c); /* one byte */
			continue;
		}
		if (c->cmsg_len < CMSG_LEN(sizeof(v)))
			continue;
		memcpy(&v, CMSG_DATA(c), sizeof(v));
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
			info->seg_bytes = v > 0 ? (u32)v : 0;
		else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL)
			info->meta.ttl = (u8)v;
		else if (c->cmsg_level == IPPROTO_IPV6 &&
			 c->cmsg_type == IPV6_TCLASS)
			info->meta.tos = (u8)v;
		else if (c->cmsg_level == IPPROTO_IPV6 &&
			 c->cmsg_type == IPV6_HOPLIMIT)
			info->meta.ttl = (u8)v;
		else if (c->cmsg_level == IPPROTO_IPV6 &&
			 c->cmsg_type == IPV6_FLOWINFO)
			info->meta.flow_label = ntohl((u32)v) & 0xfffff;
	}
}

static void read_name(const struct ur_udp_addr *a, const union ur_sockaddr *sa,
		      struct ur_rx_meta *meta)
{
	memcpy(meta->daddr, a->gid, 16);
	meta->v4 = a->v4;
	if (a->v4) {
		ur_gid_from_v4(meta->saddr, (const u8 *)&sa->v4.sin_addr);
		meta->udp_sport = ntohs(sa->v4.sin_port);
	} else {
		memcpy(meta->saddr, &sa->v6.sin6_addr, 16);
		meta->udp_sport = ntohs(sa->v6.sin6_port);
	}
}

/* A part of a datagram: n packets of seg bytes with their ICRCs, but the last, which
 * may be shorter. */
struct rx_part {
	u8 *data;
	u32 len, seg, n;
};

#define PART_PACKETS 64u

static u32 bytes_of(const struct rx_part *p, u32 i)
{
	return ur_min_u32(p->seg, p->len - i * p->seg) - UR_ICRC_BYTES;
}

/* Returns which packets are good, a bit each. first: the place of the first in its
 * burst; seed: NULL, they have no ICRCs. */
static u64 check_part(struct ur_wire_udp *w, struct ur_udp_peer *peer,
		      struct seed *seed, const struct rx_part *p, u32 first)
{
	struct ur_engine *e = w->wire.engine;
	u64 good = 0;

	for (u32 i = 0; i < p->n; i++) {
		u32 bytes = ur_min_u32(p->seg, p->len - i * p->seg);

		if (bytes < UR_BTH_BYTES + UR_ICRC_BYTES || bytes % 4)
			ur_port_count(e->port, UR_CNT_bad_length, 1);
		else if (seed &&
			 !check_icrc(w, peer, seed, p->data + i * p->seg,
				     bytes - UR_ICRC_BYTES, first + i, e->now))
			ur_port_count(e->port, UR_CNT_rx_icrc_encapsulated, 1);
		else
			good |= 1ull << i;
	}
	return good;
}

/* Returns how many good packets of full size there are from i on. */
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

	if (ur_shards_several(e) && ur_shards_elsewhere(e, bth))
		ur_shards_pass(e, meta, bth, bytes_of(p, i));
	else
		ur_engine_rx(e, meta, bth, bytes_of(p, i));
}

/* Is it a request and the acknowledgement of an earlier one of ours (engine/transmit.c, put_answer_last())? A
 * program that has the message posts its next one, which may need the place in the
 * send queue that the acknowledgement gives. */
static bool has_answer_last(const struct rx_part *p, u64 good)
{
	return p->n == 2 && good == 3 && p->data[p->seg] == UR_OP_RC_ACK &&
	       p->data[0] <= UR_OP_RC_READ_REQ;
}

/* Only packets in the middle of messages are taken several at once. */
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

static void take_datagram(struct ur_wire_udp *w, bool mcast,
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
		ur_port_count(e->port, UR_CNT_bad_gid, 1);
		return;
	}
	/* It came to wake us: what there is lies in a ring, or there is room in one. */
	if (meta->slot && seg == UR_UDP_WAKE_BYTES) {
		ur_udp_relay_woken(w, meta->slot);
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

	take_datagram(w, mcast, &copy, data, len, seg, first);
}

static void take_message(struct ur_wire_udp *w, struct ur_udp_addr *a, u32 i)
{
	struct msghdr *m = &w->rx_msg[i].msg_hdr;
	u8 *data = w->rx_iov[i].iov_base;
	u32 len = w->rx_msg[i].msg_len, seg;
	struct packet_info info;

	if (m->msg_flags & MSG_TRUNC)
		return;
	memset(&info, 0, sizeof(info));
	read_control(m, &info);
	read_name(a, &w->rx_name[i], &info.meta);
	seg = info.seg_bytes ? info.seg_bytes : len;
	if (a->relay)
		ur_udp_relay_put(a, &info.meta, data, len, seg);
	else
		take_datagram(w, a->mcast, &info.meta, data, len, seg, 0);
}

/* Returns how many to ask for at once. */
static u32 batch_for(const struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	return a->relay ? ur_min_u32(w->rx_batch, ur_udp_relay_room(a->relay))
			: w->rx_batch;
}

static bool receive(struct ur_wire_udp *w, struct ur_udp_addr *a)
{
	bool any = false;

	for (int round = 0; round < ROUNDS; round++) {
		u32 batch = batch_for(w, a);
		u64 total = 0;
		int n;

		if (!batch)
			break;

		for (u32 i = 0; i < batch; i++) {
			struct msghdr *m = &w->rx_msg[i].msg_hdr;

			m->msg_namelen = sizeof(w->rx_name[i]);
			m->msg_controllen = UR_UDP_CTRL;
		}
		n = recvmmsg(a->fd, w->rx_msg, batch, MSG_DONTWAIT, NULL);
		if (n < 0 && errno != EAGAIN)
			ur_guest_look(w->wire.engine, errno);
		if (n <= 0)
			break;
		any = true;
		w->wire.engine->rx_any = true;
		for (u32 i = 0; i < (u32)n; i++) {
			total += w->rx_msg[i].msg_len;
			take_message(w, a, i);
		}
		w->wire.engine->rx_bulk = total / (u32)n > 8192;
		w->rx_batch =
			w->wire.engine->rx_bulk ? BATCH_BULK : UR_UDP_RX_MSGS;
		if ((u32)n < batch)
			break;
		/* There may be more, wherever packets come next. */
		if (round == ROUNDS - 1)
			w->asked = 0;
	}
	if (any && a->relay)
		ur_udp_show_relayed(w, a);
	if (any)
		w->hot = a;
	return any;
}

void ur_udp_take_left(struct ur_wire_udp *w, const u8 gid[16], int fd)
{
	struct ur_udp_addr *hot = w->hot, left = {
						  .wire = w,
						  .v4 = ur_gid_is_v4(gid),
						  .fd = fd,
					  };

	memcpy(left.gid, gid, sizeof(left.gid));
	while (receive(w, &left))
		;
	w->hot = hot;
}

void ur_udp_readable(struct ur_watch *watch, u32 events)
{
	struct ur_udp_addr *a =
		ur_container_of(watch, struct ur_udp_addr, watch);

	receive(a->wire, a);
}

static bool receive_at(struct ur_wire_udp *w, struct ur_udp_addr *a)
{
	return a->fd >= 0 && receive(w, a);
}

/*
 * Each question is a system call, which rings wait for. A program has a socket for each
 * address, and packets come to one of them as a rule: that is asked in each turn, the others
 * now and then; where there are rings that one, too, once nothing has come there for a while.
 */
static bool ask_all(struct ur_wire_udp *w)
{
	ur_time now = w->wire.engine->now;
	ur_time every = now - w->last_ring < SOCKETS_RINGS_NS
				? SOCKETS_RINGS_NS
				: SOCKETS_QUIET_NS;

	if (now - w->asked < every)
		return false;
	w->asked = now;
	return true;
}

static bool is_hot(const struct ur_wire_udp *w)
{
	return w->hot && (!w->paired || w->wire.engine->now - w->last_datagram <
						SOCKETS_HOT_NS);
}

bool ur_udp_poll(struct ur_wire *wire)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	bool any = false;

	/* In a program nobody asks the others by epoll. */
	if (!w->wire.engine->config.guest)
		return w->hot && receive(w, w->hot);
	if (w->paired)
		any = ur_udp_pairs_receive(w);
	if (!ask_all(w))
		return any | (is_hot(w) && receive_at(w, w->hot));
	ur_list_for_each(it, &w->addrs)
		any |= receive_at(w,
				  ur_list_entry(it, struct ur_udp_addr, node));
	return any;
}

int ur_udp_rx_init(struct ur_wire_udp *w)
{
	w->icrc_cache = calloc(1, sizeof(*w->icrc_cache));
	if (!w->icrc_cache)
		return -ENOMEM;
	if (posix_memalign((void **)&w->rx_buf, 4096,
			   (size_t)UR_UDP_RX_MSGS * UR_UDP_RX_STRIDE)) {
		w->rx_buf = NULL;
		return -ENOMEM;
	}
	w->rx_batch = UR_UDP_RX_MSGS;
	for (u32 i = 0; i < UR_UDP_RX_MSGS; i++) {
		struct msghdr *m = &w->rx_msg[i].msg_hdr;

		w->rx_iov[i].iov_base = w->rx_buf + i * UR_UDP_RX_STRIDE;
		w->rx_iov[i].iov_len = UR_UDP_RX_STRIDE;
		m->msg_iov = &w->rx_iov[i];
		m->msg_iovlen = 1;
		m->msg_name = &w->rx_name[i];
		m->msg_control = w->rx_ctrl[i];
	}
	return 0;
}

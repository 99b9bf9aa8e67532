// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receiving: which sockets are polled, and recvmmsg of datagrams that the kernel may have
 * merged (UDP_GRO). */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include "engine/faults/faults.h"
#include "engine/wire/wire_udp.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Most recvmmsg calls for one readable socket in one turn. */
#define ROUNDS 4
/* Poll interval of all sockets of a program. */
#define SOCKETS_QUIET_NS 5000u
/* The same while packets come in rings. */
#define SOCKETS_RINGS_NS 20000u
#define SOCKETS_HOT_NS	 200000u
/* Batch size for long bursts, so that the data stays in the cache. */
#define BATCH_BULK 4u

struct packet_info {
	struct ur_rx_meta meta;
	u32 seg_bytes; /* 0: a single packet */
};

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

/* Returns whether the datagram was for programs' relays, which have no socket at that address where the kernel selects
 * none (ur_udp_group_steers()). */
static bool is_relayed(struct ur_wire_udp *w, struct ur_udp_addr *a,
		       const struct ur_rx_meta *meta, const u8 *data, u32 len,
		       u32 seg)
{
	return !w->wire.engine->config.inproc && !a->mcast &&
	       ur_udp_relay_put(a, meta, data, len, seg);
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
	else if (!is_relayed(w, a, &info.meta, data, len, seg))
		ur_udp_take_datagram(w, a->mcast, &info.meta, data, len, seg,
				     0);
}

/* Returns how many datagrams to receive with one call. */
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
			ur_inproc_check_error(w->wire.engine, errno);
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
		/* There may be more here: poll all sockets in the next turn. */
		if (round == ROUNDS - 1)
			w->asked = 0;
	}
	if (any && !w->wire.engine->config.inproc)
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
 * Returns whether to poll all sockets now. Each poll is a system call, which delays the rings. A
 * program has a socket for each address, and packets mostly come to one of them. That one is polled in
 * each turn, the others now and then. With rings, the one too is polled seldom once it is quiet.
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

	/* The device polls the other sockets by epoll; a program does it here. */
	if (!w->wire.engine->config.inproc)
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

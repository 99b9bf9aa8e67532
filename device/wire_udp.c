// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sockets of the UDP wire; see wire_udp.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "device/wire_udp.h"
#include "transport/frame.h"

#define RCVBUF_BYTES (32 << 20)
#define SNDBUF_BYTES (8 << 20)
#define PORT_TRIES   64u

#ifndef IPV6_MTU_DISCOVER
#define IPV6_MTU_DISCOVER 23
#endif

static struct ur_wire_udp *to_udp(struct ur_wire *wire)
{
	return ur_container_of(wire, struct ur_wire_udp, wire);
}

socklen_t ur_udp_sockaddr(const struct ur_wire_udp *w, union ur_sockaddr *sa,
			  const u8 gid[16], u16 port)
{
	memset(sa, 0, sizeof(*sa));
	if (ur_gid_is_v4(gid)) {
		sa->v4.sin_family = AF_INET;
		sa->v4.sin_port = htons(port);
		memcpy(&sa->v4.sin_addr, gid + 12, 4);
		return sizeof(sa->v4);
	}
	sa->v6.sin6_family = AF_INET6;
	sa->v6.sin6_port = htons(port);
	memcpy(&sa->v6.sin6_addr, gid, 16);
	/* Link-local, and multicast of interface (1) and link (2) scope. */
	if ((gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80) ||
	    (gid[0] == 0xff && ((gid[1] & 0x0f) == 1 || (gid[1] & 0x0f) == 2)))
		sa->v6.sin6_scope_id = w->wire.engine->config.ifindex;
	return sizeof(sa->v6);
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno
								      : 0;
}

static void set_buffer(int fd, int forced, int plain, int bytes)
{
	if (set_int(fd, SOL_SOCKET, forced, bytes))
		set_int(fd, SOL_SOCKET, plain, bytes);
}

static int open_socket(bool v4)
{
	int fd = socket(v4 ? AF_INET : AF_INET6,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (!v4)
		set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	return fd;
}

/* ---- receiving sockets ---- */

static void set_rx_options(const struct ur_wire_udp *w, int fd, bool v4)
{
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, RCVBUF_BYTES);
	if (w->wire.engine->opt.gro)
		set_int(fd, IPPROTO_UDP, UDP_GRO, 1);
	if (v4) {
		set_int(fd, IPPROTO_IP, IP_RECVTOS, 1);
		set_int(fd, IPPROTO_IP, IP_RECVTTL, 1);
	} else {
		set_int(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set_int(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		/* zero UDP checksums are what RoCE senders use */
		set_int(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
}

static int join_group(const struct ur_wire_udp *w, int fd, const u8 *gid)
{
	struct ip_mreqn m4 = {
		.imr_ifindex = (int)w->wire.engine->config.ifindex,
	};
	struct ipv6_mreq m6 = {
		.ipv6mr_interface = w->wire.engine->config.ifindex,
	};
	int ret;

	if (ur_gid_is_v4(gid)) {
		memcpy(&m4.imr_multiaddr, gid + 12, 4);
		ret = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m4,
				 sizeof(m4));
	} else {
		memcpy(&m6.ipv6mr_multiaddr, gid, 16);
		ret = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m6,
				 sizeof(m6));
	}
	return ret < 0 ? -errno : 0;
}

static struct ur_udp_addr *find_addr(struct ur_wire_udp *w, const u8 *gid)
{
	ur_list_for_each(it, &w->addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);

		if (!memcmp(a->gid, gid, 16))
			return a;
	}
	return NULL;
}

static void report_in_use(const struct ur_wire_udp *w, const u8 *gid)
{
	char text[INET6_ADDRSTRLEN];

	if (ur_gid_is_v4(gid))
		inet_ntop(AF_INET, gid + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, gid, text, sizeof(text));
	ur_port_owner_report(text, w->wire.engine->netdev);
}

static int open_addr(struct ur_wire_udp *w, const u8 *gid, bool mcast)
{
	struct ur_udp_addr *a = find_addr(w, gid);
	union ur_sockaddr sa;
	socklen_t len;
	int ret;

	if (a) {
		a->refs++;
		return 0;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->wire = w;
	a->watch.fn = ur_udp_readable;
	a->v4 = ur_gid_is_v4(gid);
	a->mcast = mcast;
	a->refs = 1;
	memcpy(a->gid, gid, 16);
	a->fd = open_socket(a->v4);
	if (a->fd < 0) {
		ret = a->fd;
		goto err_free;
	}
	set_rx_options(w, a->fd, a->v4);
	if (mcast)
		set_int(a->fd, SOL_SOCKET, SO_REUSEADDR, 1);
	len = ur_udp_sockaddr(w, &sa, gid, UR_ROCE_V2_UDP_PORT);
	if (bind(a->fd, &sa.sa, len) < 0) {
		ret = -errno;
		if (ret == -EADDRINUSE)
			report_in_use(w, gid);
		goto err_close;
	}
	if (mcast) {
		ret = join_group(w, a->fd, gid);
		if (ret)
			goto err_close;
	}
	ret = ur_engine_watch(w->wire.engine, a->fd, EPOLLIN, &a->watch);
	if (ret)
		goto err_close;
	ur_list_add_tail(&w->addrs, &a->node);
	return 0;
err_close:
	close(a->fd);
err_free:
	free(a);
	return ret;
}

static void close_out(struct ur_udp_out *out)
{
	if (out->fd < 0)
		return;
	close(out->fd);
	out->fd = -1;
	out->gen++;
}

static void close_addr(struct ur_wire_udp *w, const u8 *gid)
{
	struct ur_udp_addr *a = find_addr(w, gid);

	if (!a || --a->refs)
		return;
	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		if (w->outs[i].fd >= 0 && !memcmp(w->outs[i].sgid, gid, 16))
			close_out(&w->outs[i]);
	if (w->hot == a)
		w->hot = NULL;
	ur_engine_unwatch(w->wire.engine, a->fd);
	close(a->fd);
	ur_list_del(&a->node);
	free(a);
}

static int addr_add(struct ur_wire *wire, const u8 gid[16])
{
	return open_addr(to_udp(wire), gid, false);
}

static void addr_del(struct ur_wire *wire, const u8 gid[16])
{
	close_addr(to_udp(wire), gid);
}

static int join(struct ur_wire *wire, const u8 gid[16])
{
	return open_addr(to_udp(wire), gid, true);
}

/* ---- sending sockets ---- */

/* Nobody should send to these ports; what comes must not fill a queue. */
static void drop_input(int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {1, &none};

	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int open_out(struct ur_wire_udp *w, const u8 *sgid, u16 want, u16 *got)
{
	bool v4 = ur_gid_is_v4(sgid);
	int fd = open_socket(v4), ret, ifindex;

	if (fd < 0)
		return fd;
	drop_input(fd);
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, SNDBUF_BYTES);
	ifindex = (int)w->wire.engine->config.ifindex;
	if (v4) {
		struct ip_mreqn m = {.imr_ifindex = ifindex};

		ret = set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &m, sizeof(m));
		set_int(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
	} else {
		ret = set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			      IPV6_PMTUDISC_DO);
		set_int(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, ifindex);
		set_int(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
	}
	if (ret)
		goto err;
	for (u32 i = 0; i < PORT_TRIES; i++) {
		/* a neighbouring port keeps the entropy's purpose */
		u16 port = (u16)((want + i) | UR_UDP_SPORT_MIN);
		union ur_sockaddr sa;
		socklen_t len = ur_udp_sockaddr(w, &sa, sgid, port);

		if (!bind(fd, &sa.sa, len)) {
			*got = port;
			return fd;
		}
		ret = -errno;
		if (ret != -EADDRINUSE)
			break;
	}
err:
	close(fd);
	return ret;
}

/*
 * The entry for av: its own, a free one, or, when all are taken, one of the
 * same address that av shares from then on: 256 source ports are entropy
 * enough, and opening sockets in turn would cost more than a packet. The least
 * recently used of another address is given up only where there is none.
 */
static u32 choose_out(const struct ur_wire_udp *w, const struct ur_av *av)
{
	u32 oldest = 0, shared = UR_UDP_OUTS, free_one = UR_UDP_OUTS;

	for (u32 n = 0; n < UR_UDP_OUTS; n++) {
		u32 i = (av->udp_sport + n) % UR_UDP_OUTS;
		const struct ur_udp_out *o = &w->outs[i];
		bool mine = o->fd >= 0 && !memcmp(o->sgid, av->sgid, 16);

		if (mine && o->asked == av->udp_sport)
			return i;
		if (o->fd < 0 && free_one == UR_UDP_OUTS)
			free_one = i;
		if (mine && shared == UR_UDP_OUTS)
			shared = i;
		if (o->used < w->outs[oldest].used)
			oldest = i;
	}
	if (free_one < UR_UDP_OUTS)
		return free_one;
	return shared < UR_UDP_OUTS ? shared : oldest;
}

struct ur_udp_out *ur_udp_out(struct ur_wire_udp *w, struct ur_av *av)
{
	u32 index = (u32)(av->wire & 0xffff);
	struct ur_udp_out *o;
	u16 sport = 0;
	int fd;

	w->clock++;
	if (index && w->outs[index - 1].gen == (u32)(av->wire >> 16)) {
		o = &w->outs[index - 1];
		if (o->fd >= 0) {
			o->used = w->clock;
			return o;
		}
	}
	index = choose_out(w, av);
	o = &w->outs[index];
	if (o->fd < 0 || memcmp(o->sgid, av->sgid, 16)) {
		fd = open_out(w, av->sgid, av->udp_sport, &sport);
		if (fd < 0)
			return NULL;
		close_out(o);
		o->fd = fd;
		o->asked = av->udp_sport;
		o->sport = sport;
		o->no_gso = !w->wire.engine->opt.gso;
		memcpy(o->sgid, av->sgid, 16);
	}
	o->used = w->clock;
	av->wire = (u64)o->gen << 16 | (index + 1);
	return o;
}

static int check(struct ur_wire *wire, const struct ur_av *av)
{
	struct ur_wire_udp *w = to_udp(wire);
	union ur_sockaddr from, to;
	socklen_t len;
	int fd, ret = 0;

	if (av->v1)
		return -EOPNOTSUPP;
	if (!find_addr(w, av->sgid))
		return -EADDRNOTAVAIL;
	if (av->mcast)
		return 0;
	fd = open_socket(av->v4);
	if (fd < 0)
		return fd;
	len = ur_udp_sockaddr(w, &from, av->sgid, 0);
	ur_udp_sockaddr(w, &to, av->dgid, UR_ROCE_V2_UDP_PORT);
	if (bind(fd, &from.sa, len) < 0 || connect(fd, &to.sa, len) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* ---- life ---- */

static void destroy(struct ur_wire *wire)
{
	struct ur_wire_udp *w = to_udp(wire);

	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		close_out(&w->outs[i]);
	ur_list_for_each_safe(it, &w->addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);

		close(a->fd);
		free(a);
	}
	free(w->icrc_cache);
	free(w->rx_buf);
	free(w);
}

static const struct ur_wire_ops udp_ops = {
	.name = "udp",
	.addr_add = addr_add,
	.addr_del = addr_del,
	.join = join,
	.leave = addr_del,
	.check = check,
	.poll = ur_udp_poll,
	.send = ur_udp_send,
	.destroy = destroy,
};

/* CRC after the dummy LRH, and what identifications change. */
static void init_crc(struct ur_wire_udp *w)
{
	u8 lrh[8], head[UR_IPV4_BYTES + UR_UDP_BYTES] = {0};
	u32 zero;

	memset(lrh, 0xff, sizeof(lrh));
	w->lrh_crc = ur_icrc_update(0, lrh, sizeof(lrh));
	zero = ur_icrc_update(0, head, sizeof(head));
	for (u32 id = 0; id < UR_UDP_SEGS; id++) {
		ur_put_be16(head + 4, (u16)id);
		w->id_crc[id] = zero ^ ur_icrc_update(0, head, sizeof(head));
	}
}

int ur_wire_udp_create(struct ur_engine *engine, struct ur_wire **wire)
{
	struct ur_wire_udp *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->wire.ops = &udp_ops;
	w->wire.engine = engine;
	ur_list_init(&w->addrs);
	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		w->outs[i].fd = -1;
	init_crc(w);
	ret = ur_udp_rx_init(w);
	if (ret) {
		destroy(&w->wire);
		return ret;
	}
	*wire = &w->wire;
	return 0;
}

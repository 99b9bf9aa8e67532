// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sending sockets of the UDP wire: a table of UR_UDP_OUTS entries, found by
 * address, source port, traffic class and service level. The least recently used
 * one is replaced.
 */
#include <errno.h>
#include <linux/filter.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"
#include "util/os/high_fd.h"

#define PORT_TRIES 64u

#ifndef IPV6_MTU_DISCOVER
#define IPV6_MTU_DISCOVER 23
#endif

void ur_udp_close_out(struct ur_wire_udp *w, struct ur_udp_out *out)
{
	if (out->fd < 0)
		return;
	if (!w->wire.engine->config.inproc)
		ur_udp_local_release(out->sport, ur_gid_is_v4(out->sgid));
	close(out->fd);
	if (out->guard >= 0)
		close(out->guard);
	out->fd = out->guard = -1;
	out->gen++;
}

/* Drops input: nothing is expected at these ports, and strangers must not fill the queue. */
static void drop_input(int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {1, &none};

	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

/* Sets the traffic class and the priority of av's packets. */
static int set_service(struct ur_engine *e, int fd, const struct ur_av *av)
{
	int err = av->v4 ? ur_udp_set(fd, IPPROTO_IP, IP_TOS, av->traffic_class)
			 : ur_udp_set(fd, IPPROTO_IPV6, IPV6_TCLASS,
				      av->traffic_class);

	/* After IP_TOS, which changes the priority too. */
	ur_wire_set_priority(e, fd, av->sl);
	return err;
}

int ur_udp_bind_any(int fd, bool v4, u16 port)
{
	struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
				    .sin6_port = htons(port)};
	struct sockaddr_in any4 = {.sin_family = AF_INET,
				   .sin_port = htons(port)};

	return bind(fd,
		    v4 ? (struct sockaddr *)&any4 : (struct sockaddr *)&any6,
		    v4 ? sizeof(any4) : sizeof(any6)) < 0
		       ? -errno
		       : 0;
}

/*
 * Binds fd to the port in both families, so that nobody else sends from it. An
 * IPv6 socket takes both. For an IPv4 one a second socket, *guard, takes the port
 * for IPv6. Returns 0, -EADDRINUSE (another program has it in some way) or -errno.
 */
static int take_port(int fd, bool v4, u16 port, int *guard)
{
	int err = 0;

	*guard = -1;
	/* Our sockets of other addresses and classes share the port. */
	ur_udp_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!v4) {
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
		return ur_udp_bind_any(fd, false, port);
	}
	*guard = ur_udp_open(false);
	/* Without IPv6 in the kernel no guard is needed. */
	if (*guard < 0 && *guard != -EAFNOSUPPORT)
		return *guard;
	if (*guard >= 0) {
		drop_input(*guard);
		ur_udp_set(*guard, SOL_SOCKET, SO_REUSEPORT, 1);
		err = ur_udp_bind_any(*guard, false, port);
	}
	if (!err)
		err = ur_udp_bind_any(fd, true, port);
	if (!err)
		return 0;
	if (*guard >= 0)
		close(*guard);
	*guard = -1;
	return err;
}

int ur_udp_open_out(const struct ur_wire_udp *w, bool v4)
{
	int fd = ur_udp_open(v4), err, ifindex;

	if (fd < 0)
		return fd;
	drop_input(fd);
	ur_wire_tx_buffer(fd);
	ifindex = (int)w->wire.engine->config.ifindex;
	if (v4) {
		struct ip_mreqn m = {.imr_ifindex = ifindex};

		err = ur_udp_set(fd, IPPROTO_IP, IP_MTU_DISCOVER,
				 IP_PMTUDISC_DO);
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &m, sizeof(m));
		ur_udp_set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
	} else {
		err = ur_udp_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
				 IPV6_PMTUDISC_DO);
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, ifindex);
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
		/* The flow label is the address vector's, 0 included. */
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Packets leave from the slot's granted port, as those of an outbox do. So all take the same
 * path through a bond. */
static int copy_granted(const struct ur_wire_udp *w, bool v4, u16 *got)
{
	*got = w->granted[v4].sport;
	return w->granted[v4].fd < 0 ? -EAFNOSUPPORT
				     : ur_high_fd_copy(w->granted[v4].fd);
}

static int open_out(struct ur_wire_udp *w, const struct ur_av *av, u16 *got,
		    int *guard, bool *copy)
{
	bool v4 = av->v4;
	int fd = ur_udp_open_out(w, v4), err;

	if (fd < 0)
		return fd;
	*copy = ur_udp_is_away(w, fd);
	if (*copy) {
		close(fd);
		return copy_granted(w, v4, got);
	}
	err = set_service(w->wire.engine, fd, av);
	if (err)
		goto err_close;
	for (u32 i = 0; i < PORT_TRIES; i++) {
		/* a neighbouring port keeps the entropy's purpose */
		*got = (u16)((av->udp_sport + i) | UR_UDP_SPORT_MIN);
		err = take_port(fd, v4, *got, guard);
		if (!err)
			return fd;
		if (err != -EADDRINUSE)
			break;
	}
err_close:
	close(fd);
	return err;
}

/* Returns whether the socket has av's attributes; the source port may differ. */
static bool fits(const struct ur_udp_out *o, const struct ur_av *av)
{
	return o->fd >= 0 && o->traffic_class == av->traffic_class &&
	       o->sl == av->sl && !memcmp(o->sgid, av->sgid, 16);
}

/*
 * Returns the entry for av: its own, else a free one. If all are in use, av shares
 * one that fits: 256 source ports are entropy enough, and opening sockets in turn
 * would cost more than a packet. If none fits, the least recently used one is
 * replaced.
 */
static u32 choose_out(const struct ur_wire_udp *w, const struct ur_av *av)
{
	u32 oldest = 0, shared = UR_UDP_OUTS, free_one = UR_UDP_OUTS;

	for (u32 n = 0; n < UR_UDP_OUTS; n++) {
		u32 i = (av->udp_sport + n) % UR_UDP_OUTS;
		const struct ur_udp_out *o = &w->outs[i];
		bool mine = fits(o, av);

		if (mine && o->asked == av->udp_sport)
			return i;
		if (o->fd < 0 && free_one == UR_UDP_OUTS)
			free_one = i;
		if (mine && shared == UR_UDP_OUTS)
			shared = i;
		if (!o->packs &&
		    (w->outs[oldest].packs || o->used < w->outs[oldest].used))
			oldest = i;
	}
	if (free_one < UR_UDP_OUTS)
		return free_one;
	return shared < UR_UDP_OUTS ? shared : oldest;
}

static struct ur_udp_out *out_at(struct ur_wire_udp *w, u32 index)
{
	return index < UR_UDP_OUTS ? &w->outs[index]
				   : &w->granted[index - UR_UDP_OUTS];
}

/* If the set of this host's addresses has changed, all address vectors choose their sockets
 * again. */
static void follow_local(struct ur_wire_udp *w)
{
	u32 generation = ur_udp_local_generation(w->local);

	if (w->local_gen == generation)
		return;
	w->local_gen = generation;
	for (u32 i = 0; i < UR_UDP_OUTS + 2; i++)
		out_at(w, i)->gen++;
}

/* An engine in a program sends to engines of this host from its granted port only. Returns
 * whether av may be for one of them: multicast is, since members may be on this host. */
static bool is_granted_for(const struct ur_wire_udp *w, const struct ur_av *av)
{
	return w->wire.engine->config.inproc &&
	       (av->mcast ||
		ur_udp_local_whose(w->local, av->dgid, w->device).local);
}

struct ur_udp_out *ur_udp_out(struct ur_wire_udp *w, struct ur_av *av)
{
	u32 index;
	struct ur_udp_out *o;
	u16 sport = 0;
	int fd, guard = -1;
	bool copy;

	if (w->wire.engine->config.inproc)
		follow_local(w);
	index = (u32)(av->wire & 0xffff);
	w->clock++;
	if (index && out_at(w, index - 1)->gen == (u32)(av->wire >> 16)) {
		o = out_at(w, index - 1);
		if (o->fd >= 0) {
			o->used = w->clock;
			return o;
		}
	}
	index = is_granted_for(w, av) ? UR_UDP_OUTS + av->v4
				      : choose_out(w, av);
	o = out_at(w, index);
	if (o->granted && o->fd < 0)
		return NULL;
	if (!o->granted && !fits(o, av)) {
		fd = open_out(w, av, &sport, &guard, &copy);
		if (fd < 0)
			return NULL;
		ur_udp_close_out(w, o);
		o->fd = fd;
		o->guard = guard;
		o->copy = copy;
		o->asked = av->udp_sport;
		o->sport = sport;
		o->no_gso = !w->wire.engine->opt.gso;
		o->no_label = false;
		o->traffic_class = av->traffic_class;
		o->sl = av->sl;
		memcpy(o->sgid, av->sgid, 16);
		if (!w->wire.engine->config.inproc)
			ur_udp_local_hold(sport, av->v4);
	}
	o->used = w->clock;
	av->wire = (u64)o->gen << 16 | (index + 1);
	return o;
}

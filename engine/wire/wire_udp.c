// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Life and receiving sockets of the UDP wire: one socket for each local address
 * and group. wire_udp_out.c has the sending ones.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"
#include "util/assert.h"
#include "util/os/high_fd.h"

/* Most datagrams dropped when an address is lost. The rest is delivered late if the address returns. */
#define UNREAD_MAX 4096u

static struct ur_wire_udp *to_udp(struct ur_wire *wire)
{
	return ur_container_of(wire, struct ur_wire_udp, wire);
}

/* ---- receiving sockets ---- */

static void report_in_use(const struct ur_wire_udp *w, const u8 *gid)
{
	char text[INET6_ADDRSTRLEN];

	if (ur_gid_is_v4(gid))
		inet_ntop(AF_INET, gid + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, gid, text, sizeof(text));
	ur_port_owner_report(text, w->wire.engine->netdev);
}

static bool addr_free(struct ur_wire *wire, const u8 *gid)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	union ur_sockaddr sa;
	socklen_t len = ur_udp_sockaddr(w, &sa, gid, UR_ROCE_V2_UDP_PORT);
	int fd = socket(sa.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_free;

	if (fd < 0)
		return false;
	is_free = bind(fd, &sa.sa, len) == 0;
	close(fd);
	return is_free;
}

/* Takes over a bound socket of an earlier uroced or of a lost address, which may have packets. Returns whether there
 * is one. */
static bool take_left(const struct ur_wire_udp *w, struct ur_udp_addr *a)
{
	if (w->group && !a->mcast)
		a->fd = ur_udp_group_take(w->group, a->gid,
					  w->wire.engine->shard);
	return a->fd >= 0;
}

static int bind_addr(const struct ur_wire_udp *w, int fd, const u8 *gid)
{
	union ur_sockaddr sa;
	socklen_t len = ur_udp_sockaddr(w, &sa, gid, UR_ROCE_V2_UDP_PORT);

	if (w->group)
		return ur_udp_group_join(w->group, gid, w->wire.engine->shard,
					 fd, &sa.sa, len);
	return bind(fd, &sa.sa, len) < 0 ? -errno : 0;
}

static void close_rx(const struct ur_wire_udp *w, const u8 *gid, bool mcast,
		     int fd)
{
	if (w->group && !mcast)
		ur_udp_group_close(w->group, gid, w->wire.engine->shard, fd);
	else
		close(fd);
}

/* Drops the last packets, as a close would. */
static void drop_unread(int fd)
{
	char byte;

	for (u32 i = 0; i < UNREAD_MAX; i++)
		if (recv(fd, &byte, 1, MSG_DONTWAIT) < 0)
			return;
}

/* Leaves the socket of a lost address to the group, since the address may return. */
static void leave_rx(const struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	if (!w->group || a->mcast) {
		close(a->fd);
		return;
	}
	drop_unread(a->fd);
	ur_udp_group_leave(w->group, a->gid, w->wire.engine->shard, a->fd);
}

static struct ur_udp_addr *new_addr(struct ur_wire_udp *w, const u8 *gid,
				    bool mcast)
{
	struct ur_udp_addr *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->wire = w;
	a->watch.fn = ur_udp_readable;
	a->v4 = ur_gid_is_v4(gid);
	a->mcast = mcast;
	a->refs = 1;
	a->fd = -1;
	memcpy(a->gid, gid, 16);
	return a;
}

/* In a program the device maintains the table. */
static int add_local(struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	if (a->mcast || w->wire.engine->config.inproc)
		return 0;
	return ur_udp_local_add(a->gid, w->device);
}

static void del_local(struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	if (!a->mcast && !w->wire.engine->config.inproc)
		ur_udp_local_del(a->gid, w->device);
}

/* Starts to receive from the open socket. */
static int add_addr(struct ur_wire_udp *w, struct ur_udp_addr *a)
{
	int err = add_local(w, a);

	if (err)
		return err;
	if (a->fd >= 0)
		err = ur_engine_watch(w->wire.engine, a->fd, EPOLLIN,
				      &a->watch);
	if (!err)
		ur_list_add_tail(&w->addrs, &a->node);
	else
		del_local(w, a);
	return err;
}

static int use_gid(struct ur_wire *wire, const u8 gid[16], int fd)
{
	struct ur_wire_udp *w = to_udp(wire);
	struct ur_udp_addr *a = ur_udp_find(w, gid);
	int err;

	if (a)
		return -EEXIST;
	/* Without a socket and without a relay no packet would come. */
	if (fd < 0 && !w->pairs[0])
		return -EBADF;
	a = new_addr(w, gid, false);
	if (!a)
		return -ENOMEM;
	a->fd = fd;
	err = add_addr(w, a);
	if (err)
		free(a);
	return err;
}

/* Returns 0 or -errno. After an error a->fd may be open. */
static int open_socket(struct ur_wire_udp *w, struct ur_udp_addr *a)
{
	int err;

	if (take_left(w, a))
		return 0;
	a->fd = a->mcast ? ur_udp_open_group(w, a->gid) : ur_udp_open(a->v4);
	if (a->fd < 0)
		return a->fd;
	if (a->mcast)
		return 0;
	ur_udp_set_rx(w, a->fd, a->v4);
	err = bind_addr(w, a->fd, a->gid);
	if (err == -EADDRINUSE)
		report_in_use(w, a->gid);
	return err;
}

static int open_addr(struct ur_wire_udp *w, const u8 *gid, bool mcast)
{
	struct ur_udp_addr *a = ur_udp_find(w, gid);
	int err;

	if (a) {
		a->refs++;
		return 0;
	}
	a = new_addr(w, gid, mcast);
	if (!a)
		return -ENOMEM;
	err = open_socket(w, a);
	if (!err)
		err = add_addr(w, a);
	if (!err)
		return 0;
	if (a->fd >= 0)
		close_rx(w, gid, mcast, a->fd);
	free(a);
	return err;
}

static void close_addr(struct ur_wire_udp *w, const u8 *gid)
{
	struct ur_udp_addr *a = ur_udp_find(w, gid);

	if (!a)
		return;
	ur_assert(a->refs);
	if (--a->refs)
		return;
	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		if (w->outs[i].fd >= 0 && !memcmp(w->outs[i].sgid, gid, 16))
			ur_udp_close_out(w, &w->outs[i]);
	if (w->hot == a)
		w->hot = NULL;
	del_local(w, a);
	ur_udp_relay_end_address(w, gid);
	if (a->fd >= 0) {
		ur_engine_unwatch(w->wire.engine, a->fd);
		leave_rx(w, a);
	}
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

/* The device joins, and puts the packets into the ring. */
static int join_far(struct ur_wire *wire, const u8 gid[16])
{
	struct ur_wire_udp *w = to_udp(wire);
	struct ur_udp_addr *a = ur_udp_find(w, gid);

	if (a) {
		a->refs++;
		return 0;
	}
	a = new_addr(w, gid, true);
	return a ? add_addr(w, a) : -ENOMEM;
}

static int check(struct ur_wire *wire, const struct ur_av *av)
{
	struct ur_wire_udp *w = to_udp(wire);
	union ur_sockaddr from, to;
	socklen_t len;
	int fd, err = 0;

	if (!ur_udp_find(w, av->sgid))
		return -EADDRNOTAVAIL;
	if (av->mcast)
		return 0;
	fd = ur_udp_open(av->v4);
	if (fd < 0)
		return fd;
	len = ur_udp_sockaddr(w, &from, av->sgid, 0);
	ur_udp_sockaddr(w, &to, av->dgid, UR_ROCE_V2_UDP_PORT);
	if (ur_udp_is_away(w, fd))
		err = 0; /* this namespace has other routes than the device's */
	else if (bind(fd, &from.sa, len) < 0 || connect(fd, &to.sa, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

static void retry_rings(struct ur_wire *wire)
{
	if (wire->engine->config.inproc)
		ur_udp_pairs_retry(to_udp(wire));
	else
		ur_udp_relays_retry(wire);
}

/* ---- life ---- */

static void destroy(struct ur_wire *wire)
{
	struct ur_wire_udp *w = to_udp(wire);

	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		ur_udp_close_out(w, &w->outs[i]);
	ur_udp_relays_close(w);
	ur_list_for_each_safe(it, &w->addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);

		del_local(w, a);
		if (a->fd >= 0)
			close_rx(w, a->gid, a->mcast, a->fd);
		free(a);
	}
	ur_udp_close_pairs(w);
	ur_udp_close_granted_pairs(w);
	ur_udp_lose_local(w);
	free(w->icrc_cache);
	free(w->rx_buf);
	free(w);
}

void ur_wire_udp_end_away(struct ur_wire *wire)
{
	struct ur_wire_udp *w = to_udp(wire);

	if (w->group)
		ur_udp_group_end_away(w->group);
}

static const struct ur_wire_ops udp_ops = {
	.name = "udp",
	.addr_add = addr_add,
	.addr_del = addr_del,
	.addr_free = addr_free,
	.retry = retry_rings,
	.join = join,
	.leave = addr_del,
	.check = check,
	.poll = ur_udp_poll,
	.send = ur_udp_send,
	.destroy = destroy,
};

static const struct ur_packing_ops udp_packing = {
	.pack_new = ur_udp_pack_new,
	.pack = ur_udp_pack,
	.pack_send = ur_udp_pack_send,
	.pack_end = ur_udp_pack_end,
};

static const struct ur_near_ops udp_near = {
	.use_gid = use_gid,
	.is_here = ur_udp_is_here,
	.grant_id = ur_udp_grant_id,
	.use_ring = ur_udp_use_ring,
	.has_ring = ur_udp_has_ring,
	.payload_room = ur_udp_payload_room,
	.holds = ur_udp_holds,
	.unread = ur_udp_unread,
	.payload_place = ur_udp_payload_place,
	.payload_taken_back = ur_udp_payload_taken_back,
	.hide = ur_udp_hide,
	.waits = ur_udp_pairs_wait,
	.sleeps = ur_udp_pairs_sleep,
};

static const struct ur_granting_ops udp_granting = {
	.grant = ur_udp_grant,
	.grant_end = ur_udp_grant_end,
	.grant_port = ur_udp_grant_port,
	.grant_relay = ur_udp_grant_relay,
	.grant_group = ur_udp_grant_group,
	.recovery_done = ur_udp_recovery_done,
	.grant_ring = ur_udp_grant_ring,
	.forward = ur_udp_outboxes_empty,
};

/* The wire of a program that has an outbox. */
static const struct ur_wire_ops far_ops = {
	.name = "outbox",
	.retry = retry_rings,
	.join = join_far,
	.leave = addr_del,
	.addr_del = addr_del,
	.check = ur_udp_outbox_check,
	.poll = ur_udp_poll,
	.send = ur_udp_outbox_send,
	.destroy = destroy,
};

static const struct ur_near_ops far_near = {
	.use_gid = use_gid,
	.is_here = ur_udp_is_here,
	.grant_id = ur_udp_grant_id,
	.use_ring = ur_udp_use_ring,
	.has_ring = ur_udp_has_ring,
	.payload_room = ur_udp_outbox_payload_room,
	.holds = ur_udp_outbox_holds,
	.unread = ur_udp_outbox_unread,
	.waits = ur_udp_pairs_wait,
	.sleeps = ur_udp_pairs_sleep,
};

int ur_wire_udp_create(struct ur_engine *engine, struct ur_wire **wire)
{
	struct ur_wire_udp *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->wire.ops = &udp_ops;
	w->wire.packing = &udp_packing;
	w->wire.near = &udp_near;
	w->wire.granting = &udp_granting;
	w->wire.engine = engine;
	ur_list_init(&w->addrs);
	for (u32 i = 0; i < UR_UDP_OUTS; i++)
		w->outs[i].fd = w->outs[i].guard = -1;
	for (u32 i = 0; i < UR_ARRAY_SIZE(w->granted_to); i++)
		w->granted_to[i][0] = w->granted_to[i][1] = -1;
	w->granted[0].fd = w->granted[1].fd = -1;
	w->wakes[0] = w->wakes[1] = w->wake_fd = -1;
	ur_udp_icrc_init(w);
	err = ur_udp_find_local(w);
	if (!err)
		err = ur_udp_rx_init(w);
	if (err) {
		destroy(&w->wire);
		return err;
	}
	if (w->wake_fd >= 0) {
		w->wire.ops = &far_ops;
		w->wire.packing = &ur_no_packing;
		w->wire.near = &far_near;
		w->wire.granting = &ur_no_granting;
	}
	*wire = &w->wire;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Life and sockets of the RoCEv1 wire. */
#include <errno.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/v1/wire_v1.h"
#include "util/os/high_fd.h"

#define HIGHEST 7 /* priority, of a socket of its own */

static struct ur_wire_v1 *to_v1(struct ur_wire *wire)
{
	return ur_container_of(wire, struct ur_wire_v1, wire);
}

int ur_v1_out(struct ur_wire_v1 *w, u8 sl)
{
	int priority = ur_sl_priority(sl);

	if (priority == HIGHEST)
		return w->fd[UR_V1_TX_HIGH];
	if (priority != w->priority && w->fd[UR_V1_TX] >= 0)
		ur_wire_set_priority(w->wire.engine, w->fd[UR_V1_TX], sl);
	w->priority = priority;
	return w->fd[UR_V1_TX];
}

/* A program's engine has only addresses that it uses in its own table. */
bool ur_v1_is_mine(const struct ur_wire_v1 *w, const u8 gid[16])
{
	struct ur_engine *e = w->wire.engine;
	const struct ur_wire *udp = ur_wire_of(e, false);

	return e->config.inproc ? udp->near->is_here(udp, gid)
				: ur_engine_own_gid(e, gid);
}

static void close_all(struct ur_wire_v1 *w)
{
	if (w->fd[UR_V1_RX] >= 0) {
		ur_engine_unwatch(w->wire.engine, w->fd[UR_V1_RX]);
		ur_engine_unwatch(w->wire.engine, w->fd[UR_V1_LO_RX]);
	}
	ur_v1_close(w->fd);
	w->priority = -1;
}

/* The numbers of this engine's queue pairs. uroced's engine has a place for them, but no queue pair. */
static struct ur_v1_numbers numbers_of(const struct ur_engine *e)
{
	return (struct ur_v1_numbers){.bits = UR_PLACE_BITS,
				      .prefix = e->shard};
}

int ur_wire_v1_grant(struct ur_engine *engine, u32 slot, int fd[UR_V1_SOCKETS])
{
	const struct ur_v1_numbers numbers = {.bits = ur_slot_bits(slot),
					      .prefix = ur_slot_prefix(slot)};

	return ur_v1_open(engine->config.ifindex, &numbers, fd);
}

static int watch(struct ur_wire_v1 *w)
{
	struct ur_engine *e = w->wire.engine;
	int err = ur_engine_watch(e, w->fd[UR_V1_RX], EPOLLIN, &w->watch);

	if (err)
		return err;
	err = ur_engine_watch(e, w->fd[UR_V1_LO_RX], EPOLLIN, &w->lo_watch);
	if (err)
		ur_engine_unwatch(e, w->fd[UR_V1_RX]);
	return err;
}

static int addr_add(struct ur_wire *wire, const u8 gid[16])
{
	struct ur_wire_v1 *w = to_v1(wire);
	const struct ur_v1_numbers numbers = numbers_of(wire->engine);
	u32 ifindex = wire->engine->config.ifindex;
	int err;

	/* The sockets stay after the last address was removed, for their
	 * memberships. */
	if (w->fd[UR_V1_RX] >= 0 && w->ifindex == ifindex)
		return 0;
	close_all(w);
	w->ifindex = ifindex;
	err = ur_v1_open(ifindex, &numbers, w->fd);
	if (err)
		return err;
	/* This engine's resolver has its socket. */
	close(w->fd[UR_V1_NEIGH]);
	w->fd[UR_V1_NEIGH] = -1;
	err = watch(w);
	if (err)
		ur_v1_close(w->fd);
	return err;
}

/* In a program: takes copies of the sockets that were granted. */
static int use_sockets(struct ur_wire_v1 *w)
{
	const int *granted = w->wire.engine->config.grant.v1;
	int err = 0;

	for (u32 i = 0; i < UR_V1_SOCKETS && !err; i++) {
		int fd = ur_high_fd_copy(granted[i]);

		if (fd < 0)
			err = fd;
		else
			w->fd[i] = fd;
	}
	if (!err)
		err = watch(w);
	if (err)
		ur_v1_close(w->fd);
	return err;
}

/* The groups of the netdev before are lost. */
static void rebind(struct ur_wire *wire)
{
	struct ur_wire_v1 *w = to_v1(wire);

	if (wire->engine->config.inproc && wire->engine->config.ifindex)
		ur_v1_move(w->fd, wire->engine->config.ifindex);
}

/* Nothing to do: take_frame() checks addresses against the engine's table. */
static void addr_del(struct ur_wire *wire, const u8 gid[16])
{
}

/* Adds or drops a membership of the Ethernet address. The kernel counts them. */
static int member(struct ur_wire_v1 *w, const u8 gid[16], int what)
{
	struct packet_mreq m = {
		.mr_ifindex = (int)w->wire.engine->config.ifindex,
		.mr_type = PACKET_MR_MULTICAST,
		.mr_alen = 6,
	};

	ur_neigh_mcast_mac(m.mr_address, gid);
	if (w->fd[UR_V1_RX] < 0) /* there is no socket without an address */
		return -EADDRNOTAVAIL;
	return setsockopt(w->fd[UR_V1_RX], SOL_PACKET, what, &m, sizeof(m)) < 0
		       ? -errno
		       : 0;
}

static int join(struct ur_wire *wire, const u8 gid[16])
{
	return member(to_v1(wire), gid, PACKET_ADD_MEMBERSHIP);
}

static void leave(struct ur_wire *wire, const u8 gid[16])
{
	member(to_v1(wire), gid, PACKET_DROP_MEMBERSHIP);
}

/* Starts to resolve the destination, so that its address is known by the first
 * packet. */
static int check(struct ur_wire *wire, const struct ur_av *av)
{
	struct ur_wire_v1 *w = to_v1(wire);
	struct ur_engine *e = wire->engine;

	if (w->fd[UR_V1_RX] < 0)
		return -EADDRNOTAVAIL;
	if (!ur_v1_is_mine(w, av->dgid))
		ur_neigh_mac(w->neigh, e->config.ifindex, av->sgid, av->dgid,
			     e->now);
	return 0;
}

static void destroy(struct ur_wire *wire)
{
	struct ur_wire_v1 *w = to_v1(wire);

	close_all(w);
	ur_v1_pending_fini(w);
	if (w->neigh) {
		ur_engine_unwatch(wire->engine, ur_neigh_fd(w->neigh));
		ur_neigh_destroy(w->neigh);
	}
	free(w->rx_buf);
	free(w);
}

/* Handles replies of the kernel: sends the frames that waited for an address. */
static void answered(struct ur_watch *watch, u32 events)
{
	struct ur_wire_v1 *w =
		ur_container_of(watch, struct ur_wire_v1, neigh_watch);

	ur_neigh_read(w->neigh);
	ur_v1_pending_retry(w);
}

/* Loans are of slots, whichever way packets go. */
static u32 grant_id(const struct ur_wire *wire, const u8 gid[16], u32 qpn)
{
	const struct ur_wire *udp = ur_wire_of(wire->engine, false);

	return udp->near->grant_id ? udp->near->grant_id(udp, gid, qpn) : 0;
}

static const struct ur_wire_ops v1_ops = {
	.name = "v1",
	.addr_add = addr_add,
	.addr_del = addr_del,
	.join = join,
	.leave = leave,
	.check = check,
	.rebind = rebind,
	.poll = ur_v1_poll,
	.send = ur_v1_send,
	.destroy = destroy,
};

static const struct ur_near_ops v1_near = {
	.grant_id = grant_id,
};

static struct ur_wire_v1 *new_wire(struct ur_engine *engine)
{
	struct ur_wire_v1 *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->wire.ops = &v1_ops;
	w->wire.packing = &ur_no_packing;
	w->wire.near = &v1_near;
	w->wire.granting = &ur_no_granting;
	w->wire.engine = engine;
	w->watch.fn = ur_v1_readable;
	w->lo_watch.fn = ur_v1_lo_readable;
	w->neigh_watch.fn = answered;
	w->priority = -1;
	for (u32 i = 0; i < UR_V1_SOCKETS; i++)
		w->fd[i] = -1;
	return w;
}

/* *neigh gets the socket of the resolver. */
static int begin(struct ur_wire_v1 *w, int *neigh)
{
	struct ur_engine *e = w->wire.engine;
	const struct ur_v1_numbers none = {0};
	int fd[UR_V1_SOCKETS], err;

	if (e->config.inproc) {
		err = use_sockets(w);
		*neigh = w->fd[UR_V1_NEIGH];
		w->fd[UR_V1_NEIGH] = -1;
		return err;
	}
	/* Try now, so that an error shows at creation, not at the first address. */
	err = ur_v1_open(0, &none, fd);
	if (err)
		return err;
	*neigh = fd[UR_V1_NEIGH];
	fd[UR_V1_NEIGH] = -1;
	ur_v1_close(fd);
	return 0;
}

int ur_wire_v1_create(struct ur_engine *engine, struct ur_wire **wire)
{
	struct ur_wire_v1 *w = new_wire(engine);
	int neigh, err;

	if (!w)
		return -ENOMEM;
	err = begin(w, &neigh);
	if (!err)
		err = ur_neigh_create(neigh, &w->neigh);
	if (!err)
		err = ur_v1_io_init(w);
	if (!err)
		err = ur_engine_watch(engine, ur_neigh_fd(w->neigh), EPOLLIN,
				      &w->neigh_watch);
	if (!err)
		err = ur_v1_pending_init(w);
	if (err) {
		destroy(&w->wire);
		return err;
	}
	*wire = &w->wire;
	return 0;
}

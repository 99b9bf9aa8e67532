// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Life and sockets of the RoCEv1 wire: one packet socket receives, and one for
 * each service level sends.
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/several/shards.h"
#include "engine/wire/v1/wire_v1.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

static struct ur_wire_v1 *to_v1(struct ur_wire *wire)
{
	return ur_container_of(wire, struct ur_wire_v1, wire);
}

/* Opens a packet socket. type 0: it receives nothing. */
static int open_socket(const struct ur_wire_v1 *w, u16 type)
{
	struct sockaddr_ll sa = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
		.sll_ifindex = (int)w->wire.engine->config.ifindex,
	};
	int fd =
		socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int ur_v1_out(struct ur_wire_v1 *w, u8 sl)
{
	int priority = ur_sl_priority(sl), *fd = &w->out[priority];

	if (*fd < 0) {
		*fd = open_socket(w, 0);
		if (*fd < 0)
			return *fd;
		ur_wire_tx_buffer(*fd);
		ur_wire_set_priority(w->wire.engine, *fd, sl);
	}
	return *fd;
}

static void close_all(struct ur_wire_v1 *w)
{
	if (w->fd >= 0) {
		ur_engine_unwatch(w->wire.engine, w->fd);
		close(w->fd);
		w->fd = -1;
	}
	for (u32 i = 0; i < UR_V1_SLS; i++) {
		if (w->out[i] >= 0)
			close(w->out[i]);
		w->out[i] = -1;
	}
}

/* Filters the frames of each of several engines: it receives those for its own queue
 * pairs, and multicast. Behind the GRH, bytes 5 to 7 of the BTH are the number of the
 * queue pair. */
static void steer(const struct ur_wire_v1 *w)
{
	const struct ur_shards *s = w->wire.engine->shards;
	u32 shard = w->wire.engine->shard;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, UR_GRH_BYTES + 4),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, UR_QPN_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UR_QPN_MULTICAST, 4, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 24 - s->bits),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, shard, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, s->max, shard ? 0 : 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog prog = {UR_ARRAY_SIZE(code), code};

	setsockopt(w->fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int addr_add(struct ur_wire *wire, const u8 gid[16])
{
	struct ur_wire_v1 *w = to_v1(wire);
	u32 ifindex = wire->engine->config.ifindex;
	int one = 1, err;

	/* The sockets stay after the last address was removed, for their
	 * memberships. */
	if (w->fd >= 0 && w->ifindex == ifindex)
		return 0;
	close_all(w);
	w->ifindex = ifindex;
	err = w->fd = open_socket(w, UR_ROCE_V1_ETHERTYPE);
	if (err < 0)
		goto err_close;
	ur_wire_rx_buffer(w->fd);
	if (wire->engine->shards)
		steer(w);
	setsockopt(w->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		   sizeof(one));
	err = ur_engine_watch(wire->engine, w->fd, EPOLLIN, &w->watch);
	if (!err)
		return 0;
	close(w->fd);
err_close:
	w->fd = -1;
	return err;
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
	if (w->fd < 0) /* there is no socket without an address */
		return -EADDRNOTAVAIL;
	return setsockopt(w->fd, SOL_PACKET, what, &m, sizeof(m)) < 0 ? -errno
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

	if (w->fd < 0)
		return -EADDRNOTAVAIL;
	ur_neigh_mac(w->neigh, e->config.ifindex, av->sgid, av->dgid, e->now);
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

static const struct ur_wire_ops v1_ops = {
	.name = "v1",
	.addr_add = addr_add,
	.addr_del = addr_del,
	.join = join,
	.leave = leave,
	.check = check,
	.poll = ur_v1_poll,
	.send = ur_v1_send,
	.destroy = destroy,
};

int ur_wire_v1_create(struct ur_engine *engine, struct ur_wire **wire)
{
	struct ur_wire_v1 *w = calloc(1, sizeof(*w));
	int err, fd;

	if (!w)
		return -ENOMEM;
	w->wire.ops = &v1_ops;
	w->wire.engine = engine;
	w->watch.fn = ur_v1_readable;
	w->neigh_watch.fn = answered;
	w->fd = -1;
	for (u32 i = 0; i < UR_V1_SLS; i++)
		w->out[i] = -1;
	/* Try now, so that an error shows at creation, not at the first address. */
	fd = open_socket(w, 0);
	err = fd < 0 ? fd : ur_v1_io_init(w);
	if (fd >= 0)
		close(fd);
	if (!err) {
		fd = ur_neigh_socket();
		err = fd < 0 ? fd : ur_neigh_create(fd, &w->neigh);
	}
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

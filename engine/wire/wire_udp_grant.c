// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Grants to engines in programs. Receiving sockets are in one group with the device's own
 * (udp_group.h). The device keeps a copy of each while it has the address, so that the
 * kernel's numbers do not change when a program ends.
 *
 * Ports to send from to engines of this host: each is bound without sharing, so a bind
 * succeeds only if no earlier holder has a copy of its socket. Ports are reused in turn.
 * The device keeps a copy of the sockets until the slot gets another port: nobody else
 * can bind a port that the table (udp_local.h) grants to a slot, and packets that a
 * program sent before it ended still count.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "engine/ground/keep.h"
#include "engine/ground/log.h"
#include "engine/core/engine_impl.h"
#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/rng.h"
#include "util/os/high_fd.h"

/* Granted ports lie below those that the device sends from. */
#define FIRST_PORT 0x8000u
#define PORTS	   (UR_UDP_SPORT_MIN - FIRST_PORT)
#define PORT_TRIES 64u
/* If other programs occupy nearly all of these: a second range, tried at random. */
#define OTHER_PORTS	 0x7c00u /* from 1024 on */
#define FIRST_OTHER_PORT (FIRST_PORT - OTHER_PORTS)
#define OTHER_TRIES	 256u
/* Buffer of a relayed socket. A program that does not read can pin twice that in the kernel, for each address. */
#define RELAYED_BUFFER (16 << 20)
/* Interval of repeated wake-ups, since a wake-up may be lost. */
#define WAKE_AGAIN_NS 1000000u

static int make(struct ur_wire_udp *w, const struct ur_udp_addr *a, u32 place)
{
	union ur_sockaddr sa;
	socklen_t len = ur_udp_sockaddr(w, &sa, a->gid, UR_ROCE_V2_UDP_PORT);
	int fd = ur_udp_open(a->v4), err;

	if (fd < 0)
		return fd;
	ur_udp_set_rx(w, fd, a->v4);
	err = ur_udp_group_join(w->group, a->gid, place, fd, &sa.sa, len);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ur_udp_grant(struct ur_wire *wire, const u8 gid[16], u32 slot, int *ret)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	struct ur_udp_addr *a = ur_udp_find(w, gid);
	struct ur_udp_relay *relay;
	u32 place = ur_place_of(ur_slot_first(slot));
	int fd;

	if (!a || a->mcast)
		return -EADDRNOTAVAIL;
	relay = ur_udp_relay_of(w, slot);
	if (relay && !ur_udp_group_steers(w->group)) {
		*ret = -1;
		return ur_udp_relay_begin(relay, gid, -1, ur_udp_readable);
	}
	fd = ur_udp_group_use(w->group, gid, place);
	if (fd < 0)
		fd = make(w, a, place);
	if (fd < 0)
		return fd;
	if (relay) {
		*ret = -1;
		ur_udp_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, RELAYED_BUFFER);
		return ur_udp_relay_begin(relay, gid, fd, ur_udp_readable);
	}
	/* An earlier, relayed holder may have had another buffer size. */
	ur_wire_rx_buffer(fd);
	*ret = fd;
	return 0;
}

static void take_left(void *arg, const u8 gid[16], int fd)
{
	ur_udp_take_left(arg, gid, fd);
}

int ur_udp_grant_group(struct ur_wire *wire, u32 slot, const u8 gid[16],
		       bool joins)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	if (joins)
		return ur_udp_relay_join(w, slot, gid, ur_udp_readable);
	ur_udp_relay_leave(w, slot, gid);
	return 0;
}

void ur_udp_grant_end(struct ur_wire *wire, u32 slot)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	ur_udp_outbox_drain(w, slot);
	ur_udp_relay_end(w, slot);
	/* Small slots share the socket of their place. */
	if (!ur_slot_is_small(slot))
		ur_udp_group_unuse(w->group, slot, take_left, w);
}

/* Sends from a socket that nobody else has a copy of: a holder of a copy could make the send wait. */
static void wake(struct ur_wire_udp *w, const struct ur_udp_addr *a, u32 slot)
{
	static const u8 bytes[UR_UDP_WAKE_BYTES];
	u16 port = ur_udp_local_port(w->local, w->device, slot);
	int *fd = &w->wakes[a->v4];
	union ur_sockaddr to;
	socklen_t len;

	if (ur_udp_outbox_ring(w, slot)) {
		w->woke[slot] = w->wire.engine->now;
		return;
	}
	if (*fd < 0)
		*fd = ur_udp_open_out(w, a->v4);
	if (*fd < 0 || !port)
		return;
	len = ur_udp_sockaddr(w, &to, a->gid, port);
	sendto(*fd, bytes, sizeof(bytes), MSG_DONTWAIT, &to.sa, len);
	w->woke[slot] = w->wire.engine->now;
}

void ur_udp_show_relayed(struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	ur_slot_set_for_each(slot, &w->relayed)
	{
		struct ur_peer_out *out;

		ur_slot_set_del(&w->relayed, slot);
		if (!w->relays[slot])
			continue;
		out = ur_udp_relay_ring(w->relays[slot]);
		if (ur_peer_publish(out) ||
		    (ur_peer_still_sleeps(out) &&
		     w->wire.engine->now - w->woke[slot] >= WAKE_AGAIN_NS))
			wake(w, a, slot);
	}
}

/* ---- ports ---- */

static void close_both(int fd[2])
{
	for (int v4 = 0; v4 < 2; v4++) {
		if (fd[v4] >= 0)
			close(fd[v4]);
		fd[v4] = -1;
	}
}

/* Opens sockets of both families, bound to that port without sharing. fd[0] is -1 without IPv6. */
static int open_both(const struct ur_wire_udp *w, u16 port, int fd[2])
{
	int err = 0;

	fd[0] = fd[1] = -1;
	for (int v4 = 1; !err && v4 >= 0; v4--) {
		fd[v4] = ur_udp_open_out(w, v4);
		if (fd[v4] >= 0)
			err = ur_udp_bind_any(fd[v4], v4, port);
		else if (v4 || fd[v4] != -EAFNOSUPPORT)
			err = fd[v4];
	}
	if (err)
		close_both(fd);
	return err;
}

static void say_once(u32 what)
{
	static _Atomic u32 said;
	static const char *const words[] = {
		"are free again",
		"are taken by other programs: engines get others",
		"are taken, and those below: no program gets an engine",
	};

	if (atomic_exchange(&said, what) != what)
		ur_log("UDP ports %u to %u %s", FIRST_PORT,
		       UR_UDP_SPORT_MIN - 1, words[what]);
}

static int find_port(const struct ur_wire_udp *w, u16 *port, int fd[2])
{
	static _Atomic u32 next;
	struct ur_rng rng = {w->wire.engine->now};
	int err = -EADDRINUSE;

	for (u32 i = 0; i < PORT_TRIES && err == -EADDRINUSE; i++) {
		*port = (u16)(FIRST_PORT + next++ % PORTS);
		err = open_both(w, *port, fd);
	}
	if (err != -EADDRINUSE) {
		say_once(0);
		return err;
	}
	for (u32 i = 0; i < OTHER_TRIES && err == -EADDRINUSE; i++) {
		*port = (u16)(FIRST_OTHER_PORT +
			      ur_rng_below(&rng, OTHER_PORTS));
		err = open_both(w, *port, fd);
	}
	say_once(err == -EADDRINUSE ? 2 : 1);
	return err == -EADDRINUSE ? -EBUSY : err;
}

static struct ur_kept name_of(const struct ur_wire_udp *w, u32 slot, u32 v4)
{
	return (struct ur_kept){.kind = UR_KEPT_OUT,
				.device = w->device,
				.place = slot,
				.which = v4};
}

static int keep_both(const struct ur_wire_udp *w, u32 slot, const int fd[2])
{
	int err = 0;

	for (u32 v4 = 0; v4 < 2 && !err; v4++) {
		const struct ur_kept what = name_of(w, slot, v4);

		if (fd[v4] >= 0)
			err = ur_keep_put(&what, fd[v4]);
	}
	return err;
}

int ur_udp_grant_port(struct ur_wire *wire, struct ur_grant *grant)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	int *mine = w->granted_to[grant->slot], fd[2], err;

	ur_assert(grant->slot && grant->slot < UR_ARRAY_SIZE(w->granted_to));
	grant->file = ur_udp_local_file();
	if (grant->file < 0)
		return grant->file;
	if (!w->device)
		return -EBUSY;
	err = find_port(w, &grant->port, fd);
	if (err)
		return err;
	err = keep_both(w, grant->slot, fd);
	if (err) {
		close_both(fd);
		return err;
	}
	grant->device = w->device;
	memcpy(grant->out, fd, sizeof(fd));
	ur_udp_local_grant(w->device, grant->slot, grant->port, grant->realm);
	close_both(mine);
	memcpy(mine, fd, sizeof(fd));
	return 0;
}

static void end_port(struct ur_wire_udp *w, u32 slot)
{
	/* A uroced that was killed may have left only one of them. */
	if (w->granted_to[slot][0] < 0 && w->granted_to[slot][1] < 0)
		return;
	ur_udp_local_grant(w->device, slot, 0, 0);
	close_both(w->granted_to[slot]);
	for (u32 v4 = 0; v4 < 2; v4++) {
		const struct ur_kept what = name_of(w, slot, v4);

		ur_keep_drop(&what);
	}
}

/* Only uroced has grants. */
static void end_granting(struct ur_wire_udp *w)
{
	for (u32 slot = 1; slot < UR_ARRAY_SIZE(w->granted_to); slot++)
		end_port(w, slot);
	for (u32 v4 = 0; v4 < 2; v4++)
		if (w->wakes[v4] >= 0)
			close(w->wakes[v4]);
	ur_udp_group_destroy(w->group);
}

/* Takes over the granted sockets of an earlier uroced. */
static void inherit_ports(struct ur_wire_udp *w)
{
	struct ur_kept what;
	u32 at = 0;

	while (ur_keep_next(UR_KEPT_OUT, w->device, &at, &what))
		if (what.place && what.place < UR_ARRAY_SIZE(w->granted_to) &&
		    what.which < 2)
			w->granted_to[what.place][what.which] =
				ur_keep_take(&what);
}

void ur_udp_recovery_done(struct ur_wire *wire, const struct ur_slot_set *slots)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	ur_udp_group_recovery_done(w->group);
	for (u32 slot = 1; slot < UR_ARRAY_SIZE(w->granted_to); slot++)
		if (!ur_slot_set_has(slots, slot)) {
			ur_udp_relay_end(w, slot);
			end_port(w, slot);
		}
	ur_udp_relays_recovery_done(w, ur_udp_readable);
}

static int use_port(struct ur_wire_udp *w, const struct ur_grant *grant)
{
	int err = ur_udp_local_map(grant->file, &w->local);

	w->device = grant->device;
	for (int v4 = 0; !err && v4 < 2; v4++) {
		struct ur_udp_out *o = &w->granted[v4];

		o->granted = true;
		o->sport = grant->port;
		if (grant->out[v4] < 0)
			continue;
		o->fd = ur_high_fd_copy(grant->out[v4]);
		if (o->fd < 0)
			err = o->fd;
		o->guard = -1;
		o->no_gso = !w->wire.engine->opt.gso;
	}
	if (!err && grant->relay >= 0)
		err = ur_udp_use_relay(w, grant);
	if (!err && grant->outbox >= 0)
		err = grant->relay < 0 ? -EPROTO : ur_udp_outbox_use(w, grant);
	return err;
}

static struct ur_udp_group *make_group(const struct ur_engine *e)
{
	struct ur_udp_group *group;
	u32 device;

	device = ur_udp_local_device(e->config.ifindex);
	group = ur_udp_group_create(e->shard_bits, device);
	if (!group)
		ur_udp_local_device_end(device);
	return group;
}

int ur_udp_find_local(struct ur_wire_udp *w)
{
	struct ur_engine *e = w->wire.engine;

	if (e->config.inproc)
		return use_port(w, &e->config.grant);
	w->local = ur_udp_local_mine();
	if (!w->local)
		return -ENOMEM;
	w->group = make_group(e);
	if (!w->group)
		return -ENOMEM;
	w->device = ur_udp_group_device(w->group);
	e->local_device = w->device;
	if (w->device && !e->shard) {
		inherit_ports(w);
		ur_udp_relays_inherit(w);
	}
	return 0;
}

static void return_port(struct ur_wire_udp *w)
{
	for (int v4 = 0; v4 < 2; v4++)
		if (w->granted[v4].fd >= 0)
			close(w->granted[v4].fd);
	/* Without an outbox woken[].fd is granted[].fd, closed above. */
	if (w->wake_fd >= 0) {
		close(w->wake_fd);
		if (w->woken[0].fd >= 0)
			close(w->woken[0].fd);
	}
	ur_udp_local_unmap(w->local);
}

void ur_udp_lose_local(struct ur_wire_udp *w)
{
	if (w->wire.engine->config.inproc)
		return_port(w);
	else
		end_granting(w);
}

u32 ur_wire_udp_netdev(struct ur_wire *wire)
{
	const struct ur_wire_udp *w =
		ur_container_of(wire, struct ur_wire_udp, wire);

	return ur_udp_local_netdev(w->local, w->device);
}

bool ur_udp_is_here(const struct ur_wire *wire, const u8 gid[16])
{
	const struct ur_wire_udp *w =
		ur_container_of(wire, struct ur_wire_udp, wire);

	return ur_udp_local_whose(w->local, gid, w->device).here;
}

u32 ur_udp_grant_id(const struct ur_wire *wire, const u8 gid[16], u32 qpn)
{
	const struct ur_wire_udp *w =
		ur_container_of(wire, struct ur_wire_udp, wire);

	return ur_udp_local_grant_id_at(w->local, gid, w->device,
					ur_slot_of(qpn));
}

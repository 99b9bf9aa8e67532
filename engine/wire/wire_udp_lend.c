// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receiving sockets of engines in programs, in one group with the device's own. They
 * are made in the order of their slots, are bound as long as the address is, and a
 * copy of each stays here, so that none takes the place of another when a program
 * ends.
 */
#include <errno.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "transport/wire_format.h"
#include "util/assert.h"

static int make(struct ur_wire_udp *w, const struct ur_udp_addr *a)
{
	union ur_sockaddr sa;
	socklen_t len = ur_udp_sockaddr(w, &sa, a->gid, UR_ROCE_V2_UDP_PORT);
	int fd = ur_udp_open(a->v4), err;

	if (fd < 0)
		return fd;
	ur_udp_set_rx(w, fd, a->v4);
	err = ur_udp_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!err && bind(fd, &sa.sa, len) < 0)
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ur_udp_lend(struct ur_wire *wire, const u8 gid[16], u32 slot, int *ret)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	struct ur_udp_addr *a = ur_udp_find(w, gid);

	if (!a || a->mcast)
		return -EADDRNOTAVAIL;
	while (a->n_lent < slot) {
		int fd = make(w, a);

		if (fd < 0)
			return fd;
		ur_assert(a->n_lent < UR_ARRAY_SIZE(a->lent));
		a->lent[a->n_lent++] = fd;
		ur_udp_steer(fd, w->wire.engine->shard_bits, a->n_lent + 1);
	}
	*ret = a->lent[slot - 1];
	return 0;
}

void ur_udp_close_lent(struct ur_udp_addr *a)
{
	while (a->n_lent)
		close(a->lent[--a->n_lent]);
}

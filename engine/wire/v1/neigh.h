/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ethernet addresses of neighbours, from the kernel's own table. A device that
 * writes Ethernet frames asks the kernel, which resolves for everybody else on
 * the host, and makes it resolve addresses that it does not know. Engine thread
 * only.
 */
#ifndef UR_ENGINE_WIRE_V1_NEIGH_H
#define UR_ENGINE_WIRE_V1_NEIGH_H

#include "util/bytes.h"
#include "transport/transport.h"

struct ur_neigh;

/* Makes a resolver in *neigh. Returns 0 or -errno. */
int ur_neigh_create(struct ur_neigh **neigh);
/* Frees it. */
void ur_neigh_destroy(struct ur_neigh *neigh);

/* Returns the descriptor on which answers come that were not there at once. */
int ur_neigh_fd(const struct ur_neigh *neigh);
/* Takes those that are there. Never waits. */
void ur_neigh_read(struct ur_neigh *neigh, ur_time now);

/*
 * Returns the Ethernet address of dgid on the netdev, 6 bytes that are good
 * until the next call. The address of a multicast GID is computed. Returns NULL
 * where the address is not known, or not yet: resolving has been started, from
 * the address of sgid.
 */
const u8 *ur_neigh_mac(struct ur_neigh *neigh, u32 ifindex, const u8 sgid[16],
		       const u8 dgid[16], ur_time now);

/* Computes the Ethernet address of a multicast GID (RFC 1112 6.4, RFC 2464
 * 7). */
void ur_neigh_mcast_mac(u8 mac[6], const u8 gid[16]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ethernet addresses of neighbours, out of the kernel's own table: a device
 * that writes Ethernet frames asks the one who resolves for everybody else on
 * the host, and makes him resolve what he does not know. Engine thread only.
 */
#ifndef UR_DEVICE_NEIGH_H
#define UR_DEVICE_NEIGH_H

#include "util/bytes.h"
#include "transport/transport.h"

struct ur_neigh;

/* 0 or -errno. */
int ur_neigh_create(struct ur_neigh **neigh);
void ur_neigh_destroy(struct ur_neigh *neigh);

/*
 * Ethernet address of dgid on the netdev: 6 bytes that hold until the next
 * call. A multicast GID's is computed. NULL: not known (yet); resolving has
 * been started, from sgid's address, and the packet is to be given up.
 */
const u8 *ur_neigh_mac(struct ur_neigh *neigh, u32 ifindex, const u8 sgid[16],
		       const u8 dgid[16], ur_time now);

/* RFC 1112 6.4 and RFC 2464 7. */
void ur_neigh_mcast_mac(u8 mac[6], const u8 gid[16]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ethernet addresses of neighbours, from the kernel's neighbour table. Makes the
 * kernel resolve addresses that it does not know. A thread of its own asks the kernel.
 * Engine thread only.
 */
#ifndef UR_ENGINE_WIRE_V1_NEIGH_H
#define UR_ENGINE_WIRE_V1_NEIGH_H

#include "util/bytes.h"
#include "transport/transport.h"

struct ur_neigh;

/* Opens a socket of rtnetlink. Returns it or -errno. Any thread. */
int ur_neigh_socket(void);
/* Makes a resolver in *neigh that asks by such a socket, which it closes, also on error. Returns 0
 * or -errno. */
int ur_neigh_create(int fd, struct ur_neigh **neigh);
/* Ends a resolver. Never waits. */
void ur_neigh_destroy(struct ur_neigh *neigh);

/* Returns the descriptor that is readable when an address has come. */
int ur_neigh_fd(const struct ur_neigh *neigh);
/* Makes that descriptor unreadable, and calls ur_neigh_update(). Never waits. */
void ur_neigh_read(struct ur_neigh *neigh);
/* Makes ur_neigh_mac() use the addresses that have come. Between two calls of this, it returns the same for an
 * address, so that frames to a peer stay in order. */
void ur_neigh_update(struct ur_neigh *neigh);

/*
 * Returns the Ethernet address of dgid on the netdev, 6 bytes that are valid until
 * the next call. The address of a multicast GID is computed. Returns NULL if the
 * address is not known yet: then resolving was started, from the address of sgid.
 */
const u8 *ur_neigh_mac(struct ur_neigh *neigh, u32 ifindex, const u8 sgid[16],
		       const u8 dgid[16], ur_time now);

/* Computes the Ethernet address of a multicast GID (RFC 1112 6.4, RFC 2464
 * 7). */
void ur_neigh_mcast_mac(u8 mac[6], const u8 gid[16]);

#endif

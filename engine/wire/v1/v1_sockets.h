/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The packet sockets of a RoCEv1 wire. uroced makes them, for its own engine and for those in
 * engine processes. Two receive, from the netdev and from other engines of the host, by the
 * loopback interface. A filter that nobody can remove gives them the frames for the engine's queue
 * pairs, and multicast. Any thread.
 */
#ifndef UR_ENGINE_WIRE_V1_V1_SOCKETS_H
#define UR_ENGINE_WIRE_V1_V1_SOCKETS_H

#include "engine/engine.h"

/* The numbers of an engine's queue pairs: all whose first bits are prefix. */
struct ur_v1_numbers {
	u32 bits, prefix;
};

/* Makes all sockets in fd, on that netdev. Returns 0, -EPERM (no CAP_NET_RAW) or another -errno; after an error no socket is
 * left open, and all of fd are -1. */
int ur_v1_open(u32 ifindex, const struct ur_v1_numbers *numbers,
	       int fd[UR_V1_SOCKETS]);
/* Binds the sockets to another netdev. Takes no privilege. */
void ur_v1_move(const int fd[UR_V1_SOCKETS], u32 ifindex);
/* Closes those that are not -1, and makes them -1. */
void ur_v1_close(int fd[UR_V1_SOCKETS]);

#endif

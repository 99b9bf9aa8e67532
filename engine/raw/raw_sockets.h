/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packet sockets of raw packet queue pairs. One receives and one sends; both are made by
 * uroced, for its own engine and for those in programs. Frames of one engine come to the
 * others of the netdev too: what a socket sends has a mark, and the receiving ones take
 * of the frames that leave only those with a mark of another slot. Any thread.
 */
#ifndef UR_ENGINE_RAW_RAW_SOCKETS_H
#define UR_ENGINE_RAW_RAW_SOCKETS_H

#include "util/bytes.h"

enum { UR_RAW_RX, UR_RAW_TX, UR_RAW_SOCKETS };

/* Makes both in fd, for the engine in that slot, on that netdev. They receive nothing
 * yet. Returns 0, -EPERM (no CAP_NET_RAW) or another -errno; after an error there is
 * none. */
int ur_raw_open(u32 ifindex, u32 slot, int fd[UR_RAW_SOCKETS]);
/* Binds the receiving one to that netdev, for all frames, or for none. Returns 0 or
 * -errno. It takes no right. */
int ur_raw_receive(int fd, u32 ifindex, bool all);
/* Binds the sending one to that netdev. Its frames are refused while there is none. */
void ur_raw_move(int fd, u32 ifindex);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packet sockets of raw packet queue pairs: one receives and one sends. uroced makes both,
 * for its own engine and for those in programs. Engines on one netdev receive each other's
 * frames: a socket marks the frames that it sends, and a receiving socket accepts outgoing
 * frames only with a mark of another slot. Any thread.
 */
#ifndef UR_ENGINE_RAW_RAW_SOCKETS_H
#define UR_ENGINE_RAW_RAW_SOCKETS_H

#include "util/bytes.h"

enum { UR_RAW_RX, UR_RAW_TX, UR_RAW_SOCKETS };

/* Makes both sockets in fd, for the engine in that slot, on that netdev. They receive
 * nothing yet. Returns 0, -EPERM (no CAP_NET_RAW) or another -errno; after an error no
 * socket is left open. */
int ur_raw_open(u32 ifindex, u32 slot, int fd[UR_RAW_SOCKETS]);
/* Binds the receiving socket to that netdev, for all frames or for none. Takes no
 * privilege. Returns 0 or -errno. */
int ur_raw_receive(int fd, u32 ifindex, bool all);
/* Binds the sending socket to that netdev. Without a netdev the kernel refuses its frames. */
void ur_raw_move(int fd, u32 ifindex);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets from one device of this process to another: they go through the
 * loopback interface, where any program of the host may send as well, and
 * under any address of the host. What tells ours from a forged one is the
 * source port: it is one that this process holds.
 *
 * A port is held against everybody only when it is bound for all addresses of
 * both families. Linux lets a socket that is bound to one address send from
 * another (IP_PKTINFO, IPV6_PKTINFO), and an IPv6 socket send IPv4. Sockets of
 * this process share ports by SO_REUSEPORT, which lets in those of the same user
 * only: who runs the device is trusted with it.
 *
 * All functions: any thread.
 */
#ifndef UR_DEVICE_UDP_OWN_H
#define UR_DEVICE_UDP_OWN_H

#include "util/bytes.h"

/* An address of a device of this process comes or goes. -ENOMEM. */
int ur_udp_own_add(const u8 gid[16]);
void ur_udp_own_del(const u8 gid[16]);
/* Is it one? */
bool ur_udp_own(const u8 gid[16]);
/* Changes with the set of addresses; not 0. */
u32 ur_udp_own_generation(void);

/* A socket for packets of that family that is bound to the port, from bind to
 * close; ports below UR_UDP_SPORT_MIN are never held. */
void ur_udp_own_hold(u16 port, bool v4);
void ur_udp_own_release(u16 port, bool v4);
bool ur_udp_own_holds(u16 port, bool v4);

#endif

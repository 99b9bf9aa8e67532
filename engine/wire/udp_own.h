/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets from one device of this process to another. They go through the
 * loopback interface, where any program of the host may send too, under any
 * address of the host. A packet of ours differs from a forged one by its source
 * port, which this process holds.
 *
 * A port is held against everybody only when it is bound for all addresses of
 * both families, since Linux lets a socket that is bound to one address send
 * from another (IP_PKTINFO, IPV6_PKTINFO), and an IPv6 socket send IPv4.
 * Sockets of this process share ports by SO_REUSEPORT, which only lets in
 * sockets of the same user: whoever runs the device is trusted with it.
 *
 * All functions: any thread.
 */
#ifndef UR_DEVICE_UDP_OWN_H
#define UR_DEVICE_UDP_OWN_H

#include "util/bytes.h"

/* Add an address of a device of this process, or remove it. Adding returns 0 or
 * -ENOMEM. */
int ur_udp_own_add(const u8 gid[16]);
void ur_udp_own_del(const u8 gid[16]);
/* Returns whether it is such an address. */
bool ur_udp_own(const u8 gid[16]);
/* Returns a number, not 0, that changes with the set of addresses. */
u32 ur_udp_own_generation(void);

/* Say that a socket for packets of that family was bound to the port, or is
 * about to be closed; and return whether such a socket holds it. Ports below
 * UR_UDP_SPORT_MIN are never held. */
void ur_udp_own_hold(u16 port, bool v4);
void ur_udp_own_release(u16 port, bool v4);
bool ur_udp_own_holds(u16 port, bool v4);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets from one engine of this host to another. They go through the loopback
 * interface, where any program of the host may send too, under any address of the
 * host. A packet of ours differs from a forged one by its source port, which is
 * held: by the process of the devices, or by the engine in a program to which that
 * process lent it.
 *
 * A port is held against everybody only when it is bound for all addresses of
 * both families, since Linux lets a socket that is bound to one address send
 * from another (IP_PKTINFO, IPV6_PKTINFO), and an IPv6 socket send IPv4.
 * Sockets of the process share ports by SO_REUSEPORT, which only lets in
 * sockets of the same user: whoever runs the device is trusted with it. A port that is
 * lent is nobody else's, and lies below those (UR_UDP_SPORT_MIN): a program may
 * set SO_REUSEPORT on the socket that it got.
 *
 * A file in memory says who holds what. The process of the devices alone writes it: programs
 * have a descriptor to read it, and it is that user's. An engine in a program has it mapped to
 * read. It is kept (ground/keep.h), and the next uroced writes on in it.
 *
 * All functions: any thread.
 */
#ifndef UR_DEVICE_UDP_OWN_H
#define UR_DEVICE_UDP_OWN_H

#include "engine/engine_lend.h"
#include "util/bytes.h"

struct ur_udp_own;

/* Returns that of this process; NULL: there is no memory. */
const struct ur_udp_own *ur_udp_own_mine(void);
/* Returns its file, to be read, which stays its own, or -EOPNOTSUPP where there is no
 * /proc. */
int ur_udp_own_file(void);
/* Called in a program: maps such a file, which stays the caller's, in *own. Returns 0
 * or -errno. */
int ur_udp_own_map(int file, const struct ur_udp_own **own);
void ur_udp_own_unmap(const struct ur_udp_own *own);

/* Returns a number for a device of this process that lends, from 1 on, or 0: there
 * are too many. The device of an earlier uroced that was on the netdev with that index
 * (0: of none) had the same number, and what it had lent is lent still. */
u32 ur_udp_own_device(u32 ifindex);
/* The device is on that netdev from now on. 0 is no device. */
void ur_udp_own_move(u32 device, u32 ifindex);
/* Gives it back; its addresses are removed. */
void ur_udp_own_device_end(u32 device);

/* Add an address of a device of this process, or remove it; device is its number or
 * 0. Adding returns 0 or -ENOMEM. */
int ur_udp_own_add(const u8 gid[16], u32 device);
void ur_udp_own_del(const u8 gid[16], u32 device);

struct ur_udp_whose {
	bool own;  /* it is such an address */
	bool here; /* it is one of the device with that number */
	u32 device; /* whose it is, that one before others; 0: of one that lends nothing */
};
/* Says whose address that is. In a program it may say that all are own, while they
 * change. */
struct ur_udp_whose ur_udp_own_whose(const struct ur_udp_own *own,
				     const u8 gid[16], u32 device);
/* Returns a number, not 0, that changes with the set of addresses. */
u32 ur_udp_own_generation(const struct ur_udp_own *own);

/* Say that a socket of this process for packets of that family was bound to the
 * port, or is about to be closed; and return whether such a socket holds it. A process that
 * has died holds none. Ports
 * below UR_UDP_SPORT_MIN are never held. */
void ur_udp_own_hold(u16 port, bool v4);
void ur_udp_own_release(u16 port, bool v4);
bool ur_udp_own_holds(const struct ur_udp_own *own, u16 port, bool v4);

/* Says that the device has lent the port to the engine in that slot, or, 0, that it
 * has none any more. */
void ur_udp_own_lend(u32 device, u32 slot, u16 port);
/* Returns the slot of that device to whose engine the port is lent, and puts the number of that loan in
 * *loan; or returns 0, and *loan is 0. */
u32 ur_udp_own_slot(const struct ur_udp_own *own, u32 device, u16 port,
		    u32 *loan);
/* Returns the port that is lent to the engine in that slot, or 0. */
u16 ur_udp_own_port(const struct ur_udp_own *own, u32 device, u32 slot);
/* Devices and addresses of an earlier uroced that nobody has here by now are nobody's. */
void ur_udp_own_settle(void);
/* For the keeper, who has such a file: the process of the devices has been killed, and holds no
 * port any more. */
void ur_udp_own_left(int file);
/* Returns a number that changes whenever the slot is lent. */
u32 ur_udp_own_loan(const struct ur_udp_own *own, u32 device, u32 slot);
/* Returns that of the loan by which somebody has such numbers of queue pairs at that address, as seen by that
 * device, or 0: none has. */
u32 ur_udp_own_loan_at(const struct ur_udp_own *own, const u8 gid[16],
		       u32 device, u32 slot);

#endif

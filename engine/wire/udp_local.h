/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of source ports and addresses of this host's engines. Packets between engines of one host
 * take the loopback interface, where any program may send under any address of the host. A genuine
 * packet has a source port that uroced holds, or that it granted to the engine of a program.
 *
 * A port is safe only if it is bound for all addresses of both families: Linux lets a socket that is
 * bound to one address send from another one (IP_PKTINFO, IPV6_PKTINFO), and an IPv6 socket send
 * IPv4. uroced's sockets share ports by SO_REUSEPORT, which admits sockets of the same user only.
 * A granted port is not shared, and lies below those (UR_UDP_SPORT_MIN), since a program may set
 * SO_REUSEPORT on its socket.
 *
 * The table is a file in memory. uroced writes it; programs map it read-only. It outlives uroced
 * (ground/keep.h), and the next uroced continues it.
 *
 * Thread: any.
 */
#ifndef UR_ENGINE_WIRE_UDP_LOCAL_H
#define UR_ENGINE_WIRE_UDP_LOCAL_H

#include "engine/engine_grant.h"
#include "util/bytes.h"

struct ur_udp_local;

/* Returns the table that uroced, this process, writes, or NULL without memory. */
const struct ur_udp_local *ur_udp_local_mine(void);
/* Returns a descriptor of the table's file to read, which stays the table's, or -EOPNOTSUPP without /proc. */
int ur_udp_local_file(void);
/* In a program: maps the table. The descriptor stays the caller's. Returns 0 or -errno. */
int ur_udp_local_map(int file, const struct ur_udp_local **local);
void ur_udp_local_unmap(const struct ur_udp_local *local);

/* Returns a number from 1 on for a device that grants slots, or 0 if there are too many. A device on the netdev with that
 * ifindex keeps the number and the grants that it had with an earlier uroced. ifindex 0: on no netdev. */
u32 ur_udp_local_device(u32 ifindex);
/* Records that the device moved to another netdev. Ignores device 0. */
void ur_udp_local_move(u32 device, u32 ifindex);
/* Returns the ifindex of the device's netdev, or 0. */
u32 ur_udp_local_netdev(const struct ur_udp_local *local, u32 device);
/* Frees the number of a device whose addresses are removed. */
void ur_udp_local_device_end(u32 device);

/* Add and remove an address of a device; device: its number, or 0. Adding returns 0 or -ENOMEM. */
int ur_udp_local_add(const u8 gid[16], u32 device);
void ur_udp_local_del(const u8 gid[16], u32 device);

struct ur_udp_whose {
	bool local; /* an address of some device */
	bool here;  /* an address of the device asked for */
	u32 device; /* the device that has it, preferably the one asked for; 0: one without grants */
};
/* Looks an address up. In a program every address may seem to be a device's while the table changes. */
struct ur_udp_whose ur_udp_local_whose(const struct ur_udp_local *local,
				       const u8 gid[16], u32 device);
/* Returns a number, not 0, that changes with the set of addresses. */
u32 ur_udp_local_generation(const struct ur_udp_local *local);

/* ur_udp_local_hold() records that a socket of uroced's and that family was bound to the port; ur_udp_local_release(), that it
 * is about to be closed. ur_udp_local_holds() returns whether one holds the port now. A uroced that has died holds none. Ports
 * below UR_UDP_SPORT_MIN are never held. */
void ur_udp_local_hold(u16 port, bool v4);
void ur_udp_local_release(u16 port, bool v4);
bool ur_udp_local_holds(const struct ur_udp_local *local, u16 port, bool v4);

/* Records that the slot has that port and realm now. Port 0: it has none. */
void ur_udp_local_grant(u32 device, u32 slot, u16 port, u32 realm);
/* Returns the realm that the slot's user has by that grant; 0: none, or the grant has ended. */
u32 ur_udp_local_realm(const struct ur_udp_local *local, u32 device, u32 slot,
		       u32 grant_id);
/* Returns the slot of that device that the port is granted to, and the number of that grant in *grant_id; or 0 and 0. */
u32 ur_udp_local_slot(const struct ur_udp_local *local, u32 device, u16 port,
		      u32 *grant_id);
/* Returns the port of that slot, or 0. */
u16 ur_udp_local_port(const struct ur_udp_local *local, u32 device, u32 slot);
/* Recovery is complete: frees devices and addresses of an earlier uroced that this one does not have. */
void ur_udp_local_recovery_done(void);
/* For the keeper: uroced has been killed and holds no port any more. */
void ur_udp_local_left(int file);
/* Returns the number of the slot's grant, which changes with each grant. */
u32 ur_udp_local_grant_id(const struct ur_udp_local *local, u32 device,
			  u32 slot);
/* Returns the number of the grant of that slot at that address, as that device sees it, or 0 if the slot is free. */
u32 ur_udp_local_grant_id_at(const struct ur_udp_local *local, const u8 gid[16],
			     u32 device, u32 slot);

#endif

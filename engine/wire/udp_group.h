/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The groups of receiving sockets of a device with grants to programs. All
 * sockets of an address are one SO_REUSEPORT group of the kernel. A classic BPF filter selects the
 * socket by the first bits of the queue pair's number, its place: the device's own engine has the
 * first place, granted slots have the others (engine_grant.h).
 *
 * The kernel numbers sockets in the order in which they join; the group maps places to these numbers.
 * A datagram for a place without a socket goes to number 0, uroced's, which passes it on or
 * drops it. Where the kernel knows no such filter, as an emulated one may not, number 0 gets all.
 *
 * The sockets outlive uroced (ground/keep.h), and so keep their numbers.
 *
 * Thread: any engine's.
 */
#ifndef UR_ENGINE_WIRE_UDP_GROUP_H
#define UR_ENGINE_WIRE_UDP_GROUP_H

#include <sys/socket.h>
#include "util/bytes.h"

struct ur_udp_group;

/* Makes the groups of a device with 2^bits places, of which the first is its own. device: its number of udp_local.h, or
 * 0; ur_udp_group_destroy() returns it. Returns NULL without memory. */
struct ur_udp_group *ur_udp_group_create(u32 bits, u32 device);
/* group may be NULL. */
void ur_udp_group_destroy(struct ur_udp_group *group);
u32 ur_udp_group_device(const struct ur_udp_group *group);
/* Returns whether the kernel can select sockets. If not, granted places get none. */
bool ur_udp_group_steers(const struct ur_udp_group *group);

/* Binds fd to the address, as the socket of that place for gid. uroced's socket is bound without SO_REUSEPORT, which fails
 * if any other program has the port. Then it sets SO_REUSEPORT, so that sockets of the same user can join. Returns 0 or
 * -errno; on error fd may be bound, and the caller closes it. */
int ur_udp_group_join(struct ur_udp_group *group, const u8 gid[16], u32 place,
		      int fd, const struct sockaddr *address, socklen_t len);
/* Closes the socket of an engine. With the last engine's the granted ones are closed. */
void ur_udp_group_close(struct ur_udp_group *group, const u8 gid[16], u32 place,
			int fd);
/* Records that the netdev lost the address. Its sockets stay bound: otherwise any user could bind the port before the
 * address comes back, and a program's copy of a granted socket would keep us from binding. A device keeps the sockets of
 * the last 32 such addresses. */
void ur_udp_group_leave(struct ur_udp_group *group, const u8 gid[16], u32 place,
			int fd);
/* Closes the sockets of all lost addresses. */
void ur_udp_group_end_away(struct ur_udp_group *group);
/* Takes over the engine's socket of an earlier uroced (ground/keep.h) or of a lost address, in place of
 * ur_udp_group_join(). Returns it, or -1. */
int ur_udp_group_take(struct ur_udp_group *group, const u8 gid[16], u32 place);
/* Recovery is complete: closes inherited sockets that no engine has taken over, and all sockets of addresses
 * that the device does not have. */
void ur_udp_group_recovery_done(struct ur_udp_group *group);
/* Starts to deliver datagrams to the socket of that place. Returns it, or -1; it stays the group's. */
int ur_udp_group_use(struct ur_udp_group *group, const u8 gid[16], u32 place);
/* Ends the use of a place whose slot is free: its sockets stay, but its datagrams go to number 0. Calls left() for each
 * socket, with the group's lock held, to drain it. */
void ur_udp_group_unuse(struct ur_udp_group *group, u32 place,
			void (*left)(void *arg, const u8 gid[16], int fd),
			void *arg);

#endif

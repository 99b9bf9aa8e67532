/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Receiving sockets of a device of several engines, or of one that lends to engines in
 * programs. All sockets of an address are one group of the kernel (SO_REUSEPORT), and a
 * program says which of them gets a datagram: the one in the place that the first bits of
 * the queue pair's number name. Engines of the device have the first places, by their
 * numbers, and lent sockets have the others (engine_lend.h).
 *
 * Sockets join in any order, and the kernel numbers them in that order; the group knows who
 * has which number. A datagram for a place without a socket goes to number 0, the first engine's,
 * which hands it over or drops it.
 *
 * All are kept (ground/keep.h): a group goes on when uroced is killed, and has its numbers when the
 * next one comes.
 *
 * All functions: any engine's thread.
 */
#ifndef UR_DEVICE_UDP_GROUP_H
#define UR_DEVICE_UDP_GROUP_H

#include <sys/socket.h>
#include "util/bytes.h"

struct ur_udp_group;

/* Returns the groups of a device whose places are that many bits, the first of them the
 * engines'; NULL: there is no memory. device: its number as udp_own.h gives it, or 0; it is
 * given back with the last reference. */
struct ur_udp_group *ur_udp_group_create(u32 bits, u32 engines, u32 device);
struct ur_udp_group *ur_udp_group_get(struct ur_udp_group *group);
/* NULL is fine. */
void ur_udp_group_put(struct ur_udp_group *group);
u32 ur_udp_group_device(const struct ur_udp_group *group);

/* Binds fd to the address, as the socket in that place for gid. The first engine's is bound
 * alone, so that the port of another program is refused, of this user's too, and lets the others'
 * join afterwards; those who could join besides are of the same user, who is trusted with the
 * device. Returns 0 or -errno; then fd may be bound, and is to be closed. */
int ur_udp_group_join(struct ur_udp_group *group, const u8 gid[16], u32 place,
		      int fd, const struct sockaddr *address, socklen_t len);
/* Closes the socket of an engine in that place. With the last of the engines', lent ones are
 * closed. */
void ur_udp_group_close(struct ur_udp_group *group, const u8 gid[16], u32 place,
			int fd);
/* The address has gone. The socket of an engine stays, with those that were lent: else any user could bind the port of an
 * address that comes back, and it could not be bound here while a program has a copy of a lent one. A device keeps
 * those of 32 addresses, which went last. */
void ur_udp_group_leave(struct ur_udp_group *group, const u8 gid[16], u32 place,
			int fd);
/* Closes the sockets of all addresses that have gone. */
void ur_udp_group_end_away(struct ur_udp_group *group);
/* Returns the socket of an engine in that place which an earlier uroced has left (ground/keep.h), or which has
 * stayed since the address went, to be used in place of one to be joined, and is closed as those are; or -1. */
int ur_udp_group_take(struct ur_udp_group *group, const u8 gid[16], u32 place);
/* Closes those that no engine has taken by now, of which there may be fewer than there were, and all of an address that
 * none has. */
void ur_udp_group_settle(struct ur_udp_group *group);
/* Returns the socket in that place, which stays the group's and gets datagrams from now on, or
 * -1. */
int ur_udp_group_use(struct ur_udp_group *group, const u8 gid[16], u32 place);
/* Nobody uses the sockets in that place for now: they stay, and datagrams for the place go to
 * number 0. left is called for each, to take what is in it, with the group's lock held. */
void ur_udp_group_rest(struct ur_udp_group *group, u32 place,
		       void (*left)(void *arg, const u8 gid[16], int fd),
		       void *arg);

#endif

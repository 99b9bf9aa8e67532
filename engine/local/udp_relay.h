/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The relay lets a program without a socket of the group receive. The holder of such a socket could
 * receive the packets of others (engine_grant.h). uroced keeps the slot's sockets and
 * copies each datagram into a ring (peer_ring.h) that only the device writes, with the sender and
 * the other facts that a socket reports. The program checks packets as if it had received them itself.
 *
 * A datagram to the port of its slot wakes a sleeping program. A datagram that finds the ring full stays in
 * its socket. The program sends a wake-up when there is room again. That wake-up may be lost, so the
 * device also retries by a timer, at growing intervals.
 *
 * The ring outlives uroced (ground/keep.h); the next uroced continues it.
 *
 * Thread: the engine's, in uroced.
 */
#ifndef UR_ENGINE_LOCAL_UDP_RELAY_H
#define UR_ENGINE_LOCAL_UDP_RELAY_H

#include "engine/local/peer_ring.h"
#include "transport/transport.h"

struct ur_grant;
struct ur_udp_addr;
struct ur_udp_relay;
struct ur_watch;
struct ur_wire;
struct ur_wire_udp;

/* grant_relay() of the wire. */
int ur_udp_grant_relay(struct ur_wire *wire, struct ur_grant *grant, bool far);
/* Called when a receiving socket is readable. */
typedef void ur_udp_readable_fn(struct ur_watch *watch, u32 events);

/* Starts to receive from the slot's socket of that address; fd -1: the device's own socket of it gets the slot's
 * datagrams. Returns 0, -ENOMEM, or -errno of epoll. */
int ur_udp_relay_begin(struct ur_udp_relay *relay, const u8 gid[16], int fd,
		       ur_udp_readable_fn *readable);
/* A queue pair of the program in that slot joins a multicast group, or leaves it. Joins are counted. Joining returns 0
 * or -errno. */
int ur_udp_relay_join(struct ur_wire_udp *w, u32 slot, const u8 gid[16],
		      ur_udp_readable_fn *readable);
void ur_udp_relay_leave(struct ur_wire_udp *w, u32 slot, const u8 gid[16]);
/* Call before the sockets of that slot, or of that address, are closed or granted again. */
void ur_udp_relay_end(struct ur_wire_udp *w, u32 slot);
void ur_udp_relay_end_address(struct ur_wire_udp *w, const u8 gid[16]);

/* Returns what receives for that slot: its ring's relay, or the one that all small slots of its place share, which has no
 * ring; NULL: its program does, or there is no memory. */
struct ur_udp_relay *ur_udp_relay_of(struct ur_wire_udp *w, u32 slot);
/* Returns whether the slot receives at that address of the device. */
bool ur_udp_relay_has(struct ur_wire_udp *w, u32 slot, const u8 gid[16]);

/* Attaches the rings of an earlier uroced; ur_udp_relays_recovery_done() starts them when the addresses are known. */
void ur_udp_relays_inherit(struct ur_wire_udp *w);
void ur_udp_relays_recovery_done(struct ur_wire_udp *w,
				 ur_udp_readable_fn *readable);
void ur_udp_relays_close(struct ur_wire_udp *w);

/* Returns for how many datagrams the ring has room. After 0 the device retries later. */
u32 ur_udp_relay_room(struct ur_udp_relay *relay);
/* Copies the packets of a datagram into the rings of the slots that own their queue pairs, and sets the wire's
 * relayed. The packets have seg bytes each; the last may be shorter. addr: where the datagram arrived. Returns whether
 * all of them were for such slots. */
bool ur_udp_relay_put(struct ur_udp_addr *addr, const struct ur_rx_meta *meta,
		      const u8 *data, u32 len, u32 seg);
/* Returns the relay's ring. */
struct ur_peer_out *ur_udp_relay_ring(struct ur_udp_relay *relay);
/* The program in that slot sent a wake-up. */
void ur_udp_relay_woken(struct ur_wire_udp *w, u32 slot);
/* retry() of the wire. */
void ur_udp_relays_retry(struct ur_wire *wire);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets for an engine in a program that gets no sockets: their owner could get the packets
 * of others by them (engine_lend.h). The device's first engine has its sockets, and copies each
 * datagram that comes there, with what a socket says of it, into a ring (peer_ring.h) that only
 * the device writes. The program checks it, as one that it has received itself.
 *
 * A datagram to the port that it was lent wakes a program that sleeps. A datagram for which there is no room stays in its socket.
 * The program wakes the device when there is room again, as it wakes its peers;
 * that datagram may be lost, so that the device also looks by itself, ever more seldom.
 *
 * The ring is kept (ground/keep.h): the next uroced writes on in it.
 *
 * All functions: the first engine's thread, of a device.
 */
#ifndef UR_DEVICE_UDP_RELAY_H
#define UR_DEVICE_UDP_RELAY_H

#include "engine/wire/peer_ring.h"
#include "transport/transport.h"

struct ur_lent;
struct ur_udp_addr;
struct ur_udp_relay;
struct ur_watch;
struct ur_wire;
struct ur_wire_udp;

/* The wire's lend_relay. */
int ur_udp_lend_relay(struct ur_wire *wire, struct ur_lent *lent, bool far);
/* The function of a receiving socket's watch. */
typedef void ur_udp_readable_fn(struct ur_watch *watch, u32 events);

/* Takes in the datagrams of that slot's socket for the address from now on. Returns 0 or -ENOMEM or
 * -errno of epoll. */
int ur_udp_relay_begin(struct ur_udp_relay *relay, const u8 gid[16], int fd,
		       ur_udp_readable_fn *readable);
/* The program in that slot joins a multicast group once more, or leaves it: what comes there is for it. Joining returns 0
 * or -errno. */
int ur_udp_relay_join(struct ur_wire_udp *w, u32 slot, const u8 gid[16],
		      ur_udp_readable_fn *readable);
void ur_udp_relay_leave(struct ur_wire_udp *w, u32 slot, const u8 gid[16]);
/* The sockets of that slot, or of that address, are about to be closed or lent anew. */
void ur_udp_relay_end(struct ur_wire_udp *w, u32 slot);
void ur_udp_relay_end_address(struct ur_wire_udp *w, const u8 gid[16]);

/* Returns whether the slot uses that address of the device. */
bool ur_udp_relay_has(const struct ur_udp_relay *relay, const u8 gid[16]);

/* Finds those of an earlier uroced; they begin when it is known which addresses there are. */
void ur_udp_relays_inherit(struct ur_wire_udp *w);
void ur_udp_relays_settle(struct ur_wire_udp *w, ur_udp_readable_fn *readable);
void ur_udp_relays_close(struct ur_wire_udp *w);

/* Returns how many datagrams there is room for. 0: the device looks again later. */
u32 ur_udp_relay_room(struct ur_udp_relay *relay);
/* Puts a datagram, packets of seg bytes each but the last, which may be shorter, into the rings of those
 * whose they are, and says so in the wire's relayed. addr: where it came. */
void ur_udp_relay_put(struct ur_udp_addr *addr, const struct ur_rx_meta *meta,
		      const u8 *data, u32 len, u32 seg);
/* Returns the ring. */
struct ur_peer_out *ur_udp_relay_ring(struct ur_udp_relay *relay);
/* The program in that slot has woken us. */
void ur_udp_relay_woken(struct ur_wire_udp *w, u32 slot);
/* The wire's look. */
void ur_udp_relays_look(struct ur_wire *wire);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program of another network namespace gets no sockets of the device's: its owner could
 * send anything to anybody there. It puts packets that are to leave into a ring (peer_ring.h) that
 * it alone writes, its outbox, and the device's first engine sends them, by the slot's port (udp_own.h):
 * wherever they arrive, they count as that program's. Those that come are in a ring too (udp_relay.h).
 *
 * A message is packets that are one datagram, with empty places for their ICRCs, or it names another
 * program of the device that is to be woken. The device copies and checks it (udp_outbox_fits.h). One that it
 * refuses is lost, as on a wire, and counts as send_err.
 *
 * The program wakes the device by an eventfd that the device never reads, since the program could make it wait there; the
 * device wakes the program by a socket from which it takes nothing.
 *
 * All that is kept (ground/keep.h): the next uroced goes on where this one was.
 *
 * All functions: the engine's thread, of the first engine or of the program.
 */
#ifndef UR_DEVICE_UDP_OUTBOX_H
#define UR_DEVICE_UDP_OUTBOX_H

#include "engine/wire/peer_ring.h"
#include "transport/transport.h"

struct ur_lent;
struct ur_udp_pair;
struct ur_wire;
struct ur_wire_udp;

/* In an outbox, ur_peer_message's first has the service level, and says that the ICRC is to be
 * wrong. */
#define UR_OUTBOX_SL	 0x07u
#define UR_OUTBOX_SPOILT 0x80u

/* The device says of a datagram that the kernel has refused why that was, and where it was to go. It counts them, so that
 * the next one is another word. */
static inline u64 ur_outbox_refusal(u32 count, u16 error, const u8 daddr[16])
{
	u32 part[4];

	memcpy(part, daddr, sizeof(part));
	return (u64)(part[0] ^ part[1] ^ part[2] ^ part[3]) << 32 |
	       (count & 0xffff) << 16 | error;
}
/* Returns the error of that word, where it is about that address, or 0. */
static inline int ur_outbox_refused(u64 refusal, const u8 daddr[16])
{
	u64 its = ur_outbox_refusal(0, 0, daddr);

	return refusal >> 32 == its >> 32 ? (int)(refusal & 0xffff) : 0;
}

/* ---- the device ---- */

struct ur_udp_outbox;

/* Makes that of lent->slot, and fills in its descriptors. words: of both, the device's is the second one. Returns 0
 * or -errno. */
int ur_udp_outbox_make(struct ur_wire_udp *w, struct ur_lent *lent,
		       struct ur_peer_word *words);
/* Finds that of an earlier uroced; without one it does nothing. */
void ur_udp_outbox_inherit(struct ur_wire_udp *w, u32 slot,
			   struct ur_peer_word *words);
/* It is known which addresses its program may have: it is emptied from now on. */
void ur_udp_outbox_begin(struct ur_wire_udp *w, u32 slot);
/* The slot ends: sends what its program has left there, its last acknowledgements as a rule. */
void ur_udp_outbox_drain(struct ur_wire_udp *w, u32 slot);
/* The slot is lent no more; and closes what there is, which stays kept. */
void ur_udp_outbox_end(struct ur_wire_udp *w, u32 slot);
void ur_udp_outbox_close(struct ur_wire_udp *w, u32 slot);
/* Wakes the program in that slot. Returns whether it has an outbox. */
bool ur_udp_outbox_ring(struct ur_wire_udp *w, u32 slot);
/* The wire's forward, waits and sleeps, of a device. */
bool ur_udp_outboxes_empty(struct ur_wire *wire);
bool ur_udp_outboxes_wait(const struct ur_wire_udp *w);
void ur_udp_outboxes_sleep(struct ur_wire_udp *w, bool asleep);
/* Returns when to look again at what a socket had no room for; UR_NEVER: there is nothing. */
ur_time ur_udp_outboxes_look(const struct ur_wire_udp *w);

/* ---- a program ---- */

/* The wire's holds. */
bool ur_udp_outbox_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			 bool datagram);

/* Uses the outbox, whose descriptors stay the caller's, with the ring of what comes. Returns 0 or
 * -errno. */
int ur_udp_outbox_borrow(struct ur_wire_udp *w, const struct ur_lent *lent);
/* The wire's send, check, and payload_room. */
u32 ur_udp_outbox_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		       u32 end, int *wait_fd);
int ur_udp_outbox_check(struct ur_wire *wire, const struct ur_av *av);
u8 *ur_udp_outbox_payload_room(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, u32 len);
/* Wakes who is at the other end of a pair: the device, or a program by it. */
void ur_udp_outbox_wake(struct ur_wire_udp *w, const struct ur_udp_pair *pair);

#endif

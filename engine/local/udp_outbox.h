/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The outbox lets a program of another network namespace send. With a socket of the device's
 * namespace it could send anything to anybody there, so it gets none. It writes packets into a ring
 * (peer_ring.h), and uroced sends them from the port of the program's slot
 * (udp_local.h). What comes for the program takes the relay (udp_relay.h).
 *
 * A record is the packets of one datagram, with room for their ICRCs, or it names another program of
 * the device to wake. The device copies a record and checks that verbs could have made it
 * (udp_outbox_fits.h). A record that it refuses is dropped and counted as send_err.
 *
 * The program wakes the device by an eventfd. The device never reads it, since the program could
 * make that read block. The device wakes the program by a socket that it never reads.
 *
 * Both files and descriptors outlive uroced (ground/keep.h).
 *
 * Thread: the engine's, of uroced or of the program.
 */
#ifndef UR_ENGINE_LOCAL_UDP_OUTBOX_H
#define UR_ENGINE_LOCAL_UDP_OUTBOX_H

#include "engine/local/peer_ring.h"
#include "transport/transport.h"

struct ur_grant;
struct ur_udp_pair;
struct ur_wire;
struct ur_wire_udp;

/* In an outbox ur_peer_message.first holds the service level, and a flag: send a wrong ICRC (a fault on
 * request). */
#define UR_OUTBOX_SL	 0x07u
#define UR_OUTBOX_SPOILT 0x80u

/* Returns the word by which the device reports a datagram that the kernel refused: errno, a hash of the destination,
 * and a count that makes each report differ from the one before. */
static inline u64 ur_outbox_refusal(u32 count, u16 error, const u8 daddr[16])
{
	u32 part[4];

	memcpy(part, daddr, sizeof(part));
	return (u64)(part[0] ^ part[1] ^ part[2] ^ part[3]) << 32 |
	       (count & 0xffff) << 16 | error;
}
/* Returns the errno of that word if it is about daddr, else 0. */
static inline int ur_outbox_refused(u64 refusal, const u8 daddr[16])
{
	u64 its = ur_outbox_refusal(0, 0, daddr);

	return refusal >> 32 == its >> 32 ? (int)(refusal & 0xffff) : 0;
}

/* ---- the device ---- */

struct ur_udp_outbox;

/* Makes the outbox of grant->slot and fills in its descriptors. words: those of both directions; words[1] is the
 * device's. Returns 0 or -errno. */
int ur_udp_outbox_make(struct ur_wire_udp *w, struct ur_grant *grant,
		       struct ur_peer_word *words);
/* Attaches the outbox of an earlier uroced, if there is one. */
void ur_udp_outbox_inherit(struct ur_wire_udp *w, u32 slot,
			   struct ur_peer_word *words);
/* Starts to send. The addresses that the program may use are known. */
void ur_udp_outbox_begin(struct ur_wire_udp *w, u32 slot);
/* The slot ends: sends what is left, mostly the last acknowledgements. */
void ur_udp_outbox_drain(struct ur_wire_udp *w, u32 slot);
/* ur_udp_outbox_end(): the slot is free again. ur_udp_outbox_close(): uroced ends; the kept copies stay. */
void ur_udp_outbox_end(struct ur_wire_udp *w, u32 slot);
void ur_udp_outbox_close(struct ur_wire_udp *w, u32 slot);
/* Wakes the program in that slot. Returns whether the slot has an outbox. */
bool ur_udp_outbox_ring(struct ur_wire_udp *w, u32 slot);
/* forward(), waits() and sleeps() of the device's wire (wire.h), for all outboxes. */
bool ur_udp_outboxes_empty(struct ur_wire *wire);
bool ur_udp_outboxes_wait(const struct ur_wire_udp *w);
void ur_udp_outboxes_sleep(struct ur_wire_udp *w, bool asleep);
/* Returns when to retry what a socket had no room for, or UR_NEVER. */
ur_time ur_udp_outboxes_retry_at(const struct ur_wire_udp *w);

/* ---- a program ---- */

/* holds() and unread() of the program's wire. */
bool ur_udp_outbox_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			 bool datagram);
bool ur_udp_outbox_unread(struct ur_wire *wire, const struct ur_av *av,
			  u32 dqpn);

/* Attaches the outbox and the relay's ring. The descriptors stay the caller's. Returns 0 or -errno. */
int ur_udp_outbox_use(struct ur_wire_udp *w, const struct ur_grant *grant);
/* send(), check() and payload_room() of the program's wire. */
u32 ur_udp_outbox_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		       u32 end, int *wait_fd);
int ur_udp_outbox_check(struct ur_wire *wire, const struct ur_av *av);
u8 *ur_udp_outbox_payload_room(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, u32 len);
/* Wakes the other end of a pair: the device, or a program by way of the device. */
void ur_udp_outbox_wake(struct ur_wire_udp *w, const struct ur_udp_pair *pair);

#endif

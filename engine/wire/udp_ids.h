/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The IPv4 identifications of a peer. A UDP socket does not deliver them, but the
 * ICRC covers them. This file guesses the next one, and checks whether a value
 * solved from an ICRC is plausible for this peer now.
 *
 * Linux counts identifications for each destination in steps of one. After a
 * pause it adds a random jump of at most the jiffies that have passed, which is
 * at most one a millisecond. When two packets are sent at once after the pause,
 * one of them may get a number from before the jump. Packets get their numbers
 * before they enter the sender's queue. The usual queue (fq_codel) serves its
 * flows, which are queue pairs here, one after the other, so other flows
 * overtake one that has much to send: by hundreds of identifications with 16
 * queue pairs. Sockets of this device's kind use 0, or 0..k-1 within a burst.
 *
 * So this file accepts one in 12.5 random values. ur_icrc_solve_id() finds a value
 * for one damaged packet in 32768, so the device accepts one damaged packet in
 * 400 000. It accepts more for 0.1 s after a pause, when each millisecond of the
 * pause adds a value that fits. Engine thread only.
 */
#ifndef UR_ENGINE_WIRE_UDP_IDS_H
#define UR_ENGINE_WIRE_UDP_IDS_H

#include "transport/transport.h"

struct ur_udp_ids {
	ur_time last_ns; /* when last was seen */
	/* The last long pause. The jump after it may come a little later. */
	ur_time pause_from, pause_end;
	u32 good;	/* packets that fitted the pattern since it broke */
	u32 odd;	/* packets in a row that did not */
	u16 last, next; /* identification: last one, next guess */
	u16 high;	/* highest identification, modulo 2^16 */
};

/* Returns the guess for the packet at that index of its burst. */
u16 ur_udp_ids_guess(const struct ur_udp_ids *ids, u32 index);

/*
 * Records id, which was solved from a packet's ICRC at time now. guessed: it equals
 * the guess. Returns false if this peer would not use it now; then the caller takes
 * the packet as damaged. After a few of those in a row the pattern is dropped.
 */
bool ur_udp_ids_take(struct ur_udp_ids *ids, ur_time now, u16 id, bool guessed);

#endif

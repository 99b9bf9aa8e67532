/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is known of a peer's IPv4 identifications, which a UDP socket does not
 * deliver but the ICRC covers: the next guess, and whether a solved value is
 * one that this peer would use now.
 *
 * Linux counts identifications per destination: steps of one, and after a pause
 * a random jump of at most the jiffies that have passed (at most one a
 * millisecond); of two packets sent at once after the pause the other one may
 * get a number from before the jump. They are given before the packets enter
 * the sender's queue, and the usual one (fq_codel) serves its flows, which are
 * queue pairs here, in turn: a flow that has much to send is overtaken by the
 * others, by hundreds of identifications with 16 queue pairs.
 * Sockets of this device's kind use 0, or 0..k-1 within a burst.
 *
 * So one in 12 random values is believed, and one damaged packet in 400 000:
 * 32768 for ur_icrc_solve_id() times 12.5 for this (more for 0.1 s after a
 * pause, when each millisecond of it is one more that fits). Engine thread
 * only.
 */
#ifndef UR_DEVICE_UDP_IDS_H
#define UR_DEVICE_UDP_IDS_H

#include "transport/transport.h"

struct ur_udp_ids {
	ur_time last_ns; /* when last was seen */
	/* The latest pause of note; the jump after it may come a little later. */
	ur_time pause_from, pause_end;
	u32 good;	/* packets that kept to a pattern since it broke */
	u32 odd;	/* in a row that did not */
	u16 last, next; /* identification: seen, guessed */
	u16 high;	/* the highest one, modulo 2^16 */
};

/* The guess for the packet at index of its burst. */
u16 ur_udp_ids_guess(const struct ur_udp_ids *ids, u32 index);

/*
 * id was solved from a packet's ICRC (guessed: it was the guess). False: not
 * an identification this peer would use now, so the packet is taken for
 * damaged; a few of those in a row mean that the peer has changed its ways.
 */
bool ur_udp_ids_take(struct ur_udp_ids *ids, ur_time now, u16 id, bool guessed);

#endif

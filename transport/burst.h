/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Bursts: equal packets to one peer, back to back, which the host sends with
 * one system call (UDP_SEGMENT). A burst of a few packets costs the host nearly
 * as much as a full one. So a queue pair that sends the middle of a long
 * message stops at the end of a burst when the window, its quantum or the room
 * in the ur_tx does not let it send the whole message.
 */
#ifndef UR_TRANSPORT_BURST_H
#define UR_TRANSPORT_BURST_H

#include "transport/transport.h"

struct ur_qp;
struct ur_swqe;

/* Why packets wait that the window would allow. */
enum ur_defer {
	UR_DEFER_NOT,
	UR_DEFER_ANSWER,  /* for an acknowledgement that was requested */
	UR_DEFER_QUANTUM, /* for this queue pair's next quantum */
	UR_DEFER_ROOM,	  /* for an empty ur_tx */
};

/* Sets qp->burst, the packets of a burst; qp->read_pkts, the packets of a READ
 * request; and the limits of the latter, for the queue pair's MTU. */
void ur_burst_set_mtu(struct ur_qp *qp);
/*
 * Fits the length of READ requests to a window of that many packets
 * (UINT32_MAX: none), before a request of entry e leaves. The end of each
 * request must stay known while answers are on their way: a repeated request
 * keeps its length. Returns whether the request may leave; false: a new length
 * waits until nothing is in flight.
 */
bool ur_burst_fit_read(struct ur_qp *qp, struct ur_swqe *e, u32 window);
/* Updates tx->burst after n equal packets have been added to tx. */
void ur_burst_count(struct ur_tx *tx, u32 n);
/* Returns how many packets the unfinished burst at the end of tx has, if the
 * queue pair's next middle packet would join it; else 0. */
u32 ur_burst_open(const struct ur_qp *qp, const struct ur_tx *tx);
/* Returns how many of n packets, which may be sent now, complete bursts. open:
 * the result of ur_burst_open(). */
u32 ur_burst_whole(const struct ur_qp *qp, u32 open, u32 n);

#endif

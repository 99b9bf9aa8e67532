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

/* Why packets wait that could be sent now. */
enum ur_defer {
	UR_DEFER_NOT,
	UR_DEFER_ANSWER,  /* for an acknowledgement that has been asked for */
	UR_DEFER_QUANTUM, /* for this queue pair's next quantum */
	UR_DEFER_ROOM,	  /* for an empty ur_tx */
};

/* Sets qp->burst and qp->read_pkts, the packets of a burst and of a READ
 * request, for the queue pair's MTU, and what the latter may become. */
void ur_burst_set_mtu(struct ur_qp *qp);
/*
 * Makes READ requests as long as a window of so many packets asks for
 * (UINT32_MAX: none), before one of entry e, which is being sent, leaves. The
 * end of each has to stay known while answers are on their way: a request that
 * is sent again keeps its length, and a new one waits (false) while something
 * is in flight.
 */
bool ur_burst_fit_read(struct ur_qp *qp, struct ur_swqe *e, u32 window);
/* Updates tx->burst after n equal packets have been added to tx. */
void ur_burst_count(struct ur_tx *tx, u32 n);
/* Returns how many packets of the unfinished burst at the end of tx the queue
 * pair's next middle packet would join. */
u32 ur_burst_open(const struct ur_qp *qp, const struct ur_tx *tx);
/* Returns how many of n packets, which may be sent now, go up to the last end
 * of a burst. open: what ur_burst_open() returned. */
u32 ur_burst_whole(const struct ur_qp *qp, u32 open, u32 n);

#endif

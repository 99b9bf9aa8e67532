/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Trains: equal packets to one peer, back to back, which the host puts out as
 * one (UDP_SEGMENT). One of a few packets costs the host nearly as much as a
 * full one, so who sends the middle of a long message and is cut short, by
 * the window, his turn or the room for packets, stops where a train ends.
 */
#ifndef UR_TRANSPORT_TRAIN_H
#define UR_TRANSPORT_TRAIN_H

#include "transport/transport.h"

struct ur_qp;

/* Why packets are held back that could go. */
enum ur_hold {
	UR_HOLD_NOT,
	UR_HOLD_ANSWER, /* for an acknowledgement that has been asked for */
	UR_HOLD_TURN,	/* for this queue pair's next turn */
	UR_HOLD_ROOM,	/* for an empty ur_tx */
};

/* Length of a train and of a READ request at the queue pair's MTU. */
void ur_train_set_mtu(struct ur_qp *qp);
/* n equal packets have been added to tx. */
void ur_train_count(struct ur_tx *tx, u32 n);
/* How many packets of the unfinished train at the end of tx the queue pair's
 * next middle packet would join. */
u32 ur_train_open(const struct ur_qp *qp, const struct ur_tx *tx);
/* Of the n packets that may go, those up to the last end of a train; open: of
 * ur_train_open(). */
u32 ur_train_whole(const struct ur_qp *qp, u32 open, u32 n);

#endif

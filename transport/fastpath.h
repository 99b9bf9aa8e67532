/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: middle packets of long messages. Each continues the packet
 * before it, with the next PSN and the next bytes of memory. Most bytes travel
 * in such packets, but the ordinary path checks each as if it were the first.
 * Here the checks are made once for a range of the message. A packet that
 * differs in anything goes the ordinary way. All functions run on the port's
 * thread.
 */
#ifndef UR_TRANSPORT_FASTPATH_H
#define UR_TRANSPORT_FASTPATH_H

#include "transport/burst.h"

struct ur_resp_item;
struct ur_swqe;

/* The checked memory of bytes [first, end) of the message that owner
 * identifies. Valid until a key or region of the port changes
 * (port->mem_gen). */
struct ur_mr_range {
	u8 *ptr; /* address of byte first; NULL: not mapped */
	struct ur_mr *mr;
	u64 off; /* offset of byte first in mr */
	u32 gen; /* port->mem_gen of the check; 0: empty */
	u32 owner;
	u32 first, end;
	/* Writes to it where it is not mapped: as ur_mem_ops.write. */
	int (*write)(void *mem, u64 off, const void *src, u32 len);
	bool more;
	/* read_pieces reads its bytes, with the range as the reader */
	bool ahead;
};

/* The use of a range. */
enum ur_range_use {
	UR_RANGE_READ,
	UR_RANGE_WRITE,
	/* all that the message writes lies in one region */
	UR_RANGE_WRITE_WHOLE,
};

/* Voids the range if an earlier message left it under the number of a new
 * one. */
static inline void ur_mr_range_forget(struct ur_mr_range *s, u32 owner)
{
	if (s->owner == owner)
		s->gen = 0;
}

/*
 * Receives a packet of len bytes, BTH to pad, if it is the middle packet that
 * the queue pair of the last packet (port->rx_qp) expects. Returns whether it
 * was received; if not, nothing has changed, and the caller goes the ordinary
 * way.
 */
bool ur_fastpath_rx(struct ur_port *port, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len);
/* Packets of one length that came together. */
struct ur_rx_run {
	const u8 *bth, *payload;    /* of the first packet */
	u32 stride, payload_stride; /* distance from one packet to the next */
	u32 len, n;
	bool frail; /* reading the payload may fail, and it may be found invalid after that */
};

/*
 * Receives several such packets with one call, if their memory is not mapped or
 * their payloads are contiguous. Returns how many of the first ones were
 * received. 0: the ordinary way is as good, or finds the fault.
 */
u32 ur_fastpath_rx_run(struct ur_port *port, const struct ur_rx_meta *meta,
		       const struct ur_rx_run *run);

/*
 * Adds to tx the next packets of e, a started SEND or WRITE, except its first
 * and last: at most max, as far as window and room allow. Returns their number.
 * If 0, *defer, UR_DEFER_NOT before, says what to wait for; UR_DEFER_NOT: go
 * the ordinary way.
 */
u32 ur_fastpath_send(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx,
		     u32 max, enum ur_defer *defer);

/* Does the same for an answer to a READ. */
u32 ur_fastpath_answer(struct ur_qp *qp, struct ur_resp_item *it,
		       struct ur_tx *tx, u32 max, enum ur_defer *defer);

#endif

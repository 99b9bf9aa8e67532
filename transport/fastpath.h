/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: middle packets of long messages. Each is like the packet
 * before it, with the next PSN and the next bytes of memory. Most bytes
 * travel in such packets, and the ordinary path looks at each of them as if it
 * were the first. Here the checks are made once for a range of the message.
 * Whatever is not exactly as expected goes the ordinary way. All functions run
 * on the port's thread.
 */
#ifndef UR_TRANSPORT_FASTPATH_H
#define UR_TRANSPORT_FASTPATH_H

#include "transport/burst.h"

struct ur_resp_item;
struct ur_swqe;

/*
 * Memory behind the bytes [first, end) of the message that owner names: checked
 * when it was found, and good until any key or region of the port changes
 * (port->mem_gen).
 */
struct ur_mr_range {
	u8 *ptr; /* of byte first; NULL: it is not mapped */
	struct ur_mr *mr;
	u64 off; /* of byte first in mr */
	u32 gen; /* 0: nothing */
	u32 owner;
	u32 first, end;
	/* How bytes of it are written, where it is not mapped: as ur_mem_ops has it. */
	int (*write)(void *mem, u64 off, const void *src, u32 len);
	bool more;
	bool ahead; /* its bytes are read by read_pieces, the range being the reader */
};

/* What a range is for. */
enum ur_range_use {
	UR_RANGE_READ,
	UR_RANGE_WRITE,
	UR_RANGE_WRITE_WHOLE, /* all that the message writes is in its region */
};

/* A message of that owner starts: makes the range void if an earlier message
 * with the same number left it. */
static inline void ur_mr_range_forget(struct ur_mr_range *s, u32 owner)
{
	if (s->owner == owner)
		s->gen = 0;
}

/*
 * Receives a packet of len bytes, BTH to pad, if it is the middle packet that
 * the queue pair of the last packet (port->rx_qp) waits for. Returns true when
 * the packet is done, or false with nothing done: the caller then goes the
 * ordinary way.
 */
bool ur_fastpath_rx(struct ur_port *port, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len);
/* Packets of one length, from the BTH on, that came together. */
struct ur_rx_run {
	const u8 *bth, *payload;    /* of the first one */
	u32 stride, payload_stride; /* from one to the next */
	u32 len, n;
};

/*
 * Does the same for such packets, whose memory is not mapped or whose payloads lie one
 * after the other, with one call for all. Returns how many of the first ones it has
 * taken; 0: the ordinary way is as good, or finds out what is wrong.
 */
u32 ur_fastpath_rx_run(struct ur_port *port, const struct ur_rx_meta *meta,
		       const struct ur_rx_run *run);

/*
 * Adds to tx the next packets of e, a started SEND or WRITE, that are neither
 * its first nor its last: at most max, and as many as window and room allow.
 * Returns how many. With 0, *defer says why: UR_DEFER_NOT to go the ordinary
 * way, else what to wait for. *defer must be UR_DEFER_NOT before.
 */
u32 ur_fastpath_send(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx,
		     u32 max, enum ur_defer *defer);

/* Does the same for it, the answer to a READ. */
u32 ur_fastpath_answer(struct ur_qp *qp, struct ur_resp_item *it,
		       struct ur_tx *tx, u32 max, enum ur_defer *defer);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fast path: middle packets of long messages. Each is a packet like the one before it, with one PSN
 * more and the next bytes of plain memory. Most of all bytes travel so, and
 * the ordinary path looks at each of them as if it were the first. Here the
 * checks are made once for a range of the message, and what is not exactly
 * as expected goes the ordinary way.
 */
#ifndef UR_TRANSPORT_FASTPATH_H
#define UR_TRANSPORT_FASTPATH_H

#include "transport/burst.h"

struct ur_resp_item;
struct ur_swqe;

/*
 * Plain memory behind the bytes [first, end) of the message that owner names:
 * checked when it was found, and good until any key or region of the port
 * changes (port->mem_gen).
 */
struct ur_mr_range {
	u8 *ptr; /* of byte first */
	u32 gen; /* 0: nothing */
	u32 owner;
	u32 first, end;
};

/* A message of that owner starts: what another of the same number left is
 * void. */
static inline void ur_mr_range_forget(struct ur_mr_range *s, u32 owner)
{
	if (s->owner == owner)
		s->gen = 0;
}

/*
 * A received packet, BTH to pad: true when it was the middle packet that the
 * queue pair of the last packet (port->rx_qp) waits for, and is done; else nothing has
 * happened yet.
 */
bool ur_fastpath_rx(struct ur_port *port, const struct ur_rx_meta *meta,
		    const u8 *bth, u32 len);

/* The next packets of a started SEND or WRITE that are neither its first nor
 * its last: at most max, and what window and tx allow. Returns how many; with
 * 0, defer says whether to wait, or to go the ordinary way. */
u32 ur_fastpath_send(struct ur_qp *qp, struct ur_swqe *e, struct ur_tx *tx,
		     u32 max, enum ur_defer *defer);

/* The same for an answer to a READ. */
u32 ur_fastpath_answer(struct ur_qp *qp, struct ur_resp_item *it,
		       struct ur_tx *tx, u32 max, enum ur_defer *defer);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How many packets of a queue pair may be in flight. With the window that
 * deployed peers use, sender and receiver take turns where a batch of either
 * is as long; so it grows while nothing is lost. What is lost then shows that
 * somebody's buffer ended, and each time it takes longer to grow again.
 */
#include "transport/internal.h"

#define WINDOW_MAX_PKTS	   512 /* UR_OOO_SPAN: what a peer like us keeps */
#define WINDOW_MAX_BYTES   (1u << 20)
#define LOSSLESS_WINDOWS   16 /* without a loss, to double */
#define GROWTH_BACKOFF_MAX 8

void ur_inflight_reset(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	req->window = qp->port->cfg.window_pkts;
	req->lossless_pkts = 0;
	req->growth_backoff = 0;
}

void ur_inflight_answered(struct ur_qp *qp, u32 packets)
{
	struct ur_requester *req = &qp->req;
	u32 next = req->window * 2;

	req->lossless_pkts += packets;
	if (req->lossless_pkts < (req->window * LOSSLESS_WINDOWS)
					 << req->growth_backoff)
		return;
	req->lossless_pkts = 0;
	if (next <= WINDOW_MAX_PKTS &&
	    (u64)next << qp->mtu_shift <= WINDOW_MAX_BYTES)
		req->window = next;
}

void ur_inflight_lost(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (req->window > qp->port->cfg.window_pkts &&
	    req->growth_backoff < GROWTH_BACKOFF_MAX)
		req->growth_backoff++;
	req->window = qp->port->cfg.window_pkts;
	req->lossless_pkts = 0;
}

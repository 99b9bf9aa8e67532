// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Decides how many packets of a queue pair may be in flight.
 *
 * Upwards: with the window of deployed peers, sender and receiver alternate if
 * their batches are as long. So the window grows while nothing is lost. A loss
 * shows that some buffer was full, and each one delays the next growth.
 *
 * Downwards: the path is congested if packets are lost while round trips show a
 * queue, or if many are lost while round trips are long. The window is then
 * cut, once for what was in flight, and grows by a small share of itself in
 * each round trip: what many queue pairs add in one is what a short queue
 * loses. Losses on a path without a queue are not caused by congestion.
 */
#include "transport/internal.h"

/* UR_OOO_SPAN: packets that a peer like us keeps */
#define WINDOW_MAX_PKTS	   512
#define WINDOW_MAX_BYTES   (1u << 20)
#define LOSSLESS_WINDOWS   16 /* windows without a loss until it doubles */
#define GROWTH_BACKOFF_MAX 8

#define REGROWTH_PKTS 32 /* answered packets for one more after a cut */
/* round trip beyond twice the shortest: a queue */
#define QUEUE_NS	 100000u
#define LONG_NS		 200000u /* round trip beyond which many losses count */
#define LOSS_PERIOD_PKTS 512
#define LOSS_SHARE	 32 /* more than one loss in so many packets is many */
#define LOSS_FEW	 3

static void set_window(struct ur_qp *qp, u32 packets)
{
	struct ur_requester *req = &qp->req;

	req->window = packets;
	req->grow_at = ur_inflight_is_cut(qp) ? REGROWTH_PKTS
					      : (packets * LOSSLESS_WINDOWS)
							<< req->growth_backoff;
}

void ur_inflight_reset(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	req->lossless_pkts = 0;
	req->growth_backoff = 0;
	req->lost_at = qp->port->now;
	req->recent_losses = 0;
	req->cut.set = false;
	req->rtt_min = 0;
	req->patience = UR_PROBE_MIN_NS;
	set_window(qp, qp->port->cfg.window_pkts);
}

static void regrow(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u32 more = req->lossless_pkts / REGROWTH_PKTS;

	ur_psn_mark_reach(&req->cut, req->una);
	req->lossless_pkts %= REGROWTH_PKTS;
	set_window(qp,
		   ur_min_u32(req->window + more, qp->port->cfg.window_pkts));
}

void ur_inflight_answered(struct ur_qp *qp, u32 packets)
{
	struct ur_requester *req = &qp->req;
	u32 next = req->window * 2;

	req->lossless_pkts += packets;
	if (req->lossless_pkts < req->grow_at)
		return;
	if (ur_inflight_is_cut(qp)) {
		regrow(qp);
		return;
	}
	req->lossless_pkts = 0;
	if (next <= WINDOW_MAX_PKTS &&
	    (u64)next << qp->mtu_shift <= WINDOW_MAX_BYTES)
		set_window(qp, next);
}

bool ur_inflight_many(const struct ur_requester *req)
{
	return req->recent_losses > LOSS_FEW &&
	       req->recent_losses * LOSS_SHARE >
		       ur_psn_sub(req->una, req->losses_psn);
}

static void count_loss(struct ur_requester *req)
{
	u32 pkts = ur_psn_sub(req->una, req->losses_psn);

	if (!req->recent_losses || pkts > LOSS_PERIOD_PKTS) {
		req->recent_losses = 0;
		req->losses_psn = req->una;
	}
	req->recent_losses++;
}

bool ur_inflight_queues(const struct ur_requester *req)
{
	return req->rtt_min && req->srtt > 2ull * req->rtt_min + QUEUE_NS;
}

void ur_inflight_lost(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	bool lossy;

	count_loss(req);
	req->lost_at = qp->port->now;
	/* The path decides if the peer keeps packets behind a gap. */
	if (qp->share.path && !req->holdoff_left)
		return;
	if (req->window > qp->port->cfg.window_pkts) {
		if (req->growth_backoff < GROWTH_BACKOFF_MAX)
			req->growth_backoff++;
		req->lossless_pkts = 0;
		set_window(qp, qp->port->cfg.window_pkts);
		return;
	}
	if (!ur_inflight_is_cut(qp))
		req->lossless_pkts = 0;
	if (!qp->port->cfg.aimd || qp->share.path ||
	    ur_psn_before_mark(&req->cut, req->una))
		return;
	lossy = ur_inflight_many(req) && req->srtt > LONG_NS;
	if (!lossy && !ur_inflight_queues(req))
		return;
	ur_psn_mark_at(&req->cut, req->max_psn);
	req->recent_losses = 0;
	if (req->window > 1)
		set_window(qp, req->window - (lossy ? req->window / 2
						    : (req->window + 3) / 4));
	ur_trace(qp->port, UR_TRACE_WINDOW, qp->qpn, req->window, req->srtt);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repeats a single missing packet, to a peer that keeps later ones.
 *
 * A NAK names one packet. A queue that overflows drops several in a row, and
 * each would take a round trip. So if the packet behind a repeated one is
 * missing too, the next two are repeated, then four, up to RUN_MAX. Without a
 * known queue that begins with the third in a row, since two may be lost by
 * chance: a newcomer on a line that others have filled has never seen it empty.
 */
#include "transport/retry.h"

/* With so few outstanding, repeating all is as cheap. */
#define HOLE_MIN_PKTS 8
/* Losses before another try, after the peer did not keep later packets. */
#define HOLDOFF_LOSSES 16
#define RUN_MAX	       16

/* Returns whether to repeat only the oldest packet. */
static bool one_will_do(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) > HOLE_MIN_PKTS && !ur_asks_first(qp);
}

/* Returns how many packets to repeat now. */
static u32 run_of(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u32 behind = ur_psn_add(req->hole_psn, (int)req->hole_pkts);
	bool second = req->hole_second;

	req->hole_second = req->hole_open && req->una == behind;
	if (!req->hole_second || !ur_path_holds(qp) ||
	    (!second && !ur_path_queues(qp)))
		return 1;
	return ur_min_u32(2 * req->hole_pkts,
			  ur_min_u32(RUN_MAX, ur_inflight(req) - 1));
}

static void repeat(struct ur_qp *qp, u32 packets)
{
	struct ur_requester *req = &qp->req;

	req->hole_due = true;
	req->hole_pkts = req->hole_left = packets;
	req->hole_psn = req->una;
	req->hole_end = req->max_psn;
	req->hole_at = qp->port->now;
	req->sample_at = 0;
	ur_trip_again(qp);
	ur_port_activate(qp->port, qp);
}

void ur_retry_ask(struct ur_qp *qp, bool alone)
{
	if (alone && one_will_do(qp))
		repeat(qp, 1);
	else
		ur_retry_go_back(qp);
}

/* Returns whether the oldest packet was repeated so recently that no answer can
 * be here. A second one of the run is requested as soon as the first has
 * arrived. */
static bool just_sent(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	u32 i = ur_psn_sub(req->una, req->hole_psn);

	return (req->hole_due || req->hole_open) && i < req->hole_pkts &&
	       qp->port->now - req->hole_at <
		       (i ? 2ull * req->srtt : req->srtt);
}

void ur_retry_hole(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (!req->srtt)
		ur_trip_estimate(qp);
	if (just_sent(qp))
		return;
	if (req->holdoff_left || req->hole_due || !one_will_do(qp)) {
		if (req->holdoff_left)
			req->holdoff_left--;
		ur_retry_sequence(qp, 1);
		return;
	}
	if (!ur_retry_use(qp, true))
		return;
	ur_retry_lost(qp, 1, false);
	repeat(qp, run_of(qp));
	ur_retry_start_timers(qp);
}

void ur_retry_hole_acked(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	u32 last = ur_psn_add(req->hole_psn, (int)req->hole_pkts - 1);

	if (!req->hole_open || ur_psn_diff(psn, last) < 0)
		return;
	req->hole_open = false;
	if (psn != last || req->una == req->hole_end)
		return;
	/* The peer acknowledged just those packets: it dropped later ones; or,
	 * if no NAK has come, all were lost. In both cases repeating everything
	 * is faster for some time. */
	req->holdoff_left = HOLDOFF_LOSSES;
	ur_retry_go_back(qp);
	ur_retry_start_timers(qp);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One missing packet sent alone, to a peer that keeps what comes behind it. */
#include "transport/retry.h"

/* With so few outstanding, all of them again is as cheap. */
#define HOLE_MIN_PKTS 8
/* A peer that did not keep the rest is asked again after so many losses. */
#define HOLDOFF_LOSSES 16

/* Is the oldest packet alone to be sent again? */
static bool one_will_do(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) > HOLE_MIN_PKTS && !ur_asks_first(qp);
}

static void repeat_one(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	req->hole_due = true;
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
		repeat_one(qp);
	else
		ur_retry_go_back(qp);
}

void ur_retry_hole(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (!req->srtt)
		ur_trip_estimate(qp);
	if ((req->hole_due || req->hole_open) && req->hole_psn == req->una &&
	    qp->port->now - req->hole_at < req->srtt)
		return; /* asked for before our answer could be there */
	if (req->holdoff_left || req->hole_due || !one_will_do(qp)) {
		if (req->holdoff_left)
			req->holdoff_left--;
		ur_retry_sequence(qp, 1);
		return;
	}
	if (!ur_retry_use(qp, true))
		return;
	ur_retry_lost(qp, 1, false);
	repeat_one(qp);
	ur_retry_start_timers(qp);
}

void ur_retry_hole_acked(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	if (!req->hole_open || ur_psn_diff(psn, req->hole_psn) < 0)
		return;
	req->hole_open = false;
	if (psn != req->hole_psn || req->una == req->hole_end)
		return;
	/* The answer is to just that packet: the peer has dropped what came
	 * after it, or, where no NAK reported that anything came, all of it is
	 * lost. In either case sending all of it again is the faster way for
	 * some time. */
	req->holdoff_left = HOLDOFF_LOSSES;
	ur_retry_go_back(qp);
	ur_retry_start_timers(qp);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Measures round trips, and estimates them where none can be measured. */
#include "transport/retry.h"

#define RTT_MIN_MEMORY	1024 /* samples */
#define ESTIMATE_MAX_NS 2000000u
#define AGAIN_MAX_NS	100000000u

void ur_trip_estimate(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	/* Limited, so that it never extends the timeout. */
	req->srtt = (u32)ur_min_u64(
		ur_min_u64(qp->port->now - req->begin_at + 1, ESTIMATE_MAX_NS),
		qp->ack_ns / 4);
	req->rttvar = req->srtt / 2;
}

void ur_trip_take_again(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 ns = qp->port->now - req->again_at;

	if (ur_psn_diff(req->una, req->again_psn) <= 0)
		return;
	req->again_at = 0;
	req->again_with = true;
	if (ns > req->rtt_min && ns < AGAIN_MAX_NS)
		req->rtt_last = req->again_ns = (u32)ns;
}

void ur_trip_take(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 ns;
	u32 rtt, delta;

	if (ur_psn_diff(req->una, req->sample_psn) <= 0)
		return;
	ns = qp->port->now - req->sample_at;
	req->sample_at = 0;
	req->again_ns = 0;
	rtt = ns > 1000000000u ? 1000000000u : ns ? (u32)ns : 1;
	req->rtt_last = rtt;
	if (!req->rtt_min || rtt < req->rtt_min)
		req->rtt_min = rtt;
	else
		req->rtt_min += (rtt - req->rtt_min) / RTT_MIN_MEMORY;
	if (!req->srtt) {
		req->srtt = rtt;
		req->rttvar = rtt / 2;
		return;
	}
	delta = rtt > req->srtt ? rtt - req->srtt : req->srtt - rtt;
	req->rttvar = req->rttvar - req->rttvar / 4 + delta / 4;
	req->srtt = req->srtt - req->srtt / 8 + rtt / 8;
}

void ur_trip_again(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (req->again_at && req->again_psn == req->una)
		return;
	req->again_at = qp->port->now;
	req->again_psn = req->una;
}

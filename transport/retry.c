// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers and counts of repetitions. IBTA volume 1, 9.7.6.1.3 (local ACK
 * timeout), 9.7.5.2.8 (RNR NAK).
 *
 *   timeout: the time of the attributes; counts against retry_cnt, as do
 *            sequence NAKs, once in that time.
 *   probe:   much earlier, from measured round trips; at first repeats the
 *            oldest packet alone, then goes back; is not counted, and backs off.
 *            A lost last packet or acknowledgement then costs some round trips
 *            instead of 67 ms.
 *   rnr:     the time that the peer requests; counts against rnr_retry.
 */
#include "transport/retry.h"

#define RETRY_FOREVER 7	       /* rnr_retry only (IBTA 9.7.5.2.8) */
#define PROBE_HOLE_NS 100000u  /* a packet is known to be missing */
#define PROBE_READ_NS 1000000u /* repeating a READ costs more */
/* code 14, where the attributes have no timeout */
#define UNSET_NS 67108864u
/* Before the first measured round trip: a part of the timeout, and only with
 * enough packets that one more is nothing. When many begin at once, all that
 * one has sent, or its end, may be lost. Three single packets leave before the
 * timeout (after 1/16, 3/16 and 7/16 of it). */
#define PROBE_FIRST	 16
#define PROBE_FIRST_PKTS 64
#define PROBE_TRIPS	 8 /* round trips of the path, if shorter */
/* On one host nothing is lost: the first packet came before its queue pair
 * could receive, which ends in a moment. */
#define PROBE_NEAR_NS 1000000u

/* IBTA 9.7.5.2.8 table 45, in units of 10 us. */
static const u16 rnr_10us[32] = {
	65535, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

u64 ur_rnr_ns(u8 code)
{
	/* Code 0 is 655.36 ms, one too many for the table's type. */
	return (code & 31) ? rnr_10us[code & 31] * 10000ull : 655360000ull;
}

static inline __attribute__((always_inline)) u64
probe_ns(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	u64 ns = (u64)req->srtt + 4ull * req->rttvar, least = req->patience;

	if (ur_asks_first(qp))
		least = least > PROBE_READ_NS ? least : PROBE_READ_NS;
	else if ((req->hole_due || req->hole_open) && least == UR_PROBE_MIN_NS)
		least = PROBE_HOLE_NS;
	return (ns < least ? least : ns) << req->probes;
}

/*
 * The local ACK timeout of the attributes; or, where measured round trips are
 * longer (an emulated or overloaded peer), those, up to the times that IBTA
 * allows.
 */
u64 ur_retry_timeout_ns(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	u64 wait = qp->ack_ns;
	u64 measured = req->srtt + 4ull * req->rttvar;

	if (wait == UR_NEVER || measured <= wait)
		return wait;
	return ur_min_u64(measured, UR_TIMEOUT_MOST * wait);
}

void ur_retry_start_timers(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 wait = ur_retry_timeout_ns(qp), probe;
	ur_time now = qp->port->now, at = UR_NEVER;

	req->timeout_at = wait == UR_NEVER ? UR_NEVER : now + wait;
	/* Without a measured round trip no probe time is known. */
	if (req->srtt && req->probes < UR_PROBE_MAX) {
		probe = probe_ns(qp);
		at = probe < wait ? now + probe : UR_NEVER;
	}
	req->probe_at = at;
}

static u64 first_probe_ns(const struct ur_qp *qp)
{
	u64 ns = qp->ack_ns / PROBE_FIRST;
	u64 trip = ur_path_trip(qp);

	/* Other queue pairs may have measured a shorter queue. */
	if (trip)
		ns = ur_min_u64(ns, PROBE_TRIPS * trip + PROBE_READ_NS);
	else if (ur_qp_is_near(qp))
		ns = ur_min_u64(ns, PROBE_NEAR_NS);
	return ns << qp->req.probes;
}

u64 ur_retry_probe_ns(const struct ur_qp *qp)
{
	return qp->req.srtt ? probe_ns(qp) : first_probe_ns(qp);
}

/* Kept apart from the path of every packet. */
static __attribute__((cold, noinline)) void nothing_measured(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (!req->begin_at)
		req->begin_at = qp->port->now;
	if (qp->attr.timeout && req->probe_at == UR_NEVER &&
	    req->probes < UR_PROBE_MAX &&
	    (ur_path_trip(qp) || ur_qp_is_near(qp) ||
	     ur_inflight(req) >= PROBE_FIRST_PKTS))
		req->probe_at = qp->port->now + first_probe_ns(qp);
}

void ur_retry_sent(struct ur_qp *qp, bool ackreq)
{
	struct ur_requester *req = &qp->req;

	if (req->timeout_at == UR_NEVER && req->probe_at == UR_NEVER)
		ur_retry_start_timers(qp);
	if (!req->srtt)
		nothing_measured(qp);
	if (ackreq)
		req->asked_end = req->tx_psn;
	if (ackreq && !req->sample_at && req->fresh) {
		req->sample_at = qp->port->now;
		req->sample_psn = ur_psn_add(req->tx_psn, -1);
	}
}

void ur_retry_progress(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	ur_trip_answered(qp);
	req->retries = 0;
	req->rnr_retries = 0;
	req->probes = 0;
	req->asked_again = req->asked_in_vain = false;
	if (req->una == req->max_psn) {
		req->timeout_at = UR_NEVER;
		req->probe_at = UR_NEVER;
	} else {
		ur_retry_start_timers(qp);
	}
}

void ur_retry_moves(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (req->probe_at != UR_NEVER && qp->share.held && ur_path_calm(qp))
		req->probe_at = qp->port->now + ur_retry_probe_ns(qp);
}

void ur_retry_lost(struct ur_qp *qp, u32 packets, bool late)
{
	ur_inflight_lost(qp);
	if (qp->share.path)
		ur_path_lost(qp, packets, late);
}

/* Goes back to the oldest unacknowledged packet. stale: answers under way that
 * will be dropped. */
static void go_back_of(struct ur_qp *qp, u32 stale)
{
	struct ur_requester *req = &qp->req;

	ur_trace(qp->port, UR_TRACE_REWIND, qp->qpn, req->una, req->tx_psn);
	req->back_psn = req->una;
	req->back_at = qp->port->now;
	req->tx = req->head;
	req->tx_psn = req->una;
	req->rd_out = 0;
	req->since_ackreq = 0;
	req->hole_due = false;
	req->hole_open = false;
	/* The round trip of a repeated packet means nothing (Karn). */
	req->sample_at = 0;
	ur_trip_again(qp);
	if (qp->share.held)
		ur_path_back(qp, stale);
	ur_port_activate(qp->port, qp);
}

void ur_retry_go_back(struct ur_qp *qp)
{
	go_back_of(qp, 0);
}

/* Does the same with so many packets known to be missing. */
static void go_back_named(struct ur_qp *qp, u32 missing)
{
	const struct ur_requester *req = &qp->req;
	u32 out = ur_inflight(req);

	go_back_of(qp, ur_asks_first(qp) && out > missing ? out - missing : 0);
}

void ur_retry_count(struct ur_qp *qp)
{
	ur_qp_count(qp, UR_QP_CNT_retries, 1);
	ur_count(qp->port, UR_CNT_completer_retry_err);
}

bool ur_retry_use(struct ur_qp *qp, bool by_nak)
{
	struct ur_requester *req = &qp->req;
	u64 wait = qp->attr.timeout ? ur_retry_timeout_ns(qp) : UNSET_NS;
	bool counts = !by_nak || !req->retries ||
		      qp->port->now - req->retry_at >= wait;
	/* The peer refused a later request, and did not answer when the missing
	 * data were requested again. */
	bool failed = req->peer_failed && req->failed_una == req->una;

	if (counts && (failed || req->retries >= qp->attr.retry_cnt)) {
		req->by_nak = req->by_nak && !failed;
		ur_count(qp->port, UR_CNT_retry_exceeded_err);
		ur_count(qp->port, UR_CNT_req_transport_retries_exceeded);
		ur_completer_fail(qp, UR_WC_RETRY_EXC_ERR);
		return false;
	}
	if (counts) {
		if (!req->retries)
			req->silent_at = qp->port->now;
		req->by_nak = by_nak;
		req->retries++;
		req->retry_at = qp->port->now;
	}
	ur_retry_count(qp);
	return true;
}

bool ur_retry_sequence(struct ur_qp *qp, u32 missing)
{
	struct ur_requester *req = &qp->req;

	if (req->tx_psn == req->una)
		return false; /* has gone back, and sent nothing since */
	if (req->back_psn == req->una && req->back_at &&
	    qp->port->now - req->back_at < req->srtt)
		return false; /* older than what was sent since */
	if (!ur_retry_use(qp, true))
		return false;
	if (!req->srtt)
		ur_trip_estimate(qp);
	ur_retry_lost(qp, missing, false);
	go_back_named(qp, missing);
	ur_retry_start_timers(qp);
	return true;
}

bool ur_retry_again(struct ur_qp *qp, u32 missing)
{
	struct ur_requester *req = &qp->req;

	if (req->tx_psn == req->una || qp->port->now - req->back_at < req->srtt)
		return false;
	ur_retry_count(qp);
	ur_retry_lost(qp, missing, false);
	go_back_named(qp, missing);
	return true;
}

void ur_retry_rnr(struct ur_qp *qp, u8 code)
{
	struct ur_requester *req = &qp->req;
	u64 wait = ur_rnr_ns(code);

	if (qp->attr.rnr_retry != RETRY_FOREVER) {
		if (req->rnr_retries >= qp->attr.rnr_retry) {
			ur_count(qp->port, UR_CNT_retry_rnr_exceeded_err);
			ur_count(qp->port, UR_CNT_req_rnr_retries_exceeded);
			ur_completer_fail(qp, UR_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		if (!req->rnr_retries)
			req->rnr_at = qp->port->now;
		req->rnr_retries++;
	}
	ur_count(qp->port, UR_CNT_rnr_nak_retry_err);
	ur_qp_count(qp, UR_QP_CNT_rnr_waits, 1);
	ur_trace(qp->port, UR_TRACE_RNR_WAIT, qp->qpn, wait, req->una);
	ur_retry_go_back(qp);
	req->again_at = 0;
	req->timeout_at = UR_NEVER;
	req->probe_at = UR_NEVER;
	req->rnr_until = qp->port->now + wait;
	ur_qp_rearm(qp);
}

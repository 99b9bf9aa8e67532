// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers and counters of sending again. IBTA volume 1, 9.7.6.1.3 (local ACK
 * timeout), 9.7.5.2.8 (RNR NAK).
 *
 * timeout: the time that the attributes say; counts against retry_cnt, as do
 *          sequence NAKs, once in such a time.
 * probe:   much earlier, from measured round trips: at first the oldest packet
 *          alone, then the same go-back; it is not counted, and it backs off.
 *          A lost last packet or lost last acknowledgement costs some round
 *          trips instead of 67 ms.
 * rnr:     the time that the peer said; counts against rnr_retry.
 */
#include "transport/internal.h"

#define RTT_MIN_MEMORY	1024	 /* samples */
#define TIMEOUT_UNIT_NS 4096u	 /* 4.096 us */
#define RETRY_FOREVER	7	 /* rnr_retry only (IBTA 9.7.5.2.8) */
#define PROBE_HOLE_NS	100000u	 /* something is known to be missing */
#define PROBE_READ_NS	1000000u /* a repeated READ costs more */
#define PROBE_MAX	7	 /* then the timeout decides */
#define ESTIMATE_MAX_NS 2000000u
#define AGAIN_MAX_NS	100000000u
#define TOLD_NS		67108864u /* code 14, where the attributes say: never */
#define PROBE_SINGLE	4 /* of these, the first ones are single packets */
/* While no round trip was measured, a part of the timeout, and only of so many
 * packets that one more is nothing: where many begin at once, all that one has
 * sent, or its end, may be lost. Three single packets go out before the timeout
 * then (after 1/16, 3/16 and 7/16 of it), whatever the round trip. */
#define PROBE_FIRST	 16
#define PROBE_FIRST_PKTS 64
#define PROBE_TRIPS	 8 /* of the path, if they are less */

/* IBTA 9.7.5.2.8 table 45, in units of 10 us. */
static const u16 rnr_10us[32] = {
	65535, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

u64 ur_rnr_ns(u8 code)
{
	/* Code 0 is 655.36 ms, one more than the table's type holds. */
	return (code & 31) ? rnr_10us[code & 31] * 10000ull : 655360000ull;
}

static u64 code_ns(u8 code)
{
	return code ? (u64)TIMEOUT_UNIT_NS << (code & 31) : UR_NEVER;
}

/* Is the oldest request that is not done a READ, or like one? */
static inline bool asks_first(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;

	return req->head != req->tail &&
	       ur_swqe_is_read_type(ur_sq_entry(qp, req->head));
}

static inline __attribute__((always_inline)) u64
probe_ns(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	u64 ns = (u64)req->srtt + 4ull * req->rttvar, least = req->patience;

	if (asks_first(qp))
		least = least > PROBE_READ_NS ? least : PROBE_READ_NS;
	else if ((req->hole_due || req->hole_open) && least == UR_PROBE_MIN_NS)
		least = PROBE_HOLE_NS;
	return (ns < least ? least : ns) << req->probes;
}

/*
 * The local ACK timeout of the attributes; where round trips are measured to be
 * longer than that (an emulated or overloaded peer), as long as they take, up
 * to the four times that IBTA 9.7.6.1.3 allows.
 */
static u64 timeout_ns(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	u64 wait = code_ns(qp->attr.timeout);
	u64 measured = req->srtt + 4ull * req->rttvar;

	if (wait == UR_NEVER || measured <= wait)
		return wait;
	return ur_min_u64(measured, 4 * wait);
}

static void start_timers(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 wait = timeout_ns(qp), probe;
	ur_time now = qp->port->now, at = UR_NEVER;

	req->timeout_at = wait == UR_NEVER ? UR_NEVER : now + wait;
	/* Without a measured round trip there is nothing to go by. */
	if (req->srtt && req->probes < PROBE_MAX) {
		probe = probe_ns(qp);
		at = probe < wait ? now + probe : UR_NEVER;
	}
	req->probe_at = at;
}

static u64 first_probe_ns(const struct ur_qp *qp)
{
	u64 ns = code_ns(qp->attr.timeout) / PROBE_FIRST;
	u64 trip = ur_path_trip(qp);

	/* What others have measured may be that of a shorter queue. */
	if (trip)
		ns = ur_min_u64(ns, PROBE_TRIPS * trip + PROBE_READ_NS);
	return ns << qp->req.probes;
}

/* Apart from what every packet passes. */
static __attribute__((cold, noinline)) void nothing_measured(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (!req->begin_at)
		req->begin_at = qp->port->now;
	if (qp->attr.timeout && req->probe_at == UR_NEVER &&
	    req->probes < PROBE_MAX &&
	    (ur_path_trip(qp) || ur_inflight(req) >= PROBE_FIRST_PKTS))
		req->probe_at = qp->port->now + first_probe_ns(qp);
}

void ur_retry_sent(struct ur_qp *qp, bool ackreq)
{
	struct ur_requester *req = &qp->req;

	if (req->timeout_at == UR_NEVER && req->probe_at == UR_NEVER)
		start_timers(qp);
	if (!req->srtt)
		nothing_measured(qp);
	if (ackreq)
		req->asked_end = req->tx_psn;
	if (ackreq && !req->sample_at && req->fresh) {
		req->sample_at = qp->port->now;
		req->sample_psn = ur_psn_add(req->tx_psn, -1);
	}
}

/* Something was answered, but what was measured has been sent twice: any bound
 * is better than none. */
static void estimate_round_trip(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	/* Never so long that the timeout would stretch for it. */
	req->srtt = (u32)ur_min_u64(
		ur_min_u64(qp->port->now - req->begin_at + 1, ESTIMATE_MAX_NS),
		code_ns(qp->attr.timeout) / 4);
	req->rttvar = req->srtt / 2;
}

/*
 * Where something of each window is lost, nothing else is measured: then the
 * trip of what was sent again tells the path how long packets wait. It may be
 * that of the first sending, or of the third (Karn); so it is never the
 * shortest one, and no timer goes by it.
 */
__attribute__((noinline)) static void take_again(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 ns = qp->port->now - req->again_at;

	if (ur_psn_diff(req->una, req->again_psn) <= 0)
		return;
	req->again_at = 0;
	if (ns > req->rtt_min && ns < AGAIN_MAX_NS)
		req->rtt_last = req->again_ns = (u32)ns;
}

static void take_sample(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	u64 ns;
	u32 rtt, delta;

	if (!req->sample_at || ur_psn_diff(req->una, req->sample_psn) <= 0)
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

void ur_retry_progress(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (__builtin_expect(req->again_at != 0, 0))
		take_again(qp);
	take_sample(qp);
	if (!req->srtt)
		estimate_round_trip(qp);
	req->retries = 0;
	req->rnr_retries = 0;
	req->probes = 0;
	req->asked_again = req->asked_in_vain = false;
	if (req->una == req->max_psn) {
		req->timeout_at = UR_NEVER;
		req->probe_at = UR_NEVER;
	} else {
		start_timers(qp);
	}
}

static void lost(struct ur_qp *qp, u32 packets, bool late)
{
	ur_inflight_lost(qp);
	if (qp->share.path)
		ur_path_lost(qp, packets, late);
}

/* The oldest packet is sent again, perhaps not for the first time. */
static void time_again(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (req->again_at && req->again_psn == req->una)
		return;
	req->again_at = qp->port->now;
	req->again_psn = req->una;
}

/* To the oldest unacknowledged packet. stale: answers that come in vain. */
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
	ur_gaps_forget(&req->gaps);
	/* The round trip of a repeated packet says nothing (Karn). */
	req->sample_at = 0;
	time_again(qp);
	if (qp->share.held)
		ur_path_back(qp, stale);
	ur_port_activate(qp->port, qp);
}

static void go_back(struct ur_qp *qp)
{
	go_back_of(qp, 0);
}

/* The same where so many packets are known to be missing. */
static void go_back_told(struct ur_qp *qp, u32 missing)
{
	const struct ur_requester *req = &qp->req;
	u32 out = ur_inflight(req);

	go_back_of(qp, asks_first(qp) && out > missing ? out - missing : 0);
}

/* Something is sent again, whether or not it counts against retry_cnt. */
static void count_again(struct ur_qp *qp)
{
	ur_qp_count(qp, UR_QP_CNT_retries, 1);
	ur_count(qp->port, UR_CNT_completer_retry_err);
}

/*
 * Uses one of retry_cnt. Returns false, with the queue pair failed, where none
 * was left.
 *
 * A peer that says what it misses is alive. So its NAKs for the same packet
 * count once in the time after which silence would have counted: a packet that
 * a network has only put behind others is asked for often, and needs time to
 * arrive.
 */
static bool use_retry(struct ur_qp *qp, bool told)
{
	struct ur_requester *req = &qp->req;
	u64 wait = qp->attr.timeout ? timeout_ns(qp) : TOLD_NS;
	bool counts =
		!told || !req->retries || qp->port->now - req->retry_at >= wait;

	if (counts && req->retries >= qp->attr.retry_cnt) {
		ur_count(qp->port, UR_CNT_retry_exceeded_err);
		ur_count(qp->port, UR_CNT_req_transport_retries_exceeded);
		ur_completer_fail(qp, UR_WC_RETRY_EXC_ERR);
		return false;
	}
	if (counts) {
		if (!req->retries)
			req->silent_at = qp->port->now;
		req->told = told;
		req->retries++;
		req->retry_at = qp->port->now;
	}
	count_again(qp);
	return true;
}

bool ur_retry_sequence(struct ur_qp *qp, u32 missing)
{
	struct ur_requester *req = &qp->req;

	if (req->tx_psn == req->una)
		return false; /* gone back already, nothing sent since */
	if (req->back_psn == req->una && req->back_at &&
	    qp->port->now - req->back_at < req->srtt)
		return false; /* this cannot be about what was sent since */
	if (!use_retry(qp, true))
		return false;
	if (!req->srtt)
		estimate_round_trip(qp);
	lost(qp, missing, false);
	go_back_told(qp, missing);
	start_timers(qp);
	return true;
}

bool ur_retry_again(struct ur_qp *qp, u32 missing)
{
	struct ur_requester *req = &qp->req;

	if (req->tx_psn == req->una || qp->port->now - req->back_at < req->srtt)
		return false;
	count_again(qp);
	lost(qp, missing, false);
	go_back_told(qp, missing);
	return true;
}

/* With so few outstanding, all of them again is as cheap. */
#define HOLE_MIN_PKTS 8
/* A peer that did not keep the rest is asked again after so many losses. */
#define HOLDOFF_LOSSES 16

/* Is the oldest packet alone to be sent again? */
static bool one_will_do(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) > HOLE_MIN_PKTS && !asks_first(qp);
}

/* Send the oldest packet again, with a request to acknowledge. */
static void repeat_one(struct ur_qp *qp, bool told)
{
	struct ur_requester *req = &qp->req;

	req->hole_due = true;
	req->hole_told = told;
	req->hole_psn = req->una;
	req->hole_end = req->max_psn;
	req->hole_at = qp->port->now;
	req->sample_at = 0;
	time_again(qp);
	ur_port_activate(qp->port, qp);
}

/* The peer keeps what comes behind a gap. */
static void welcome_gaps(struct ur_qp *qp)
{
	if (qp->port->cfg.gaps)
		ur_gaps_welcome(&qp->req.gaps);
}

void ur_retry_gap(struct ur_qp *qp)
{
	count_again(qp);
	lost(qp, 1, false);
}

void ur_retry_hole(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	if (req->hole_open && ur_psn_diff(req->una, req->hole_psn) > 1)
		welcome_gaps(qp);
	if (ur_gaps_recent(&req->gaps, req->una))
		return;
	if (!req->srtt)
		estimate_round_trip(qp);
	if ((req->hole_due || req->hole_open) && req->hole_psn == req->una &&
	    qp->port->now - req->hole_at < req->srtt)
		return; /* asked for before our answer could be there */
	if (req->holdoff_left || req->hole_due || !one_will_do(qp)) {
		if (req->holdoff_left)
			req->holdoff_left--;
		ur_retry_sequence(qp, 1);
		return;
	}
	if (!use_retry(qp, true))
		return;
	lost(qp, 1, false);
	repeat_one(qp, true);
	start_timers(qp);
}

void ur_retry_hole_acked(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	if (!req->hole_open || ur_psn_diff(psn, req->hole_psn) < 0)
		return;
	req->hole_open = false;
	if (psn != req->hole_psn)
		welcome_gaps(qp);
	if (psn != req->hole_psn || req->una == req->hole_end)
		return;
	/* Just that one: the peer has dropped what came after it, or, where
	 * nobody said that anything came, all of it is lost; without lists of
	 * gaps all of it again is the faster way for some time then, too. */
	if (req->hole_told || !qp->port->cfg.gaps)
		req->holdoff_left = HOLDOFF_LOSSES;
	go_back(qp);
	start_timers(qp);
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
	go_back(qp);
	req->again_at = 0;
	req->timeout_at = UR_NEVER;
	req->probe_at = UR_NEVER;
	req->rnr_until = qp->port->now + wait;
	ur_qp_rearm(qp);
}

static void time_out(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;

	ur_count(qp->port, UR_CNT_local_ack_timeout_err);
	ur_qp_count(qp, UR_QP_CNT_timeouts, 1);
	ur_trace(qp->port, UR_TRACE_TIMEOUT, qp->qpn,
		 qp->attr.retry_cnt - req->retries, req->una);
	if (!use_retry(qp, false))
		return;
	lost(qp, 1, true);
	req->asked_again = req->asked_in_vain = false;
	/* A peer that needs this long to answer would need it again for each
	 * packet of a window; one that lost them all says so to the first. */
	if (one_will_do(qp))
		repeat_one(qp, false);
	else
		go_back(qp);
	start_timers(qp);
}

void ur_retry_expire(struct ur_qp *qp)
{
	struct ur_requester *req = &qp->req;
	ur_time now = qp->port->now;

	if (req->rnr_until && req->rnr_until <= now) {
		req->rnr_until = 0;
		ur_port_activate(qp->port, qp);
	}
	if (qp->share.held && ur_inflight(req) == 0 && ur_path_waits(qp)) {
		/* Nothing was sent that could be answered. */
		if (req->timeout_at <= now || req->probe_at <= now)
			start_timers(qp);
	} else if (req->timeout_at <= now) {
		time_out(qp);
	} else if (req->probe_at <= now) {
		req->asked_again = req->asked_in_vain = false;
		ur_trace(qp->port, UR_TRACE_PROBE, qp->qpn, probe_ns(qp),
			 req->una);
		ur_count(qp->port, UR_CNT_roce_adp_retrans);
		count_again(qp);
		if (qp->share.held)
			ur_path_lost(qp, 1, true);
		req->probes++;
		/* One packet asks as well as all of them, and where the peer
		 * is only slow it costs nothing. */
		if (req->probes <= PROBE_SINGLE && one_will_do(qp))
			repeat_one(qp, false);
		else
			go_back(qp);
		req->probe_at = req->probes >= PROBE_MAX ? UR_NEVER
				: req->srtt		 ? now + probe_ns(qp)
					    : now + first_probe_ns(qp);
	}
}

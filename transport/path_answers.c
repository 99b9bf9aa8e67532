// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes a path's window by the answers, losses and marks of its queue pairs. */
#include "transport/path_impl.h"
#include "transport/retry.h"

#define READS	 2 /* requests per window, if there are more */
#define AGAIN_NS 100000u
/* hosts alone may cause a round trip this long */
#define HOSTS_NS	 1000000u
#define CNP_GAP_LEAST_NS 1000u
#define CNP_GAPS	 16

u32 ur_path_read(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;
	u32 whole = ur_path_whole(p);
	u32 at_once = p->members_count * qp->attr.max_rd_atomic;

	if (!qp->share.held || ur_path_is_open(p))
		return UINT32_MAX;
	return whole / ur_min_u32(at_once ? at_once : 1, READS);
}

static u32 trip_of(const struct ur_path *p)
{
	return p->window.srtt > p->window.round_last ? p->window.srtt
						     : p->window.round_last;
}

u32 ur_path_trip(const struct ur_qp *qp)
{
	return qp->share.path ? trip_of(qp->share.path) : 0;
}

bool ur_path_queues(const struct ur_qp *qp)
{
	return ur_path_window_waits(&qp->share.path->window);
}

static void set_held(struct ur_path *p, bool held)
{
	struct ur_list *l;

	p->held = held;
	p->out = p->granted = 0;
	p->unmissed = 0;
	for (l = p->members.next; l != &p->members; l = l->next) {
		struct ur_qp *qp = ur_container_of(l, struct ur_qp, share.link);

		qp->share.held = held;
		qp->req.patience = UR_PROBE_MIN_NS;
		qp->share.doubt = false;
		qp->share.turn = qp->share.owed = 0;
		qp->share.out = qp->share.stale = 0;
		if (held)
			ur_path_set_out(p, qp, ur_path_in_flight(qp));
		else if (!ur_list_empty(&qp->share.wait)) {
			ur_path_wait_no_more(p, qp);
			ur_port_activate(p->port, qp);
		}
	}
}

/*
 * Returns how many of the answered packets were marked. A peer sends at most one CNP per queue pair
 * in some time, just before the answer to the marked packet. So a CNP stands for all answers in
 * such a time, which is the shortest gap between two, and for at least one packet. Where a queue
 * marks everything, as beyond a threshold, that is the number; for single marks it is the maximum.
 */
static u32 marked_of(const struct ur_path *p, struct ur_qp *qp, u32 packets)
{
	bool owed = qp->share.cnp_owed;

	qp->share.cnp_owed = false;
	if (p->port->now - qp->share.cnp_at < p->cnp_gap_ns)
		return packets;
	qp->share.cnp_open = false;
	return owed ? 1 : 0;
}

/* Returns the same where every window loses and only repeated packets are
 * measured. */
static bool queues_again(const struct ur_requester *req)
{
	return req->rtt_min && req->again_ns > 2ull * req->rtt_min + AGAIN_NS;
}

/* Holds a path again that held nobody, if the losses and samples of this queue
 * pair require it. */
static void hold(struct ur_path *p, struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	bool waits = ur_inflight_queues(req) || queues_again(req);
	u32 trip = req->srtt > req->again_ns ? req->srtt : req->again_ns;

	if (!ur_inflight_many(req) &&
	    (!waits || !ur_path_window_full(&p->window, trip)))
		return;
	set_held(p, true);
	ur_path_window_resume(&p->window, p->port->now, p->out,
			      waits ? trip : 0);
}

/* Returns whether the lost packet was sent before the last cut, so that it is
 * no news. */
static bool sent_before(const struct ur_path *p, const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;

	if (req->head == req->tail ||
	    ur_swqe_is_read_type(ur_sq_entry(qp, req->head)))
		return false;
	return qp->share.cuts != p->window.cuts ||
	       ur_psn_before_mark(&qp->share.cut, req->una);
}

void ur_path_lost(struct ur_qp *qp, u32 packets, bool late)
{
	struct ur_path *p = qp->share.path;

	qp->share.doubt = false;
	if (!late) {
		p->asked_at = p->sent;
		p->longest = 0;
	}
	if (!p->held) {
		hold(p, qp);
		return;
	}
	p->unmissed = 0;
	if (!sent_before(p, qp) &&
	    ur_path_window_lost(&p->window, p->port->now, packets, late))
		ur_trace(p->port, UR_TRACE_WINDOW, qp->qpn, ur_path_whole(p),
			 p->window.srtt);
}

void ur_path_late(struct ur_qp *qp)
{
	if (qp->share.doubt || ur_asks_first(qp) || ur_inflight(&qp->req) < 2 ||
	    trip_of(qp->share.path) > HOSTS_NS)
		ur_path_lost(qp, 1, true);
	else
		qp->share.doubt = true;
}

void ur_path_back(struct ur_qp *qp, u32 stale)
{
	if (qp->share.doubt)
		ur_path_lost(qp, 1, true);
	qp->share.stale = stale;
	ur_path_set_out(qp->share.path, qp, ur_path_in_flight(qp));
}

/*
 * Only the oldest packet was repeated. An answer to more than that belongs to its first sending,
 * and was late because a host was busy: had the oldest packet been lost, a NAK would have come, or
 * an answer to it alone.
 */
static void end_doubt(struct ur_qp *qp, u32 packets)
{
	qp->share.doubt = false;
	if (packets == 1)
		ur_path_lost(qp, 1, true);
}

void ur_path_answered(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	u32 out, packets;

	if (qp->req.una != qp->req.back_psn)
		qp->share.stale = 0; /* the answers to be dropped have passed */
	ur_psn_mark_reach(&qp->share.cut, qp->req.una);
	out = ur_path_in_flight(qp);
	packets = qp->share.out > out ? qp->share.out - out : 0;
	ur_path_set_out(p, qp, out);
	if (qp->share.cnp_open && packets)
		p->window.marked += marked_of(p, qp, packets);
	if (qp->share.doubt && packets)
		end_doubt(qp, packets);
	/* With a queue for each flow, that of a short message is empty. */
	if (qp->req.rtt_last &&
	    (ur_list_empty(&p->waiting) || qp->share.weight == UR_PATH_PACKET))
		ur_path_window_trip(&p->window, p->port->now, qp->req.rtt_last,
				    qp->req.again_ns);
	if (qp->req.rtt_last && !qp->req.again_with)
		ur_path_certain(p, qp->req.rtt_last);
	qp->req.again_with = false;
	qp->req.rtt_last = 0;
	/* Its own round trips are few while packets are repeated, and may be
	 * those of a shorter queue. */
	qp->req.patience = ur_path_patience(p);
	p->heard_at = p->port->now;
	if (packets)
		p->moved_at = p->heard_at;
	if (p->heard_at - p->moved_at < UR_PATH_HEARD_NS) {
		p->tried_at = p->heard_at;
		p->silences = 0;
	}
	p->unmissed += packets;
	ur_path_window_answered(&p->window, p->port->now, packets, p->missed);
	if (p->marks_round != p->window.rounds)
		ur_path_marks_look(p, qp);
	if (p->missed) {
		p->missed = p->waits;
	} else if (ur_path_is_open(p) && !ur_path_marks_open(p)) {
		set_held(p, false);
		return;
	}
	ur_path_wake(p);
}

/* ---- marks ---- */

/* Handles about so many marked packets. */
static void marked(struct ur_path *p, struct ur_qp *qp, u32 packets)
{
	ur_time now = p->port->now;

	if (!p->held) {
		set_held(p, true);
		ur_path_window_resume(&p->window, now, p->out, 0);
	} else {
		p->unmissed = 0;
		if (!ur_path_window_marked(&p->window, now, packets))
			return;
	}
	ur_trace(p->port, UR_TRACE_WINDOW, qp->qpn, ur_path_whole(p),
		 p->window.srtt);
}

/* Uses the shortest mean gap of several CNPs: a busy host handles some together, and the time
 * between those means nothing. */
static void count_cnp(struct ur_path *p, struct ur_qp *qp)
{
	ur_time now = p->port->now;
	u64 gap = (now - qp->share.cnps_from) / CNP_GAPS;

	if (!qp->share.cnps++) {
		qp->share.cnps_from = now;
	} else if (qp->share.cnps > CNP_GAPS) {
		if (gap < p->cnp_gap_ns)
			p->cnp_gap_ns = gap > CNP_GAP_LEAST_NS
						? (u32)gap
						: CNP_GAP_LEAST_NS;
		qp->share.cnps = 0;
	}
	p->window.sign_ns = p->cnp_gap_ns;
}

bool ur_path_cnp(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	ur_time now = qp->port->now;

	if (!p)
		return false;
	if (ur_path_marks_answered(p))
		return true;
	/* The mark was on our answers, which this window does not limit. */
	if (!ur_inflight(&qp->req))
		return false;
	count_cnp(p, qp);
	qp->share.cnp_at = now ? now : 1;
	qp->share.cnp_open = qp->share.cnp_owed = true;
	marked(p, qp, 0);
	return true;
}

void ur_path_marked(struct ur_qp *qp)
{
	if (qp->share.path)
		marked(qp->share.path, qp, 1);
}

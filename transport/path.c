// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue pairs of a path and their turns. A path whose window nobody missed
 * for FREE_PKTS packets has none, until it loses again while packets wait.
 *
 * Times in nanoseconds.
 */
#include "transport/internal.h"
#include "transport/path_window.h"

#include <stdlib.h>

#define ONE	  UR_PATH_ONE
#define FREE_PKTS 4096
#define TURNS	  8 /* of a window */
#define TURN_MAX  32
#define READS	  2 /* requests for a window, where there are more */
#define AGAIN_NS  100000u

/* All of them are looked at when a window begins or ends, and where nobody
 * answers; more are those of another path to the same address. */
#define MEMBERS_MAX 1024

/* Of a peer that answers nobody for so long each queue pair finds out for
 * itself. */
#define HEARD_NS 50000000u

/* Who waits goes on where nothing has come for two round trips and so long,
 * twice as long each time; or nothing that was new for HEARD_NS: a peer may say
 * without end what he misses. */
#define SILENT_NS	 1000000u
#define SILENT_FIRST_NS	 4000000u /* no round trip is known */
#define SILENT_SHIFT_MAX 5

struct ur_path {
	struct ur_path *next, **list; /* in port->paths */
	struct ur_port *port;
	u8 sgid[16], dgid[16];
	u32 owner;
	u32 members_count;
	struct ur_list members, waiting;
	bool held;
	bool missed; /* somebody waited since it last grew */
	struct ur_path_window window;
	u32 out, granted; /* packets: in flight, about to be */
	u32 unmissed;	  /* packets answered since somebody waited */
	ur_time heard_at; /* the last answer */
	ur_time moved_at; /* the last one that said something new */
	ur_time tried_at; /* the last answer, or when somebody sent with nothing
			   * out */
	u8 silences;	  /* since the last answer */
	ur_time next_at;  /* window below one packet: not before */
};

/* ---- turns ---- */

/* For so many packets. More than the window has room go alone. */
static bool has_room(const struct ur_path *p, u32 need)
{
	u32 used = p->out + p->granted;

	if (p->window.size >= ONE)
		return !used || used + need <= p->window.size / ONE;
	return !used && p->port->now >= p->next_at;
}

static void grant(struct ur_path *p, struct ur_qp *qp)
{
	u32 whole = p->window.size / ONE, turn = whole / TURNS;

	turn = ur_min_u32(turn ? turn : 1, TURN_MAX);
	if (qp->share.owed)
		turn = ur_min_u32(turn, qp->share.owed);
	qp->share.turn = turn;
	if (qp->share.need > 1)
		qp->share.turn = turn = qp->share.need;
	else if (whole)
		qp->share.turn = ur_min_u32(turn, whole - p->out - p->granted);
	qp->share.owed = turn - qp->share.turn;
	p->granted += qp->share.turn;
}

/* What was sent in vain keeps nobody for ever. */
static ur_time silent_at(const struct ur_path *p)
{
	u64 ns = p->window.srtt ? 2ull * p->window.srtt + SILENT_NS
				: SILENT_FIRST_NS;

	return p->tried_at + (ns << p->silences);
}

static bool waiting_for_time(const struct ur_path *p)
{
	return p->window.size < ONE && !(p->out + p->granted);
}

/* Who waits first goes on, as far as there is room. */
static void wake(struct ur_path *p)
{
	struct ur_qp *qp;
	ur_time at;

	while (!ur_list_empty(&p->waiting)) {
		qp = ur_list_first(&p->waiting, struct ur_qp, share.wait);
		if (!has_room(p, qp->share.need))
			break;
		ur_list_del(&qp->share.wait);
		grant(p, qp);
		ur_port_activate(p->port, qp);
	}
	if (ur_list_empty(&p->waiting))
		return;
	qp = ur_list_first(&p->waiting, struct ur_qp, share.wait);
	at = waiting_for_time(p) ? p->next_at : silent_at(p);
	/* Turns are given and nothing is out: silence has not begun. */
	if (at <= p->port->now)
		at = p->port->now + SILENT_NS;
	ur_port_arm(p->port, qp, at);
}

static void set_out(struct ur_path *p, struct ur_qp *qp, u32 out)
{
	p->out += out - qp->share.out;
	qp->share.out = out;
}

static u32 in_flight(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) + qp->share.stale;
}

static void give_back(struct ur_path *p, struct ur_qp *qp)
{
	p->granted -= qp->share.turn;
	qp->share.turn = qp->share.owed = 0;
}

static void miss(struct ur_path *p)
{
	p->missed = true;
	p->unmissed = 0;
}

static bool in_turn(struct ur_qp *qp, u32 need)
{
	struct ur_path *p = qp->share.path;

	if (qp->share.turn >= need)
		return true;
	if (!ur_list_empty(&qp->share.wait))
		return false;
	p->granted -= qp->share.turn;
	qp->share.turn = 0;
	qp->share.need = need;
	if (ur_list_empty(&p->waiting) && !p->granted && has_room(p, need)) {
		grant(p, qp);
		return true;
	}
	if (!has_room(p, need))
		miss(p);
	if (qp->share.owed)
		ur_list_add_head(&p->waiting, &qp->share.wait);
	else
		ur_list_add_tail(&p->waiting, &qp->share.wait);
	/* Room beside turns that are not taken yet is for those behind them:
	 * who has just had one would be the first to ask. */
	if (!p->granted)
		wake(p);
	return qp->share.turn >= need;
}

u32 ur_path_read(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;
	u32 whole = p->window.size / ONE;
	u32 at_once = p->members_count * qp->attr.max_rd_atomic;

	if (!qp->share.held)
		return UINT32_MAX;
	return whole / ur_min_u32(at_once ? at_once : 1, READS);
}

void ur_path_at_once(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	p->unmissed = 0;
	if (p->window.size / ONE < p->out + p->out / 3)
		miss(p);
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

bool ur_path_may_send(struct ur_qp *qp, u32 need)
{
	if (!in_turn(qp, need))
		return false;
	/* It has waited with nothing sent: its timers start anew. */
	if (!ur_inflight(&qp->req))
		qp->req.timeout_at = qp->req.probe_at = UR_NEVER;
	return true;
}

bool ur_path_waits(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	return !ur_list_empty(&qp->share.wait) &&
	       p->port->now - p->heard_at < HEARD_NS;
}

void ur_path_sent(struct ur_qp *qp, u32 packets)
{
	struct ur_path *p = qp->share.path;
	u32 used = ur_min_u32(packets, qp->share.turn);

	if (qp->share.cuts != p->window.cuts) {
		qp->share.cuts = p->window.cuts;
		ur_psn_mark_at(&qp->share.cut, qp->req.max_psn);
		if (qp->req.tx_psn == qp->req.max_psn)
			qp->share.cut.psn =
				ur_psn_add(qp->req.tx_psn, -(int)packets);
	}
	qp->share.turn -= used;
	p->granted -= used;
	if (!p->out)
		p->tried_at = p->port->now;
	set_out(p, qp, in_flight(qp));
	if (packets && p->window.size < ONE)
		p->next_at = p->port->now +
			     (u64)p->window.srtt * ONE / p->window.size;
	if (used && !p->granted)
		wake(p);
}

void ur_path_back(struct ur_qp *qp, u32 stale)
{
	qp->share.stale = stale;
	set_out(qp->share.path, qp, in_flight(qp));
}

bool ur_path_full(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	return !ur_list_empty(&p->waiting) || !has_room(p, 1);
}

void ur_path_yield(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	give_back(p, qp);
	wake(p);
}

static void forget(struct ur_path *p)
{
	struct ur_list *l;

	for (l = p->members.next; l != &p->members; l = l->next) {
		struct ur_qp *qp = ur_container_of(l, struct ur_qp, share.link);

		qp->share.stale = 0;
		set_out(p, qp, 0);
	}
	p->tried_at = p->port->now;
	if (p->silences < SILENT_SHIFT_MAX)
		p->silences++;
}

void ur_path_expire(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!ur_list_empty(&p->waiting) && p->out &&
	    p->port->now >= silent_at(p))
		forget(p);
	wake(p);
}

/* ---- the window ---- */

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
		qp->share.turn = qp->share.owed = 0;
		qp->share.out = qp->share.stale = 0;
		if (held)
			set_out(p, qp, in_flight(qp));
		else if (!ur_list_empty(&qp->share.wait)) {
			ur_list_del(&qp->share.wait);
			ur_port_activate(p->port, qp);
		}
	}
}

/* The shortest of the last rounds: of what is sent twice, some trips are long by
 * waiting for a timer, and that timer must not go by them. */
static u32 patience(const struct ur_path *p)
{
	u32 trip = p->window.round_last;

	for (u32 i = 0; i < UR_PATH_PAST; i++)
		trip = ur_min_u32(trip, p->window.past[i]);
	return trip > UR_PROBE_MIN_NS / 2 ? 2 * trip : UR_PROBE_MIN_NS;
}

void ur_path_answered(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	u32 out, packets;

	if (qp->req.una != qp->req.back_psn)
		qp->share.stale = 0; /* what is asked for again is behind */
	ur_psn_mark_reach(&qp->share.cut, qp->req.una);
	out = in_flight(qp);
	packets = qp->share.out > out ? qp->share.out - out : 0;
	set_out(p, qp, out);
	if (qp->req.rtt_last)
		ur_path_window_trip(&p->window, p->port->now, qp->req.rtt_last,
				    qp->req.again_ns);
	qp->req.rtt_last = 0;
	/* Its own round trips are few where packets are sent twice, and may be
	 * those of a shorter queue. */
	qp->req.patience = patience(p);
	p->heard_at = p->port->now;
	if (packets)
		p->moved_at = p->heard_at;
	if (p->heard_at - p->moved_at < HEARD_NS) {
		p->tried_at = p->heard_at;
		p->silences = 0;
	}
	p->unmissed += packets;
	ur_path_window_answered(&p->window, p->port->now, packets, p->missed);
	if (p->missed) {
		p->missed = !ur_list_empty(&p->waiting);
	} else if (p->unmissed >= FREE_PKTS) {
		set_held(p, false);
		return;
	}
	wake(p);
}

/* The same where every window loses and only what is sent again has a trip. */
static bool queues_again(const struct ur_requester *req)
{
	return req->rtt_min && req->again_ns > 2ull * req->rtt_min + AGAIN_NS;
}

/* A path that was free, where a queue pair has lost, which has samples of its
 * own: is it to be held again? */
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

/* Was what is lost sent before the last cut? It says nothing new then. */
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

	if (!p->held)
		hold(p, qp);
	else if (!sent_before(p, qp) &&
		 ur_path_window_lost(&p->window, p->port->now, packets, late))
		ur_trace(p->port, UR_TRACE_WINDOW, qp->qpn,
			 p->window.size / ONE, p->window.srtt);
}

/* ---- members ---- */

/* Nobody can choose addresses that meet: the port's numbers are its secret. */
static struct ur_path **list_of(struct ur_port *port, const struct ur_av *av,
				u32 owner)
{
	const u64 *key = port->path_key;
	u64 sum = key[8] * owner + key[9];

	for (u32 i = 0; i < 4; i++)
		sum += key[i] * ur_get_be32(av->dgid + 4 * i) +
		       key[4 + i] * ur_get_be32(av->sgid + 4 * i);
	return &port->paths[sum >> (64 - UR_PATHS_BITS)];
}

static struct ur_path *find(struct ur_path *p, const struct ur_av *av,
			    u32 owner)
{
	while (p &&
	       (p->owner != owner || p->members_count == MEMBERS_MAX ||
		memcmp(p->dgid, av->dgid, 16) || memcmp(p->sgid, av->sgid, 16)))
		p = p->next;
	return p;
}

static struct ur_path *create(struct ur_path **list, struct ur_port *port,
			      const struct ur_av *av, u32 owner)
{
	struct ur_path *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->port = port;
	p->owner = owner;
	memcpy(p->dgid, av->dgid, 16);
	memcpy(p->sgid, av->sgid, 16);
	p->held = true;
	ur_path_window_init(&p->window, port->now);
	ur_list_init(&p->members);
	ur_list_init(&p->waiting);
	p->list = list;
	p->next = *list;
	*list = p;
	return p;
}

static void destroy(struct ur_path *p)
{
	struct ur_path **at = p->list;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

void ur_path_drop(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!p || !qp->share.held)
		return;
	ur_list_del(&qp->share.wait);
	give_back(p, qp);
	qp->share.stale = 0;
	set_out(p, qp, 0);
	wake(p);
}

void ur_path_leave(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!p)
		return;
	ur_path_drop(qp);
	ur_list_del(&qp->share.link);
	qp->share.path = NULL;
	qp->share.held = false;
	qp->req.patience = UR_PROBE_MIN_NS;
	if (!--p->members_count)
		destroy(p);
}

void ur_path_join(struct ur_qp *qp)
{
	const struct ur_av *av = qp->attr.av;
	u32 owner = qp->init.owner;
	struct ur_path *p, **list;

	ur_path_leave(qp);
	if (!qp->port->cfg.path || !ur_qp_is_reliable(qp) || !av || av->loop)
		return;
	list = list_of(qp->port, av, owner);
	p = find(*list, av, owner);
	if (!p)
		p = create(list, qp->port, av, owner);
	if (!p)
		return;
	p->members_count++;
	ur_list_add_tail(&p->members, &qp->share.link);
	qp->share.path = p;
	qp->share.held = p->held;
	qp->share.turn = qp->share.owed = qp->share.out = 0;
	qp->share.stale = 0;
	qp->share.cuts = p->window.cuts;
	qp->share.cut.set = false; /* its first PSN may be chosen later */
	qp->share.need = 1;
	if (p->held)
		set_out(p, qp, in_flight(qp));
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of a path.
 *
 * It begins small and doubles in each round trip until packets wait or are
 * lost. A loss while packets wait, which round trips show that are longer than
 * the shortest one, says that a queue ended: the window is cut by CUT, once in
 * a round trip, and grows by a packet in each. A loss while nothing waits is
 * none of congestion. A window of less than one packet is a rate: one packet in
 * several round trips. A path whose window nobody missed for FREE_PKTS packets
 * has none, until it loses again while packets wait.
 *
 * Windows are in 1/256 packets, times in nanoseconds.
 */
#include "transport/internal.h"

#include <stdlib.h>

#define ONE		 256u /* packet */
#define FIRST		 (16 * ONE)
#define LEAST		 (ONE / 64)
#define MOST		 (65536 * ONE)
#define FREE_PKTS	 4096
#define CUT(w)		 ((w) / 10 * 7) /* as CUBIC: 0.7 */
#define TURNS		 8		/* of a window */
#define TURN_MAX	 32
#define MIN_MEMORY_NS	 5000000000ull /* two of these: a shortest round trip */
#define WAITING_NS	 30000u	       /* and a quarter of the shortest one */
#define LONG_NS		 120000u /* a round trip where one sign is enough */
#define AGAIN_NS	 100000u
#define LOSS_PERIOD_PKTS 512
#define LOSS_MANY	 16 /* in such a period */

/* Of a peer that answers nobody for so long each queue pair finds out for
 * itself. */
#define HEARD_NS 50000000u

struct ur_path {
	struct ur_list link; /* in port->paths */
	struct ur_port *port;
	u8 sgid[16], dgid[16];
	u32 members_count;
	struct ur_list members, waiting;
	bool held;
	bool missed; /* somebody waited since it last grew */
	u32 window, slow_until;
	u32 out, granted; /* packets: in flight, about to be */
	u32 grown;	  /* 1/65536 packets that are not in window yet */
	u32 unmissed;	  /* packets answered since somebody waited */
	u32 srtt;
	u32 rtt_min[2]; /* of this period and the one before; 0: none */
	ur_time min_at; /* when this one began */
	u32 round_min, round_last;
	ur_time round_at;
	ur_time cut_at;
	ur_time heard_at; /* the last answer */
	ur_time next_at;  /* window below one packet: not before */
	u32 losses, period;
};

static u32 shortest(const struct ur_path *p)
{
	if (!p->rtt_min[0] || !p->rtt_min[1])
		return p->rtt_min[0] | p->rtt_min[1];
	return ur_min_u32(p->rtt_min[0], p->rtt_min[1]);
}

/* The shortest trip of a round; others may have waited in a host. */
static u32 latest(const struct ur_path *p)
{
	u32 last = p->round_last;

	return p->round_min && (!last || p->round_min < last) ? p->round_min
							      : last;
}

/* Do packets wait somewhere? */
static bool waits(const struct ur_path *p)
{
	u32 least = shortest(p), last = latest(p);

	return least && last > least + least / 4 + WAITING_NS;
}

/* ---- turns ---- */

static bool has_room(const struct ur_path *p)
{
	u32 used = p->out + p->granted;

	if (p->window >= ONE)
		return used < p->window / ONE;
	return !used && p->port->now >= p->next_at;
}

static void grant(struct ur_path *p, struct ur_qp *qp)
{
	u32 whole = p->window / ONE, turn = whole / TURNS;

	turn = ur_min_u32(turn ? turn : 1, TURN_MAX);
	if (qp->share.owed)
		turn = ur_min_u32(turn, qp->share.owed);
	qp->share.turn = turn;
	if (whole)
		qp->share.turn = ur_min_u32(turn, whole - p->out - p->granted);
	qp->share.owed = turn - qp->share.turn;
	p->granted += qp->share.turn;
}

static bool waiting_for_time(const struct ur_path *p)
{
	return p->window < ONE && !(p->out + p->granted);
}

/* Who waits first goes on, as far as there is room. */
static void wake(struct ur_path *p)
{
	struct ur_qp *qp;

	while (!ur_list_empty(&p->waiting) && has_room(p)) {
		qp = ur_list_first(&p->waiting, struct ur_qp, share.wait);
		ur_list_del(&qp->share.wait);
		grant(p, qp);
		ur_port_activate(p->port, qp);
	}
	if (ur_list_empty(&p->waiting) || !waiting_for_time(p))
		return;
	qp = ur_list_first(&p->waiting, struct ur_qp, share.wait);
	ur_port_arm(p->port, qp, p->next_at);
}

static void set_out(struct ur_path *p, struct ur_qp *qp, u32 out)
{
	p->out += out - qp->share.out;
	qp->share.out = out;
}

static void give_back(struct ur_path *p, struct ur_qp *qp)
{
	p->granted -= qp->share.turn;
	qp->share.turn = qp->share.owed = 0;
}

static bool in_turn(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (qp->share.turn)
		return true;
	if (!ur_list_empty(&qp->share.wait))
		return false;
	if (ur_list_empty(&p->waiting) && !p->granted && has_room(p)) {
		grant(p, qp);
		return true;
	}
	if (!has_room(p)) {
		p->missed = true;
		p->unmissed = 0;
	}
	if (qp->share.owed)
		ur_list_add_head(&p->waiting, &qp->share.wait);
	else
		ur_list_add_tail(&p->waiting, &qp->share.wait);
	/* Room beside turns that are not taken yet is for those behind them:
	 * who has just had one would be the first to ask. */
	if (!p->granted)
		wake(p);
	return qp->share.turn;
}

u32 ur_path_window(const struct ur_qp *qp)
{
	u32 whole = qp->share.path->window / ONE;

	return !qp->share.held ? UINT32_MAX : whole ? whole : 1;
}

bool ur_path_may_send(struct ur_qp *qp)
{
	if (!in_turn(qp))
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

	qp->share.turn -= used;
	p->granted -= used;
	set_out(p, qp, ur_inflight(&qp->req));
	if (packets && p->window < ONE)
		p->next_at = p->port->now + (u64)p->srtt * ONE / p->window;
	if (used && !p->granted)
		wake(p);
}

bool ur_path_full(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	return !ur_list_empty(&p->waiting) || !has_room(p);
}

void ur_path_yield(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	give_back(p, qp);
	wake(p);
}

void ur_path_expire(struct ur_qp *qp)
{
	wake(qp->share.path);
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
		qp->share.turn = qp->share.owed = 0;
		qp->share.out = 0;
		if (held)
			set_out(p, qp, ur_inflight(&qp->req));
		else if (!ur_list_empty(&qp->share.wait)) {
			ur_list_del(&qp->share.wait);
			ur_port_activate(p->port, qp);
		}
	}
}

/* In a round trip: the double at first; then a packet, or less of a small
 * window; more where nothing waits. */
static void grow(struct ur_path *p, u32 packets)
{
	u64 w = p->window, more;

	packets = ur_min_u32(packets, 256);
	if (w < p->slow_until)
		more = (u64)packets * ONE * ONE;
	else if (!waits(p))
		more = (u64)packets * ONE * ONE / 8;
	else if (w >= 16 * ONE)
		more = (u64)packets * ONE * ONE * ONE / w;
	else
		more = (u64)packets * ONE * ONE / 16;
	if (w < ONE && more > w * ONE / 16)
		more = w * ONE / 16;
	more += p->grown;
	p->grown = more % ONE;
	p->window = (u32)ur_min_u64(w + more / ONE, MOST);
}

static void sample(struct ur_path *p, u32 rtt)
{
	ur_time now = p->port->now;

	if (!p->rtt_min[0] || rtt < p->rtt_min[0])
		p->rtt_min[0] = rtt;
	if (now - p->min_at >= MIN_MEMORY_NS) {
		p->rtt_min[1] = p->rtt_min[0];
		p->rtt_min[0] = rtt;
		p->min_at = now;
	}
	p->srtt = p->srtt ? p->srtt - p->srtt / 8 + rtt / 8 : rtt;
	if (!p->round_min || rtt < p->round_min)
		p->round_min = rtt;
	if (now - p->round_at < p->srtt)
		return;
	p->round_last = p->round_min;
	p->round_min = 0;
	p->round_at = now;
	if (waits(p) && p->window < p->slow_until)
		p->slow_until = p->window;
}

void ur_path_answered(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	u32 out = ur_inflight(&qp->req);
	u32 packets = qp->share.out > out ? qp->share.out - out : 0;

	set_out(p, qp, out);
	if (qp->req.rtt_last)
		sample(p, qp->req.rtt_last);
	qp->req.rtt_last = 0;
	p->heard_at = p->port->now;
	p->unmissed += packets;
	p->period += packets;
	if (p->period >= LOSS_PERIOD_PKTS)
		p->period = p->losses = 0;
	if (p->missed) {
		grow(p, packets);
		p->missed = !ur_list_empty(&p->waiting);
	} else if (p->unmissed >= FREE_PKTS) {
		set_held(p, false);
		return;
	}
	wake(p);
}

/*
 * What was lost, did a queue end? Where trips are short, links lose and hosts
 * let packets wait that have nothing to do with each other: there it takes
 * both, and many losses. Where they are long, one of the two is enough.
 */
static bool congested(struct ur_path *p)
{
	bool many = ++p->losses >= LOSS_MANY;

	return latest(p) > LONG_NS ? many || waits(p) : many && waits(p);
}

/* The same where every window loses and only what is sent again has a trip. */
static bool queues_again(const struct ur_requester *req)
{
	return req->rtt_min && req->again_ns > 2ull * req->rtt_min + AGAIN_NS;
}

void ur_path_lost(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;
	bool cut = congested(p);

	if (!p->held) {
		/* It has no samples of its own. */
		if (!ur_inflight_queues(&qp->req) && !queues_again(&qp->req))
			return;
		set_held(p, true);
		p->window = FIRST;
		p->slow_until = MOST;
		p->cut_at = p->port->now;
		return;
	}
	if (!cut)
		return;
	if (p->cut_at && p->port->now - p->cut_at < p->srtt + p->srtt / 4)
		return;
	p->cut_at = p->port->now;
	p->losses = p->period = 0;
	p->window = CUT(p->window);
	if (p->window < LEAST)
		p->window = LEAST;
	p->slow_until = p->window;
	ur_trace(p->port, UR_TRACE_WINDOW, qp->qpn, p->window / ONE, p->srtt);
}

/* ---- members ---- */

static struct ur_path *find(struct ur_port *port, const struct ur_av *av)
{
	struct ur_list *l;

	for (l = port->paths.next; l != &port->paths; l = l->next) {
		struct ur_path *p = ur_container_of(l, struct ur_path, link);

		if (!memcmp(p->dgid, av->dgid, 16) &&
		    !memcmp(p->sgid, av->sgid, 16))
			return p;
	}
	return NULL;
}

static struct ur_path *create(struct ur_port *port, const struct ur_av *av)
{
	struct ur_path *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->port = port;
	memcpy(p->dgid, av->dgid, 16);
	memcpy(p->sgid, av->sgid, 16);
	p->held = true;
	p->window = FIRST;
	p->slow_until = MOST;
	p->min_at = port->now;
	ur_list_init(&p->members);
	ur_list_init(&p->waiting);
	ur_list_add_tail(&port->paths, &p->link);
	return p;
}

void ur_path_drop(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!p || !qp->share.held)
		return;
	ur_list_del(&qp->share.wait);
	give_back(p, qp);
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
	if (--p->members_count)
		return;
	ur_list_del(&p->link);
	free(p);
}

void ur_path_join(struct ur_qp *qp)
{
	const struct ur_av *av = qp->attr.av;
	struct ur_path *p;

	ur_path_leave(qp);
	if (!qp->port->cfg.path || !ur_qp_is_reliable(qp) || !av || av->loop)
		return;
	p = find(qp->port, av);
	if (!p)
		p = create(qp->port, av);
	if (!p)
		return;
	p->members_count++;
	ur_list_add_tail(&p->members, &qp->share.link);
	qp->share.path = p;
	qp->share.held = p->held;
	qp->share.turn = qp->share.owed = qp->share.out = 0;
	if (p->held)
		set_out(p, qp, ur_inflight(&qp->req));
}

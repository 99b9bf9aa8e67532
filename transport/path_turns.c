// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Turns: which queue pair of a path may send, and how much. */
#include "transport/path_impl.h"
#include "util/assert.h"

#define ONE	 UR_PATH_ONE
#define TURNS	 8 /* turns in a window */
#define TURN_MAX 32
/* A turn of a large window, with room for TURNS of TURN_MAX: as much as leaves by one system call.
 * A part of it would cost the hosts as much. */
#define TURN_WHOLE 64
#define SHORT	   4  /* packets of a message that may go first, at most */
#define HEAD_BYTES 64 /* headers around a payload, approximately */

/* Waiting queue pairs go on after two round trips and this time without an
 * answer, doubled each time; or after UR_PATH_HEARD_NS without a new
 * acknowledgement, since a peer may repeat a NAK without end. */
#define SILENT_NS	 1000000u
#define SILENT_FIRST_NS	 4000000u /* while no round trip is known */
#define SILENT_SHIFT_MAX 5

/* Returns a turn's part of the window. */
static u32 part_of(const struct ur_path *p)
{
	u32 turn = ur_path_whole(p) / TURNS;

	return turn >= TURN_MAX ? TURN_WHOLE : turn ? turn : 1;
}

/* Returns the packets of a turn. */
static u32 turn_of(const struct ur_path *p)
{
	return ur_path_pace_turn(p, part_of(p));
}

/* Returns the most packets in flight. A part is reserved for short messages, so
 * that they need not wait for answers to others. */
static u32 most_of(const struct ur_path *p, bool fresh)
{
	return ur_path_whole(p) + (fresh ? part_of(p) : 0);
}

/* Returns the packets that must fit: need, or a whole turn if that is not to be
 * divided. */
static u32 together(const struct ur_path *p, u32 need, bool fresh)
{
	return !fresh && need < TURN_WHOLE && turn_of(p) == TURN_WHOLE
		       ? TURN_WHOLE
		       : need;
}

/* A need beyond the window is granted when nothing is in flight. */
static bool has_room(const struct ur_path *p, u32 need, bool fresh)
{
	u32 used = p->out + p->granted;

	if (ur_path_is_open(p))
		return true;
	need = together(p, need, fresh);
	if (p->window.size >= ONE)
		return !used || used + need <= most_of(p, fresh);
	return !used && p->port->now >= p->next_at;
}

/* Returns the weight of a packet of its next, short message: one of 64 B is an eighth of a full
 * one. */
static u32 weight_of(const struct ur_qp *qp)
{
	const struct ur_swqe *e = ur_sq_entry(qp, qp->req.head);
	u32 bytes = e->npkts ? e->length / e->npkts : 0;
	u32 whole = qp->mtu + HEAD_BYTES;

	return ur_min_u32(((bytes + HEAD_BYTES) * UR_PATH_PACKET + whole - 1) /
				  whole,
			  UR_PATH_PACKET);
}

static void grant(struct ur_path *p, struct ur_qp *qp, bool fresh)
{
	u32 used = p->out + p->granted, turn = turn_of(p);

	ur_assert_hot(qp->share.path == p);
	if (fresh && p->window.size >= ONE)
		turn = ur_sq_entry(qp, qp->req.head)->npkts;
	if (qp->share.owed)
		turn = ur_min_u32(turn, qp->share.owed);
	qp->share.turn = turn;
	if (qp->share.need > 1)
		qp->share.turn = turn = qp->share.need;
	else if (p->window.size >= ONE && !ur_path_is_open(p))
		qp->share.turn = ur_min_u32(turn, most_of(p, fresh) - used);
	qp->share.owed = turn - qp->share.turn;
	qp->share.weight = UR_PATH_PACKET;
	if (fresh) {
		qp->share.weight = weight_of(qp);
		qp->share.fresh_at =
			p->sent + turn * qp->share.weight * (1 + p->waits);
	}
	p->granted += qp->share.turn;
	if (!fresh && qp->share.need == 1)
		ur_path_pace_granted(p, qp->share.turn);
}

/*
 * Returns whether the next message is short, of a queue pair that was idle. It
 * goes before those that always send, like a new flow in FQ-CoDel (RFC 8290).
 * The next such message must wait until each other has sent as many bytes, so
 * that frequent restarts leave the others their share.
 */
static bool is_short(const struct ur_qp *qp)
{
	const struct ur_requester *req = &qp->req;
	const struct ur_swqe *e = ur_sq_entry(qp, req->head);

	return req->tx == req->head && req->tx != req->tail &&
	       !ur_inflight(req) && req->tx_psn == e->psn &&
	       e->npkts <= SHORT && !qp->share.owed;
}

static void wait_for_turn(struct ur_path *p, struct ur_qp *qp)
{
	p->waits++;
	if (is_short(qp))
		ur_list_add_tail(&p->fresh, &qp->share.wait);
	else if (qp->share.owed)
		ur_list_add_head(&p->waiting, &qp->share.wait);
	else
		ur_list_add_tail(&p->waiting, &qp->share.wait);
}

void ur_path_wait_no_more(struct ur_path *p, struct ur_qp *qp)
{
	if (ur_list_empty(&qp->share.wait))
		return;
	ur_list_del(&qp->share.wait);
	ur_assert_hot(p->waits);
	p->waits--;
}

/* Returns when the path counts as silent: nobody waits for ever for answers to
 * lost packets. */
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

static struct ur_qp *first_of(const struct ur_list *l)
{
	return ur_list_empty(l) ? NULL
				: ur_list_first(l, struct ur_qp, share.wait);
}

/* Returns whether its time has come. That time is never further ahead than the
 * longest turn of a short message. */
static bool goes_first(const struct ur_path *p, const struct ur_qp *qp)
{
	u32 left = qp->share.fresh_at - p->sent;

	return !left || left > SHORT * UR_PATH_PACKET * (1 + p->members_count);
}

/* Returns the queue pair with the next turn, or NULL; *fresh: it goes before
 * the others. A short message that may not go first yet waits for that weight
 * of the others, not for a turn of each. */
static struct ur_qp *next_of(const struct ur_path *p, bool *fresh)
{
	struct ur_qp *first = first_of(&p->fresh), *other;

	*fresh = first && goes_first(p, first);
	if (*fresh)
		return first;
	other = first_of(&p->waiting);
	return other ? other : first;
}

void ur_path_wake(struct ur_path *p)
{
	struct ur_qp *qp;
	bool fresh;
	ur_time at;

	while ((qp = next_of(p, &fresh))) {
		ur_assert_hot(qp->share.path == p && qp->port == p->port);
		if (!has_room(p, qp->share.need, fresh))
			break;
		if (!fresh && qp->share.need == 1 && !ur_path_pace_ready(p)) {
			ur_port_arm(p->port, qp, p->turn_at);
			break;
		}
		ur_path_wait_no_more(p, qp);
		grant(p, qp, fresh);
		ur_port_activate(p->port, qp);
	}
	if (!qp)
		return;
	at = waiting_for_time(p) ? p->next_at : silent_at(p);
	/* Turns are granted with nothing in flight: silence has not begun. */
	if (at <= p->port->now)
		at = p->port->now + SILENT_NS;
	ur_port_arm(p->port, qp, at);
}

void ur_path_give_back(struct ur_path *p, struct ur_qp *qp)
{
	ur_assert_hot(p->granted >= qp->share.turn);
	p->granted -= qp->share.turn;
	qp->share.turn = qp->share.owed = 0;
}

/* Returns whether the path's window keeps it from sending; false if its own window would stop it
 * before the end of a turn, or of a READ's answers. */
static bool is_held_back(const struct ur_path *p, const struct ur_qp *qp,
			 u32 need)
{
	u32 own = qp->req.window - ur_inflight(&qp->req);

	return !has_room(p, need, false) &&
	       p->out + p->granted + ur_min_u32(together(p, need, false), own) >
		       ur_path_whole(p);
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
	if (!p->waits && !p->granted && has_room(p, need, false) &&
	    (need > 1 || ur_path_pace_ready(p))) {
		grant(p, qp, false);
		return true;
	}
	if (is_held_back(p, qp, need))
		ur_path_miss(p);
	wait_for_turn(p, qp);
	/* Room beside a granted turn is for those behind: a queue pair that has
	 * just had a turn would ask first. */
	if (!p->granted)
		ur_path_wake(p);
	return qp->share.turn >= need;
}

void ur_path_at_once(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	p->unmissed = 0;
	if (ur_path_whole(p) < p->out + p->out / 3)
		ur_path_miss(p);
}

bool ur_path_may_send(struct ur_qp *qp, u32 need)
{
	if (!in_turn(qp, need))
		return false;
	/* It waited with nothing in flight, so its timers start anew. */
	if (!ur_inflight(&qp->req))
		qp->req.timeout_at = qp->req.probe_at = UR_NEVER;
	return true;
}

bool ur_path_waits(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	return !ur_list_empty(&qp->share.wait) &&
	       p->port->now - p->heard_at < UR_PATH_HEARD_NS;
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
	p->sent += used * qp->share.weight;
	if (!p->out)
		p->tried_at = p->port->now;
	ur_path_set_out(p, qp, ur_path_in_flight(qp));
	if (packets && p->window.size < ONE)
		p->next_at = p->port->now +
			     (u64)p->window.srtt * ONE / p->window.size;
	if (used && !p->granted)
		ur_path_wake(p);
}

bool ur_path_full(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	return p->waits || !has_room(p, 1, false);
}

void ur_path_yield(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	ur_path_give_back(p, qp);
	ur_path_wake(p);
}

static void forget(struct ur_path *p)
{
	struct ur_list *l;

	for (l = p->members.next; l != &p->members; l = l->next) {
		struct ur_qp *qp = ur_container_of(l, struct ur_qp, share.link);

		qp->share.stale = 0;
		ur_path_set_out(p, qp, 0);
	}
	p->tried_at = p->port->now;
	if (p->silences < SILENT_SHIFT_MAX)
		p->silences++;
}

void ur_path_expire(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (p->waits && p->out && p->port->now >= silent_at(p))
		forget(p);
	ur_path_wake(p);
}

void ur_path_drop(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!p || !qp->share.held)
		return;
	ur_path_wait_no_more(p, qp);
	ur_path_give_back(p, qp);
	qp->share.stale = 0;
	ur_path_set_out(p, qp, 0);
	ur_path_wake(p);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The applications: their calls are drawn, their events are checked.
 *
 * Oracles: an end gets only events that its life allows, and none once destroyed;
 * of one attempt there is at most one live passive end; both ends of a
 * connection name each other's queue pairs; without faults a connection that
 * nobody refuses is established on both sides.
 */
#include <errno.h>

#include "tests/sim/cm/world.h"

#define SERVICE_TCP 0x1061c06ull

static u32 draw(struct world *w, u32 n)
{
	return ur_rng_below(&w->app_rng, n);
}

static struct end *new_end(struct world *w, u32 host, u32 attempt,
			   struct ur_cm_id *id)
{
	struct end *e = calloc(1, sizeof(*e));

	CHECK(e && w->end_count < ENDS_MAX);
	w->ends[w->end_count++] = e;
	e->w = w;
	e->host = host;
	e->attempt = attempt;
	e->id = id;
	ur_cm_id_set_ctx(id, e);
	return e;
}

static void plan(struct end *e, enum task_kind kind, u32 max_ms)
{
	struct task *t =
		world_add_task(e->w, kind, (u64)draw(e->w, max_ms + 1) * MS);

	t->end = e;
}

static void destroy_end(struct end *e)
{
	if (!e->id)
		return;
	world_note(e->w, "destroy", e->host, e->attempt, 0);
	ur_cm_id_destroy(e->id);
	e->id = NULL;
}

/* Queue pair numbers say which end they are of. */
static u32 qpn_of(u32 attempt, bool passive)
{
	return 0x100 + attempt * 2 + passive;
}

void app_start(struct world *w, u32 attempts)
{
	for (u32 i = 0; i < attempts; i++) {
		struct task *t = world_add_task(w, TASK_CONNECT,
						(u64)draw(w, 60000) * MS);

		t->host = draw(w, 2);
	}
}

static void connect_rc(struct world *w, struct end *e,
		       const struct ur_cm_path *path)
{
	struct ur_cm_req req = {
		.service_id = SERVICE_TCP,
		.local_ca_guid = w->guid[e->host],
		.local_qpn = qpn_of(e->attempt, false),
		.remote_response_timeout = (u8)(16 + draw(w, 6)),
		.local_response_timeout = (u8)(16 + draw(w, 6)),
		.starting_psn = e->attempt,
		.max_cm_retries = (u8)(1 + draw(w, 15)),
		.primary = {.hop_limit = 64, .ack_timeout = (u8)draw(w, 22)},
	};

	ur_put_be32(req.private_data, e->attempt);
	CHECK_EQ(ur_cm_send_req(e->id, path, &req), 0);
}

static void connect_ud(struct world *w, struct end *e,
		       const struct ur_cm_path *path)
{
	struct ur_cm_sidr_req req = {.service_id = SERVICE_TCP, .pkey = 0xffff};

	e->sidr = true;
	ur_put_be32(req.private_data, e->attempt);
	CHECK_EQ(ur_cm_send_sidr_req(e->id, path, &req, 1 + draw(w, 4096),
				     (u8)draw(w, 16)),
		 0);
}

static void start_attempt(struct world *w, u32 host)
{
	struct ur_cm_id *id = ur_cm_id_create(w->cm[host], NULL);
	struct ur_cm_path path = {.hop_limit = 64, .packet_life_time = 16};
	struct end *e;

	CHECK(id);
	e = new_end(w, host, w->attempts++, id);
	memcpy(path.sgid, w->gid[host], 16);
	memcpy(path.dgid, w->gid[!host], 16);
	if (draw(w, 5))
		connect_rc(w, e, &path);
	else
		connect_ud(w, e, &path);
	if (!draw(w, 10))
		plan(e, TASK_DESTROY, 20000);
}

static void act_passive(struct world *w, struct end *e)
{
	struct ur_cm_rep rep = {.local_qpn = qpn_of(e->attempt, true),
				.starting_psn = e->attempt,
				.local_ca_guid = w->guid[e->host]};

	switch (draw(w, 12)) {
	case 0:
		ur_cm_send_rej(e->id, UR_CM_REJ_CONSUMER_DEFINED, NULL, 0, "x",
			       1);
		e->over = true;
		return;
	case 1:
		destroy_end(e);
		return;
	case 2:
		if (!ur_cm_send_mra(e->id, (u8)(18 + draw(w, 7)), draw(w, 2),
				    NULL, 0)) {
			plan(e, TASK_ACT, 30000);
			return;
		}
		/* fall through */
	default:
		ur_cm_send_rep(e->id, &rep);
		plan(e, TASK_ACT, 10000);
	}
}

/* The other end is ready. */
static bool data_may_come(const struct end *e)
{
	const struct world *w = e->w;

	for (u32 i = 0; i < w->end_count; i++)
		if (w->ends[i]->attempt == e->attempt && !w->ends[i]->passive &&
		    w->ends[i]->was_established)
			return true;
	return false;
}

static void act(struct world *w, struct end *e)
{
	struct ur_cm_sidr_rep sidr = {.qpn = qpn_of(e->attempt, true),
				      .qkey = UR_IP_CM_UDP_QKEY};

	switch (ur_cm_id_state(e->id)) {
	case UR_CM_REQ_RCVD_STATE:
	case UR_CM_MRA_REQ_SENT_STATE:
		act_passive(w, e);
		return;
	case UR_CM_REP_RCVD_STATE:
	case UR_CM_MRA_REP_SENT_STATE:
		if (!draw(w, 12)) {
			ur_cm_send_rej(e->id, UR_CM_REJ_CONSUMER_DEFINED, NULL,
				       0, NULL, 0);
			e->over = true;
			return;
		}
		CHECK_EQ(ur_cm_send_rtu(e->id, NULL, 0), 0);
		e->was_established = true;
		if (draw(w, 3))
			plan(e, TASK_ACT, 30000);
		return;
	case UR_CM_REP_SENT_STATE:
		if (!draw(w, 2) && data_may_come(e))
			ur_cm_notify_established(e->id);
		return;
	case UR_CM_ESTABLISHED_STATE:
		if (!draw(w, 4)) {
			destroy_end(e);
			return;
		}
		e->said_dreq = true;
		CHECK_EQ(ur_cm_send_dreq(e->id, NULL, 0), 0);
		return;
	case UR_CM_DREQ_RCVD_STATE:
		CHECK_EQ(ur_cm_send_drep(e->id, NULL, 0), 0);
		return;
	case UR_CM_SIDR_REQ_RCVD_STATE:
		if (!draw(w, 8))
			sidr.status = UR_CM_SIDR_REJECT;
		CHECK_EQ(ur_cm_send_sidr_rep(e->id, &sidr), 0);
		plan(e, TASK_DESTROY, 1000);
		return;
	default:
		return;
	}
}

void app_task(struct world *w, struct task *t)
{
	if (t->kind == TASK_CONNECT) {
		start_attempt(w, t->host);
		return;
	}
	if (!t->end->id)
		return;
	if (t->kind == TASK_DESTROY)
		destroy_end(t->end);
	else
		act(w, t->end);
}

static void on_request(struct world *w, u32 host, struct ur_cm_id *id,
		       const struct ur_cm_event *event)
{
	u32 bytes;
	u32 attempt = ur_get_be32(ur_cm_mad_private(event->mad, &bytes));
	struct end *e;

	if (event->listener != w->listener[host])
		world_fail(w, "a request of nobody's listener");
	for (u32 i = 0; i < w->end_count; i++) {
		e = w->ends[i];
		if (e->passive && e->attempt == attempt && e->id && !e->over &&
		    ur_cm_id_state(e->id) != UR_CM_IDLE_STATE &&
		    ur_cm_id_state(e->id) != UR_CM_TIMEWAIT_STATE)
			world_fail(w, "one attempt asked twice");
	}
	e = new_end(w, host, attempt, id);
	e->passive = true;
	e->sidr = event->type == UR_CM_EVENT_SIDR_REQ;
	if (event->type == UR_CM_EVENT_REQ)
		e->peer_qpn = event->mad->u.req.local_qpn;
	if (draw(w, 2))
		ur_cm_id_taken(id);
	plan(e, TASK_ACT, draw(w, 4) ? 5 : 20000);
}

/* Returns whether an end may get that event, by kind. */
static bool legal(const struct end *e, enum ur_cm_event_type type)
{
	switch (type) {
	case UR_CM_EVENT_REQ_ERROR:
	case UR_CM_EVENT_REP:
		return !e->passive && !e->sidr && !e->was_established;
	case UR_CM_EVENT_REP_ERROR:
	case UR_CM_EVENT_RTU:
	case UR_CM_EVENT_USER_ESTABLISHED:
		return e->passive && !e->sidr && !e->was_established;
	case UR_CM_EVENT_DREQ:
		return !e->sidr && (e->was_established || e->passive);
	case UR_CM_EVENT_DREQ_ERROR:
	case UR_CM_EVENT_DREP:
		return e->was_established;
	case UR_CM_EVENT_TIMEWAIT_EXIT:
		return e->over;
	case UR_CM_EVENT_MRA:
	case UR_CM_EVENT_REJ:
		return !e->sidr;
	case UR_CM_EVENT_SIDR_REQ_ERROR:
	case UR_CM_EVENT_SIDR_REP:
		return e->sidr && !e->passive && !e->over;
	default:
		return false;
	}
}

void app_event(struct world *w, u32 host, struct ur_cm_id *id,
	       const struct ur_cm_event *event)
{
	struct end *e = ur_cm_id_ctx(id);

	if (event->type == UR_CM_EVENT_REQ ||
	    event->type == UR_CM_EVENT_SIDR_REQ) {
		on_request(w, host, id, event);
		return;
	}
	if (!e || e->id != id)
		world_fail(w, "an event for a destroyed end");
	if (!legal(e, event->type))
		world_fail(w, "an event that cannot be");
	switch (event->type) {
	case UR_CM_EVENT_REP:
		e->peer_qpn = event->mad->u.rep.local_qpn;
		if (e->peer_qpn != qpn_of(e->attempt, true))
			world_fail(w, "the answer is to another attempt");
		plan(e, TASK_ACT, draw(w, 4) ? 5 : 20000);
		return;
	case UR_CM_EVENT_RTU:
	case UR_CM_EVENT_USER_ESTABLISHED:
		e->was_established = true;
		if (draw(w, 3))
			plan(e, TASK_ACT, 30000);
		return;
	case UR_CM_EVENT_DREQ:
		e->over = true;
		plan(e, TASK_ACT, 50);
		return;
	case UR_CM_EVENT_SIDR_REP:
		if (!event->status &&
		    event->mad->u.sidr_rep.qpn != qpn_of(e->attempt, true))
			world_fail(w, "resolved to another attempt");
		w->sidr_done += !event->status;
		/* fall through */
	case UR_CM_EVENT_REJ:
	case UR_CM_EVENT_DREP:
	case UR_CM_EVENT_DREQ_ERROR:
	case UR_CM_EVENT_REQ_ERROR:
	case UR_CM_EVENT_REP_ERROR:
	case UR_CM_EVENT_SIDR_REQ_ERROR:
		e->over = true;
		if (!draw(w, 3))
			destroy_end(e);
		return;
	default:
		return;
	}
}

static bool linked(const struct end *e)
{
	return e->id && ur_cm_id_state(e->id) == UR_CM_ESTABLISHED_STATE;
}

/* All is quiet: whoever is still connected has a peer that is, or one that
 * vanished without being able to tell. */
void app_check_agreement(struct world *w)
{
	bool lossless = !w->faults.drop && !w->faults.slow;

	for (u32 i = 0; i < w->end_count; i++) {
		struct end *e = w->ends[i], *peer = NULL;

		if (!linked(e))
			continue;
		if (e->peer_qpn != qpn_of(e->attempt, !e->passive))
			world_fail(w, "connected to a stranger");
		for (u32 j = 0; j < w->end_count; j++)
			if (w->ends[j]->attempt == e->attempt &&
			    w->ends[j]->passive != e->passive &&
			    linked(w->ends[j]))
				peer = w->ends[j];
		if (peer)
			w->both_established++;
		else if (lossless)
			world_fail(w, "half a connection, and nothing lost");
	}
}

void app_finish(struct world *w)
{
	for (u32 i = 0; i < w->end_count; i++)
		destroy_end(w->ends[i]);
}

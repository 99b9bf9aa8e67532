// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The passive side: REQ in, MRA and REP out, RTU in. A REQ costs memory only if
 * a listener wants it and the caps allow it; the peer repeats a dropped one.
 */
#include <errno.h>

#include "cm/conn.h"

static bool same_request(const struct ur_cm_id *id, const struct ur_cm_req *req)
{
	return id->passive && id->remote_qpn == req->local_qpn &&
	       id->service_id == req->service_id &&
	       id->starting_psn == req->starting_psn;
}

static void duplicate_req(struct ur_cm_id *id, const struct ur_cm_path *from,
			  const struct ur_cm_mad *mad)
{
	struct ur_cm *cm = id->cm;

	cm->stats.rx_duplicate++;
	switch (id->state) {
	case UR_CM_MRA_REQ_SENT_STATE:
		ur_cm_repeat_reply(id);
		return;
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
		ur_cm_emit(cm, &id->path, id->request);
		return;
	case UR_CM_TIMEWAIT_STATE:
		ur_cm_reject_stranger(cm, from, mad->tid, 0,
				      mad->u.req.local_comm_id,
				      UR_CM_ANSWERS_REQ, UR_CM_REJ_STALE_CONN);
		return;
	default:
		return;
	}
}

/* Handles a REQ that belongs to an existing id. Returns whether it did. */
static bool known_req(struct ur_cm *cm, const struct ur_cm_path *from,
		      const struct ur_cm_mad *mad)
{
	const struct ur_cm_req *req = &mad->u.req;
	struct ur_cm_id *id;

	id = ur_cm_find_remote_id(cm, from, req->local_ca_guid,
				  req->local_comm_id);
	if (id) {
		if (same_request(id, req))
			duplicate_req(id, from, mad);
		else
			ur_cm_reject_stranger(
				cm, from, mad->tid, 0, req->local_comm_id,
				UR_CM_ANSWERS_REQ,
				UR_CM_REJ_DUPLICATE_LOCAL_COMM_ID);
		return true;
	}
	id = ur_cm_find_stale(cm, from, req->local_ca_guid, req->local_qpn);
	if (!id)
		return false;
	/* The peer has forgotten that connection, and ours should end, IBA
	 * 12.9.8.3. Anybody could claim so, so the peer itself is asked. */
	cm->stats.rx_stale++;
	ur_cm_reject_stranger(cm, from, mad->tid, 0, req->local_comm_id,
			      UR_CM_ANSWERS_REQ, UR_CM_REJ_STALE_CONN);
	if (id->state == UR_CM_ESTABLISHED_STATE)
		ur_cm_ask(id);
	return true;
}

static void adopt_req(struct ur_cm_id *id, const struct ur_cm_mad *mad)
{
	const struct ur_cm_req *req = &mad->u.req;

	id->tid = mad->tid;
	id->remote_id = req->local_comm_id;
	id->remote_guid = req->local_ca_guid;
	id->remote_qpn = req->local_qpn;
	id->starting_psn = req->starting_psn;
	id->service_id = req->service_id;
	id->ack_timeout = req->primary.ack_timeout;
	id->max_retries = req->max_cm_retries;
	id->rto_ns = ur_cm_time_ns(req->local_response_timeout);
	id->path.flow_label = req->primary.flow_label;
	id->path.traffic_class = req->primary.traffic_class;
	id->path.sl = req->primary.sl;
	/* The ack timeout exceeds twice the life time, IBA 12.7.34. */
	id->path.packet_life_time =
		req->primary.ack_timeout ? req->primary.ack_timeout - 1 : 0;
	ur_cm_index_remote_id(id);
	ur_cm_index_remote_qpn(id);
}

void ur_cm_rx_req(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_req *req = &mad->u.req;
	struct ur_cm_event event = {.type = UR_CM_EVENT_REQ, .mad = mad};
	struct ur_cm_id *listener, *id;

	if (!req->local_comm_id) {
		cm->stats.rx_malformed++;
		return;
	}
	if (known_req(cm, from, mad))
		return;
	listener = ur_cm_find_listener(cm, from, req->service_id,
				       req->private_data, UR_CM_REQ_PRIVATE,
				       &event);
	if (!listener) {
		if (ur_cm_park(cm, from, mad))
			return;
		cm->stats.rx_no_listener++;
		ur_cm_reject_stranger(cm, from, mad->tid, 0, req->local_comm_id,
				      UR_CM_ANSWERS_REQ,
				      UR_CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	id = ur_cm_new_passive(cm, listener, from);
	if (!id)
		return;
	adopt_req(id, mad);
	ur_cm_set_state(id, UR_CM_REQ_RCVD_STATE);
	event.path = &id->path;
	event.listener = listener;
	cm->config.event(cm->config.ctx, id, &event);
}

int ur_cm_send_rep(struct ur_cm_id *id, const struct ur_cm_rep *rep)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REP, .tid = id->tid};

	if (id->state != UR_CM_REQ_RCVD_STATE &&
	    id->state != UR_CM_MRA_REQ_SENT_STATE)
		return -EINVAL;
	ur_cm_not_pending(id);
	id->local_qpn = rep->local_qpn ? rep->local_qpn : rep->local_eecn;
	id->has_reply = false;
	mad.attr_mod = id->attr_mod;
	mad.u.rep = *rep;
	mad.u.rep.local_comm_id = id->local_id;
	mad.u.rep.remote_comm_id = id->remote_id;
	ur_cm_set_state(id, UR_CM_REP_SENT_STATE);
	ur_cm_request(id, &mad);
	return 0;
}

int ur_cm_send_mra(struct ur_cm_id *id, u8 service_timeout, bool delayed,
		   const void *data, u32 bytes)
{
	struct ur_cm_mad mad = {.attr = UR_CM_MRA, .tid = id->tid};
	struct ur_cm_mra *mra = &mad.u.mra;
	enum ur_cm_state next;

	if (ur_cm_put_private(mra->private_data, UR_CM_MRA_PRIVATE, data,
			      bytes))
		return -EINVAL;
	mra->local_comm_id = id->local_id;
	mra->remote_comm_id = id->remote_id;
	mra->service_timeout = service_timeout;
	if (id->state == UR_CM_REQ_RCVD_STATE) {
		mra->answers = UR_CM_ANSWERS_REQ;
		next = UR_CM_MRA_REQ_SENT_STATE;
	} else if (id->state == UR_CM_REP_RCVD_STATE) {
		mra->answers = UR_CM_ANSWERS_REP;
		next = UR_CM_MRA_REP_SENT_STATE;
	} else {
		return -EINVAL;
	}
	ur_cm_set_state(id, next);
	if (delayed) {
		ur_cm_mad_build(&mad, id->reply);
		id->has_reply = true;
	} else {
		ur_cm_reply(id, &mad);
	}
	return 0;
}

static void establish(struct ur_cm_id *id)
{
	ur_cm_disarm(id);
	ur_cm_set_state(id, UR_CM_ESTABLISHED_STATE);
}

void ur_cm_rx_rtu(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_rtu *rtu = &mad->u.rtu;
	struct ur_cm_id *id = ur_cm_find_pair(cm, from, rtu->remote_comm_id,
					      rtu->local_comm_id);

	if (!id)
		return;
	if (id->state != UR_CM_REP_SENT_STATE &&
	    id->state != UR_CM_MRA_REP_RCVD_STATE) {
		cm->stats.rx_duplicate++;
		return;
	}
	establish(id);
	ur_cm_report(id, UR_CM_EVENT_RTU, 0, mad);
}

int ur_cm_notify_established(struct ur_cm_id *id)
{
	switch (id->state) {
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
		establish(id);
		ur_cm_report(id, UR_CM_EVENT_USER_ESTABLISHED, 0, NULL);
		return 0;
	case UR_CM_ESTABLISHED_STATE:
		return -EISCONN;
	default:
		return -EINVAL;
	}
}

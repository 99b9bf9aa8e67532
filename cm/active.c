// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The active side: REQ out, REP in, RTU out; and MRA and REJ, which either side
 * may get.
 */
#include <errno.h>

#include "cm/conn.h"

int ur_cm_send_req(struct ur_cm_id *id, const struct ur_cm_path *path,
		   const struct ur_cm_req *req)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REQ};

	if (id->state != UR_CM_IDLE_STATE)
		return -EINVAL;
	id->path = *path;
	id->service_id = req->service_id;
	id->local_qpn = req->local_qpn;
	id->starting_psn = req->starting_psn;
	id->ack_timeout = req->primary.ack_timeout;
	id->max_retries = req->max_cm_retries;
	/* Computed as in ib_send_cm_req: twice the packet life time, and the
	 * peer's time. */
	id->rto_ns = ur_cm_time_ns(path->packet_life_time) * 2 +
		     ur_cm_time_ns(req->remote_response_timeout);
	id->tid = ur_cm_new_tid(id);
	id->passive = false;
	mad.tid = id->tid;
	mad.attr_mod = id->attr_mod;
	mad.u.req = *req;
	mad.u.req.local_comm_id = id->local_id;
	ur_cm_set_state(id, UR_CM_REQ_SENT_STATE);
	ur_cm_request(id, &mad);
	return 0;
}

int ur_cm_send_rtu(struct ur_cm_id *id, const void *data, u32 bytes)
{
	struct ur_cm_mad mad = {.attr = UR_CM_RTU, .tid = id->tid};

	if (id->state != UR_CM_REP_RCVD_STATE &&
	    id->state != UR_CM_MRA_REP_SENT_STATE)
		return -EINVAL;
	if (ur_cm_put_private(mad.u.rtu.private_data, UR_CM_RTU_PRIVATE, data,
			      bytes))
		return -EINVAL;
	mad.u.rtu.local_comm_id = id->local_id;
	mad.u.rtu.remote_comm_id = id->remote_id;
	ur_cm_set_state(id, UR_CM_ESTABLISHED_STATE);
	ur_cm_reply(id, &mad);
	return 0;
}

/* Handles a REP for an existing connection: repeats the reply to the first
 * one. */
static void duplicate_rep(struct ur_cm_id *id, const struct ur_cm_path *from,
			  u64 tid, const struct ur_cm_rep *rep)
{
	struct ur_cm *cm = id->cm;

	if (!id->remote_id || id->remote_id != rep->local_comm_id) {
		/* Too late: we gave up, so the peer need not go on. */
		cm->stats.rx_wrong_state++;
		ur_cm_reject_stranger(cm, from, tid, id->local_id,
				      rep->local_comm_id, UR_CM_ANSWERS_REP,
				      UR_CM_REJ_INVALID_COMM_ID);
		return;
	}
	cm->stats.rx_duplicate++;
	if (id->state == UR_CM_ESTABLISHED_STATE ||
	    id->state == UR_CM_MRA_REP_SENT_STATE ||
	    id->state == UR_CM_DREQ_SENT_STATE)
		ur_cm_repeat_reply(id);
}

static bool rep_is_stale(struct ur_cm_id *id, const struct ur_cm_path *from,
			 const struct ur_cm_rep *rep, u32 remote_qpn)
{
	struct ur_cm *cm = id->cm;
	struct ur_cm_id *other;

	other = ur_cm_find_remote_id(cm, from, rep->local_ca_guid,
				     rep->local_comm_id);
	if (other && other != id)
		return true;
	other = ur_cm_find_stale(cm, from, rep->local_ca_guid, remote_qpn);
	return other && other != id;
}

void ur_cm_rx_rep(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_rep *rep = &mad->u.rep;
	struct ur_cm_id *id = ur_cm_find_local(cm, rep->remote_comm_id);
	/* An XRC target gives its QPN in the EE context's place. */
	u32 qpn = rep->local_qpn ? rep->local_qpn : rep->local_eecn;

	if (!id || id->state == UR_CM_LISTEN_STATE) {
		cm->stats.rx_unknown_id++;
		ur_cm_reject_stranger(cm, from, mad->tid, rep->remote_comm_id,
				      rep->local_comm_id, UR_CM_ANSWERS_REP,
				      UR_CM_REJ_INVALID_COMM_ID);
		return;
	}
	if (!ur_cm_same_peer(id, from)) {
		cm->stats.rx_wrong_peer++;
		return;
	}
	if (id->state != UR_CM_REQ_SENT_STATE &&
	    id->state != UR_CM_MRA_REQ_RCVD_STATE) {
		duplicate_rep(id, from, mad->tid, rep);
		return;
	}
	if (!rep->local_comm_id) {
		cm->stats.rx_malformed++;
		return;
	}
	if (rep_is_stale(id, from, rep, qpn)) {
		cm->stats.rx_stale++;
		ur_cm_reject_stranger(cm, from, mad->tid, rep->remote_comm_id,
				      rep->local_comm_id, UR_CM_ANSWERS_REP,
				      UR_CM_REJ_STALE_CONN);
		return;
	}
	ur_cm_disarm(id);
	id->remote_id = rep->local_comm_id;
	id->remote_guid = rep->local_ca_guid;
	id->remote_qpn = qpn;
	ur_cm_index_remote_id(id);
	ur_cm_index_remote_qpn(id);
	ur_cm_set_state(id, UR_CM_REP_RCVD_STATE);
	ur_cm_report(id, UR_CM_EVENT_REP, 0, mad);
}

void ur_cm_rx_mra(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_mra *mra = &mad->u.mra;
	struct ur_cm_id *id;

	if (mra->answers == UR_CM_ANSWERS_REQ)
		id = ur_cm_of_peer(
			cm, ur_cm_find_local(cm, mra->remote_comm_id), from);
	else
		id = ur_cm_find_pair(cm, from, mra->remote_comm_id,
				     mra->local_comm_id);
	if (!id)
		return;
	if (id->state == UR_CM_REQ_SENT_STATE &&
	    mra->answers == UR_CM_ANSWERS_REQ) {
		ur_cm_set_state(id, UR_CM_MRA_REQ_RCVD_STATE);
	} else if (id->state == UR_CM_REP_SENT_STATE &&
		   mra->answers == UR_CM_ANSWERS_REP) {
		ur_cm_set_state(id, UR_CM_MRA_REP_RCVD_STATE);
	} else {
		cm->stats.rx_duplicate++;
		return;
	}
	ur_cm_arm(id, cm->now + ur_cm_time_ns(mra->service_timeout) +
			      ur_cm_time_ns(id->ack_timeout));
	ur_cm_report(id, UR_CM_EVENT_MRA, 0, mad);
}

/* Returns whether the peer may not know our comm id yet. */
static bool may_be_unknown(const struct ur_cm_id *id)
{
	return id->passive && (id->state == UR_CM_REQ_RCVD_STATE ||
			       id->state == UR_CM_MRA_REQ_SENT_STATE ||
			       id->state == UR_CM_REP_SENT_STATE ||
			       id->state == UR_CM_MRA_REP_RCVD_STATE);
}

/* Returns whether the REJ has the sender's id as required. The first REJ to a
 * REQ has none, and some peers reject a late REP without one; but a connection
 * ends only by both ids. */
static bool names_itself(const struct ur_cm_id *id, const struct ur_cm_rej *rej)
{
	if (!id->remote_id || id->remote_id == rej->local_comm_id)
		return true;
	return !rej->local_comm_id && rej->answers == UR_CM_ANSWERS_REP &&
	       (id->state == UR_CM_REP_SENT_STATE ||
		id->state == UR_CM_MRA_REP_RCVD_STATE);
}

/* Finds the id that a REJ rejects. */
static struct ur_cm_id *rejected_id(struct ur_cm *cm,
				    const struct ur_cm_path *from,
				    const struct ur_cm_rej *rej)
{
	struct ur_cm_id *id;

	/* A peer that gave up before our reply knows only its own id, and
	 * identifies itself by its node GUID. */
	if (!rej->remote_comm_id && rej->reason == UR_CM_REJ_TIMEOUT &&
	    rej->ari_bytes >= 8) {
		id = ur_cm_find_remote_id(cm, from, ur_get_be64(rej->ari),
					  rej->local_comm_id);
		if (id && !may_be_unknown(id))
			id = NULL;
	} else {
		id = ur_cm_find_local(cm, rej->remote_comm_id);
		if (id && !names_itself(id, rej))
			id = NULL;
	}
	return ur_cm_of_peer(cm, id, from);
}

void ur_cm_rx_rej(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_rej *rej = &mad->u.rej;
	struct ur_cm_id *id = rejected_id(cm, from, rej);

	if (!id)
		return;
	switch (id->state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_MRA_REQ_RCVD_STATE:
	case UR_CM_REQ_RCVD_STATE:
	case UR_CM_MRA_REQ_SENT_STATE:
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
		if (rej->reason == UR_CM_REJ_STALE_CONN)
			ur_cm_to_timewait(id);
		else
			ur_cm_to_idle(id);
		break;
	case UR_CM_REP_RCVD_STATE:
	case UR_CM_MRA_REP_SENT_STATE:
	case UR_CM_ESTABLISHED_STATE:
	case UR_CM_DREQ_SENT_STATE:
		ur_cm_to_timewait(id);
		break;
	default:
		cm->stats.rx_wrong_state++;
		return;
	}
	ur_cm_report(id, UR_CM_EVENT_REJ, rej->reason, mad);
}

static u8 rejected_message(const struct ur_cm_id *id)
{
	switch (id->state) {
	case UR_CM_REQ_RCVD_STATE:
	case UR_CM_MRA_REQ_SENT_STATE:
		return UR_CM_ANSWERS_REQ;
	case UR_CM_REP_RCVD_STATE:
	case UR_CM_MRA_REP_SENT_STATE:
		return UR_CM_ANSWERS_REP;
	default:
		return UR_CM_ANSWERS_OTHER;
	}
}

int ur_cm_send_rej(struct ur_cm_id *id, u16 reason, const void *ari,
		   u32 ari_bytes, const void *data, u32 bytes)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REJ, .tid = id->tid};
	struct ur_cm_rej *rej = &mad.u.rej;

	if (ur_cm_put_private(rej->private_data, UR_CM_REJ_PRIVATE, data,
			      bytes) ||
	    ur_cm_put_private(rej->ari, UR_CM_ARI_BYTES, ari, ari_bytes))
		return -EINVAL;
	rej->ari_bytes = (u8)ari_bytes;
	rej->reason = reason;
	rej->remote_comm_id = id->remote_id;
	rej->answers = rejected_message(id);
	/* The peer learns our comm id from the MRA or REP. */
	if (id->state != UR_CM_REQ_RCVD_STATE)
		rej->local_comm_id = id->local_id;
	switch (id->state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_MRA_REQ_RCVD_STATE:
	case UR_CM_REQ_RCVD_STATE:
	case UR_CM_MRA_REQ_SENT_STATE:
		ur_cm_reply(id, &mad);
		ur_cm_to_idle(id);
		return 0;
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
	case UR_CM_REP_RCVD_STATE:
	case UR_CM_MRA_REP_SENT_STATE:
		ur_cm_reply(id, &mad);
		ur_cm_to_timewait(id);
		return 0;
	default:
		return -EINVAL;
	}
}

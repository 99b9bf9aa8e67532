// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Moves an id to another manager. The peer notices nothing: communication ids, transaction id and
 * queue pairs stay, and so do messages that may be repeated.
 */
#include "cm/conn.h"

void ur_cm_id_save(const struct ur_cm_id *id, struct ur_cm_saved *saved)
{
	memset(saved, 0, sizeof(*saved));
	saved->state = id->state;
	saved->local_id = id->local_id;
	saved->remote_id = id->remote_id;
	saved->remote_qpn = id->remote_qpn;
	saved->local_qpn = id->local_qpn;
	saved->attr_mod = id->attr_mod;
	saved->starting_psn = id->starting_psn;
	saved->retries_left = id->retries_left;
	saved->max_retries = id->max_retries;
	saved->ack_timeout = id->ack_timeout;
	saved->passive = id->passive;
	saved->remote_guid = id->remote_guid;
	saved->tid = id->tid;
	saved->rto_ns = id->rto_ns;
	saved->service_id = id->service_id;
	saved->path = id->path;
	saved->has_reply = id->has_reply;
	memcpy(saved->request, id->request, sizeof(saved->request));
	memcpy(saved->reply, id->reply, sizeof(saved->reply));
}

static void copy_back(struct ur_cm_id *id, const struct ur_cm_saved *saved)
{
	id->remote_id = saved->remote_id;
	id->remote_qpn = saved->remote_qpn;
	id->local_qpn = saved->local_qpn;
	id->attr_mod = saved->attr_mod;
	id->starting_psn = saved->starting_psn;
	/* At least one repetition: the last deadline may have passed
	 * meanwhile. */
	id->retries_left = saved->retries_left ? saved->retries_left : 1;
	id->max_retries = saved->max_retries;
	id->ack_timeout = saved->ack_timeout;
	id->passive = saved->passive;
	id->remote_guid = saved->remote_guid;
	id->tid = saved->tid;
	id->rto_ns = saved->rto_ns;
	id->service_id = saved->service_id;
	id->path = saved->path;
	id->has_reply = saved->has_reply;
	memcpy(id->request, saved->request, sizeof(id->request));
	memcpy(id->reply, saved->reply, sizeof(id->reply));
}

static void index_again(struct ur_cm_id *id)
{
	if (id->state == UR_CM_SIDR_REQ_RCVD_STATE ||
	    id->state == UR_CM_SIDR_REP_SENT_STATE) {
		ur_cm_index_sidr(id);
		return;
	}
	if (!id->remote_id)
		return;
	ur_cm_index_remote_id(id);
	if (id->state != UR_CM_TIMEWAIT_STATE)
		ur_cm_index_remote_qpn(id);
}

static void arm_again(struct ur_cm_id *id)
{
	u64 now = id->cm->now;

	switch (id->state) {
	case UR_CM_REQ_SENT_STATE:
	case UR_CM_REP_SENT_STATE:
	case UR_CM_DREQ_SENT_STATE:
	case UR_CM_SIDR_REQ_SENT_STATE:
		ur_cm_arm(id, now);
		return;
	case UR_CM_MRA_REQ_RCVD_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
		ur_cm_arm(id, now + id->rto_ns);
		return;
	case UR_CM_TIMEWAIT_STATE:
		ur_cm_arm(id, now + ur_cm_time_ns(id->ack_timeout));
		return;
	default:
		return;
	}
}

struct ur_cm_id *ur_cm_id_restore(struct ur_cm *cm, void *ctx,
				  const struct ur_cm_saved *saved)
{
	struct ur_cm_id *id;

	if (saved->state >= UR_CM_STATE_COUNT ||
	    saved->state == UR_CM_LISTEN_STATE || !saved->local_id ||
	    ur_cm_find_local(cm, saved->local_id))
		return NULL;
	id = ur_cm_id_create(cm, ctx);
	if (!id)
		return NULL;
	ur_list_del(&id->by_local_id);
	id->local_id = saved->local_id;
	ur_cm_index_local(id);
	copy_back(id, saved);
	ur_cm_set_state(id, (enum ur_cm_state)saved->state);
	index_again(id);
	arm_again(id);
	return id;
}

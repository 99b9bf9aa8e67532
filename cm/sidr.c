// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Service id resolution, the connection set-up of UD: one SIDR_REQ, one
 * SIDR_REP with the queue pair and its key. The passive side keeps its reply
 * for a while, so that a lost SIDR_REP does not become a second request for the
 * application.
 */
#include <errno.h>

#include "cm/conn.h"

/* How long a reply outlives its id: two response times of rdma_cm (2^12 ms),
 * enough for two repetitions of the request. */
#define ANSWER_LINGERS_NS (2 * 4096 * 1000000ull)

int ur_cm_send_sidr_req(struct ur_cm_id *id, const struct ur_cm_path *path,
			const struct ur_cm_sidr_req *req, u32 timeout_ms,
			u8 max_retries)
{
	struct ur_cm_mad mad = {.attr = UR_CM_SIDR_REQ};

	if (id->state != UR_CM_IDLE_STATE || !timeout_ms)
		return -EINVAL;
	id->path = *path;
	id->service_id = req->service_id;
	id->max_retries = max_retries;
	id->rto_ns = timeout_ms * 1000000ull;
	id->tid = ur_cm_new_tid(id);
	mad.tid = id->tid;
	mad.u.sidr_req = *req;
	mad.u.sidr_req.request_id = id->local_id;
	ur_cm_set_state(id, UR_CM_SIDR_REQ_SENT_STATE);
	ur_cm_request(id, &mad);
	return 0;
}

static void refuse_request(struct ur_cm *cm, const struct ur_cm_path *from,
			   const struct ur_cm_mad *req, u8 status)
{
	struct ur_cm_mad mad = {.attr = UR_CM_SIDR_REP, .tid = req->tid};
	u8 buf[UR_CM_MAD_BYTES];

	mad.u.sidr_rep.request_id = req->u.sidr_req.request_id;
	mad.u.sidr_rep.service_id = req->u.sidr_req.service_id;
	mad.u.sidr_rep.status = status;
	ur_cm_mad_build(&mad, buf);
	ur_cm_emit(cm, from, buf);
}

void ur_cm_rx_sidr_req(struct ur_cm *cm, const struct ur_cm_path *from,
		       const struct ur_cm_mad *mad)
{
	const struct ur_cm_sidr_req *req = &mad->u.sidr_req;
	struct ur_cm_event event = {.type = UR_CM_EVENT_SIDR_REQ, .mad = mad};
	struct ur_cm_id *id = ur_cm_find_sidr(cm, req->request_id, from->dgid);
	struct ur_cm_id *listener;

	if (id && id->tid == mad->tid && id->service_id == req->service_id) {
		cm->stats.rx_duplicate++;
		ur_cm_repeat_reply(id);
		return;
	}
	listener = ur_cm_find_listener(cm, from, req->service_id,
				       req->private_data,
				       UR_CM_SIDR_REQ_PRIVATE, &event);
	if (!listener) {
		if (ur_cm_park(cm, from, mad))
			return;
		cm->stats.rx_no_listener++;
		refuse_request(cm, from, mad, UR_CM_SIDR_UNSUPPORTED);
		return;
	}
	id = ur_cm_new_passive(cm, listener, from);
	if (!id)
		return;
	id->tid = mad->tid;
	id->remote_id = req->request_id;
	id->service_id = req->service_id;
	ur_cm_index_sidr(id);
	ur_cm_set_state(id, UR_CM_SIDR_REQ_RCVD_STATE);
	event.path = &id->path;
	event.listener = listener;
	cm->config.event(cm->config.ctx, id, &event);
}

int ur_cm_send_sidr_rep(struct ur_cm_id *id, const struct ur_cm_sidr_rep *rep)
{
	struct ur_cm_mad mad = {.attr = UR_CM_SIDR_REP, .tid = id->tid};

	if (id->state != UR_CM_SIDR_REQ_RCVD_STATE)
		return -EINVAL;
	ur_cm_not_pending(id);
	mad.attr_mod = id->attr_mod;
	mad.u.sidr_rep = *rep;
	mad.u.sidr_rep.request_id = id->remote_id;
	mad.u.sidr_rep.service_id = id->service_id;
	ur_cm_set_state(id, UR_CM_SIDR_REP_SENT_STATE);
	ur_cm_arm(id, id->cm->now + ANSWER_LINGERS_NS);
	ur_cm_reply(id, &mad);
	return 0;
}

void ur_cm_rx_sidr_rep(struct ur_cm *cm, const struct ur_cm_path *from,
		       const struct ur_cm_mad *mad)
{
	const struct ur_cm_sidr_rep *rep = &mad->u.sidr_rep;
	struct ur_cm_id *id =
		ur_cm_of_peer(cm, ur_cm_find_local(cm, rep->request_id), from);

	if (!id)
		return;
	if (id->state != UR_CM_SIDR_REQ_SENT_STATE) {
		cm->stats.rx_duplicate++;
		return;
	}
	ur_cm_to_idle(id);
	ur_cm_report(id, UR_CM_EVENT_SIDR_REP, rep->status, mad);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The end of a connection: DREQ and DREP, crossing or repeated, and TIMEWAIT;
 * and the reply to LAP, since RoCE has no alternate paths.
 */
#include <errno.h>

#include "cm/conn.h"

void ur_cm_ask(struct ur_cm_id *id)
{
	struct ur_cm_mad mad = {.attr = UR_CM_DREQ, .tid = ur_cm_new_tid(id)};
	u8 buf[UR_CM_MAD_BYTES];

	mad.u.dreq.local_comm_id = id->local_id;
	mad.u.dreq.remote_comm_id = id->remote_id;
	mad.u.dreq.remote_qpn = id->remote_qpn ^ 1;
	ur_cm_mad_build(&mad, buf);
	id->asked = true;
	ur_cm_emit(id->cm, &id->path, buf);
}

int ur_cm_send_dreq(struct ur_cm_id *id, const void *data, u32 bytes)
{
	struct ur_cm_mad mad = {.attr = UR_CM_DREQ};

	if (id->state != UR_CM_ESTABLISHED_STATE)
		return -EINVAL;
	if (ur_cm_put_private(mad.u.dreq.private_data, UR_CM_DREQ_PRIVATE, data,
			      bytes))
		return -EINVAL;
	mad.tid = ur_cm_new_tid(id);
	mad.u.dreq.local_comm_id = id->local_id;
	mad.u.dreq.remote_comm_id = id->remote_id;
	mad.u.dreq.remote_qpn = id->remote_qpn;
	ur_cm_set_state(id, UR_CM_DREQ_SENT_STATE);
	ur_cm_request(id, &mad);
	return 0;
}

static void format_drep(struct ur_cm_mad *mad, u64 tid, u32 local_id,
			u32 remote_id)
{
	memset(mad, 0, sizeof(*mad));
	mad->attr = UR_CM_DREP;
	mad->tid = tid;
	mad->u.drep.local_comm_id = local_id;
	mad->u.drep.remote_comm_id = remote_id;
}

int ur_cm_send_drep(struct ur_cm_id *id, const void *data, u32 bytes)
{
	struct ur_cm_mad mad;

	if (id->state != UR_CM_DREQ_RCVD_STATE)
		return -EINVAL;
	format_drep(&mad, id->tid, id->local_id, id->remote_id);
	if (ur_cm_put_private(mad.u.drep.private_data, UR_CM_DREP_PRIVATE, data,
			      bytes))
		return -EINVAL;
	ur_cm_to_timewait(id);
	ur_cm_reply(id, &mad);
	return 0;
}

static void answer_stranger(struct ur_cm *cm, const struct ur_cm_path *from,
			    const struct ur_cm_mad *mad)
{
	struct ur_cm_mad drep;
	u8 buf[UR_CM_MAD_BYTES];

	format_drep(&drep, mad->tid, mad->u.dreq.remote_comm_id,
		    mad->u.dreq.local_comm_id);
	ur_cm_mad_build(&drep, buf);
	ur_cm_emit(cm, from, buf);
}

void ur_cm_rx_dreq(struct ur_cm *cm, const struct ur_cm_path *from,
		   const struct ur_cm_mad *mad)
{
	const struct ur_cm_dreq *dreq = &mad->u.dreq;
	u64 wrong_peer = cm->stats.rx_wrong_peer;
	struct ur_cm_id *id = ur_cm_find_pair(cm, from, dreq->remote_comm_id,
					      dreq->local_comm_id);
	struct ur_cm_mad drep;

	if (!id) {
		/* Gone here: lets the peer finish too. */
		if (cm->stats.rx_wrong_peer == wrong_peer)
			answer_stranger(cm, from, mad);
		return;
	}
	if (id->local_qpn != dreq->remote_qpn) {
		cm->stats.rx_malformed++;
		return;
	}
	switch (id->state) {
	case UR_CM_REP_SENT_STATE:
	case UR_CM_MRA_REP_RCVD_STATE:
	case UR_CM_ESTABLISHED_STATE:
		ur_cm_disarm(id);
		id->tid = mad->tid;
		ur_cm_set_state(id, UR_CM_DREQ_RCVD_STATE);
		break;
	case UR_CM_DREQ_SENT_STATE:
		/* They crossed: both sides want to end, so nobody is asked. */
		format_drep(&drep, mad->tid, id->local_id, id->remote_id);
		ur_cm_to_timewait(id);
		ur_cm_reply(id, &drep);
		break;
	case UR_CM_TIMEWAIT_STATE:
		cm->stats.rx_duplicate++;
		format_drep(&drep, mad->tid, id->local_id, id->remote_id);
		ur_cm_reply(id, &drep);
		return;
	case UR_CM_DREQ_RCVD_STATE:
		cm->stats.rx_duplicate++;
		return;
	default:
		cm->stats.rx_wrong_state++;
		return;
	}
	ur_cm_report(id, UR_CM_EVENT_DREQ, 0, mad);
}

void ur_cm_rx_drep(struct ur_cm *cm, const struct ur_cm_path *from,
		   const struct ur_cm_mad *mad)
{
	const struct ur_cm_drep *drep = &mad->u.drep;
	struct ur_cm_id *id = ur_cm_find_pair(cm, from, drep->remote_comm_id,
					      drep->local_comm_id);

	if (!id)
		return;
	if (id->state != UR_CM_DREQ_SENT_STATE &&
	    !(id->asked && id->state == UR_CM_ESTABLISHED_STATE)) {
		cm->stats.rx_duplicate++;
		return;
	}
	ur_cm_to_timewait(id);
	ur_cm_report(id, UR_CM_EVENT_DREP, 0, mad);
}

void ur_cm_rx_lap(struct ur_cm *cm, const struct ur_cm_path *from,
		  const struct ur_cm_mad *mad)
{
	const struct ur_cm_lap *lap = &mad->u.lap;
	u64 wrong_peer = cm->stats.rx_wrong_peer;
	struct ur_cm_id *id = ur_cm_find_pair(cm, from, lap->remote_comm_id,
					      lap->local_comm_id);
	struct ur_cm_mad apr = {.attr = UR_CM_APR, .tid = mad->tid};
	u8 buf[UR_CM_MAD_BYTES];

	if (cm->stats.rx_wrong_peer != wrong_peer)
		return;
	apr.u.apr.local_comm_id = lap->remote_comm_id;
	apr.u.apr.remote_comm_id = lap->local_comm_id;
	apr.u.apr.status =
		id ? UR_CM_APR_UNSUPPORTED : UR_CM_APR_INVALID_COMM_ID;
	ur_cm_mad_build(&apr, buf);
	ur_cm_emit(cm, from, buf);
}

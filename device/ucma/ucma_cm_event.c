// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The peer's messages: an event of cm/ changes the client's id or, for a request, makes a
 * new one, and becomes an event of rdma_cm. */
#include <string.h>

#include "device/fault.h"
#include "device/ucma/ucma.h"
#include "device/report/why.h"

/* How long a peer is asked to wait when the application takes its time:
 * CMA_CM_MRA_SETTING of the kernel. */
#define MRA_TIMEOUT 24

/* ---- the peer's parameters, for INIT_QP_ATTR and the event ---- */

static void put_conn(struct rdma_ucm_conn_param *conn, const u8 *data,
		     u32 bytes)
{
	memcpy(conn->private_data, data, bytes);
	conn->private_data_len = (u8)bytes;
}

static void learn_req(struct ucma_id *id, const struct ur_cm_event *event)
{
	const struct ur_cm_req *req = &event->mad->u.req;

	id->remote_qpn = req->local_qpn;
	id->remote_psn = req->starting_psn;
	id->path_mtu = req->path_mtu;
	id->responder_resources = req->initiator_depth;
	id->initiator_depth = req->responder_resources;
	id->retry_count = req->retry_count;
	id->rnr_retry_count = req->rnr_retry_count;
	id->ack_timeout = req->primary.ack_timeout;
	id->flow_label = req->primary.flow_label;
	id->tos = req->primary.traffic_class;
	id->tos_set = true;
	id->connected_once = true;
}

static void learn_rep(struct ucma_id *id, const struct ur_cm_rep *rep)
{
	id->remote_qpn = rep->local_qpn ? rep->local_qpn : rep->local_eecn;
	id->remote_psn = rep->starting_psn;
	id->responder_resources = rep->initiator_depth;
	id->initiator_depth = rep->responder_resources;
	id->rnr_retry_count = rep->rnr_retry_count;
	id->srq = rep->srq;
	id->connected_once = true;
}

/* ---- a request ---- */

static u8 qp_type_of(const struct ur_cm_event *event)
{
	const struct ur_cm_req *req = &event->mad->u.req;

	if (event->type == UR_CM_EVENT_SIDR_REQ)
		return UR_QPT_UD;
	switch (req->transport_type) {
	case UR_CM_TRANSPORT_UC:
		return UR_QPT_UC;
	case UR_CM_TRANSPORT_EXTENDED:
		return UR_QPT_XRC_TGT;
	default:
		return UR_QPT_RC;
	}
}

static bool acceptable(const struct ucma_id *listener,
		       const struct ur_cm_event *event)
{
	bool ud = event->type == UR_CM_EVENT_SIDR_REQ;

	if (ud != (listener->qp_type == UR_QPT_UD))
		return false;
	if (listener->src.sa.sa_family == AF_IB)
		return true;
	if (!event->has_ip)
		return false;
	/* 127.0.0.1 is reachable only from the same address. */
	if (event->ip.ip_version == 4 && event->ip.dst[12] == 127 &&
	    memcmp(event->path->sgid, event->path->dgid, 16))
		return false;
	return true;
}

static void set_addresses(struct ucma_id *id, const struct ucma_id *listener,
			  const struct ur_cm_event *event)
{
	u16 port = ucma_sa_port(&listener->src);

	if (!event->has_ip) {
		id->src = listener->src;
		memcpy(id->src.ib.sib_addr, event->path->sgid, 16);
		id->dst = id->src;
		memcpy(id->dst.ib.sib_addr, event->path->dgid, 16);
		return;
	}
	ucma_sa_from_gid(&id->src, event->ip.ip_version, event->ip.dst, port);
	ucma_sa_from_gid(&id->dst, event->ip.ip_version, event->ip.src,
			 event->ip.src_port);
	if (event->ip.ip_version != 6)
		return;
	if (IN6_IS_ADDR_LINKLOCAL(&id->src.in6.sin6_addr))
		id->src.in6.sin6_scope_id = id->dev->ifindex;
	if (IN6_IS_ADDR_LINKLOCAL(&id->dst.in6.sin6_addr))
		id->dst.in6.sin6_scope_id = id->dev->ifindex;
}

static struct ucma_id *new_child(struct ucma_id *listener,
				 struct ur_device *dev, struct ur_cm_id *cm,
				 const struct ur_cm_event *event)
{
	struct ucma_id *id;

	id = ucma_id_new(listener->file, listener->ps, qp_type_of(event));
	if (!id)
		return NULL;
	id->state = UCMA_CONNECT;
	id->cm = cm;
	id->dev = dev;
	id->sgid_index = event->path->sgid_index;
	id->hop_limit = UCMA_HOP_LIMIT;
	id->has_path = true;
	id->reuse_addr = listener->reuse_addr;
	memcpy(id->sgid, event->path->sgid, 16);
	memcpy(id->dgid, event->path->dgid, 16);
	set_addresses(id, listener, event);
	return id;
}

static void fill_request(struct ucma_event *ue, struct ucma_id *id,
			 const struct ur_cm_event *event)
{
	u32 bytes, skip = event->has_ip ? UR_IP_CM_BYTES : 0;
	const u8 *data = ur_cm_mad_private(event->mad, &bytes);
	struct rdma_ucm_conn_param *conn = &ue->resp.param.conn;
	struct rdma_ucm_ud_param *ud = &ue->resp.param.ud;

	if (event->type == UR_CM_EVENT_SIDR_REQ) {
		memcpy(ud->private_data, data + skip, bytes - skip);
		ud->private_data_len = (u8)(bytes - skip);
		return;
	}
	put_conn(conn, data + skip, bytes - skip);
	conn->responder_resources = id->responder_resources;
	conn->initiator_depth = id->initiator_depth;
	conn->flow_control = event->mad->u.req.flow_control;
	conn->retry_count = id->retry_count;
	conn->rnr_retry_count = id->rnr_retry_count;
	conn->srq = event->mad->u.req.srq;
	conn->qp_num = id->remote_qpn;
	ue->resp.ece.vendor_id = event->mad->u.req.vendor_id;
	ue->resp.ece.attr_mod = event->mad->attr_mod;
}

/* Returns the id of this host that sent the request, or NULL. */
static const struct ucma_id *asker(const struct ur_ucma *ucma,
				   const struct ur_cm_event *event)
{
	u32 number = event->type == UR_CM_EVENT_SIDR_REQ
			     ? event->mad->u.sidr_req.request_id
			     : event->mad->u.req.local_comm_id;

	for (u32 i = 0; i < UCMA_ID_MAX; i++) {
		const struct ucma_id *id = ucma->ids.slot[i];

		if (id && id->cm && ur_cm_id_local_comm_id(id->cm) == number &&
		    !memcmp(id->sgid, event->path->dgid, 16))
			return id;
	}
	return NULL;
}

/* Returns whether the request may reach the listener, where users are isolated. A request
 * from this host must come from the same user, who is known, since only this process sends
 * from our addresses. */
static bool may_ask(const struct ur_ucma *ucma, const struct ucma_id *listener,
		    const struct ur_cm_event *event)
{
	const struct ucma_id *from;

	if (!ucma->daemon->by_user)
		return true;
	ur_list_each(struct ur_device, dev, &ucma->daemon->devices, node) {
		for (u32 i = 0; i < UR_GID_MAX; i++) {
			const struct ur_gid *g = ur_gid_get(dev, i);

			if (!g || memcmp(g->gid, event->path->dgid, 16))
				continue;
			from = asker(ucma, event);
			return from && from->user == listener->user;
		}
	}
	return true;
}

/* Rejects the request if a fault rule says so, as an application could. */
static bool refuses(struct ur_device *dev, struct ur_cm_id *cm,
		    const struct ur_cm_event *event)
{
	u64 reason;

	if (!ur_fault_of_device(dev, UR_FAULT_CM_REJECT, &reason))
		return false;
	if (event->type == UR_CM_EVENT_REQ)
		ur_cm_send_rej(
			cm, reason ? (u16)reason : UR_CM_REJ_CONSUMER_DEFINED,
			NULL, 0, NULL, 0);
	ur_cm_id_destroy(cm);
	return true;
}

static void on_request(struct ur_ucma *ucma, struct ur_cm_id *cm,
		       const struct ur_cm_event *event)
{
	struct ucma_id *listener = ur_cm_id_ctx(event->listener), *id;
	struct ur_device *dev =
		ucma_device_by_index(ucma->daemon, event->path->port);
	struct ucma_event *ue;

	if (!dev || !acceptable(listener, event) ||
	    !may_ask(ucma, listener, event)) {
		ur_cm_id_destroy(cm);
		return;
	}
	if (refuses(dev, cm, event))
		return;
	id = new_child(listener, dev, cm, event);
	if (!id) {
		/* Without a reply: the peer repeats the request. */
		ur_cm_id_abandon(cm);
		return;
	}
	ur_cm_id_set_ctx(cm, id);
	ue = ucma_event_new(listener, UCMA_EVENT_CONNECT_REQUEST, 0);
	if (!ue) {
		id->cm = NULL;
		ucma_id_free(id);
		ur_cm_id_abandon(cm);
		return;
	}
	if (event->type == UR_CM_EVENT_REQ) {
		learn_req(id, event);
		ur_cm_send_mra(cm, MRA_TIMEOUT, true, NULL, 0);
	} else {
		ucma_set_path(id);
	}
	ue->child = id;
	id->unreported = true;
	ue->resp.id = id->number;
	fill_request(ue, id, event);
	ucma_event_post(ue);
}

/* ---- everything else ---- */

static void on_rep(struct ucma_id *id, const struct ur_cm_event *event)
{
	const struct ur_cm_rep *rep = &event->mad->u.rep;
	struct ucma_event *ue =
		ucma_event_new(id, UCMA_EVENT_CONNECT_RESPONSE, 0);
	struct rdma_ucm_conn_param *conn;

	learn_rep(id, rep);
	if (!ue)
		return;
	conn = &ue->resp.param.conn;
	put_conn(conn, rep->private_data, UR_CM_REP_PRIVATE);
	conn->responder_resources = id->responder_resources;
	conn->initiator_depth = id->initiator_depth;
	conn->flow_control = rep->flow_control;
	conn->rnr_retry_count = rep->rnr_retry_count;
	conn->srq = rep->srq;
	conn->qp_num = id->remote_qpn;
	ue->resp.ece.vendor_id = rep->vendor_id;
	ue->resp.ece.attr_mod = event->mad->attr_mod;
	ucma_event_post(ue);
}

/* Records why a connection failed, for `uroce why`. */
static void remember(const struct ucma_id *id, u32 event, int status)
{
	struct ur_why y = {.cm = true,
			   .event = event,
			   .status = status,
			   .failure.at = ur_loop_now()};

	snprintf(y.device, sizeof(y.device), "%s",
		 id->dev ? id->dev->name : "no device");
	ucma_sa_print(y.dst, sizeof(y.dst), &id->dst);
	ur_why_keep(id->file->session, &y);
}

static void unreachable(struct ucma_id *id, int status)
{
	remember(id, UCMA_EVENT_UNREACHABLE, status);
	ucma_event_simple(id, UCMA_EVENT_UNREACHABLE, status);
}

struct ucma_event *ucma_resolved_event(struct ucma_id *id)
{
	struct ucma_event *ue = ucma_event_new(id, UCMA_EVENT_ESTABLISHED, 0);
	struct rdma_ucm_ud_param *ud;

	if (!ue)
		return NULL;
	ud = &ue->resp.param.ud;
	ud->qp_num = id->remote_qpn;
	ud->qkey = id->qkey;
	memcpy(ud->ah_attr.grh.dgid, id->dgid, 16);
	ud->ah_attr.grh.sgid_index = (u8)id->sgid_index;
	ud->ah_attr.grh.hop_limit = id->hop_limit;
	ud->ah_attr.grh.traffic_class = id->tos;
	ud->ah_attr.grh.flow_label = id->flow_label;
	ud->ah_attr.sl = id->tos >> 5;
	ud->ah_attr.is_global = 1;
	ud->ah_attr.port_num = 1;
	return ue;
}

static void on_sidr_rep(struct ucma_id *id, const struct ur_cm_event *event)
{
	const struct ur_cm_sidr_rep *rep = &event->mad->u.sidr_rep;
	struct ucma_event *ue;
	struct rdma_ucm_ud_param *ud;

	if (event->status) {
		unreachable(id, event->status);
		return;
	}
	id->qkey = rep->qkey;
	id->remote_qpn = rep->qpn;
	ue = ucma_resolved_event(id);
	if (!ue)
		return;
	ud = &ue->resp.param.ud;
	memcpy(ud->private_data, rep->private_data, UR_CM_SIDR_REP_PRIVATE);
	ud->private_data_len = UR_CM_SIDR_REP_PRIVATE;
	ucma_event_post(ue);
}

static void on_rej(struct ucma_id *id, const struct ur_cm_event *event)
{
	struct ucma_event *ue =
		ucma_event_new(id, UCMA_EVENT_REJECTED, event->status);

	remember(id, UCMA_EVENT_REJECTED, event->status);
	if (!ue)
		return;
	put_conn(&ue->resp.param.conn, event->mad->u.rej.private_data,
		 UR_CM_REJ_PRIVATE);
	ucma_event_post(ue);
}

static void on_disconnected(struct ucma_id *id, int status)
{
	id->state = UCMA_DISCONNECT;
	ucma_event_simple(id, UCMA_EVENT_DISCONNECTED, status);
}

void ucma_cm_event(void *ctx, struct ur_cm_id *cm,
		   const struct ur_cm_event *event)
{
	struct ucma_id *id = ur_cm_id_ctx(cm);

	if (event->type == UR_CM_EVENT_REQ ||
	    event->type == UR_CM_EVENT_SIDR_REQ) {
		on_request(ctx, cm, event);
		return;
	}
	ucma_cache_void(id);
	/* The end of a connection is reported once. */
	if (id->state != (event->type == UR_CM_EVENT_TIMEWAIT_EXIT
				  ? UCMA_DISCONNECT
				  : UCMA_CONNECT))
		return;
	switch (event->type) {
	case UR_CM_EVENT_REP:
		on_rep(id, event);
		return;
	case UR_CM_EVENT_RTU:
	case UR_CM_EVENT_USER_ESTABLISHED:
		ucma_event_simple(id, UCMA_EVENT_ESTABLISHED, 0);
		return;
	case UR_CM_EVENT_REJ:
		on_rej(id, event);
		return;
	case UR_CM_EVENT_REQ_ERROR:
	case UR_CM_EVENT_REP_ERROR:
	case UR_CM_EVENT_SIDR_REQ_ERROR:
		unreachable(id, event->status);
		return;
	case UR_CM_EVENT_DREQ:
	case UR_CM_EVENT_DREP:
	case UR_CM_EVENT_DREQ_ERROR:
		on_disconnected(id, event->status);
		return;
	case UR_CM_EVENT_TIMEWAIT_EXIT:
		ucma_event_simple(id, UCMA_EVENT_TIMEWAIT_EXIT, 0);
		return;
	case UR_CM_EVENT_SIDR_REP:
		on_sidr_rep(id, event);
		return;
	default:
		return;
	}
}

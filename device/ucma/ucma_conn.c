// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connect, listen, accept, reject, disconnect, notify. */
#include <errno.h>
#include <string.h>

#include "engine/ground/limits.h"
#include "device/ucma/ucma.h"

/* As in the kernel's rdma_cm: CMA_CM_RESPONSE_TIMEOUT, CMA_MAX_CM_RETRIES, and the ack
 * timeout that ib_cm computes from CMA_IBOE_PACKET_LIFETIME (round trip; the CA's delay is
 * shorter). */
#define RESPONSE_TIMEOUT 20
#define MAX_CM_RETRIES	 15
#define ACK_TIMEOUT	 17

static u64 service_id(const struct ucma_id *id, const union ur_sa *addr)
{
	if (addr->sa.sa_family == AF_IB)
		return ur_get_be64(&addr->ib.sib_sid);
	return ur_ip_cm_service_id(id->ps, ucma_sa_port(addr));
}

/* Writes the IP CM header, followed by the client's private data. */
static int put_data(const struct ucma_id *id, u8 *to, u32 room,
		    const struct rdma_ucm_conn_param *param)
{
	struct ur_ip_cm ip;
	u32 at = 0;

	if (id->src.sa.sa_family != AF_IB) {
		ip.ip_version = id->src.sa.sa_family == AF_INET ? 4 : 6;
		ip.src_port = ucma_sa_port(&id->src);
		ucma_sa_to_gid(&id->src, ip.src);
		ucma_sa_to_gid(&id->dst, ip.dst);
		ur_ip_cm_build(&ip, to);
		at = UR_IP_CM_BYTES;
	}
	if (param->private_data_len > room - at)
		return -EINVAL;
	memcpy(to + at, param->private_data, param->private_data_len);
	return 0;
}

static void set_transport(const struct ucma_id *id, struct ur_cm_req *req)
{
	switch (id->qp_type) {
	case UR_QPT_UC:
		req->transport_type = UR_CM_TRANSPORT_UC;
		return;
	case UR_QPT_XRC_INI:
	case UR_QPT_XRC_TGT:
		req->transport_type = UR_CM_TRANSPORT_EXTENDED;
		req->ext_transport_type = 1;
		return;
	default:
		req->transport_type = UR_CM_TRANSPORT_RC;
	}
}

static u8 at_most(u32 v, u32 max)
{
	return (u8)(v < max ? v : max);
}

static int connect_rc(struct ucma_id *id,
		      const struct rdma_ucm_conn_param *param)
{
	struct ur_cm_path path = ucma_cm_path(id);
	struct ur_cm_req req = {
		.vendor_id = id->ece.vendor_id & 0xffffff,
		.service_id = service_id(id, &id->dst),
		.local_ca_guid = id->dev->node_guid,
		.local_qpn = param->qp_num & 0xffffff,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.remote_response_timeout = RESPONSE_TIMEOUT,
		.flow_control = !!param->flow_control,
		.starting_psn = id->seq,
		.local_response_timeout = RESPONSE_TIMEOUT,
		.retry_count = at_most(param->retry_count, 7),
		.pkey = 0xffff,
		.path_mtu = id->path_mtu,
		.rnr_retry_count = at_most(param->rnr_retry_count, 7),
		.max_cm_retries = MAX_CM_RETRIES,
		.srq = !!param->srq,
		.primary = {.local_lid = 0xffff,
			    .remote_lid = 0xffff,
			    .flow_label = id->flow_label,
			    .traffic_class = id->tos,
			    .hop_limit = id->hop_limit,
			    .sl = path.sl,
			    .ack_timeout = ACK_TIMEOUT},
	};
	int err;

	memcpy(req.primary.local_gid, id->sgid, 16);
	memcpy(req.primary.remote_gid, id->dgid, 16);
	set_transport(id, &req);
	err = put_data(id, req.private_data, UR_CM_REQ_PRIVATE, param);
	if (err)
		return err;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	id->retry_count = req.retry_count;
	id->rnr_retry_count = req.rnr_retry_count;
	id->ack_timeout = ACK_TIMEOUT;
	return ur_cm_send_req(id->cm, &path, &req);
}

static int resolve_ud(struct ucma_id *id,
		      const struct rdma_ucm_conn_param *param)
{
	struct ur_cm_path path = ucma_cm_path(id);
	struct ur_cm_sidr_req req = {.pkey = 0xffff,
				     .service_id = service_id(id, &id->dst)};
	int err;

	err = put_data(id, req.private_data, UR_CM_SIDR_REQ_PRIVATE, param);
	if (err)
		return err;
	return ur_cm_send_sidr_req(id->cm, &path, &req,
				   1u << (RESPONSE_TIMEOUT - 8),
				   MAX_CM_RETRIES);
}

int ucma_connect(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_connect *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	int err;

	if (!in->conn_param.valid || !id || !id->dev)
		return -EINVAL;
	if (id->state != UCMA_ROUTE_RESOLVED || id->cm)
		return -EINVAL;
	id->ece = in->ece;
	id->qp_num = in->conn_param.qp_num & 0xffffff;
	id->srq = in->conn_param.srq;
	id->cm = ur_cm_id_create(ucma_of(cmd->file)->cm, id);
	if (!id->cm)
		return -ENOMEM;
	ur_cm_set_attr_mod(id->cm, id->ece.attr_mod);
	id->state = UCMA_CONNECT;
	err = id->qp_type == UR_QPT_UD ? resolve_ud(id, &in->conn_param)
				       : connect_rc(id, &in->conn_param);
	if (err) {
		ucma_cm_drop(id);
		id->state = UCMA_ROUTE_RESOLVED;
		return err;
	}
	cmd->file->spare_ps = id->ps;
	cmd->file->spare_qp_type = id->qp_type;
	return 0;
}

/* Returns the requests that a listener on id->src accepts. */
static struct ur_cm_match match_of(const struct ucma_id *id)
{
	struct ur_cm_match m = {.any_port = true};

	if (id->src.sa.sa_family == AF_IB)
		return m;
	m.ip_version = id->src.sa.sa_family == AF_INET ? 4 : 6;
	m.any_addr = ucma_sa_any(&id->src);
	m.v6_only = id->af_only;
	ucma_sa_to_gid(&id->src, m.addr);
	/* A link-local address belongs to one device. */
	if (id->dev && id->src.sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&id->src.in6.sin6_addr)) {
		m.any_port = false;
		m.port = id->dev->index;
	}
	return m;
}

int ucma_begin_listen(struct ucma_id *id)
{
	struct ur_cm_match match = match_of(id);
	int err;

	id->cm = ur_cm_id_create(ucma_of(id->file)->cm, id);
	if (!id->cm)
		return -ENOMEM;
	err = ur_cm_listen(id->cm, service_id(id, &id->src), &match,
			   id->backlog);
	if (err) {
		ucma_cm_drop(id);
		return err;
	}
	id->state = UCMA_LISTEN;
	return 0;
}

int ucma_listen(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_listen *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	union ur_sa any = {.in = {.sin_family = AF_INET}};
	u32 backlog;
	int err;

	if (!id)
		return -EINVAL;
	if (id->state == UCMA_IDLE) {
		err = ucma_bind_addr(id, &any);
		if (err)
			return err;
	}
	if (id->state != UCMA_BOUND)
		return -EINVAL;
	err = ucma_port_listen(id);
	if (err)
		return err;
	backlog = in->backlog;
	if (!backlog || backlog > UCMA_BACKLOG_MAX)
		backlog = UCMA_BACKLOG_MAX;
	id->backlog = backlog;
	return ucma_begin_listen(id);
}

static int accept_rc(struct ucma_id *id,
		     const struct rdma_ucm_conn_param *param)
{
	bool xrc =
		id->qp_type == UR_QPT_XRC_TGT || id->qp_type == UR_QPT_XRC_INI;
	u32 qpn = param->qp_num & 0xffffff;
	struct ur_cm_rep rep = {
		.local_qpn = xrc ? 0 : qpn,
		.local_eecn = xrc ? qpn : 0,
		.vendor_id = id->ece.vendor_id & 0xffffff,
		.starting_psn = id->seq,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.target_ack_delay = UR_CA_ACK_DELAY,
		.flow_control = !!param->flow_control,
		.rnr_retry_count = at_most(param->rnr_retry_count, 7),
		.srq = !!param->srq,
		.local_ca_guid = id->dev->node_guid,
	};

	if (param->private_data_len > UR_CM_REP_PRIVATE)
		return -EINVAL;
	memcpy(rep.private_data, param->private_data, param->private_data_len);
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	ur_cm_set_attr_mod(id->cm, id->ece.attr_mod);
	return ur_cm_send_rep(id->cm, &rep);
}

static int accept_ud(struct ucma_id *id,
		     const struct rdma_ucm_conn_param *param)
{
	struct ur_cm_sidr_rep rep = {.status = UR_CM_SIDR_SUCCESS,
				     .vendor_id = id->ece.vendor_id & 0xffffff,
				     .qpn = id->qp_num,
				     .qkey = id->qkey};

	if (param->valid) {
		if (param->private_data_len > UR_CM_SIDR_REP_PRIVATE)
			return -EINVAL;
		memcpy(rep.private_data, param->private_data,
		       param->private_data_len);
		if (param->qkey)
			rep.qkey = param->qkey;
	}
	if (!rep.qkey)
		rep.qkey = UR_IP_CM_UDP_QKEY;
	id->qkey = rep.qkey;
	return ur_cm_send_sidr_rep(id->cm, &rep);
}

int ucma_accept(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_accept *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	int err;

	if (!id || !id->dev || !id->cm || id->state != UCMA_CONNECT)
		return -EINVAL;
	if (in->conn_param.valid) {
		id->ece = in->ece;
		id->qp_num = in->conn_param.qp_num & 0xffffff;
		id->srq = in->conn_param.srq;
	}
	if (id->qp_type == UR_QPT_UD)
		err = accept_ud(id, &in->conn_param);
	else if (in->conn_param.valid)
		err = accept_rc(id, &in->conn_param);
	else
		err = ur_cm_send_rtu(id->cm, NULL, 0);
	if (err)
		return err;
	/* From now on events carry the program's own uid. */
	if (in->conn_param.valid && in->uid)
		id->uid = in->uid;
	return 0;
}

int ucma_reject(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_reject *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	struct ur_cm_sidr_rep rep = {.status = UR_CM_SIDR_REJECT};
	u16 reason = in->reason ? in->reason : UR_CM_REJ_CONSUMER_DEFINED;

	if (reason != UR_CM_REJ_CONSUMER_DEFINED &&
	    reason != UR_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	if (!id || !id->dev || !id->cm)
		return -EINVAL;
	if (id->qp_type != UR_QPT_UD)
		return ur_cm_send_rej(id->cm, reason, NULL, 0, in->private_data,
				      in->private_data_len);
	if (in->private_data_len > UR_CM_SIDR_REP_PRIVATE)
		return -EINVAL;
	memcpy(rep.private_data, in->private_data, in->private_data_len);
	return ur_cm_send_sidr_rep(id->cm, &rep);
}

int ucma_disconnect(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_disconnect *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);

	if (!id || !id->dev || !id->cm)
		return -EINVAL;
	/* The state decides which is sent; failure of both is no error of the client. */
	if (ur_cm_send_dreq(id->cm, NULL, 0))
		ur_cm_send_drep(id->cm, NULL, 0);
	return 0;
}

int ucma_notify(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_notify *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	int err;

	if (!id || !id->cm)
		return -EINVAL;
	if (in->event != UR_EVENT_COMM_EST)
		return -EINVAL;
	err = ur_cm_notify_established(id->cm);
	return err == -EISCONN ? 0 : err;
}

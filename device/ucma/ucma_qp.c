// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * INIT_QP_ATTR: the attributes that take a client's queue pair to INIT, RTR and RTS for its
 * connection, as in rdma_init_qp_attr() of the kernel.
 */
#include <errno.h>
#include <string.h>

#include "device/ucma/ucma.h"

static bool requests(const struct ucma_id *id)
{
	return id->qp_type == UR_QPT_RC || id->qp_type == UR_QPT_XRC_INI;
}

static bool responds(const struct ucma_id *id)
{
	return id->qp_type == UR_QPT_RC || id->qp_type == UR_QPT_XRC_TGT;
}

static void init_attr(struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask =
		UR_QP_ATTR_STATE | UR_QP_ATTR_PKEY_INDEX | UR_QP_ATTR_PORT;
	attr->port_num = 1;
	if (id->qp_type == UR_QPT_UD) {
		if (!id->qkey)
			id->qkey = UR_IP_CM_UDP_QKEY;
		attr->qp_attr_mask |= UR_QP_ATTR_QKEY;
		attr->qkey = id->qkey;
		return;
	}
	attr->qp_attr_mask |= UR_QP_ATTR_ACCESS_FLAGS;
	if (!id->cm)
		return;
	attr->qp_access_flags = UR_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |=
			UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC;
}

static void put_av(const struct ucma_id *id, struct ib_uverbs_ah_attr *ah)
{
	memcpy(ah->grh.dgid, id->dgid, 16);
	ah->grh.flow_label = id->flow_label;
	ah->grh.sgid_index = (u8)id->sgid_index;
	ah->grh.hop_limit = id->hop_limit;
	ah->grh.traffic_class = id->tos;
	ah->sl = id->tos >> 5;
	ah->is_global = 1;
	ah->port_num = 1;
}

static void rtr_attr(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = UR_QP_ATTR_STATE | UR_QP_ATTR_AV |
			     UR_QP_ATTR_PATH_MTU | UR_QP_ATTR_DEST_QPN |
			     UR_QP_ATTR_RQ_PSN;
	put_av(id, &attr->ah_attr);
	attr->path_mtu = id->path_mtu;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->seq;
	if (!responds(id))
		return;
	attr->qp_attr_mask |=
		UR_QP_ATTR_MAX_DEST_RD_ATOMIC | UR_QP_ATTR_MIN_RNR_TIMER;
	attr->max_dest_rd_atomic = id->responder_resources;
}

static void rts_attr(const struct ucma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = UR_QP_ATTR_STATE | UR_QP_ATTR_SQ_PSN;
	attr->sq_psn = id->remote_psn;
	if (!requests(id)) {
		if (id->qp_type == UR_QPT_XRC_TGT) {
			attr->qp_attr_mask |= UR_QP_ATTR_TIMEOUT;
			attr->timeout = id->ack_timeout;
		}
		return;
	}
	attr->qp_attr_mask |= UR_QP_ATTR_RETRY_CNT | UR_QP_ATTR_RNR_RETRY |
			      UR_QP_ATTR_MAX_QP_RD_ATOMIC | UR_QP_ATTR_TIMEOUT;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->max_rd_atomic = id->initiator_depth;
	attr->timeout = id->timeout_set ? id->timeout : id->ack_timeout;
}

int ucma_init_qp_attr(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_init_qp_attr *in = cmd->in;
	struct ib_uverbs_qp_attr *attr = (void *)cmd->out;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);

	if (in->qp_state > 6) /* IBV_QPS_ERR */
		return -EINVAL;
	if (!id || !id->dev)
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	/* Before there is a connection, and for UD, only INIT has meaning;
	 * the kernel answers other states the same way. */
	if (in->qp_state == UR_QP_INIT || id->qp_type == UR_QPT_UD || !id->cm)
		init_attr(id, attr);
	else if (!id->connected_once)
		return -EINVAL;
	else if (in->qp_state == UR_QP_RTR)
		rtr_attr(id, attr);
	else if (in->qp_state == UR_QP_RTS)
		rts_attr(id, attr);
	else
		return -EINVAL;
	attr->qp_state = in->qp_state;
	cmd->out_len = sizeof(*attr);
	return 0;
}

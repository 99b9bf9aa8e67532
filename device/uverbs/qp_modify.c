// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MODIFY_QP and QUERY_QP: translation between the kernel's structures and the
 * transport's, and the checks that need the device (port, GID table). Which
 * attributes a transition needs is the transport's table.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/client_rights.h"
#include "device/port.h"
#include "engine/ground/limits.h"
#include "device/uverbs/obj_mr.h"
#include "device/uverbs/obj_qp.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/qp_class.h"
#include "device/uverbs/static_rate.h"
#include "device/uverbs/uverbs_cmd.h"
#include "device/report/why.h"

#define KNOWN_MASK                                                         \
	(UR_QP_ATTR_STATE | UR_QP_ATTR_CUR_STATE |                         \
	 UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY | UR_QP_ATTR_ACCESS_FLAGS |        \
	 UR_QP_ATTR_PKEY_INDEX | UR_QP_ATTR_PORT | UR_QP_ATTR_QKEY |       \
	 UR_QP_ATTR_AV | UR_QP_ATTR_PATH_MTU | UR_QP_ATTR_TIMEOUT |        \
	 UR_QP_ATTR_RETRY_CNT | UR_QP_ATTR_RNR_RETRY | UR_QP_ATTR_RQ_PSN | \
	 UR_QP_ATTR_MAX_QP_RD_ATOMIC | UR_QP_ATTR_ALT_PATH |               \
	 UR_QP_ATTR_MIN_RNR_TIMER | UR_QP_ATTR_SQ_PSN |                    \
	 UR_QP_ATTR_MAX_DEST_RD_ATOMIC | UR_QP_ATTR_PATH_MIG_STATE |       \
	 UR_QP_ATTR_CAP | UR_QP_ATTR_DEST_QPN | UR_QP_ATTR_RATE_LIMIT)

static u32 mtu_bytes(u32 mtu_enum)
{
	return mtu_enum >= 1 && mtu_enum <= 5 ? 128u << mtu_enum : 0;
}

static int path_from_dest(struct ur_device *dev,
			  const struct ib_uverbs_qp_dest *d,
			  struct ur_epath *path, u64 *bps)
{
	struct ib_uverbs_ah_attr ah = {
		.grh = {.flow_label = d->flow_label,
			.sgid_index = d->sgid_index,
			.hop_limit = d->hop_limit,
			.traffic_class = d->traffic_class},
		.sl = d->sl,
		.is_global = d->is_global,
		.port_num = d->port_num,
	};

	int err;

	memcpy(ah.grh.dgid, d->dgid, 16);
	err = ur_path_from_ah(dev, &ah, path);
	if (err)
		return err;
	path->static_rate = d->static_rate;
	return ur_static_rate_bps(d->static_rate, bps);
}

static int check_values(struct ur_device *dev,
			const struct ib_uverbs_modify_qp *r)
{
	u32 mask = r->attr_mask;

	if (mask & ~KNOWN_MASK)
		return -EOPNOTSUPP;
	if ((mask & UR_QP_ATTR_PORT) && r->port_num != 1)
		return -EINVAL;
	if ((mask & UR_QP_ATTR_PKEY_INDEX) && r->pkey_index)
		return -EINVAL;
	/* Some rights mean nothing for a queue pair, but programs pass the rights of their
	 * regions. */
	if ((mask & UR_QP_ATTR_ACCESS_FLAGS) &&
	    !ur_access_known(r->qp_access_flags))
		return -EINVAL;
	if ((mask & UR_QP_ATTR_CUR_STATE) && r->cur_qp_state > UR_QP_ERR)
		return -EINVAL;
	if ((mask & UR_QP_ATTR_STATE) && r->qp_state > UR_QP_ERR)
		return -EINVAL;
	if ((mask & UR_QP_ATTR_MAX_QP_RD_ATOMIC) &&
	    r->max_rd_atomic > dev->daemon->limits.max_init_rd_atom)
		return -EINVAL;
	if ((mask & UR_QP_ATTR_MAX_DEST_RD_ATOMIC) &&
	    r->max_dest_rd_atomic > dev->daemon->limits.max_rd_atom)
		return -EINVAL;
	if (mask & UR_QP_ATTR_PATH_MTU) {
		u32 mtu = mtu_bytes(r->path_mtu);

		if (!mtu || mtu > dev->mtu_bytes)
			return -EINVAL;
	}
	/* Path migration and resizing are not supported, and not claimed in the device
	 * attributes. */
	if (mask & UR_QP_ATTR_CAP)
		return -EINVAL;
	if (mask & UR_QP_ATTR_ALT_PATH)
		return -EOPNOTSUPP;
	return 0;
}

/* Only a privileged program may set a controlled Q_Key, IBTA volume 1, 10.2.5; so in Linux
 * since 6.5 (commit 0cadb4db79e1). A controlled Q_Key in a work request stands for the
 * queue pair's own (transport/ud.c). */
static bool may_set_qkey(struct ur_cmd *cmd,
			 const struct ib_uverbs_modify_qp *r)
{
	return !(r->attr_mask & UR_QP_ATTR_QKEY) ||
	       !(r->qkey & UR_QKEY_PRIVILEGED) ||
	       ur_client_may_raw(cmd->file->session);
}

/* Returns whether the command does more than end a RoCE queue pair, which mlx5 refuses when
 * RoCE is off. */
static bool raises(const struct ur_obj_qp *qp,
		   const struct ib_uverbs_modify_qp *r)
{
	bool ends = (r->attr_mask & UR_QP_ATTR_STATE) &&
		    (r->qp_state == UR_QP_RESET || r->qp_state == UR_QP_ERR);

	return qp->type != UR_QPT_RAW_PACKET && !ends;
}

int ur_qp_modify_by(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		    const struct ib_uverbs_modify_qp *r, u32 rate_limit)
{
	struct ur_epath path;
	struct ur_qp_attr attr = {
		.state = (enum ur_qp_state)r->qp_state,
		.cur_state = (enum ur_qp_state)r->cur_qp_state,
		.path_mtu = mtu_bytes(r->path_mtu),
		.qkey = r->qkey,
		.rq_psn = r->rq_psn & 0xffffff,
		.sq_psn = r->sq_psn & 0xffffff,
		.dest_qpn = r->dest_qp_num & 0xffffff,
		.access = r->qp_access_flags,
		.pkey_index = r->pkey_index,
		.port_num = r->port_num,
		.max_rd_atomic = r->max_rd_atomic,
		.max_dest_rd_atomic = r->max_dest_rd_atomic,
		.min_rnr_timer = r->min_rnr_timer,
		.timeout = r->timeout,
		.retry_cnt = r->retry_cnt,
		.rnr_retry = r->rnr_retry,
		.en_sqd_async_notify = r->en_sqd_async_notify,
		.path_mig_state = r->path_mig_state,
		.rate_limit = rate_limit,
	};
	int err = check_values(cmd->dev, r);

	if (!err && cmd->dev->roce_off && raises(qp, r))
		err = -EOPNOTSUPP;
	if (!err && (r->attr_mask & UR_QP_ATTR_AV))
		err = path_from_dest(cmd->dev, &r->dest, &path,
				     &attr.static_bps);
	if (err)
		return err;
	if (r->attr_mask & UR_QP_ATTR_AV)
		path.nobodys = ur_engine_is_nobodys(cmd->dev->engine, path.dgid,
						    attr.dest_qpn);
	if ((r->attr_mask & UR_QP_ATTR_STATE) && r->qp_state == UR_QP_RESET)
		ur_why_keep_qp(qp);
	err = ur_qpc_modify(qp->qpc, &attr,
			    r->attr_mask & UR_QP_ATTR_AV ? &path : NULL,
			    r->attr_mask);
	if (!err && (r->attr_mask & UR_QP_ATTR_AV))
		ur_qp_class_apply(cmd->dev, qp);
	return err;
}

static int modify_qp(struct ur_cmd *cmd, const struct ib_uverbs_modify_qp *r,
		     u32 rate_limit)
{
	struct ur_obj_qp *qp;

	if (!may_set_qkey(cmd, r))
		return -EPERM;
	qp = ur_qp_get(cmd->file, r->qp_handle);
	return qp ? ur_qp_modify_by(cmd, qp, r, rate_limit) : -EINVAL;
}

int ur_w_modify_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_modify_qp *req = in;

	if (req->attr_mask & UR_QP_ATTR_RATE_LIMIT)
		return -EOPNOTSUPP; /* only in the extended command */
	return modify_qp(cmd, req, 0);
}

int ur_x_modify_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_modify_qp *req = in;
	struct ib_uverbs_ex_modify_qp_resp *resp = out;

	if (req->reserved)
		return -EOPNOTSUPP;
	if ((req->base.attr_mask & UR_QP_ATTR_RATE_LIMIT) &&
	    req->rate_limit > UR_MAX_RATE_KBPS)
		return -EINVAL;
	resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	return modify_qp(cmd, &req->base, req->rate_limit);
}

static void fill_dest(struct ib_uverbs_qp_dest *d, const struct ur_epath *p)
{
	memcpy(d->dgid, p->dgid, 16);
	d->flow_label = p->flow_label;
	d->sgid_index = (u8)p->sgid_index;
	d->hop_limit = p->hop_limit;
	d->traffic_class = p->traffic_class;
	d->sl = p->sl;
	d->static_rate = p->static_rate;
	d->is_global = 1;
	d->port_num = 1;
}

int ur_w_query_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_query_qp *req = in;
	struct ib_uverbs_query_qp_resp *r = out;
	struct ur_obj_qp *qp = ur_qp_get(cmd->file, req->qp_handle);
	const struct ur_qp_attr *attr;
	const struct ur_qp_caps *caps;

	if (!qp)
		return -EINVAL;
	attr = &qp->qpc->attr;
	caps = &qp->qpc->caps;
	if (qp->qpc->have_path)
		fill_dest(&r->dest, &qp->qpc->path);
	r->max_send_wr = caps->max_send_wr;
	r->max_recv_wr = caps->max_recv_wr;
	r->max_send_sge = caps->max_send_sge;
	r->max_recv_sge = caps->max_recv_sge;
	r->max_inline_data = caps->max_inline;
	r->sq_sig_all = qp->qpc->sq_sig_all;
	r->qkey = attr->qkey;
	r->rq_psn = attr->rq_psn;
	r->sq_psn = attr->sq_psn;
	r->dest_qp_num = attr->dest_qpn;
	r->qp_access_flags = attr->access;
	r->pkey_index = attr->pkey_index;
	r->qp_state = (u8)attr->state;
	r->cur_qp_state = (u8)attr->state;
	r->path_mtu = (u8)ur_mtu_enum(attr->path_mtu);
	r->path_mig_state = attr->path_mig_state;
	r->sq_draining = attr->sq_draining;
	r->max_rd_atomic = attr->max_rd_atomic;
	r->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	r->min_rnr_timer = attr->min_rnr_timer;
	r->port_num = attr->port_num;
	r->timeout = attr->timeout;
	r->retry_cnt = attr->retry_cnt;
	r->rnr_retry = attr->rnr_retry;
	return 0;
}

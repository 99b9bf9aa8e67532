// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues, basic and XRC. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

#define SRQ_MAX_WR (1u << 0) /* enum ibv_srq_attr_mask */
#define SRQ_LIMIT  (1u << 1)

static int destroy_srq(struct ur_object *obj)
{
	struct ur_obj_srq *srq = ur_obj_srq_of(obj);

	ur_table_remove(&obj->file->dev->srqs, srq->srqn);
	ur_object_unuse(srq->pd);
	ur_object_unuse(srq->cq);
	ur_object_unuse(srq->xrcd);
	ur_async_put(srq->async);
	return 0;
}

static const struct ur_object_type srq_type = {
	.id = UVERBS_OBJECT_SRQ,
	.name = "shared receive queues",
	.size = sizeof(struct ur_obj_srq),
	.destroy = destroy_srq,
};

/* No srq_limit: ibv_create_srq(3) ignores it. */
struct srq_args {
	u32 type;
	u64 user_handle;
	u32 max_wr, max_sge;
	struct ur_obj_pd *pd;
	struct ur_obj_cq *cq;
	struct ur_obj_xrcd *xrcd;
	int event_fd;
};

static int check_args(const struct ur_limits *l, const struct srq_args *a)
{
	if (a->type == IB_UVERBS_SRQT_TM)
		return -EOPNOTSUPP;
	if (a->type > IB_UVERBS_SRQT_TM || !a->pd)
		return -EINVAL;
	if (a->type == IB_UVERBS_SRQT_XRC && (!a->cq || !a->xrcd))
		return -EINVAL;
	if (!a->max_wr || a->max_wr > l->max_srq_wr ||
	    a->max_sge > l->max_srq_sge)
		return -EINVAL;
	return 0;
}

static int create_srq(struct ur_cmd *cmd, const struct srq_args *a,
		      struct ur_obj_srq **ret)
{
	struct uroce_create_srq_resp udata = {0};
	struct ur_obj_async *async;
	struct ur_obj_srq *srq;
	int err = check_args(&cmd->dev->daemon->limits, a);

	if (!err && !cmd->file->slot)
		err = -EOPNOTSUPP;
	if (err)
		return err;
	err = ur_async_from_fd(cmd->file, a->event_fd, &async);
	if (err)
		return err;
	err = -ENOMEM;
	srq = ur_object_new(cmd->file, &srq_type);
	if (!srq)
		goto err_async;
	err = ur_table_add(&cmd->dev->srqs, srq, &srq->srqn);
	if (err)
		goto err_abort;
	if (a->type == IB_UVERBS_SRQT_XRC) {
		srq->cq = a->cq;
		srq->xrcd = a->xrcd;
	}
	srq->obj.user_handle = a->user_handle;
	srq->max_wr = a->max_wr;
	srq->max_sge = a->max_sge ? a->max_sge : 1;
	udata.srqn = srq->srqn;
	udata.max_wqes = srq->max_wr;
	srq->pd = a->pd;
	srq->async = async;
	ur_object_use(srq->pd);
	ur_object_use(srq->cq);
	ur_object_use(srq->xrcd);
	cmd->created = &srq->obj;
	*ret = srq;
	return ur_udata_out(cmd, &udata, sizeof(udata));
err_abort:
	ur_object_abort(&srq->obj);
err_async:
	ur_async_put(async);
	return err;
}

static void fill_resp(struct ur_obj_srq *srq,
		      struct ib_uverbs_create_srq_resp *resp)
{
	resp->srq_handle = srq->obj.handle;
	resp->max_wr = srq->max_wr;
	resp->max_sge = srq->max_sge;
	resp->srqn = srq->srqn;
}

int ur_w_create_xsrq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_xsrq *req = in;
	struct srq_args a = {
		.type = req->srq_type,
		.user_handle = req->user_handle,
		.max_wr = req->max_wr,
		.max_sge = req->max_sge,
		.pd = ur_object_get(cmd->file, UVERBS_OBJECT_PD,
				    req->pd_handle),
		.cq = ur_object_get(cmd->file, UVERBS_OBJECT_CQ,
				    req->cq_handle),
		.xrcd = ur_object_get(cmd->file, UVERBS_OBJECT_XRCD,
				      req->xrcd_handle),
		.event_fd = -1,
	};
	struct ur_obj_srq *srq;
	int err = create_srq(cmd, &a, &srq);

	if (!err)
		fill_resp(srq, out);
	return err;
}

/* As in the kernel, this form is the wide one with type BASIC. */
int ur_w_create_srq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_srq *req = in;
	const struct ib_uverbs_create_xsrq wide = {
		.user_handle = req->user_handle,
		.srq_type = IB_UVERBS_SRQT_BASIC,
		.pd_handle = req->pd_handle,
		.max_wr = req->max_wr,
		.max_sge = req->max_sge,
	};

	return ur_w_create_xsrq(cmd, &wide, out);
}

int ur_m_create_srq(struct ur_cmd *cmd)
{
	struct srq_args a = {
		.user_handle =
			ur_attr_u64(cmd, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
		.pd = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
		.cq = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE),
		.xrcd = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE),
		.event_fd = ur_attr_fd(cmd, UVERBS_ATTR_CREATE_SRQ_EVENT_FD),
	};
	struct ib_uverbs_create_srq_resp resp = {0};
	struct ur_obj_srq *srq;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_TYPE, &a.type) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_WR, &a.max_wr) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &a.max_sge))
		return -EINVAL;
	err = create_srq(cmd, &a, &srq);
	if (err)
		return err;
	fill_resp(srq, &resp);
	err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &resp.max_wr,
			  4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
				  &resp.max_sge, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM,
				  &resp.srqn, 4);
	return err ? err
		   : ur_attr_set(cmd, UVERBS_ATTR_CREATE_SRQ_HANDLE,
				 srq->obj.handle);
}

static struct ur_obj_srq *get_srq(struct ur_cmd *cmd, u32 handle)
{
	return ur_object_get(cmd->file, UVERBS_OBJECT_SRQ, handle);
}

int ur_w_modify_srq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_modify_srq *req = in;
	struct ur_obj_srq *srq = get_srq(cmd, req->srq_handle);
	struct uroce_create_srq_resp resp = {0};
	struct uroce_modify_srq_req udata;
	u32 max_wr;
	int err;

	if (!srq || (req->attr_mask & ~(SRQ_MAX_WR | SRQ_LIMIT)))
		return -EINVAL;
	max_wr = req->attr_mask & SRQ_MAX_WR ? req->max_wr : srq->max_wr;
	if (!max_wr || max_wr > cmd->dev->daemon->limits.max_srq_wr)
		return -EINVAL;
	if ((req->attr_mask & SRQ_LIMIT) && req->srq_limit > max_wr)
		return -EINVAL;
	if (req->attr_mask & SRQ_MAX_WR) {
		ur_udata_in(cmd, &udata, sizeof(udata));
		if (!udata.resp_addr)
			return -EINVAL;
		resp.srqn = srq->srqn;
		resp.max_wqes = max_wr;
		err = ur_cmd_out(cmd, udata.resp_addr, &resp, sizeof(resp));
		if (err)
			return err;
	}
	srq->max_wr = max_wr;
	if (req->attr_mask & SRQ_LIMIT)
		srq->limit = req->srq_limit;
	return 0;
}

int ur_w_query_srq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_query_srq *req = in;
	struct ib_uverbs_query_srq_resp *resp = out;
	struct ur_obj_srq *srq = get_srq(cmd, req->srq_handle);

	if (!srq)
		return -EINVAL;
	resp->max_wr = srq->max_wr;
	resp->max_sge = srq->max_sge;
	resp->srq_limit = srq->limit;
	return 0;
}

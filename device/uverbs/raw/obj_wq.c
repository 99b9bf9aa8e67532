// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work queues: receive queues for indirection tables (obj_rwq_table.c). To an engine each
 * is a raw packet queue pair that only receives.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "engine/ground/limits.h"
#include "device/memory.h"
#include "device/uverbs/obj_qp.h"

/* enum ibv_wq_attr_mask */
#define WQ_STATE     (1u << 0)
#define WQ_CUR_STATE (1u << 1)
#define WQ_FLAGS     (1u << 2)

static int destroy_wq(struct ur_object *obj)
{
	struct ur_obj_wq *wq = ur_obj_wq_of(obj);

	ur_qpc_destroy(wq->qpc);
	ur_object_unuse(wq->pd);
	ur_object_unuse(wq->cq);
	ur_async_put(wq->async);
	return 0;
}

static const struct ur_object_type wq_type = {
	.id = UVERBS_OBJECT_WQ,
	.name = "work queues",
	.size = sizeof(struct ur_obj_wq),
	.kib = UR_KIB_QP,
	.max = UR_MAX_WQ,
	.destroy = destroy_wq,
};

struct wq_args {
	u32 type, flags, max_wr, max_sge;
	u64 user_handle;
	struct ur_obj_pd *pd;
	struct ur_obj_cq *cq;
	int event_fd;
	u32 number; /* create_wq() fills it; see struct ur_qp_args */
};

static int check_args(const struct ur_cmd *cmd, const struct wq_args *a)
{
	const struct ur_limits *l = &cmd->dev->daemon->limits;

	if (!ur_has_raw(cmd->dev))
		return -EOPNOTSUPP;
	if (!a->pd || !a->cq)
		return -EINVAL;
	/* No other type and no flags are supported. */
	if (a->type != IB_UVERBS_WQT_RQ || a->flags)
		return -EOPNOTSUPP;
	if (!a->max_wr || a->max_wr > l->max_qp_wr || a->max_sge > l->max_sge)
		return -EINVAL;
	return 0;
}

static int take_udata(const struct ur_cmd *cmd, struct wq_args *a)
{
	struct uroce_create_qp_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	a->number = req.number;
	return ur_program_engine_flags(cmd, cmd->file->slot, req.flags,
				       req.number);
}

static int create_wq(struct ur_cmd *cmd, struct wq_args *a,
		     struct ur_obj_wq **ret)
{
	const struct uroce_create_qp_resp udata = {0};
	struct ur_qpc_init init;
	struct ur_obj_async *async;
	struct ur_obj_wq *wq;
	int err = take_udata(cmd, a);

	if (!err)
		err = check_args(cmd, a);
	if (!err)
		err = ur_async_from_fd(cmd->file, a->event_fd, &async);
	if (err)
		return err;
	err = -ENOMEM;
	wq = ur_object_new(cmd->file, &wq_type);
	if (!wq)
		goto err_async;
	init = (struct ur_qpc_init){
		.type = UR_QPT_RAW_PACKET,
		.slot = cmd->file->slot,
		.number = a->number,
		.caps = {.max_recv_wr = a->max_wr, .max_recv_sge = a->max_sge},
	};
	err = ur_qpc_create(cmd->dev, &init, &wq->qpc);
	if (err)
		goto err_abort;
	wq->obj.user_handle = a->user_handle;
	wq->pd = a->pd;
	wq->cq = a->cq;
	wq->async = async;
	ur_object_use(wq->pd);
	ur_object_use(wq->cq);
	cmd->created = &wq->obj;
	*ret = wq;
	return ur_udata_out(cmd, &udata, sizeof(udata));
err_abort:
	ur_object_abort(&wq->obj);
err_async:
	ur_async_put(async);
	return err;
}

int ur_x_create_wq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_wq *req = in;
	struct ib_uverbs_ex_create_wq_resp *resp = out;
	struct wq_args a = {
		.type = req->wq_type,
		.flags = req->create_flags,
		.max_wr = req->max_wr,
		.max_sge = req->max_sge,
		.user_handle = req->user_handle,
		.pd = ur_object_get(cmd->file, UVERBS_OBJECT_PD,
				    req->pd_handle),
		.cq = ur_object_get(cmd->file, UVERBS_OBJECT_CQ,
				    req->cq_handle),
		.event_fd = -1,
	};
	struct ur_obj_wq *wq;
	int err;

	if (req->comp_mask)
		return -EOPNOTSUPP;
	err = create_wq(cmd, &a, &wq);
	if (err)
		return err;
	resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	resp->wq_handle = wq->obj.handle;
	resp->max_wr = wq->qpc->caps.max_recv_wr;
	resp->max_sge = wq->qpc->caps.max_recv_sge;
	resp->wqn = wq->qpc->qpn;
	return 0;
}

int ur_m_create_wq(struct ur_cmd *cmd)
{
	struct wq_args a = {
		.user_handle =
			ur_attr_u64(cmd, UVERBS_ATTR_CREATE_WQ_USER_HANDLE),
		.pd = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_WQ_PD_HANDLE),
		.cq = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE),
		.event_fd = ur_attr_fd(cmd, UVERBS_ATTR_CREATE_WQ_EVENT_FD),
	};
	struct ur_obj_wq *wq;
	u32 number;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_CREATE_WQ_TYPE, &a.type) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_WQ_FLAGS, &a.flags) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_WQ_MAX_WR, &a.max_wr) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_WQ_MAX_SGE, &a.max_sge))
		return -EINVAL;
	err = create_wq(cmd, &a, &wq);
	if (err)
		return err;
	number = wq->qpc->qpn;
	err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR,
			  &wq->qpc->caps.max_recv_wr, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE,
				  &wq->qpc->caps.max_recv_sge, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM,
				  &number, 4);
	return err ? err
		   : ur_attr_set(cmd, UVERBS_ATTR_CREATE_WQ_HANDLE,
				 wq->obj.handle);
}

int ur_x_modify_wq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_modify_wq *req = in;
	struct ur_obj_wq *wq =
		ur_object_get(cmd->file, UVERBS_OBJECT_WQ, req->wq_handle);

	if (!req->attr_mask ||
	    req->attr_mask & ~(WQ_STATE | WQ_CUR_STATE | WQ_FLAGS) || !wq)
		return -EINVAL;
	if ((req->attr_mask & WQ_FLAGS) && req->flags_mask)
		return -EOPNOTSUPP;
	if ((req->attr_mask & WQ_CUR_STATE) && req->curr_wq_state != wq->state)
		return -EINVAL;
	if (!(req->attr_mask & WQ_STATE))
		return 0;
	if (req->wq_state > UR_WQ_ERR)
		return -EINVAL;
	if (!ur_wq_may(wq->state, (enum ur_wq_state)req->wq_state))
		return -EINVAL;
	wq->state = (enum ur_wq_state)req->wq_state;
	return 0;
}

int ur_x_destroy_wq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_destroy_wq *req = in;
	struct ib_uverbs_ex_destroy_wq_resp *resp = out;
	struct ur_object *wq =
		ur_object_get(cmd->file, UVERBS_OBJECT_WQ, req->wq_handle);

	if (req->comp_mask)
		return -EOPNOTSUPP;
	if (!wq)
		return -EINVAL;
	resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	return ur_object_destroy(wq);
}

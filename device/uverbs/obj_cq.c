// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include "device/memory.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/query.h"
#include "device/uverbs/uverbs_cmd.h"

#define CQ_MODERATE (1u << 0) /* enum ibv_cq_attr_mask */

static int destroy_cq(struct ur_object *obj)
{
	struct ur_obj_cq *cq = ur_obj_cq_of(obj);

	ur_chan_put(cq->chan);
	ur_async_put(cq->async);
	return 0;
}

static const struct ur_object_type cq_type = {
	.id = UVERBS_OBJECT_CQ,
	.name = "completion queues",
	.size = sizeof(struct ur_obj_cq),
	.kib = UR_KIB_CQ,
	.destroy = destroy_cq,
};

struct cq_args {
	u64 user_handle;
	u32 cqe, comp_vector, flags;
	int comp_channel, event_fd;
};

static int create_cq(struct ur_cmd *cmd, const struct cq_args *args,
		     struct ur_obj_cq **ret)
{
	struct uroce_create_cq_resp udata = {0};
	struct ur_obj_chan *chan;
	struct ur_obj_async *async;
	struct ur_obj_cq *cq;
	int err;

	if (!args->cqe || args->cqe > cmd->dev->daemon->limits.max_cqe ||
	    args->comp_vector >= ur_num_comp_vectors())
		return -EINVAL;
	if (args->flags & ~(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
			    IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EOPNOTSUPP;
	err = ur_chan_from_fd(cmd->file, args->comp_channel, &chan);
	if (err)
		return err;
	err = ur_async_from_fd(cmd->file, args->event_fd, &async);
	if (err)
		goto err_chan;
	err = -ENOMEM;
	cq = ur_object_new(cmd->file, &cq_type);
	if (!cq)
		goto err_async;
	cq->obj.user_handle = args->user_handle;
	cq->chan = chan;
	cq->async = async;
	cq->entries = udata.entries = ur_roundup_pow2(args->cqe);
	cmd->created = &cq->obj;
	*ret = cq;
	return ur_udata_out(cmd, &udata, sizeof(udata));
err_async:
	ur_async_put(async);
err_chan:
	ur_chan_put(chan);
	return err;
}

int ur_w_create_cq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_cq *req = in;
	struct ib_uverbs_create_cq_resp *resp = out;
	struct cq_args args = {
		.user_handle = req->user_handle,
		.cqe = req->cqe,
		.comp_vector = req->comp_vector,
		.comp_channel = req->comp_channel,
		.event_fd = -1,
	};
	struct ur_obj_cq *cq;
	int err = create_cq(cmd, &args, &cq);

	if (err)
		return err;
	resp->cq_handle = cq->obj.handle;
	resp->cqe = cq->entries;
	return 0;
}

int ur_x_create_cq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_cq *req = in;
	struct ib_uverbs_ex_create_cq_resp *resp = out;
	struct cq_args args = {
		.user_handle = req->user_handle,
		.cqe = req->cqe,
		.comp_vector = req->comp_vector,
		.comp_channel = req->comp_channel,
		.flags = req->flags,
		.event_fd = -1,
	};
	struct ur_obj_cq *cq;
	int err;

	if (req->comp_mask || req->reserved)
		return -EINVAL;
	err = create_cq(cmd, &args, &cq);
	if (err)
		return err;
	resp->base.cq_handle = cq->obj.handle;
	resp->base.cqe = cq->entries;
	resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	return 0;
}

int ur_m_create_cq(struct ur_cmd *cmd)
{
	struct cq_args args = {
		.user_handle =
			ur_attr_u64(cmd, UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
		.comp_channel =
			ur_attr_fd(cmd, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
		.event_fd = ur_attr_fd(cmd, UVERBS_ATTR_CREATE_CQ_EVENT_FD),
	};
	struct ur_obj_cq *cq;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_CREATE_CQ_CQE, &args.cqe) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR,
			&args.comp_vector) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_CQ_FLAGS, &args.flags))
		return -EINVAL;
	if (ur_attr_given(cmd, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL) &&
	    args.comp_channel < 0)
		return -EBADF;
	err = create_cq(cmd, &args, &cq);
	if (err)
		return err;
	err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cq->entries,
			  sizeof(cq->entries));
	return err ? err
		   : ur_attr_set(cmd, UVERBS_ATTR_CREATE_CQ_HANDLE,
				 cq->obj.handle);
}

static struct ur_obj_cq *get_cq(struct ur_cmd *cmd, u32 handle)
{
	return ur_object_get(cmd->file, UVERBS_OBJECT_CQ, handle);
}

int ur_w_resize_cq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_resize_cq *req = in;
	struct ib_uverbs_resize_cq_resp *resp = out;
	struct uroce_resize_cq_resp udata = {0};
	struct ur_obj_cq *cq = get_cq(cmd, req->cq_handle);

	if (!cq || !req->cqe || req->cqe > cmd->dev->daemon->limits.max_cqe)
		return -EINVAL;
	cq->entries = udata.entries = ur_roundup_pow2(req->cqe);
	resp->cqe = cq->entries;
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

/* The provider arms a queue in its ring. */
int ur_w_req_notify_cq(struct ur_cmd *cmd, const void *in, void *out)
{
	return -EOPNOTSUPP;
}

/* Only checks: the engine moderates. */
int ur_x_modify_cq(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_modify_cq *req = in;
	struct ur_obj_cq *cq = get_cq(cmd, req->cq_handle);

	if (!req->attr_mask || req->reserved)
		return -EINVAL;
	if (req->attr_mask > CQ_MODERATE)
		return -EOPNOTSUPP;
	return cq ? 0 : -EINVAL;
}

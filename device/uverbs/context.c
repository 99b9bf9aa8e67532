// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* GET_CONTEXT, QUERY_CONTEXT: the user context of an open file. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <unistd.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/query.h"
#include "device/uverbs/uverbs_cmd.h"
#include "kernel-abi/uroce-ring.h"

/* Queues the driver's response. */
static int context_response(struct ur_cmd *cmd)
{
	struct uroce_alloc_ucontext_resp resp = {
		.features =
			UROCE_CTX_F_ADVERSE |
			(ur_ufile_is_apart(cmd->file) ? UROCE_CTX_F_APART : 0) |
			(cmd->dev->roce_off ? 0 : UROCE_CTX_F_LATE),
		.max_rd_atomic = cmd->dev->daemon->limits.max_init_rd_atom,
		.adverse = cmd->file->adverse,
		.adverse_seed = cmd->file->adverse_seed,
		/* For its word "imported" alone. */
		.db_map_off = 0,
		.db_map_len = (u32)sysconf(_SC_PAGESIZE),
		.wake_fd = -1,
		.sq_bb = UROCE_SQ_BB,
		.cqe_size = sizeof(struct uroce_cqe),
		.max_inline = cmd->dev->daemon->limits.max_inline,
		.max_sge = cmd->dev->daemon->limits.max_sge,
	};

	return ur_udata_out(cmd, &resp, sizeof(resp));
}

/* Makes the card hostile as the provider requests. */
static int be_adverse(struct ur_cmd *cmd)
{
	struct uroce_alloc_ucontext_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	if (!(req.features & UROCE_CTX_F_ADVERSE) || !req.adverse)
		return 0;
	if (req.adverse & ~UROCE_ADVERSE_ALL)
		return -EINVAL;
	/* No key comes again soon. Those of queue pairs never do. */
	if ((req.adverse & UROCE_ADVERSE_NUMBERS) &&
	    ur_table_spend(&cmd->dev->keys))
		return -ENOMEM;
	cmd->file->adverse = req.adverse;
	cmd->file->adverse_seed = req.adverse_seed;
	return 0;
}

static int make_context(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	int err;

	if (file->has_context)
		return -EINVAL;
	err = be_adverse(cmd);
	if (!err)
		err = context_response(cmd);
	if (err)
		return err;
	file->has_context = true;
	file->dm_next = (u64)sysconf(_SC_PAGESIZE);
	return 0;
}

/* The legacy form makes the asynchronous event file too. */
int ur_w_get_context(struct ur_cmd *cmd, const void *in, void *out)
{
	struct ib_uverbs_get_context_resp *resp = out;
	struct ur_obj_async *async;
	int err, fd;

	err = make_context(cmd);
	if (err)
		return err;
	err = ur_async_new(cmd->file, &async, &fd);
	if (err)
		goto err_context;
	resp->async_fd = (u32)fd;
	resp->num_comp_vectors = ur_num_comp_vectors();
	return 0;
err_context:
	cmd->file->has_context = false;
	return err;
}

static int put_context(struct ur_cmd *cmd)
{
	u64 support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	u32 vectors = ur_num_comp_vectors();
	int err;

	err = ur_attr_out(cmd, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			  &vectors, sizeof(vectors));
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
				  &support, sizeof(support));
	return err;
}

int ur_m_get_context(struct ur_cmd *cmd)
{
	int err = put_context(cmd);

	return err ? err : make_context(cmd);
}

int ur_m_query_context(struct ur_cmd *cmd)
{
	int err = put_context(cmd);

	return err ? err : context_response(cmd);
}

int ur_m_async_event_alloc(struct ur_cmd *cmd)
{
	struct ur_obj_async *async;
	int err, fd;

	err = ur_async_new(cmd->file, &async, &fd);
	if (err)
		return err;
	return ur_attr_set(cmd, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
			   (u64)fd);
}

/* Attribute 0 is the object. That of some has events, whose number is the response, attribute
 * 1: the provider counts them itself, and gets zeros. */
int ur_m_destroy(struct ur_cmd *cmd)
{
	static const struct ib_uverbs_destroy_cq_resp none;
	int err = ur_object_destroy(ur_attr_obj(cmd, 0));

	return err ? err : ur_attr_out(cmd, 1, &none, sizeof(none));
}

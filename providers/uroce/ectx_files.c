// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verbs library alone creates completion channels. After uroced was killed, its command is
 * repeated on the context's file of the next uroced. All other commands are the provider's, which
 * knows the handles that are still valid.
 */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "ectx.h"
#include "kernel-abi/uroce-resumes.h"
#include "util/list.h"

static struct ur_list contexts = {&contexts, &contexts};

/* Returns whether number is the file that the context had before its first
 * uroced was killed. */
static bool is_first(const struct uroce_context *ctx, int number)
{
	return number >= 0 && ctx->first_cmd_fd == number;
}

/* *seen: the context's recoveries when the file was current. */
static struct uroce_context *context_of(int number, u32 *seen)
{
	struct uroce_context *found = NULL;

	pthread_mutex_lock(&ur_ectx_turns);
	ur_list_for_each(it, &contexts) {
		struct uroce_context *ctx =
			ur_list_entry(it, struct uroce_context, engine_node);

		if (ctx->ibv.cmd_fd != number && !is_first(ctx, number))
			continue;
		*seen = is_first(ctx, number) ? 0 : ctx->recoveries;
		found = ctx;
	}
	pthread_mutex_unlock(&ur_ectx_turns);
	return found;
}

static bool makes_channel(unsigned long request, const void *command)
{
	const struct ib_uverbs_ioctl_hdr *hdr = command;
	const struct ib_uverbs_cmd_hdr *written = command;

	if (!request)
		return written->command ==
		       IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
	if (request != RDMA_VERBS_IOCTL ||
	    hdr->object_id != UVERBS_OBJECT_DEVICE ||
	    hdr->method_id != UVERBS_METHOD_INVOKE_WRITE)
		return false;
	for (u32 i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD)
			return hdr->attrs[i].data ==
			       IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
	return false;
}

static int file_of(const struct uroce_context *ctx)
{
	int fd;

	pthread_mutex_lock(&ur_ectx_turns);
	fd = ctx->ibv.cmd_fd;
	pthread_mutex_unlock(&ur_ectx_turns);
	return fd;
}

/* The context stays while a command is given on it. */
static int reattach(int number, unsigned long request, const void *command)
{
	struct uroce_context *ctx;
	u32 seen;

	if (!makes_channel(request, command))
		return -1;
	ctx = context_of(number, &seen);
	if (!ctx || !ur_ectx_reattach(ctx, seen))
		return -1;
	return file_of(ctx);
}

void ur_ectx_files_add(struct uroce_context *ctx)
{
	const struct uroce_resumes *preload = uroce_get_resumes();
	static bool reported;

	pthread_mutex_lock(&ur_ectx_turns);
	if (!reported && preload)
		preload->tell(reattach);
	reported = true;
	ur_list_add_tail(&contexts, &ctx->engine_node);
	pthread_mutex_unlock(&ur_ectx_turns);
	ur_ectx_keep_senders(ctx, ctx->ibv.cmd_fd);
}

void ur_ectx_files_del(struct uroce_context *ctx)
{
	pthread_mutex_lock(&ur_ectx_turns);
	ur_list_del(&ctx->engine_node);
	pthread_mutex_unlock(&ur_ectx_turns);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verbs library alone creates completion channels. The preload library keeps their sending ends
 * until an engine needs them for a channel's first queue.
 */
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "ectx.h"
#include "kernel-abi/uroce-resumes.h"

void ur_ectx_keep_senders(const struct uroce_context *ctx, int number)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (preload)
		preload->has_engine(number, ctx->engine);
}

static int new_channel(const struct uroce_context *ctx)
{
	struct ib_uverbs_create_comp_channel_resp resp = {0};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_comp_channel in;
	} cmd = {{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(cmd) / 4,
		  sizeof(resp) / 4},
		 {(uintptr_t)&resp}};

	return write(ctx->ibv.cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd)
		       ? (int)resp.fd
		       : -1;
}

bool ur_ectx_own_channel(const struct uroce_context *ctx,
			 const struct ibv_comp_channel *channel)
{
	int flags = fcntl(channel->fd, F_GETFL), fd;

	if (!ctx->parted)
		return false;
	fd = new_channel(ctx);
	if (fd < 0)
		return false;
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags);
	if (dup3(fd, channel->fd, O_CLOEXEC) < 0)
		flags = -1;
	close(fd);
	return flags >= 0;
}

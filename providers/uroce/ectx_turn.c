// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes a context to the file of the next uroced. */
#include <fcntl.h>
#include <unistd.h>

#include "ectx.h"

pthread_mutex_t ur_ectx_turns = PTHREAD_MUTEX_INITIALIZER;

void ur_ectx_files_turn(struct uroce_context *ctx, int fd)
{
	pthread_mutex_lock(&ur_ectx_turns);
	if (ctx->first_cmd_fd < 0) {
		ctx->first_cmd_fd = ctx->ibv.cmd_fd;
		ctx->ibv.cmd_fd = fd;
	} else {
		dup3(fd, ctx->ibv.cmd_fd, O_CLOEXEC);
		close(fd);
	}
	__atomic_store_n(&ctx->recoveries, ctx->recoveries + 1,
			 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ur_ectx_turns);
}

static void put_at(int fd, int number)
{
	dup3(fd, number, O_CLOEXEC);
	close(fd);
}

void ur_ectx_files_part(struct uroce_context *ctx, int fd, int async)
{
	pthread_mutex_lock(&ur_ectx_turns);
	ur_list_del(&ctx->engine_node);
	ur_list_init(&ctx->engine_node);
	if (ctx->first_cmd_fd >= 0)
		close(ctx->first_cmd_fd);
	ctx->first_cmd_fd = -1;
	put_at(fd, ctx->ibv.cmd_fd);
	put_at(async, ctx->ibv.async_fd);
	__atomic_store_n(&ctx->recoveries, ctx->recoveries + 1,
			 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ur_ectx_turns);
}

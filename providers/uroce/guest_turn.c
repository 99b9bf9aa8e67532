// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes a context to the file of the next uroced. */
#include <fcntl.h>
#include <unistd.h>

#include "guest.h"

pthread_mutex_t ur_guest_turns = PTHREAD_MUTEX_INITIALIZER;

void ur_guest_files_turn(struct uroce_context *ctx, int fd)
{
	pthread_mutex_lock(&ur_guest_turns);
	if (ctx->first_cmd_fd < 0) {
		ctx->first_cmd_fd = ctx->ibv.cmd_fd;
		ctx->ibv.cmd_fd = fd;
	} else {
		dup3(fd, ctx->ibv.cmd_fd, O_CLOEXEC);
		close(fd);
	}
	__atomic_store_n(&ctx->recoveries, ctx->recoveries + 1,
			 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ur_guest_turns);
}

static void put_at(int fd, int number)
{
	dup3(fd, number, O_CLOEXEC);
	close(fd);
}

void ur_guest_files_part(struct uroce_context *ctx, int fd, int async)
{
	pthread_mutex_lock(&ur_guest_turns);
	ur_list_del(&ctx->guest_node);
	ur_list_init(&ctx->guest_node);
	if (ctx->first_cmd_fd >= 0)
		close(ctx->first_cmd_fd);
	ctx->first_cmd_fd = -1;
	put_at(fd, ctx->ibv.cmd_fd);
	put_at(async, ctx->ibv.async_fd);
	__atomic_store_n(&ctx->recoveries, ctx->recoveries + 1,
			 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ur_guest_turns);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes a context to the file of the next uroced. */
#include <fcntl.h>
#include <unistd.h>

#include "guest.h"

pthread_mutex_t ur_guest_turns = PTHREAD_MUTEX_INITIALIZER;

void ur_guest_files_turn(struct uroce_context *ctx, int fd)
{
	pthread_mutex_lock(&ur_guest_turns);
	if (!ctx->resumes) {
		ctx->first_cmd_fd = ctx->ibv.cmd_fd;
		ctx->ibv.cmd_fd = fd;
	} else {
		dup3(fd, ctx->ibv.cmd_fd, O_CLOEXEC);
		close(fd);
	}
	__atomic_store_n(&ctx->resumes, ctx->resumes + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ur_guest_turns);
}

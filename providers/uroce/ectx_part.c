// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A child of fork parts from its parent: as if uroced had been killed, the context moves to a uverbs
 * file of its own, with an engine of its own. Domains are made there again when they are used. The
 * queues are the parent's. Regions are the parent's memory, which the child may use where the kernel
 * lets it (/proc/PID/mem).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "ectx.h"

/* Another process may have the number by now: it does not own this engine. */
static int open_memory(pid_t owner, const volatile u32 *own)
{
	char path[40];
	u32 there = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)owner);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (pread(fd, &there, sizeof(there),
			      (off_t)(uintptr_t)own) != sizeof(there) ||
			!there)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void inherit_regions(struct uroce_context *ctx, pid_t owner,
			    const volatile u32 *own)
{
	int mem = ur_list_empty(&ctx->regions) ? -1 : open_memory(owner, own);

	ur_ectx_inherit_regions(ctx, mem, owner);
	if (mem >= 0)
		close(mem);
}

/* What the context had of its parent's stays mapped, since queues refer to it. */
static void forget_engine(struct uroce_context *ctx)
{
	if (ctx->destroy_hint_fd >= 0)
		close(ctx->destroy_hint_fd);
	ctx->destroy_hint_fd = -1;
	ctx->destroy_hint = 0;
	ctx->engine = ctx->shared = NULL;
	ctx->engine_async = ctx->has_gpu = ctx->imported = false;
	ctx->db = (struct ur_doorbell){.wake_fd = -1};
	ctx->db_len = ctx->device_page_len = 0;
	ctx->device_page = NULL;
}

/* On failure the context is as dead as before, and parts again with the next object. */
int ur_ectx_begin_anew(struct uroce_context *ctx)
{
	struct uroce_alloc_ucontext_req asked;
	struct uroce_alloc_ucontext_resp got;
	const struct uroce_engine_ops *engine_ops = ctx->engine_ops;
	struct uroce_ectx *engine = ctx->engine;
	struct ur_doorbell db = ctx->db;
	pid_t owner = ctx->owner;
	int async, err = 0, fd;

	fd = ur_ectx_new_file(ctx, &async, &asked, &got);
	if (fd < 0)
		return fd;
	ur_ectx_files_part(ctx, fd, async);
	forget_engine(ctx);
	ctx->parted = true;
	err = -ur_ectx_open(ctx, &got);
	if (!err)
		err = -ur_context_begin(ctx, &asked, &got);
	if (err) {
		if (ctx->engine)
			ctx->engine_ops->close(ctx->engine);
		ctx->engine_ops = engine_ops;
		ctx->engine = engine;
		ctx->db = db;
		return err;
	}
	ur_ectx_begin(ctx);
	inherit_regions(ctx, owner, db.own);
	return 0;
}

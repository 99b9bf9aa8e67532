// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Recovery of a context after uroced was killed. The context opens the file of the next uroced and
 * gets its slot back. The next uroced knows none of its objects; new handles differ from the old,
 * so that none is mistaken for another.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ectx.h"
#include "kernel-abi/uroce-resumes.h"
#include "poller.h"
#include "util/os/clock.h"

#define STEP_NS 10000000

static int open_file(const struct uroce_context *ctx)
{
	char path[96];

	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 ctx->ibv.device->dev_name);
	return open(path, O_RDWR | O_CLOEXEC);
}

static struct uroce_alloc_ucontext_req wants(const struct uroce_context *ctx)
{
	return (struct uroce_alloc_ucontext_req){
		.features = ctx->adverse ? UROCE_CTX_F_ADVERSE : 0,
		.adverse = ctx->adverse,
		.adverse_seed = ctx->adverse_seed,
	};
}

/* Gives GET_CONTEXT on the new file; only its slot is used. */
static int get_context(struct uroce_context *ctx)
{
	const struct uroce_alloc_ucontext_req req = wants(ctx);
	struct uroce_alloc_ucontext_resp resp;
	int err = ur_context_get(ctx, &req, &resp);

	if (err)
		return err;
	if (ctx->ibv.async_fd >= 0)
		close(ctx->ibv.async_fd);
	ur_ectx_take_answer(ctx, &resp);
	return 0;
}

/* Newer libraries make the asynchronous event file by a command of its own. Returns it or -errno. */
static int make_async(struct uroce_context *ctx)
{
	const struct ib_uverbs_ioctl_hdr hdr = {
		.object_id = UVERBS_OBJECT_ASYNC_EVENT,
		.method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	};
	UR_CMDB(1)
	b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff},
	     .attr = {{.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
		       .flags = UVERBS_ATTR_F_MANDATORY}}};
	int err;

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	b.cmdb.next_attr = b.cmdb.last_attr = b.attr + 1;
	err = execute_ioctl(&ctx->ibv, &b.cmdb);
	return err ? -err : (int)b.attr[0].data;
}

/* Takes a slot, or none. recoveries 0: this process has taken over the engine of
 * another one. */
static int take(struct uroce_context *ctx, u32 taken, u32 recoveries)
{
	const struct uroce_engine_resume in = {.slot = taken,
					       .resumes = recoveries};
	u32 slot;
	u64 word;

	memcpy(&word, &in, sizeof(word));
	return ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_RESUME,
			    UROCE_ATTR_ENGINE_RESUME, sizeof(in), word,
			    UROCE_ATTR_ENGINE_RESUME_RESP, &slot, sizeof(slot));
}

static int take_slot(struct uroce_context *ctx, u32 recoveries)
{
	return take(ctx, ctx->engine_slot, recoveries);
}

int ur_ectx_new_file(const struct uroce_context *ctx, int *async,
		     struct uroce_alloc_ucontext_req *asked,
		     struct uroce_alloc_ucontext_resp *got)
{
	struct uroce_context *copy = malloc(sizeof(*copy));
	int fd = open_file(ctx), err = fd < 0 ? -errno : 0;

	if (!copy)
		err = -ENOMEM;
	if (!err) {
		memcpy(copy, ctx, sizeof(*copy));
		copy->ibv.cmd_fd = fd;
		copy->ibv.async_fd = -1;
		*asked = wants(ctx);
		err = -ur_context_get(copy, asked, got);
	}
	if (!err)
		err = -take(copy, UROCE_ENGINE_NO_SLOT, ctx->recoveries + 1);
	if (!err && copy->ibv.async_fd < 0) {
		*async = make_async(copy);
		err = *async < 0 ? *async : 0;
	} else if (!err) {
		*async = copy->ibv.async_fd;
	}
	free(copy);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Takes the context's part of the shared engine. */
static int take_part(struct uroce_context *ctx)
{
	struct uroce_engine_apart resp;

	return ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_SHARE,
			    UROCE_ATTR_ENGINE_SHARE_SLOT,
			    sizeof(ctx->shared_slot), ctx->shared_slot,
			    UROCE_ATTR_ENGINE_SHARE_RESP, &resp, sizeof(resp));
}

void ur_ectx_pass_on(struct uroce_context *ctx)
{
	take_slot(ctx, 0);
}

/* The library gives commands on the context's descriptor: a copy of the context is used until all
 * has succeeded. */
static int reattach_by(struct uroce_context *ctx, int fd)
{
	struct uroce_context *copy = malloc(sizeof(*copy));
	int err;

	if (!copy)
		return ENOMEM;
	memcpy(copy, ctx, sizeof(*copy));
	copy->ibv.cmd_fd = fd;
	copy->ibv.async_fd = -1;
	err = get_context(copy);
	if (!err)
		err = take_slot(copy, ctx->recoveries + 1);
	if (!err && ctx->shared)
		err = take_part(copy);
	if (!err) {
		ctx->max_rd_atomic = copy->max_rd_atomic;
		__atomic_store_n(&ctx->reports_late, copy->reports_late,
				 __ATOMIC_RELAXED);
	}
	free(copy);
	return err;
}

static bool is_here(const struct uroce_context *ctx)
{
	return ctx->engine && ctx->engine_async && *ctx->db.own &&
	       !ctx->imported && !ur_poller_is_gone(ctx);
}

/* Returns 0 or an errno. ENXIO, EIO, ENOENT: no uroced or no device yet. ESRCH: the slot does not
 * belong to this process any more. */
static int try_to_reattach(struct uroce_context *ctx)
{
	int fd = open_file(ctx), err;

	if (fd < 0)
		return errno;
	err = reattach_by(ctx, fd);
	if (!err) {
		ur_ectx_keep_senders(ctx, fd);
		ur_ectx_files_turn(ctx, fd);
		return 0;
	}
	close(fd);
	return err == ENOENT ? ESRCH : err;
}

/* Returns 0, or the last error when the time is over. */
static int reattach_until(struct uroce_context *ctx, u64 until)
{
	for (;;) {
		int err = try_to_reattach(ctx);

		if ((err != ENXIO && err != EIO && err != ENOENT) ||
		    !is_here(ctx) || ur_clock_ns(CLOCK_MONOTONIC) >= until)
			return err;
		ur_nap_ns(STEP_NS);
	}
}

bool ur_ectx_reattach(struct uroce_context *ctx, u32 seen)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + UROCE_RESUMES_WAIT_NS;
	bool good;

	if (!is_here(ctx))
		return false;
	/* Waiting threads share this time limit. */
	pthread_mutex_lock(&lock);
	good = ctx->recoveries != seen || !reattach_until(ctx, until);
	pthread_mutex_unlock(&lock);
	return good;
}

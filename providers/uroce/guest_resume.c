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

#include "guest.h"
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

/* Gives GET_CONTEXT on the new file; only its slot is used. */
static int get_context(struct uroce_context *ctx)
{
	UR_REQ(ib_uverbs_get_context, struct uroce_alloc_ucontext_req drv)
	req = {.drv = {.features = ctx->adverse ? UROCE_CTX_F_ADVERSE : 0,
		       .adverse = ctx->adverse,
		       .adverse_seed = ctx->adverse_seed}};
	UR_RESP(ib_uverbs_get_context_resp,
		struct uroce_alloc_ucontext_resp drv)
	resp = {.drv.wake_fd = -1};
	int err = ur_cmd_get_context(ctx->layout, ur_vctx(ctx), &req,
				     sizeof(req), &resp, sizeof(resp));

	if (err)
		return err;
	if (resp.drv.wake_fd >= 0)
		close(resp.drv.wake_fd);
	if (ctx->ibv.async_fd >= 0)
		close(ctx->ibv.async_fd);
	ur_guest_take_answer(ctx, &resp.drv);
	return 0;
}

/* Takes the context's slot. resumes 0: this process has taken over the engine
 * of another one. */
static int take_slot(struct uroce_context *ctx, u32 resumes)
{
	const struct uroce_engine_resume in = {.slot = ctx->guest_slot,
					       .resumes = resumes};
	u32 slot;
	u64 word;

	memcpy(&word, &in, sizeof(word));
	return ur_guest_call(
		&ctx->ibv, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_RESUME,
		UROCE_ATTR_ENGINE_RESUME, sizeof(in), word,
		UROCE_ATTR_ENGINE_RESUME_RESP, &slot, sizeof(slot));
}

/* Takes the context's part of the shared engine. */
static int take_part(struct uroce_context *ctx)
{
	struct uroce_engine_apart resp;

	return ur_guest_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			     UROCE_METHOD_ENGINE_SHARE,
			     UROCE_ATTR_ENGINE_SHARE_SLOT,
			     sizeof(ctx->shared_slot), ctx->shared_slot,
			     UROCE_ATTR_ENGINE_SHARE_RESP, &resp, sizeof(resp));
}

void ur_guest_pass_on(struct uroce_context *ctx)
{
	take_slot(ctx, 0);
}

/* The library gives commands on the context's descriptor: a copy of the context is used until all
 * has succeeded. */
static int resume_by(struct uroce_context *ctx, int fd)
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
		err = take_slot(copy, ctx->resumes + 1);
	if (!err && ctx->shared)
		err = take_part(copy);
	if (!err) {
		ctx->max_rd_atomic = copy->max_rd_atomic;
		__atomic_store_n(&ctx->tells_late, copy->tells_late,
				 __ATOMIC_RELAXED);
	}
	free(copy);
	return err;
}

static bool is_here(const struct uroce_context *ctx)
{
	return ctx->guest && ctx->guest_async && *ctx->db.own &&
	       !ctx->imported && !ur_poller_is_gone(ctx);
}

/* Returns 0 or an errno. ENXIO, EIO, ENOENT: no uroced or no device yet. ESRCH: the slot does not
 * belong to this process any more. */
static int try_to_resume(struct uroce_context *ctx)
{
	int fd = open_file(ctx), err;

	if (fd < 0)
		return errno;
	err = resume_by(ctx, fd);
	if (!err) {
		ur_guest_keep_senders(ctx, fd);
		ur_guest_files_turn(ctx, fd);
		return 0;
	}
	close(fd);
	return err == ENOENT ? ESRCH : err;
}

/* Returns 0, or the last error when the time is over. */
static int resume_until(struct uroce_context *ctx, u64 until)
{
	for (;;) {
		int err = try_to_resume(ctx);

		if ((err != ENXIO && err != EIO && err != ENOENT) ||
		    !is_here(ctx) || ur_clock_ns(CLOCK_MONOTONIC) >= until)
			return err;
		ur_nap_ns(STEP_NS);
	}
}

bool ur_guest_resume(struct uroce_context *ctx, u32 seen)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + UROCE_RESUMES_WAIT_NS;
	bool good;

	if (!is_here(ctx))
		return false;
	/* Waiting threads share this time limit. */
	pthread_mutex_lock(&lock);
	good = ctx->resumes != seen || !resume_until(ctx, until);
	pthread_mutex_unlock(&lock);
	return good;
}

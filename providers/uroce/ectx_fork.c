// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A context with an engine in a child of fork. At its first use the child takes its parent's engine
 * over. If the parent keeps that, the child parts from it (ectx_part.c) with the first object that
 * it makes.
 */
#include <errno.h>
#include <unistd.h>

#include "ectx.h"

int (*ur_ectx_part)(struct uroce_context *ctx);

enum need {
	NEED_ENGINE, /* to use existing objects: waits for the parent's end */
	NEED_ANY,    /* to create an object: another engine will do */
	NEED_NONE,   /* to destroy an object */
};

/* -ENOENT: the parent's engine has no objects. */
static int take_over(struct uroce_context *ctx, enum need need)
{
	int err = ctx->engine_ops->take_over(ctx->engine, need != NEED_NONE);

	/* Without waiting, the call gives the engine up, unless the parent has
	 * ended meanwhile. */
	if (err == -ESRCH && need == NEED_ANY)
		err = ctx->engine_ops->take_over(ctx->engine, 0);
	if (err == -ENOENT || (err == -ESRCH && need == NEED_ANY))
		return ur_ectx_part(ctx);
	if (err)
		return err;
	ctx->owner = getpid();
	ur_ectx_keep_senders(ctx, ctx->ibv.cmd_fd);
	ur_ectx_pass_on(ctx);
	return 0;
}

static bool take_over_if(struct uroce_context *ctx, enum need need)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (ctx->engine && !*ctx->db.own)
		err = take_over(ctx, need);
	pthread_mutex_unlock(&lock);
	return !err;
}

void ur_ectx_take_over(void *arg)
{
	take_over_if(arg, NEED_ENGINE);
}

bool ur_ectx_makes_here(struct uroce_context *ctx)
{
	if (!ctx->engine || *ctx->db.own)
		return ctx->engine;
	return take_over_if(ctx, NEED_ANY) && ctx->engine;
}

bool ur_ectx_is_here_still(struct uroce_context *ctx)
{
	if (!ctx->engine || *ctx->db.own)
		return ctx->engine;
	return take_over_if(ctx, NEED_NONE) && ctx->engine;
}

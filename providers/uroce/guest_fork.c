// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A context with an engine in a child of fork: at its first use it takes over its parent's engine,
 * or changes to the device's. */
#include <errno.h>

#include "guest.h"

/* Leaves the engine, which has no objects: new objects are in the device. Its descriptors stay,
 * since the child has its own numbers. */
static void leave_engine(struct uroce_context *ctx)
{
	ctx->elsewhere = true;
	ctx->guest = NULL;
	ctx->device_db.own = NULL;
	ctx->db = ctx->device_db;
	ctx->db_len = ctx->device_db_len;
	ctx->device_db_len = 0;
}

/* The device takes the process of the last command for the file's owner. */
static void show_process(struct uroce_context *ctx)
{
	struct ibv_port_attr attr;

	uroce_query_port(&ctx->ibv, 1, &attr);
}

/* Leaves the engine to the parent: new objects are in the device. The child never gets the engine,
 * and its doorbell is dead. */
static void part(struct uroce_context *ctx)
{
	ctx->elsewhere = true;
	ctx->parted = true;
	ctx->guest = NULL;
	ctx->device_db.own = NULL;
	show_process(ctx);
}

enum need {
	NEED_ENGINE, /* to use existing objects: waits for the parent's end */
	NEED_ANY,    /* to create an object: the device's engine will do */
	NEED_NONE,   /* to destroy an object */
};

static bool adopt_if(struct uroce_context *ctx, enum need need)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int err = ctx->parted ? -ESRCH : 0;

	pthread_mutex_lock(&lock);
	if (ctx->guest)
		err = ctx->door->adopt(ctx->guest, need != NEED_NONE);
	/* Without waiting, the call gives the engine up, unless the parent has
	 * ended meanwhile. */
	if (ctx->guest && err == -ESRCH && need == NEED_ANY) {
		err = ctx->door->adopt(ctx->guest, 0);
		if (err == -ESRCH)
			part(ctx);
	}
	if (err == -ENOENT) {
		leave_engine(ctx);
		err = 0;
	} else if (!err && ctx->guest) {
		ur_guest_keep_senders(ctx, ctx->ibv.cmd_fd);
		ur_guest_pass_on(ctx);
	}
	pthread_mutex_unlock(&lock);
	return !err;
}

bool ur_guest_adopt(void *arg)
{
	return adopt_if(arg, NEED_ENGINE);
}

bool ur_guest_makes_here(struct uroce_context *ctx)
{
	if (!ctx->guest || *ctx->db.own)
		return ctx->guest;
	return adopt_if(ctx, NEED_ANY) && ctx->guest;
}

bool ur_guest_is_here_still(struct uroce_context *ctx)
{
	if (!ctx->guest || *ctx->db.own)
		return ctx->guest;
	return adopt_if(ctx, NEED_NONE) && ctx->guest;
}

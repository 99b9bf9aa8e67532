// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands of an engine in this process, and when there is nobody who answers: uroced was killed, and
 * what there was in it of the process's objects is gone with it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "guest.h"
#include "poller.h"

int ur_guest_call(struct ibv_context *context, u16 object, u16 method,
		  u16 in_id, u32 in_len, u64 in, u16 out_id, void *out,
		  u16 out_len)
{
	UR_CMDB(2) b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff}};
	struct ib_uverbs_ioctl_hdr hdr = {.object_id = object,
					  .method_id = method};
	struct ib_uverbs_attr *a = b.attr;

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	if (in_id != UR_GUEST_NO_IN)
		*a++ = (struct ib_uverbs_attr){
			.attr_id = in_id,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.len = (u16)in_len,
			.data = in,
		};
	*a++ = (struct ib_uverbs_attr){
		.attr_id = out_id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = out_len,
		.data = (uintptr_t)out,
	};
	b.cmdb.next_attr = b.cmdb.last_attr = a;
	return execute_ioctl(context, &b.cmdb);
}

/* Asynchronous events are sent by both engines, to the file that the program has from
 * the device. */
int ur_guest_set_async(struct uroce_context *ctx)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct uroce_engine_async async = {.tx = -1, .life = -1};
	int err = 0;

	pthread_mutex_lock(&lock);
	if (ctx->guest_async)
		goto out;
	err = ur_guest_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_ASYNC, UR_GUEST_NO_IN, 0, 0,
			    UROCE_ATTR_ENGINE_ASYNC_RESP, &async,
			    sizeof(async));
	if (err)
		goto out;
	err = -ctx->door->set_async(ctx->guest, async.tx, ctx->ibv.async_fd,
				    async.life);
	close(async.tx);
	close(async.life);
	ctx->guest_async = !err;
out:
	pthread_mutex_unlock(&lock);
	return err;
}

/* An error comes again with the first object that is made here. Before the library has that file,
 * which is while the context is opened, it is too early. */
void ur_guest_begin(struct uroce_context *ctx)
{
	if (ctx->guest && !ctx->guest_async && ctx->ibv.async_fd >= 0 &&
	    *ctx->db.own)
		ur_guest_set_async(ctx);
}

/* The next uroced knows no handle of what the one before has made. */
static bool is_unknown(const struct uroce_context *ctx, int err)
{
	return ctx->resumes && (err == EINVAL || err == ENOENT);
}

int ur_guest_forgive(const struct uroce_context *ctx, int err)
{
	if (!err || (err != EIO && !is_unknown(ctx, err)))
		return err;
	return ctx->guest && ctx->guest_async && *ctx->db.own &&
			       !ur_poller_is_gone(ctx)
		       ? 0
		       : err;
}

int ur_guest_stop_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		     enum ibv_qp_state state, int mask, int err)
{
	const struct uroce_engine_qp attr = {.state = state};

	if (mask != IBV_QP_STATE || !qp->guest ||
	    (state != IBV_QPS_ERR && state != IBV_QPS_RESET) ||
	    ur_guest_forgive(ctx, err))
		return err;
	return -ctx->door->modify_qp(qp->guest, &attr, IBV_QP_STATE);
}

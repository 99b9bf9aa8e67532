// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands of an engine in this process, and when there is nobody who answers: uroced was killed, and
 * what there was in it of the process's objects is gone with it. */
#include <errno.h>
#include <string.h>
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

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Objects that an earlier uroced made: the next uroced makes each again when a command needs it
 * (ectx_renew.c). */
#include <errno.h>

#include "ectx.h"

static void *ours(const struct ibv_context *context, const void *engine,
		  void *object)
{
	return engine && ur_ectx_owns(ur_to_ctx(context), engine) ? object
								  : NULL;
}

static int again_cq(void *cq)
{
	return ur_ectx_renew_cq(&((struct uroce_cq *)cq)->vcq.cq);
}

struct ur_ectx_old ur_ectx_old_cq(struct uroce_cq *cq)
{
	return (struct ur_ectx_old){ur_to_ctx(cq->vcq.cq.context),
				    &cq->recoveries, again_cq,
				    ours(cq->vcq.cq.context, cq->engine, cq)};
}

static int again_srq(void *srq)
{
	return ur_ectx_renew_srq(&((struct uroce_srq *)srq)->vsrq.srq);
}

struct ur_ectx_old ur_ectx_old_srq(struct uroce_srq *srq)
{
	return (struct ur_ectx_old){
		ur_to_ctx(srq->vsrq.srq.context), &srq->recoveries, again_srq,
		ours(srq->vsrq.srq.context, srq->engine, srq)};
}

static int again_qp(void *qp)
{
	return ur_ectx_renew_qp(qp);
}

struct ur_ectx_old ur_ectx_old_qp(struct uroce_qp *qp)
{
	return (struct ur_ectx_old){ur_to_ctx(qp->ibv.context), &qp->recoveries,
				    again_qp,
				    ours(qp->ibv.context, qp->engine, qp)};
}

bool ur_ectx_renew(const struct ur_ectx_old *old, int err, u32 seen, u32 made)
{
	if (!old->object || (err != EIO && err != EINVAL && err != ENOENT))
		return false;
	for (u32 i = 0; i < UR_ECTX_TRIES; i++) {
		if (err == EIO && !ur_ectx_reattach(old->ctx, seen))
			return false;
		seen = __atomic_load_n(&old->ctx->recoveries, __ATOMIC_ACQUIRE);
		if (made == seen)
			return false;
		err = old->renew(old->object);
		if (err != EIO)
			return !err;
	}
	return false;
}

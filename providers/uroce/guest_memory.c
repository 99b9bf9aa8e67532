// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions, windows and device memory that the device has made are made in the engine
 * of this process too. */
#include "guest.h"

#define ACCESS_BITS                                          \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND | UR_ACCESS_FLUSH)
/* enum ib_uverbs_access_flags; older libraries do not have them. */
#define UR_ACCESS_FLUSH (1u << 8 | 1u << 9)

static void take_access(struct uroce_guest_mr_init *init, int access)
{
	init->access = (u32)access & ACCESS_BITS;
	if (access & IBV_ACCESS_ON_DEMAND)
		init->flags |= UROCE_GUEST_MR_ON_DEMAND;
	if (access & IBV_ACCESS_ZERO_BASED)
		init->iova = 0;
}

static int reg(struct uroce_context *ctx, struct uroce_mr *mr,
	       const struct uroce_guest_mr_init *init)
{
	return ur_guest_is_here(ctx)
		       ? -ctx->door->reg_mr(ctx->guest, init, &mr->guest)
		       : EIO;
}

int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access)
{
	struct uroce_guest_mr_init init = {
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.addr = addr,
		.length = length,
		.iova = iova,
	};

	take_access(&init, access);
	if ((access & IBV_ACCESS_ON_DEMAND) && !addr && length == UINT64_MAX)
		init.flags |= UROCE_GUEST_MR_IMPLICIT;
	return reg(ctx, mr, &init);
}

int ur_guest_reg_null_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			 const struct ibv_pd *pd)
{
	const struct uroce_guest_mr_init init = {
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.flags = UROCE_GUEST_MR_NULL,
		.length = UINT64_MAX,
	};

	return reg(ctx, mr, &init);
}

int ur_guest_reg_dm_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		       const struct ibv_pd *pd, const struct uroce_dm *dm,
		       u64 offset, u64 length, int access)
{
	struct uroce_guest_mr_init init = {
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.addr = offset,
		.length = length,
		.dm = dm->guest,
	};

	take_access(&init, access);
	return reg(ctx, mr, &init);
}

int ur_guest_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		      u64 addr, u64 length, int access)
{
	const struct uroce_context *ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	struct uroce_guest_mr_init init = {
		.addr = addr,
		.length = length,
		.iova = addr,
	};

	if (!ur_guest_is_here(ctx))
		return ctx->guest ? EIO : 0;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		init.pdn = ur_to_pd(pd)->pdn;
	take_access(&init, flags & IBV_REREG_MR_CHANGE_ACCESS ? access
							      : mr->vmr.access);
	return -ctx->door->rereg_mr(mr->guest, (u32)flags, &init);
}

int ur_guest_dereg_mr(struct uroce_mr *mr)
{
	const struct uroce_context *ctx;
	int err;

	if (!mr->guest)
		return 0;
	ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	if (!ur_guest_is_here(ctx))
		return 0;
	err = -ctx->door->dereg_mr(mr->guest);
	if (!err)
		mr->guest = NULL;
	return err;
}

int ur_guest_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw)
{
	if (!ur_guest_is_here(ctx))
		return ctx->guest ? EIO : 0;
	return -ctx->door->alloc_mw(ctx->guest, ur_to_pd(mw->ibv.pd)->pdn,
				    mw->ibv.type, mw->ibv.rkey, &mw->guest);
}

void ur_guest_dealloc_mw(struct uroce_mw *mw)
{
	const struct uroce_context *ctx;

	if (!mw->guest)
		return;
	ctx = ur_to_ctx(mw->ibv.context);
	if (ur_guest_is_here(ctx))
		ctx->door->dealloc_mw(mw->guest);
	mw->guest = NULL;
}

int ur_guest_alloc_dm(struct uroce_context *ctx, struct uroce_dm *dm,
		      const struct ibv_alloc_dm_attr *attr,
		      struct uroce_alloc_dm_resp *resp)
{
	if (!ur_guest_is_here(ctx))
		return ctx->guest ? EIO : 0;
	return -ctx->door->alloc_dm(ctx->guest, attr->length,
				    attr->log_align_req, &dm->guest, resp);
}

int ur_guest_free_dm(struct uroce_dm *dm, struct ibv_context *context)
{
	const struct uroce_context *ctx = ur_to_ctx(context);
	int err;

	if (!dm->guest || !ur_guest_is_here(ctx))
		return 0;
	err = -ctx->door->free_dm(dm->guest);
	if (!err)
		dm->guest = NULL;
	return err;
}

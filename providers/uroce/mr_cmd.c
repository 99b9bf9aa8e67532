// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands of regions, also for a region of an earlier uroced. */
#include "ectx.h"
#include "uroce.h"

int ur_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, u64 iova,
		  int access, const struct uroce_reg_mr_req *drv,
		  struct verbs_mr *vmr)
{
	UR_REQ(ib_uverbs_reg_mr, struct uroce_reg_mr_req drv) req = {0};
	UR_RESP(ib_uverbs_reg_mr_resp, ) resp = {0};
	struct uroce_context *ctx = ur_to_ctx(pd->context);
	u64 mark = ur_ectx_hint_mark(ctx);
	int err;

	req.drv = *drv;
	err = UR_ECTX_TRY(pd->context, pd,
			  ibv_cmd_reg_mr(pd, addr, length, iova, access, vmr,
					 &req, sizeof(req), &resp,
					 sizeof(resp)));
	if (!err)
		ur_ectx_hint_taken(ctx, mark);
	return err;
}

int ur_mr_try(struct ibv_pd *pd, u64 addr, u64 length, u64 iova, int access,
	      u32 drv_flags, u32 flags, struct uroce_mr *mr)
{
	const struct uroce_reg_mr_req drv = {.flags = drv_flags};
	int err = ur_cmd_reg_mr(pd, (void *)(uintptr_t)addr, length, iova,
				access, &drv, &mr->vmr);

	if (err)
		return err;
	err = ur_ectx_reg_mr(ur_to_ctx(pd->context), mr, pd, flags, addr,
			     length, iova, access);
	if (err)
		ibv_cmd_dereg_mr(&mr->vmr);
	return err;
}

static int register_again(struct uroce_mr *mr, int flags, struct ibv_pd *pd,
			  void *addr, size_t length, int access,
			  struct uroce_reg_mr_req drv)
{
	const struct uroce_emr_init *now = &mr->engine_init;
	struct ibv_mr *ibmr = &mr->vmr.ibv_mr;
	struct verbs_mr made;
	int err;

	if (!(flags & IBV_REREG_MR_CHANGE_TRANSLATION)) {
		addr = (void *)(uintptr_t)now->addr;
		length = now->length;
		if (now->flags & UROCE_EMR_NULL)
			drv.flags |= UROCE_MR_F_NULL;
		if (now->flags & (UROCE_EMR_GPU | UROCE_EMR_DMABUF))
			drv.flags |= UROCE_MR_F_ELSEWHERE;
		/* Device memory and files cannot be registered in another way. */
		if (now->flags & UROCE_EMR_FILE)
			return EINVAL;
		if (addr && !ibmr->addr && !(drv.flags & UROCE_MR_F_ELSEWHERE))
			return EINVAL;
	}
	if (!(flags & IBV_REREG_MR_CHANGE_ACCESS))
		access = mr->vmr.access;
	err = ur_cmd_reg_mr(pd, addr, length, (uintptr_t)addr, access, &drv,
			    &made);
	if (!err)
		ibmr->handle = mr->handle = made.ibv_mr.handle;
	return err;
}

/* Handles the error err of a command. A region of an earlier uroced is registered anew, with the
 * changes; its keys stay, though uroced gives the new region others. Returns err, 0, or the new
 * error. */
static int register_old(struct uroce_mr *mr, int err, int flags,
			struct ibv_pd *pd, void *addr, size_t length,
			int access, struct uroce_reg_mr_req drv)
{
	struct ibv_mr *ibmr = &mr->vmr.ibv_mr;
	struct uroce_context *ctx = ur_to_ctx(ibmr->context);
	u32 recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);

	if (!mr->engine || mr->recoveries == recoveries ||
	    (err != EINVAL && err != ENOENT))
		return err;
	if (!(flags & IBV_REREG_MR_CHANGE_PD))
		pd = ibmr->pd;
	err = register_again(mr, flags, pd, addr, length, access, drv);
	if (!err)
		mr->recoveries = recoveries;
	return err;
}

int ur_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		    void *addr, size_t length, int access,
		    const struct uroce_reg_mr_req *drv)
{
	UR_REQ(ib_uverbs_rereg_mr, struct uroce_reg_mr_req drv) req = {0};
	UR_RESP(ib_uverbs_rereg_mr_resp, ) resp = {0};
	struct ibv_pd *new_pd = flags & IBV_REREG_MR_CHANGE_PD ? pd : NULL;
	u32 lkey = vmr->ibv_mr.lkey, rkey = vmr->ibv_mr.rkey;
	int err;

	req.drv = *drv;
	err = UR_ECTX_TRY(vmr->ibv_mr.context, new_pd,
			  ibv_cmd_rereg_mr(vmr, flags, addr, length,
					   (uintptr_t)addr, access, pd, &req,
					   sizeof(req), &resp, sizeof(resp)));
	err = register_old(ur_to_mr(vmr), err, flags, pd, addr, length, access,
			   *drv);
	vmr->ibv_mr.lkey = lkey;
	vmr->ibv_mr.rkey = rkey;
	return err;
}

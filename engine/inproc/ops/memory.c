// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions and windows of an engine in a program. Control has checked their
 * attributes, and assigned their keys. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/ground/user.h"
#include "engine/inproc/ops/process.h"
#include "util/os/high_fd.h"

struct uroce_emr {
	struct uroce_ectx *ctx;
	bool parents; /* UROCE_EMR_PARENTS */
	struct ur_emr *mr;
};

struct uroce_emw {
	struct uroce_ectx *ctx;
	struct ur_emw *mw;
};

static struct ur_emr_attr attr_of(const struct uroce_ectx *ctx,
				  const struct uroce_emr_init *in)
{
	bool file = in->flags & UROCE_EMR_FILE;

	return (struct ur_emr_attr){
		.pd = in->pdn,
		.access = in->access,
		.addr = in->addr,
		.length = in->length,
		.iova = in->iova,
		.mem = in->flags & UROCE_EMR_PARENTS ? ctx->parents : ctx->mem,
		.on_demand = in->flags & UROCE_EMR_ON_DEMAND,
		.implicit = in->flags & UROCE_EMR_IMPLICIT,
		.null_mr = in->flags & UROCE_EMR_NULL,
		.gpu = in->flags & UROCE_EMR_GPU,
		.synced = in->flags & UROCE_EMR_DMABUF,
		.sync_fd = in->dmabuf,
		.dmabuf_fd = file ? in->dmabuf : -1,
		.dmabuf_off = in->addr,
		.key = in->key,
		/* No address of a program is 1. */
		.key_at = in->flags & UROCE_EMR_PARENTS
				  ? in->key_at | !in->key_at
				  : 0,
	};
}

int ur_process_set_parent(struct uroce_ectx *ctx, struct uroce_call *call)
{
	int fd = ur_high_fd_copy(call->fds[0]), err;

	if (fd < 0)
		return fd;
	err = ctx->parents ? -EALREADY
			   : ur_user_mem_create(fd, (pid_t)call->msg.value,
						&ctx->parents);
	if (err)
		close(fd);
	return err;
}

int ur_process_reg_mr(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_emr_init *init = &call->msg.mr.init;
	const struct ur_emr_attr attr = attr_of(ctx, init);
	struct uroce_emr *mr;

	if (!attr.mem)
		return -EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->ctx = ctx;
	mr->parents = init->flags & UROCE_EMR_PARENTS;
	return ur_process_made(call, mr, ur_emr_reg(ctx->ectx, &attr, &mr->mr));
}

/* It may take long. */
static void unmap(struct uroce_ectx *ctx, const struct ur_emr_left *left)
{
	pthread_mutex_unlock(&ctx->home->lock);
	ur_emr_unmap(left);
	pthread_mutex_lock(&ctx->home->lock);
}

int ur_process_rereg_mr(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_emr_init *init = &call->msg.mr.init;
	const struct ur_emr_attr attr = attr_of(ctx, init);
	struct uroce_emr *mr = call->it;
	struct ur_emr_left left;
	int err;

	if (mr->parents || (init->flags & UROCE_EMR_PARENTS))
		return -EINVAL;
	err = ur_emr_rereg(mr->mr, call->msg.mr.flags, &attr, &left);
	unmap(ctx, &left);
	return err;
}

int ur_process_dereg_mr(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_emr *mr = call->it;
	struct ur_emr_left left;
	int err = ur_emr_dereg(mr->mr, &left);

	if (err)
		return err;
	unmap(ctx, &left);
	free(mr);
	return 0;
}

int ur_process_alloc_mw(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_call_mw *in = &call->msg.mw;
	struct uroce_emw *mw = calloc(1, sizeof(*mw));

	if (!mw)
		return -ENOMEM;
	mw->ctx = ctx;
	return ur_process_made(call, mw,
			       ur_emw_alloc(ctx->ectx, in->pdn, (int)in->type,
					    in->rkey, &mw->mw));
}

int ur_process_dealloc_mw(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_emw *mw = call->it;

	ur_emw_dealloc(mw->mw);
	free(mw);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions and windows of an engine in a program. Control has checked their
 * attributes, and assigned their keys. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/ground/user.h"
#include "engine/inproc/door/process.h"
#include "util/os/high_fd.h"

struct uroce_guest_mr {
	struct uroce_guest *guest;
	bool parents; /* UROCE_GUEST_MR_PARENTS */
	struct ur_emr *mr;
};

struct uroce_guest_mw {
	struct uroce_guest *guest;
	struct ur_emw *mw;
};

static struct ur_emr_attr attr_of(const struct uroce_guest *guest,
				  const struct uroce_guest_mr_init *in)
{
	bool file = in->flags & UROCE_GUEST_MR_FILE;

	return (struct ur_emr_attr){
		.pd = in->pdn,
		.access = in->access,
		.addr = in->addr,
		.length = in->length,
		.iova = in->iova,
		.mem = in->flags & UROCE_GUEST_MR_PARENTS ? guest->parents
							  : guest->mem,
		.on_demand = in->flags & UROCE_GUEST_MR_ON_DEMAND,
		.implicit = in->flags & UROCE_GUEST_MR_IMPLICIT,
		.null_mr = in->flags & UROCE_GUEST_MR_NULL,
		.gpu = in->flags & UROCE_GUEST_MR_GPU,
		.synced = in->flags & UROCE_GUEST_MR_DMABUF,
		.sync_fd = in->dmabuf,
		.dmabuf_fd = file ? in->dmabuf : -1,
		.dmabuf_off = in->addr,
		.key = in->key,
		/* No address of a program is 1. */
		.key_at = in->flags & UROCE_GUEST_MR_PARENTS
				  ? in->key_at | !in->key_at
				  : 0,
	};
}

int ur_process_set_parent(struct uroce_guest *guest, int mem, u32 pid)
{
	int fd = ur_high_fd_copy(mem), err;

	if (fd < 0)
		return fd;
	err = guest->parents
		      ? -EALREADY
		      : ur_user_mem_create(fd, (pid_t)pid, &guest->parents);
	if (err)
		close(fd);
	return err;
}

int ur_process_reg_mr(struct uroce_guest *guest,
		      const struct uroce_guest_mr_init *init,
		      struct uroce_guest_mr **ret)
{
	const struct ur_emr_attr attr = attr_of(guest, init);
	struct uroce_guest_mr *mr;

	if (!attr.mem)
		return -EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->guest = guest;
	mr->parents = init->flags & UROCE_GUEST_MR_PARENTS;
	return UR_PROCESS_MAKE(guest, mr, ret,
			       ur_emr_reg(guest->ectx, &attr, &mr->mr));
}

int ur_process_rereg_mr(struct uroce_guest_mr *mr, u32 flags,
			const struct uroce_guest_mr_init *init)
{
	const struct ur_emr_attr attr = attr_of(mr->guest, init);
	struct ur_emr_left left;
	int err;

	if (mr->parents || (init->flags & UROCE_GUEST_MR_PARENTS))
		return -EINVAL;
	pthread_mutex_lock(&mr->guest->home->lock);
	err = ur_emr_rereg(mr->mr, flags, &attr, &left);
	pthread_mutex_unlock(&mr->guest->home->lock);
	ur_emr_unmap(&left);
	return err;
}

int ur_process_dereg_mr(struct uroce_guest_mr *mr)
{
	struct uroce_guest *guest = mr->guest;
	struct ur_emr_left left;
	int err;

	pthread_mutex_lock(&guest->home->lock);
	err = ur_emr_dereg(mr->mr, &left);
	guest->objects -= !err;
	pthread_mutex_unlock(&guest->home->lock);
	if (err)
		return err;
	ur_emr_unmap(&left);
	free(mr);
	return 0;
}

int ur_process_alloc_mw(struct uroce_guest *guest, u32 pdn, u32 type, u32 rkey,
			struct uroce_guest_mw **ret)
{
	struct uroce_guest_mw *mw = calloc(1, sizeof(*mw));

	if (!mw)
		return -ENOMEM;
	mw->guest = guest;
	return UR_PROCESS_MAKE(
		guest, mw, ret,
		ur_emw_alloc(guest->ectx, pdn, (int)type, rkey, &mw->mw));
}

void ur_process_dealloc_mw(struct uroce_guest_mw *mw)
{
	struct uroce_guest *guest = mw->guest;

	pthread_mutex_lock(&guest->home->lock);
	ur_emw_dealloc(mw->mw);
	guest->objects--;
	pthread_mutex_unlock(&guest->home->lock);
	free(mw);
}

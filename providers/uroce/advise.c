// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibv_advise_mr: prefetching for on-demand regions. The device reaches them
 * through the process's page table, so prefetching is mapping the pages there.
 * The device checks keys, bounds and rights; this process maps the pages.
 */
#include <errno.h>
#include <pthread.h>

#include "ectx.h"
#include "pages.h"

static struct uroce_mr *moved;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ur_mr_moved(struct uroce_mr *mr, u64 iova)
{
	pthread_mutex_lock(&lock);
	mr->iova = iova;
	mr->next_moved = moved;
	moved = mr;
	pthread_mutex_unlock(&lock);
}

void ur_mr_forget(struct uroce_mr *mr)
{
	pthread_mutex_lock(&lock);
	for (struct uroce_mr **p = &moved; *p; p = &(*p)->next_moved) {
		if (*p == mr) {
			*p = mr->next_moved;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

/* Returns the address of the memory at an I/O address of a region. */
static u64 address_of(const struct ibv_context *context,
		      const struct ibv_sge *sge)
{
	u64 addr = sge->addr;

	pthread_mutex_lock(&lock);
	for (const struct uroce_mr *mr = moved; mr; mr = mr->next_moved)
		if (mr->vmr.ibv_mr.context == context &&
		    mr->vmr.ibv_mr.lkey == sge->lkey)
			addr += (uintptr_t)mr->vmr.ibv_mr.addr - mr->iova;
	pthread_mutex_unlock(&lock);
	return addr;
}

/* Prefetching is a hint, so a kernel that cannot do it is no error. */
static int populate(u64 addr, u64 len, int how)
{
	int err = ur_pages_populate(addr, len, how);

	return !err || err == EINVAL ? 0 : EFAULT;
}

/* Returns whether the next uroced may not know the key of a region that an earlier one made. */
static bool may_be_old(const struct uroce_context *ctx, int err, u32 flags)
{
	return ctx->engine && ctx->recoveries &&
	       !(flags & ~(u32)IBV_ADVISE_MR_FLAG_FLUSH) &&
	       (err == ENOENT || err == EINVAL || err == EPERM);
}

int uroce_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	int err = UR_ECTX_TRY(
		pd->context, pd,
		ibv_cmd_advise_mr(pd, advice, flags, sg_list, num_sge));
	int how = advice == IBV_ADVISE_MR_ADVICE_PREFETCH ? UR_POPULATE_READ
							  : UR_POPULATE_WRITE;

	if (may_be_old(ur_to_ctx(pd->context), err, flags))
		err = 0;
	/* Without page faults there is nothing to do. */
	if (err || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return err;
	for (u32 i = 0; i < num_sge; i++) {
		err = populate(address_of(pd->context, &sg_list[i]),
			       sg_list[i].length, how);
		/* An error after the call has returned would reach nobody. */
		if (err && (flags & IBV_ADVISE_MR_FLAG_FLUSH))
			return err;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions. */
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dmabuf.h"
#include "ectx.h"
#include "memlock.h"
#include "pages.h"
#include "uroce.h"

/* Checks that the memory is accessible, on the side that will access it. An
 * engine in this process needs no system call for each page. */
static u32 seen(u64 addr, u64 length)
{
	return ur_pages_are_there(addr, length) ? UROCE_MR_F_SEEN : 0;
}

/* Registers memory that the processor cannot access but a GPU may, by the program's GPU runtime.
 * err: the error for other memory. */
static int reg_gpu_mr(struct ibv_pd *pd, u64 addr, size_t length, u64 iova,
		      int access, struct uroce_mr *mr, int err)
{
	if ((access & IBV_ACCESS_ON_DEMAND) || !length ||
	    !ur_ectx_has_gpu(ur_to_ctx(pd->context), addr, length))
		return err;
	err = UR_ECTX_NUMBERED(ur_mr_try(pd, addr, length, iova, access,
					 UROCE_MR_F_ELSEWHERE, UROCE_EMR_GPU,
					 mr));
	if (!err)
		ur_gpu_add(mr);
	return err;
}

struct ibv_mr *uroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access)
{
	struct uroce_mr *mr = calloc(1, sizeof(*mr));
	u32 flags = 0;
	int err;

	if (!mr)
		return NULL;
	/* On-demand memory may change under us at any time, by contract. */
	if (!(access & IBV_ACCESS_ON_DEMAND)) {
		err = ur_memlock_take(addr, length, &mr->locked);
		if (err)
			return ur_fail(mr, err);
		flags = seen((uintptr_t)addr, length);
	}
	err = UR_ECTX_NUMBERED(ur_mr_try(pd, (uintptr_t)addr, length, iova,
					 access, flags, 0, mr));
	if (err) {
		ur_memlock_give(mr->locked);
		mr->locked = 0;
	}
	if (err == EFAULT)
		err = reg_gpu_mr(pd, (uintptr_t)addr, length, iova, access, mr,
				 err);
	if (err)
		return ur_fail(mr, err);
	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	if ((access & IBV_ACCESS_ON_DEMAND) && iova != (uintptr_t)addr)
		ur_mr_moved(mr, iova);
	mr->pd = ur_pd_get(pd);
	return &mr->vmr.ibv_mr;
}

struct ibv_mr *uroce_alloc_null_mr(struct ibv_pd *pd)
{
	struct uroce_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return NULL;
	err = UR_ECTX_NUMBERED(ur_mr_try(pd, 0, SIZE_MAX, 0,
					 IBV_ACCESS_LOCAL_WRITE,
					 UROCE_MR_F_NULL, UROCE_EMR_NULL, mr));
	if (err)
		return ur_fail(mr, err);
	mr->vmr.mr_type = IBV_MR_TYPE_NULL_MR;
	mr->vmr.ibv_mr.pd = pd;
	mr->vmr.ibv_mr.length = SIZE_MAX;
	mr->pd = ur_pd_get(pd);
	return &mr->vmr.ibv_mr;
}

static int try_dmabuf_mr(struct ibv_pd *pd, u64 offset, size_t length, u64 iova,
			 int fd, int access, struct uroce_mr *mr)
{
	struct uroce_context *ctx = ur_to_ctx(pd->context);
	int err =
		UR_ECTX_TRY(pd->context, pd,
			    ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd,
						  access, &mr->vmr, NULL));

	if (err)
		return err;
	/* The engine process may get it once more. */
	if (ctx->engine_apart)
		err = ur_dmabuf_keep(mr, fd);
	if (!err)
		err = ur_ectx_reg_dmabuf_mr(ctx, mr, pd, offset, length, iova,
					    fd, access);
	if (!err)
		return 0;
	ibv_cmd_dereg_mr(&mr->vmr);
	ur_dmabuf_end(mr);
	return err;
}

/* Registers GPU memory by its file, which usually cannot be mapped. The caller passes the memory's
 * own address as iova; nothing else says where it is. Programs probe support with fd -1: EBADF
 * means yes. */
static int reg_gpu_dmabuf(struct ibv_pd *pd, u64 offset, size_t length,
			  u64 iova, int fd, int access, struct uroce_mr *mr)
{
	struct statfs fs;
	off_t bytes;

	if (!ur_ectx_has_gpu(ur_to_ctx(pd->context), 0, 0))
		return EOPNOTSUPP;
	if (fstatfs(fd, &fs))
		return errno == EBADF ? EBADF : EOPNOTSUPP;
	bytes = fs.f_type == DMA_BUF_MAGIC ? lseek(fd, 0, SEEK_END) : -1;
	if (bytes < 0)
		return EOPNOTSUPP;
	if (offset > (u64)bytes || length > (u64)bytes - offset)
		return EINVAL;
	return reg_gpu_mr(pd, iova, length, iova, access, mr, EOPNOTSUPP);
}

struct ibv_mr *uroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct uroce_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return NULL;
	err = UR_ECTX_NUMBERED(
		try_dmabuf_mr(pd, offset, length, iova, fd, access, mr));
	if (err == EOPNOTSUPP)
		err = reg_gpu_dmabuf(pd, offset, length, iova, fd, access, mr);
	if (err == EOPNOTSUPP)
		err = ur_dmabuf_reg(pd, offset, length, iova, fd, access, mr);
	if (err)
		return ur_fail(mr, err);
	mr->pd = ur_pd_get(pd);
	return &mr->vmr.ibv_mr;
}

/* The two valid sets of members. This device has no others, such as DMA
 * handles. */
#define OF_MEMORY (UR_REG_MR_IOVA | UR_REG_MR_ADDR)
#define OF_FILE	  (UR_REG_MR_IOVA | UR_REG_MR_FD | UR_REG_MR_FD_OFFSET)

struct ibv_mr *uroce_reg_mr_ex(struct ibv_pd *pd,
			       const struct ur_mr_init_attr *attr)
{
	u64 mask = attr->comp_mask;

	if (mask & ~(u64)(OF_MEMORY | OF_FILE))
		return ur_fail(NULL, EOPNOTSUPP);
	if (mask == OF_FILE)
		return uroce_reg_dmabuf_mr(pd, attr->fd_offset, attr->length,
					   attr->iova, attr->fd, attr->access);
	/* All memory as a region begins at 0, as with ibv_reg_mr(). */
	if (!(mask & UR_REG_MR_ADDR) || (mask & ~(u64)OF_MEMORY) ||
	    ((attr->access & IBV_ACCESS_ON_DEMAND) &&
	     attr->length == SIZE_MAX && attr->addr))
		return ur_fail(NULL, EINVAL);
	return uroce_reg_mr(pd, attr->addr, attr->length,
			    mask & UR_REG_MR_IOVA ? attr->iova
						  : (uintptr_t)attr->addr,
			    attr->access);
}

static bool becomes_gpu(const struct uroce_mr *mr, int flags, u64 addr,
			size_t length)
{
	const struct ibv_pd *pd = mr->vmr.ibv_mr.pd;

	return (flags & IBV_REREG_MR_CHANGE_TRANSLATION) && mr->engine &&
	       length && ur_ectx_has_gpu(ur_to_ctx(pd->context), addr, length);
}

int uroce_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct uroce_reg_mr_req drv = {0};
	struct uroce_mr *mr = ur_to_mr(vmr);
	u64 locked = 0;
	int err;

	if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) &&
	    !(access & IBV_ACCESS_ON_DEMAND)) {
		err = ur_memlock_take(addr, length, &locked);
		if (err)
			return err;
		if (mr->engine)
			drv.flags = seen((uintptr_t)addr, length);
	}
	err = ur_cmd_rereg_mr(vmr, flags, pd, addr, length, access, &drv);
	if (err == EFAULT && becomes_gpu(mr, flags, (uintptr_t)addr, length)) {
		drv.flags = UROCE_MR_F_ELSEWHERE;
		ur_memlock_give(locked);
		locked = 0;
		err = ur_cmd_rereg_mr(vmr, flags, pd, addr, length, access,
				      &drv);
	}
	if (!err)
		err = ur_ectx_rereg_mr(mr, flags, pd, (uintptr_t)addr, length,
				       access,
				       drv.flags & UROCE_MR_F_ELSEWHERE);
	if (err) {
		ur_memlock_give(locked);
		return err;
	}
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		ur_memlock_give(mr->locked);
		mr->locked = locked;
		ur_dmabuf_end(mr);
		ur_mr_forget(mr);
		ur_gpu_del(mr);
		if (drv.flags & UROCE_MR_F_ELSEWHERE)
			ur_gpu_add(mr);
	}
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		ur_pd_put(mr->pd);
		mr->pd = ur_pd_get(pd);
	}
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		vmr->access = access;
	return 0;
}

int uroce_dereg_mr(struct verbs_mr *vmr)
{
	struct uroce_mr *mr = ur_to_mr(vmr);
	/* NULL: not in an engine of this process. */
	struct uroce_context *ctx =
		mr->engine ? ur_to_ctx(vmr->ibv_mr.context) : NULL;
	u64 mark = ctx ? ur_ectx_hint_mark(ctx) : 0;
	int err;

	if (ctx && vmr->ibv_mr.handle != mr->handle)
		return ur_unknown_handle();
	/* Another region may get the key as soon as the device has deregistered
	 * it. */
	err = ur_ectx_dereg_mr(mr);
	if (err)
		return err;
	if (!ctx || mr->engine || !ur_ectx_hint_dereg_mr(mr)) {
		err = ibv_cmd_dereg_mr(vmr);
		if (!err && ctx)
			ur_ectx_hint_taken(ctx, mark);
	}
	if (err)
		err = ur_ectx_forgive(ur_to_ctx(vmr->ibv_mr.context), err);
	if (err) {
		ur_ectx_keep_mr(mr);
		return err;
	}
	ur_dmabuf_end(mr);
	ur_memlock_give(mr->locked);
	ur_mr_forget(mr);
	ur_gpu_del(mr);
	ur_pd_put(mr->pd);
	if (mr->dm)
		__atomic_sub_fetch(&mr->dm->objects, 1, __ATOMIC_RELAXED);
	free(mr);
	if (ctx)
		ur_shared_claim(ctx);
	return 0;
}

struct ibv_mr *uroce_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct uroce_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return NULL;
	err = ibv_cmd_query_mr(pd, &mr->vmr, handle);
	if (err)
		return ur_fail(mr, err);
	return &mr->vmr.ibv_mr;
}

void uroce_unimport_mr(struct ibv_mr *ibmr)
{
	free(ur_container_of(ibmr, struct uroce_mr, vmr.ibv_mr));
}

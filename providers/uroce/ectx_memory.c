// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes regions and windows, which the device has made, in the engine of this
 * process too. To the engine, device memory and that of a dma-buf is memory of
 * the process. */
#include <sys/mman.h>
#include <unistd.h>

#include "ectx.h"

#define ACCESS_BITS                                          \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND | UR_ACCESS_FLUSH)
/* enum ib_uverbs_access_flags; missing in older libraries */
#define UR_ACCESS_FLUSH (1u << 8 | 1u << 9)

static void take_access(struct uroce_emr_init *init, int access)
{
	init->access = (u32)access & ACCESS_BITS;
	if (access & IBV_ACCESS_ON_DEMAND)
		init->flags |= UROCE_EMR_ON_DEMAND;
	if (access & IBV_ACCESS_ZERO_BASED)
		init->iova = 0;
}

/* ---- what children of fork need ---- */

/* By a hash of the key: the key, while the region is registered. A child's engine reads it in this
 * process's memory (uroce_emr_init.key_at). Another region in its place takes the memory from
 * children only. */
static u32 keys[1u << 14];

static u32 *place_of(u32 key)
{
	return &keys[(key >> 8) % UR_ARRAY_SIZE(keys)];
}

static void note_key(u32 key)
{
	__atomic_store_n(place_of(key), key, __ATOMIC_RELEASE);
}

static void drop_key(u32 key)
{
	__atomic_compare_exchange_n(place_of(key), &key, 0, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool is_plain(const struct uroce_emr_init *init)
{
	return !(init->flags & ~(UROCE_EMR_ON_DEMAND | UROCE_EMR_IMPLICIT));
}

/* Of regions in a child's engine whose keys the parent has. */
#define AS_PARENTS (UROCE_EMR_PARENTS | UROCE_EMR_FILE)

/* In the child: registers the region in its engine, or forgets it. */
static void inherit(struct uroce_context *ctx, struct uroce_mr *mr,
		    bool reaches)
{
	struct uroce_emr_init *init = &mr->engine_init;
	bool has_memory = init->flags & UROCE_EMR_NULL ||
			  (init->flags & UROCE_EMR_FILE && ctx->engine_apart);
	int err = EFAULT;

	mr->engine = NULL;
	mr->shared = NULL;
	if (is_plain(init) && reaches && *place_of(init->key) == init->key) {
		init->flags |= UROCE_EMR_PARENTS;
		init->key_at = (uintptr_t)place_of(init->key);
		err = ur_engine_reg_mr(ctx->engine, init, &mr->engine);
	} else if (has_memory) {
		err = ur_engine_reg_mr(ctx->engine, init, &mr->engine);
	}
	if (!err)
		return;
	mr->engine = NULL;
	ur_list_del(&mr->node);
	ur_list_init(&mr->node);
}

void ur_ectx_inherit_regions(struct uroce_context *ctx, int mem, pid_t owner)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_SET_PARENT, .value = (u32)owner},
		.n_fds = 1,
		.fds = {mem}};
	bool reaches = mem >= 0 && !ur_engine_call(ctx->engine, &call);

	ur_list_for_each_safe(it, &ctx->regions)
		inherit(ctx, ur_list_entry(it, struct uroce_mr, node), reaches);
}

/* Ends the parent's region in this engine that had the key, since the parent has deregistered it. Returns
 * whether there was one. */
static bool end_parents(struct uroce_context *ctx, u32 key)
{
	ur_list_for_each_safe(it, &ctx->regions) {
		struct uroce_mr *mr = ur_list_entry(it, struct uroce_mr, node);

		if (!(mr->engine_init.flags & AS_PARENTS) ||
		    mr->engine_init.key >> 8 != key >> 8)
			continue;
		ur_engine_tell(mr->engine, UROCE_CALL_DEREG_MR, 0);
		mr->engine = NULL;
		ur_list_del(&mr->node);
		ur_list_init(&mr->node);
		return true;
	}
	return false;
}

static bool ends_parents(struct uroce_context *ctx, int err, u32 key)
{
	bool ended = false;

	if (err != EEXIST || !ctx->parted)
		return false;
	pthread_mutex_lock(&ctx->shares);
	ended = end_parents(ctx, key);
	pthread_mutex_unlock(&ctx->shares);
	return ended;
}

static int reg(struct uroce_context *ctx, struct uroce_mr *mr,
	       const struct uroce_emr_init *init)
{
	int err;

	if (!ur_ectx_makes_here(ctx))
		return EIO;
	mr->engine_init = *init;
	mr->handle = mr->vmr.ibv_mr.handle;
	mr->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	do
		err = ur_engine_reg_mr(ctx->engine, init, &mr->engine);
	while (ends_parents(ctx, err, init->key));
	if (!err)
		err = ur_shared_reg_mr(ctx, mr);
	if (err && mr->engine) {
		ur_engine_tell(mr->engine, UROCE_CALL_DEREG_MR, 0);
		mr->engine = NULL;
	}
	if (!err)
		note_key(init->key);
	return err;
}

/* dmabuf matters to UROCE_EMR_DMABUF and _FILE alone. */
static struct uroce_emr_init init_of(const struct uroce_mr *mr,
				     const struct ibv_pd *pd, u32 flags,
				     u64 addr, u64 length, u64 iova)
{
	return (struct uroce_emr_init){
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.flags = flags,
		.addr = addr,
		.length = length,
		.iova = iova,
		.dmabuf = mr->dmabuf,
	};
}

int ur_ectx_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		   const struct ibv_pd *pd, u32 flags, u64 addr, u64 length,
		   u64 iova, int access)
{
	struct uroce_emr_init init = init_of(mr, pd, flags, addr, length, iova);

	take_access(&init, access);
	if ((access & IBV_ACCESS_ON_DEMAND) && !addr && length == UINT64_MAX)
		init.flags |= UROCE_EMR_IMPLICIT;
	return reg(ctx, mr, &init);
}

bool ur_ectx_has_gpu(struct uroce_context *ctx, u64 addr, u64 length)
{
	return ur_ectx_is_here(ctx) && ctx->engine_ops->has_gpu &&
	       !ctx->engine_ops->has_gpu(addr, length);
}

int ur_ectx_reg_dmabuf_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			  const struct ibv_pd *pd, u64 offset, u64 length,
			  u64 iova, int fd, int access)
{
	u64 in_page = offset & ((u64)sysconf(_SC_PAGESIZE) - 1);
	void *map;

	if (!ur_ectx_makes_here(ctx))
		return EIO;
	/* An engine process maps the file, since it may have no access to this process's memory. */
	if (ctx->engine_apart)
		return ur_ectx_reg_mr(ctx, mr, pd, UROCE_EMR_FILE, offset,
				      length, iova, access);
	map = mmap(NULL, in_page + length, PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, (off_t)(offset - in_page));
	if (map == MAP_FAILED)
		return errno;
	mr->map = map;
	mr->map_len = in_page + length;
	return ur_ectx_reg_mr(ctx, mr, pd, 0, (uintptr_t)map + in_page, length,
			      iova, access);
}

int ur_ectx_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		     u64 addr, u64 length, int access, bool gpu)
{
	struct uroce_context *ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	struct uroce_emr_init init =
				      {
					      .addr = addr,
					      .length = length,
					      .iova = addr,
					      .flags = gpu ? UROCE_EMR_GPU : 0,
				      },
			      *now = &mr->engine_init;
	int err;

	if (!ur_ectx_has(ctx, mr->engine))
		return EIO;
	if (!mr->engine)
		return 0;
	drop_key(now->key);
	if (flags & IBV_REREG_MR_CHANGE_PD)
		init.pdn = ur_to_pd(pd)->pdn;
	take_access(&init, flags & IBV_REREG_MR_CHANGE_ACCESS ? access
							      : mr->vmr.access);
	err = ur_engine_rereg_mr(mr->engine, (u32)flags, &init);
	if (err)
		return err;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		now->pdn = init.pdn;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		now->access = init.access;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		now->flags = init.flags;
		now->addr = init.addr;
		now->length = init.length;
		now->iova = init.iova;
	}
	return ur_shared_rereg_mr(ctx, mr, (u32)flags);
}

int ur_ectx_dereg_mr(struct uroce_mr *mr)
{
	struct uroce_context *ctx;
	int err;

	if (!mr->engine)
		return 0;
	ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	if (!ur_ectx_has_still(ctx, mr->engine)) {
		ur_shared_dereg_mr(ctx, mr);
		return 0;
	}
	drop_key(mr->engine_init.key);
	err = ur_engine_tell(mr->engine, UROCE_CALL_DEREG_MR, 0);
	if (err) {
		note_key(mr->engine_init.key);
		return err;
	}
	mr->engine = NULL;
	ur_shared_dereg_mr(ctx, mr);
	return 0;
}

/* Needs no new search for the memory, which was found at the first
 * registration. */
void ur_ectx_keep_mr(struct uroce_mr *mr)
{
	struct uroce_context *ctx = ur_to_ctx(mr->vmr.ibv_mr.context);

	if (mr->engine_init.key && ur_ectx_is_here(ctx) &&
	    !ur_engine_reg_mr(ctx->engine, &mr->engine_init, &mr->engine)) {
		ur_shared_reg_mr(ctx, mr);
		note_key(mr->engine_init.key);
	}
}

int ur_ectx_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_ALLOC_MW};
	int err;

	ur_ectx_end_hints(ctx);
	if (!ur_ectx_makes_here(ctx))
		return EIO;
	mw->handle = mw->ibv.handle;
	call.msg.mw = (struct uroce_call_mw){.pdn = ur_to_pd(mw->ibv.pd)->pdn,
					     .type = mw->ibv.type,
					     .rkey = mw->ibv.rkey};
	err = ur_engine_call(ctx->engine, &call);
	if (!err)
		mw->engine = call.it;
	return err;
}

void ur_ectx_dealloc_mw(struct uroce_mw *mw)
{
	struct uroce_context *ctx;

	if (!mw->engine)
		return;
	ctx = ur_to_ctx(mw->ibv.context);
	if (ur_ectx_has_still(ctx, mw->engine))
		ur_engine_tell(mw->engine, UROCE_CALL_DEALLOC_MW, 0);
	mw->engine = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes regions and windows, which the device has made, in the engine of this
 * process too. To the engine, device memory and that of a dma-buf is memory of
 * the process. */
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define ACCESS_BITS                                          \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND | UR_ACCESS_FLUSH)
/* enum ib_uverbs_access_flags; missing in older libraries */
#define UR_ACCESS_FLUSH (1u << 8 | 1u << 9)

static void take_access(struct uroce_guest_mr_init *init, int access)
{
	init->access = (u32)access & ACCESS_BITS;
	if (access & IBV_ACCESS_ON_DEMAND)
		init->flags |= UROCE_GUEST_MR_ON_DEMAND;
	if (access & IBV_ACCESS_ZERO_BASED)
		init->iova = 0;
}

/* ---- what children of fork need ---- */

/* By a hash of the key: the key, while the region is registered. A child's engine reads it in this
 * process's memory (uroce_guest_mr_init.key_at). Another region in its place takes the memory from
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

static bool is_plain(const struct uroce_guest_mr_init *init)
{
	return !(init->flags &
		 ~(UROCE_GUEST_MR_ON_DEMAND | UROCE_GUEST_MR_IMPLICIT));
}

/* Of regions in a child's engine whose keys the parent has. */
#define AS_PARENTS (UROCE_GUEST_MR_PARENTS | UROCE_GUEST_MR_FILE)

/* In the child: registers the region in its engine, or forgets it. */
static void inherit(struct uroce_context *ctx, struct uroce_mr *mr,
		    bool reaches)
{
	struct uroce_guest_mr_init *init = &mr->guest_init;
	bool has_memory =
		init->flags & UROCE_GUEST_MR_NULL ||
		(init->flags & UROCE_GUEST_MR_FILE && ctx->guest_apart);
	int err = EFAULT;

	mr->guest = NULL;
	mr->shared = NULL;
	if (is_plain(init) && reaches && *place_of(init->key) == init->key) {
		init->flags |= UROCE_GUEST_MR_PARENTS;
		init->key_at = (uintptr_t)place_of(init->key);
		err = ctx->door->reg_mr(ctx->guest, init, &mr->guest);
	} else if (has_memory) {
		err = ctx->door->reg_mr(ctx->guest, init, &mr->guest);
	}
	if (!err)
		return;
	mr->guest = NULL;
	ur_list_del(&mr->node);
	ur_list_init(&mr->node);
}

void ur_guest_inherit_regions(struct uroce_context *ctx, int mem, pid_t owner)
{
	bool reaches =
		mem >= 0 && !ctx->door->set_parent(ctx->guest, mem, (u32)owner);

	ur_list_for_each_safe(it, &ctx->regions)
		inherit(ctx, ur_list_entry(it, struct uroce_mr, node), reaches);
}

/* Ends the parent's region in this engine that had the key, since the parent has deregistered it. Returns
 * whether there was one. */
static bool end_parents(struct uroce_context *ctx, u32 key)
{
	ur_list_for_each_safe(it, &ctx->regions) {
		struct uroce_mr *mr = ur_list_entry(it, struct uroce_mr, node);

		if (!(mr->guest_init.flags & AS_PARENTS) ||
		    mr->guest_init.key >> 8 != key >> 8)
			continue;
		ctx->door->dereg_mr(mr->guest);
		mr->guest = NULL;
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
	       const struct uroce_guest_mr_init *init)
{
	int err;

	if (!ur_guest_makes_here(ctx))
		return EIO;
	mr->guest_init = *init;
	mr->handle = mr->vmr.ibv_mr.handle;
	mr->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	do
		err = -ctx->door->reg_mr(ctx->guest, init, &mr->guest);
	while (ends_parents(ctx, err, init->key) ||
	       ur_guest_has_more_room(ctx, &err));
	if (!err)
		err = ur_shared_reg_mr(ctx, mr);
	if (err && mr->guest) {
		ctx->door->dereg_mr(mr->guest);
		mr->guest = NULL;
	}
	if (!err)
		note_key(init->key);
	return err;
}

/* dmabuf matters to UROCE_GUEST_MR_DMABUF and _FILE alone. */
static struct uroce_guest_mr_init init_of(const struct uroce_mr *mr,
					  const struct ibv_pd *pd, u32 flags,
					  u64 addr, u64 length, u64 iova)
{
	return (struct uroce_guest_mr_init){
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.flags = flags,
		.addr = addr,
		.length = length,
		.iova = iova,
		.dmabuf = mr->dmabuf,
	};
}

int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access)
{
	struct uroce_guest_mr_init init =
		init_of(mr, pd, 0, addr, length, iova);

	take_access(&init, access);
	if ((access & IBV_ACCESS_ON_DEMAND) && !addr && length == UINT64_MAX)
		init.flags |= UROCE_GUEST_MR_IMPLICIT;
	return reg(ctx, mr, &init);
}

bool ur_guest_has_gpu(struct uroce_context *ctx, u64 addr, u64 length)
{
	return ur_guest_is_here(ctx) && ctx->door->has_gpu &&
	       !ctx->door->has_gpu(addr, length);
}

static int reg_as(u32 flags, struct uroce_context *ctx, struct uroce_mr *mr,
		  const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		  int access)
{
	struct uroce_guest_mr_init init =
		init_of(mr, pd, flags, addr, length, iova);

	take_access(&init, access);
	return reg(ctx, mr, &init);
}

int ur_guest_reg_gpu_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
			int access)
{
	return reg_as(UROCE_GUEST_MR_GPU, ctx, mr, pd, addr, length, iova,
		      access);
}

int ur_guest_reg_mapped_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			   const struct ibv_pd *pd, u64 addr, u64 length,
			   u64 iova, int access)
{
	return reg_as(UROCE_GUEST_MR_DMABUF, ctx, mr, pd, addr, length, iova,
		      access);
}

int ur_guest_reg_null_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			 const struct ibv_pd *pd)
{
	struct uroce_guest_mr_init init =
		init_of(mr, pd, UROCE_GUEST_MR_NULL, 0, UINT64_MAX, 0);

	init.access = IBV_ACCESS_LOCAL_WRITE;
	return reg(ctx, mr, &init);
}

int ur_guest_reg_dmabuf_mr(struct uroce_context *ctx, struct uroce_mr *mr,
			   const struct ibv_pd *pd, u64 offset, u64 length,
			   u64 iova, int fd, int access)
{
	u64 in_page = offset & ((u64)sysconf(_SC_PAGESIZE) - 1);
	void *map;

	if (!ur_guest_makes_here(ctx))
		return EIO;
	/* An engine process maps the file, since it may have no access to this process's memory. */
	if (ctx->guest_apart)
		return reg_as(UROCE_GUEST_MR_FILE, ctx, mr, pd, offset, length,
			      iova, access);
	map = mmap(NULL, in_page + length, PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, (off_t)(offset - in_page));
	if (map == MAP_FAILED)
		return errno;
	mr->map = map;
	mr->map_len = in_page + length;
	return ur_guest_reg_mr(ctx, mr, pd, (uintptr_t)map + in_page, length,
			       iova, access);
}

int ur_guest_rereg_mr(struct uroce_mr *mr, int flags, const struct ibv_pd *pd,
		      u64 addr, u64 length, int access, bool gpu)
{
	struct uroce_context *ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	struct uroce_guest_mr_init
		init =
			{
				.addr = addr,
				.length = length,
				.iova = addr,
				.flags = gpu ? UROCE_GUEST_MR_GPU : 0,
			},
		*now = &mr->guest_init;
	int err;

	if (!ur_guest_has(ctx, mr->guest))
		return EIO;
	if (!mr->guest)
		return 0;
	drop_key(now->key);
	if (flags & IBV_REREG_MR_CHANGE_PD)
		init.pdn = ur_to_pd(pd)->pdn;
	take_access(&init, flags & IBV_REREG_MR_CHANGE_ACCESS ? access
							      : mr->vmr.access);
	err = -ctx->door->rereg_mr(mr->guest, (u32)flags, &init);
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

int ur_guest_dereg_mr(struct uroce_mr *mr)
{
	struct uroce_context *ctx;
	int err;

	if (!mr->guest)
		return 0;
	ctx = ur_to_ctx(mr->vmr.ibv_mr.context);
	if (!ur_guest_has_still(ctx, mr->guest)) {
		ur_shared_dereg_mr(ctx, mr);
		return 0;
	}
	drop_key(mr->guest_init.key);
	err = -ctx->door->dereg_mr(mr->guest);
	if (err) {
		note_key(mr->guest_init.key);
		return err;
	}
	mr->guest = NULL;
	ur_shared_dereg_mr(ctx, mr);
	return 0;
}

/* Needs no new search for the memory, which was found at the first
 * registration. */
void ur_guest_keep_mr(struct uroce_mr *mr)
{
	struct uroce_context *ctx = ur_to_ctx(mr->vmr.ibv_mr.context);

	if (mr->guest_init.key && ur_guest_is_here(ctx) &&
	    !ctx->door->reg_mr(ctx->guest, &mr->guest_init, &mr->guest)) {
		ur_shared_reg_mr(ctx, mr);
		note_key(mr->guest_init.key);
	}
}

int ur_guest_alloc_mw(struct uroce_context *ctx, struct uroce_mw *mw)
{
	int err;

	ur_guest_end_dereg_hints(ctx);
	if (!ur_guest_makes_here(ctx))
		return EIO;
	mw->handle = mw->ibv.handle;
	do
		err = -ctx->door->alloc_mw(
			ctx->guest, ur_to_pd(mw->ibv.pd)->pdn, mw->ibv.type,
			mw->ibv.rkey, &mw->guest);
	while (ur_guest_has_more_room(ctx, &err));
	return err;
}

void ur_guest_dealloc_mw(struct uroce_mw *mw)
{
	struct uroce_context *ctx;

	if (!mw->guest)
		return;
	ctx = ur_to_ctx(mw->ibv.context);
	if (ur_guest_has_still(ctx, mw->guest))
		ctx->door->dealloc_mw(mw->guest);
	mw->guest = NULL;
}

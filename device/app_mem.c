// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: the ways to the application's memory.
 *
 *  - what the client offers as a sealed memfd, and device memory, is mapped:
 *    plain loads and stores by the transport;
 *  - all else goes through the client's mem file, page faults included, so
 *    that on-demand paging needs nothing more.
 *
 * A memfd is mapped only when it cannot shrink under us and its pages cannot
 * run out behind our back (tmpfs, not hugetlbfs): a fault in the engine would
 * be every client's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "device/engine_impl.h"
#include "device/user.h"

#define PAGE	     4096u
#define REREG_TRANS  1u
#define REREG_PD     2u
#define REREG_ACCESS 4u
/* Pages looked at one by one when a region is registered. */
#define PROBE_PAGES 4096u

/* ---- copying ---- */

static int mem_read(void *mem, u64 off, void *dst, u32 len)
{
	const struct ur_emr *mr = mem;

	return ur_user_read(mr->attr.mem, mr->attr.addr + off, dst, len);
}

static int mem_write(void *mem, u64 off, const void *src, u32 len)
{
	const struct ur_emr *mr = mem;

	return ur_user_write(mr->attr.mem, mr->attr.addr + off, src, len);
}

/* Read, change, write: atomic towards everything that comes through this
 * engine, which is what IBV_ATOMIC_HCA promises. */
static int mem_cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		   u64 swap_mask, u64 *old)
{
	u64 v;
	int ret = mem_read(mem, off, &v, sizeof(v));

	if (ret)
		return ret;
	*old = v;
	if ((v ^ compare) & compare_mask)
		return 0;
	v = (v & ~swap_mask) | (swap & swap_mask);
	return mem_write(mem, off, &v, sizeof(v));
}

/* Add without carry across the bits of boundary. */
static u64 add_fields(u64 a, u64 b, u64 boundary)
{
	return ((a & ~boundary) + (b & ~boundary)) ^ ((a ^ b) & boundary);
}

static int mem_faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	u64 v;
	int ret = mem_read(mem, off, &v, sizeof(v));

	if (ret)
		return ret;
	*old = v;
	v = add_fields(v, add, boundary_mask);
	return mem_write(mem, off, &v, sizeof(v));
}

static int mem_flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0; /* what was written is visible already */
}

static const struct ur_mem_ops mem_ops = {
	.read = mem_read,
	.write = mem_write,
	.cas = mem_cas,
	.faa = mem_faa,
	.flush = mem_flush,
};

/* ---- mapping ---- */

static bool is_safe_file(int fd, u64 end)
{
	struct statfs fs;
	struct stat st;
	int seals;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return false;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return false;
	return fstat(fd, &st) == 0 && st.st_size >= 0 && end <= (u64)st.st_size;
}

/* Map the range that starts within the page at file offset off. On refusal
 * the region is copied instead. */
static void map_file(struct ur_emr *mr, int fd, u64 off)
{
	u64 in_page = mr->attr.addr & (PAGE - 1), len;
	void *p;

	if (off & (PAGE - 1) || mr->attr.length > INT64_MAX / 2 ||
	    off > INT64_MAX / 2 || !mr->attr.length)
		return;
	len = ur_align_up(in_page + mr->attr.length, PAGE);
	if (!is_safe_file(fd, off + len))
		return;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)off);
	if (p == MAP_FAILED)
		return;
	mr->map = p;
	mr->map_len = len;
	mr->direct = mr->map + in_page;
}

/* Is the range there? Reading never changes it; what cannot be written is
 * found out when it is. */
static int probe(const struct ur_emr *mr)
{
	u64 first = mr->attr.addr, last = first + mr->attr.length - 1;
	u64 pages = (last / PAGE) - (first / PAGE) + 1;
	u64 step = pages > PROBE_PAGES ? pages / PROBE_PAGES * PAGE : PAGE;
	u8 byte;

	if (last < first)
		return -EFAULT;
	if (ur_user_read(mr->attr.mem, last, &byte, 1))
		return -EFAULT;
	for (u64 a = first;; a = (a & ~(u64)(PAGE - 1)) + step) {
		if (a > last || a < first)
			return 0;
		if (ur_user_read(mr->attr.mem, a, &byte, 1))
			return -EFAULT;
	}
}

static int find_memory(struct ur_emr *mr)
{
	const struct ur_emr_attr *a = &mr->attr;

	if (a->null_mr || a->implicit)
		return 0;
	if (a->dm) {
		if (a->dm_off > a->dm->length ||
		    a->length > a->dm->length - a->dm_off)
			return -EINVAL;
		mr->dm = a->dm;
		mr->dm->users++;
		mr->direct = a->dm->block.ptr + a->dm_off;
		return 0;
	}
	if (a->dmabuf_fd >= 0) {
		u64 at = a->dmabuf_off & (PAGE - 1);

		/* the position within the page is the file's, not addr's */
		mr->attr.addr = at;
		map_file(mr, a->dmabuf_fd, a->dmabuf_off - at);
		return mr->map ? 0 : -EOPNOTSUPP;
	}
	if (a->shm_fd >= 0 && mr->ectx->engine->opt.shared)
		map_file(mr, a->shm_fd, a->shm_off);
	if (mr->map || a->on_demand || !a->length)
		return 0;
	return probe(mr);
}

static int attach_memory(struct ur_emr *mr)
{
	int ret = find_memory(mr);

	if (!ret)
		ur_user_mem_get(mr->attr.mem);
	return ret;
}

static void detach_memory(struct ur_emr *mr)
{
	ur_user_mem_put(mr->attr.mem);
	if (mr->map)
		munmap(mr->map, mr->map_len);
	if (mr->dm)
		mr->dm->users--;
	mr->map = NULL;
	mr->dm = NULL;
	mr->direct = NULL;
}

static void fill_attr(struct ur_emr *mr, struct ur_mr_attr *out)
{
	memset(out, 0, sizeof(*out));
	out->pd = mr->attr.pd;
	out->access = mr->attr.access;
	out->iova = mr->attr.iova;
	out->length = mr->attr.length;
	out->direct = mr->direct;
	out->ops = &mem_ops;
	out->mem = mr;
	out->null_mr = mr->attr.null_mr;
}

/* ---- objects ---- */

/* Mapping and looking at memory may take long (page faults of the client's),
 * so the calling thread does it, not the engine. */

static int reg(struct ur_engine *engine, void *arg)
{
	struct ur_emr *mr = arg;
	struct ur_mr_attr attr;
	int ret;

	fill_attr(mr, &attr);
	ret = ur_mr_create(engine->port, &attr, &mr->mr);
	if (ret)
		return ret;
	mr->key = ur_mr_key(mr->mr);
	ur_list_add_tail(&mr->ectx->mrs, &mr->node);
	return 0;
}

int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **ret_mr)
{
	struct ur_emr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (!mr)
		return -ENOMEM;
	mr->ectx = ectx;
	mr->attr = *attr;
	ur_list_init(&mr->node);
	ret = attach_memory(mr);
	if (ret)
		goto err_free;
	ret = ur_engine_call(ectx->engine, reg, mr);
	if (ret)
		goto err_detach;
	*ret_mr = mr;
	return 0;
err_detach:
	detach_memory(mr);
err_free:
	free(mr);
	return ret;
}

struct rereg_args {
	struct ur_emr *mr;
	struct ur_emr next; /* what it is to be; then what it was */
};

static int rereg(struct ur_engine *engine, void *arg)
{
	struct rereg_args *a = arg;
	struct ur_emr *mr = a->mr, old = *mr;
	struct ur_mr_attr attr;
	int ret;

	fill_attr(&a->next, &attr);
	attr.mem = mr;
	ret = ur_mr_rereg(mr->mr, &attr);
	if (ret)
		return ret;
	mr->attr = a->next.attr;
	mr->map = a->next.map;
	mr->map_len = a->next.map_len;
	mr->direct = a->next.direct;
	mr->dm = a->next.dm;
	a->next = old;
	return 0;
}

int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr)
{
	struct rereg_args a = {.mr = mr, .next = *mr};
	int ret;

	if (flags & REREG_TRANS) {
		a.next.attr = *attr;
		a.next.attr.pd = mr->attr.pd;
		a.next.attr.access = mr->attr.access;
		a.next.map = NULL;
		a.next.dm = NULL;
		a.next.direct = NULL;
		ret = attach_memory(&a.next);
		if (ret)
			return ret;
	}
	if (flags & REREG_PD)
		a.next.attr.pd = attr->pd;
	if (flags & REREG_ACCESS)
		a.next.attr.access = attr->access;
	ret = ur_engine_call(mr->ectx->engine, rereg, &a);
	/* Either the new memory, refused, or the old, no longer needed. */
	if (flags & REREG_TRANS)
		detach_memory(&a.next);
	return ret;
}

u32 ur_emr_key(const struct ur_emr *mr)
{
	return mr->key;
}

static int dereg(struct ur_engine *engine, void *arg)
{
	struct ur_emr *mr = arg;
	int ret = ur_mr_destroy(mr->mr);

	if (ret)
		return ret;
	ur_list_del(&mr->node);
	return 0;
}

int ur_emr_dereg(struct ur_emr *mr)
{
	int ret = ur_engine_call(mr->ectx->engine, dereg, mr);

	if (ret)
		return ret;
	detach_memory(mr);
	free(mr);
	return 0;
}

struct advise_args {
	struct ur_ectx *ectx;
	u32 pd;
	const struct ur_sge *sge;
	u32 num_sge;
	bool write;
};

static int advise(struct ur_engine *engine, void *arg)
{
	struct advise_args *a = arg;

	for (u32 i = 0; i < a->num_sge; i++) {
		const struct ur_emr *found = NULL;

		ur_list_for_each(it, &a->ectx->mrs) {
			const struct ur_emr *mr =
				ur_list_entry(it, struct ur_emr, node);

			if (mr->key == a->sge[i].lkey && mr->attr.pd == a->pd)
				found = mr;
		}
		if (!found)
			return -ENOENT;
		if (a->write && !(found->attr.access & UR_ACCESS_LOCAL_WRITE))
			return -EPERM;
		if (a->sge[i].addr < found->attr.iova ||
		    a->sge[i].addr - found->attr.iova > found->attr.length ||
		    a->sge[i].length > found->attr.length - (a->sge[i].addr -
							     found->attr.iova))
			return -EINVAL;
	}
	return 0;
}

int ur_ectx_advise(struct ur_ectx *ectx, u32 pd, u32 advice, u32 flags,
		   const struct ur_sge *sge, u32 num_sge)
{
	/* The pages are in the client's page table, and its provider has them
	 * put there. */
	struct advise_args a = {ectx, pd, sge, num_sge, advice == 1};

	if (advice > 2 || flags > 1)
		return -EOPNOTSUPP;
	return ur_engine_call(ectx->engine, advise, &a);
}

/* ---- windows, device memory ---- */

struct ur_emw {
	struct ur_ectx *ectx;
	struct ur_mw *mw;
	u32 rkey, pd;
	int type;
};

static int alloc_mw(struct ur_engine *engine, void *arg)
{
	struct ur_emw *mw = arg;
	int ret = ur_mw_create(engine->port, mw->pd, mw->type, &mw->mw);

	if (!ret)
		mw->rkey = ur_mw_rkey(mw->mw);
	return ret;
}

int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, struct ur_emw **ret_mw)
{
	struct ur_emw *mw = calloc(1, sizeof(*mw));
	int ret;

	if (!mw)
		return -ENOMEM;
	mw->ectx = ectx;
	mw->pd = pd;
	mw->type = type;
	ret = ur_engine_call(ectx->engine, alloc_mw, mw);
	if (ret) {
		free(mw);
		return ret;
	}
	*ret_mw = mw;
	return 0;
}

u32 ur_emw_rkey(const struct ur_emw *mw)
{
	return mw->rkey;
}

static int dealloc_mw(struct ur_engine *engine, void *arg)
{
	ur_mw_destroy(((struct ur_emw *)arg)->mw);
	return 0;
}

int ur_emw_dealloc(struct ur_emw *mw)
{
	ur_engine_call(mw->ectx->engine, dealloc_mw, mw);
	free(mw);
	return 0;
}

static int alloc_dm(struct ur_engine *engine, void *arg)
{
	struct ur_edm *dm = arg;
	int ret = ur_arena_alloc(&dm->ectx->arena, dm->length, &dm->block);

	if (!ret)
		memset(dm->block.ptr, 0, dm->block.len);
	return ret;
}

int ur_edm_alloc(struct ur_ectx *ectx, u64 length, u32 log_align,
		 struct ur_edm **ret_dm, struct uroce_alloc_dm_resp *resp)
{
	struct ur_edm *dm;
	int ret;

	if (!length || log_align > 12)
		return -EINVAL;
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return -ENOMEM;
	dm->ectx = ectx;
	dm->length = length;
	ret = ur_engine_call(ectx->engine, alloc_dm, dm);
	if (ret) {
		free(dm);
		return ret;
	}
	resp->map_off = dm->block.off;
	resp->map_len = dm->block.len;
	*ret_dm = dm;
	return 0;
}

static int free_dm(struct ur_engine *engine, void *arg)
{
	struct ur_edm *dm = arg;

	if (dm->users)
		return -EBUSY;
	ur_arena_free(&dm->ectx->arena, &dm->block);
	return 0;
}

int ur_edm_free(struct ur_edm *dm)
{
	int ret = ur_engine_call(dm->ectx->engine, free_dm, dm);

	if (!ret)
		free(dm);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Access to the application's memory; emr.c has the regions.
 *
 *  - a file is mapped: the transport loads and stores;
 *  - GPU memory is copied by the GPU's runtime (gpu/gpu.c);
 *  - a dma-buf that the program has mapped is reached as its other memory, between two
 *    calls that say so to the driver (dmabuf.c);
 *  - all else goes through the client's mem file, which handles page faults, so
 *    on-demand paging needs nothing more.
 *
 * A memfd in place of a dma-buf is mapped only if it cannot shrink and its pages
 * cannot run out (tmpfs, not hugetlbfs): a fault in the engine would hit all
 * clients.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/gpu/gpu.h"
#include "engine/ground/own_memory.h"
#include "transport/mem.h"
#include "util/assert.h"

/* Bytes unmapped by one system call. Other threads that map memory wait for it, about a
 * millisecond if the pages are present. */
#define UNMAP_STEP (8u << 20)

/* ---- copying ---- */

/* A card pins the pages, whatever their protection is later. On-demand memory is not pinned. */
static int copy_pinned(const struct ur_emr *mr, u64 off, u8 *buf, u32 len,
		       bool out)
{
	if (!mr->attr.mem->own_copy || mr->attr.on_demand || mr->attr.implicit)
		return -EFAULT;
	return ur_pinned_copy(mr->attr.mem, &mr->pinned, off,
			      mr->attr.addr + off, buf, len, out);
}

static int mem_read(void *mem, u64 off, void *dst, u32 len)
{
	const struct ur_emr *mr = mem;
	int err = 0;

	/* The mem file reads pages whatever their rights; on-demand memory has to obey them. */
	if (mr->attr.on_demand && mr->attr.mem->query)
		err = ur_user_rights(mr->attr.mem, mr->attr.addr + off, len,
				     PROT_READ);
	if (err)
		return err;
	err = ur_user_read(mr->attr.mem, mr->attr.addr + off, dst, len);
	return err == -EFAULT ? copy_pinned(mr, off, dst, len, false) : err;
}

static int mem_write(void *mem, u64 off, const void *src, u32 len)
{
	const struct ur_emr *mr = mem;
	int err = ur_user_write(mr->attr.mem, mr->attr.addr + off, src, len);

	return err == -EFAULT
		       ? copy_pinned(mr, off, (u8 *)(uintptr_t)src, len, true)
		       : err;
}

static int mem_read_pieces(void *mem, u64 off, const struct ur_pieces *to)
{
	const struct ur_emr *mr = mem;
	int err;

	/* mem_read() checks the rights of on-demand pages first. */
	if (mr->attr.on_demand)
		return -EOPNOTSUPP;
	err = ur_own_memory_pieces(mr->attr.mem, mr->attr.addr + off, to->first,
				   to->stride, to->len, to->n, false);
	for (u32 i = 0; err == -EFAULT && i < to->n; i++)
		if (mem_read(mem, off + (u64)i * to->len,
			     to->first + (size_t)i * to->stride, to->len))
			return -EFAULT;
	return err == -EFAULT ? 0 : err;
}

static int mem_write_pieces(void *mem, u64 off, const struct ur_pieces *from)
{
	const struct ur_emr *mr = mem;
	int err = ur_own_memory_pieces(mr->attr.mem, mr->attr.addr + off,
				       from->first, from->stride, from->len,
				       from->n, true);

	for (u32 i = 0; err == -EFAULT && i < from->n; i++)
		if (mem_write(mem, off + (u64)i * from->len,
			      from->first + (size_t)i * from->stride,
			      from->len))
			return -EFAULT;
	return err == -EFAULT ? 0 : err;
}

/* An atomic operation: compare and swap, or fetch and add. */
struct change {
	bool cas;
	u64 a, a_mask, b, b_mask;
};

static bool changes(const struct change *c, u64 *v)
{
	if (!c->cas) {
		*v = ur_masked_add(*v, c->a, c->a_mask);
		return true;
	}
	if ((*v ^ c->a) & c->a_mask)
		return false;
	*v = (*v & ~c->b_mask) | (c->b & c->b_mask);
	return true;
}

/* Replaces *old by v. Returns 1 if the memory has another value, which it puts in
 * *old. */
static int exchange(struct ur_emr *mr, u64 off, u64 *old, u64 v)
{
	struct ur_user_mem *mem = mr->attr.mem;
	int ret = ur_own_memory_swap(mem, mr->attr.addr + off, old, v);

	return ret == -EAGAIN || ret == -EFAULT
		       ? mem_write(mr, off, &v, sizeof(v))
		       : ret;
}

/* Reads, changes and writes. Atomic among all atomics to the memory of this process,
 * which is what IBV_ATOMIC_HCA promises. */
static int change_word(struct ur_emr *mr, u64 off, const struct change *c,
		       u64 *old)
{
	pthread_mutex_t *lock = &mr->attr.mem->atomic;
	u64 v;
	int ret;

	pthread_mutex_lock(lock);
	ret = mem_read(mr, off, old, sizeof(*old));
	for (v = *old; !ret && changes(c, &v); v = *old) {
		ret = exchange(mr, off, old, v);
		if (ret <= 0)
			break;
		ret = 0;
	}
	pthread_mutex_unlock(lock);
	return ret;
}

static int mem_cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		   u64 swap_mask, u64 *old)
{
	const struct change c = {true, compare, compare_mask, swap, swap_mask};

	return change_word(mem, off, &c, old);
}

static int mem_faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	const struct change c = {.a = add, .a_mask = boundary_mask};

	return change_word(mem, off, &c, old);
}

static int mem_flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0; /* what was written is visible already */
}

const struct ur_mem_ops ur_app_mem_ops = {
	.read = mem_read,
	.write = mem_write,
	.bears_frail = true,
	.read_pieces = mem_read_pieces,
	.write_pieces = mem_write_pieces,
	.cas = mem_cas,
	.faa = mem_faa,
	.flush = mem_flush,
};

/* ---- mapping ---- */

bool ur_emr_takes_file(int fd)
{
	struct statfs fs;
	int seals;

	/* First the seals, which only a memfd has: statfs of another file system
	 * may block. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return false;
	return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

static bool is_safe_file(int fd, u64 end)
{
	struct stat st;

	return ur_emr_takes_file(fd) && !fstat(fd, &st) && st.st_size >= 0 &&
	       end <= (u64)st.st_size;
}

/* Maps the range that starts within the page at file offset off. Returns 0 or
 * -EOPNOTSUPP: the file cannot be mapped. */
static int map_file(struct ur_emr *mr, int fd, u64 off)
{
	u64 page = mr->ectx->arena.page;
	u64 in_page = mr->attr.addr & (page - 1), len;
	void *p;

	if (off & (page - 1) || mr->attr.length > INT64_MAX / 2 ||
	    off > INT64_MAX / 2 || !mr->attr.length)
		return -EOPNOTSUPP;
	len = ur_align_up(in_page + mr->attr.length, page);
	if (!is_safe_file(fd, off + len))
		return -EOPNOTSUPP;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)off);
	if (p == MAP_FAILED)
		return errno == ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	mr->map = p;
	mr->map_len = len;
	mr->direct = mr->map + in_page;
	return 0;
}

static int find_memory(struct ur_emr *mr)
{
	const struct ur_emr_attr *a = &mr->attr;

	if (a->null_mr)
		return 0;
	if (a->gpu)
		return ur_gpu_attach(mr);
	if (a->implicit)
		return ur_user_mem_reaches(a->mem) ? 0 : -EACCES;
	if (a->dmabuf_fd >= 0) {
		u64 at = a->dmabuf_off & (mr->ectx->arena.page - 1);

		/* the position within the page is the file's, not addr's */
		mr->attr.addr = at;
		return map_file(mr, a->dmabuf_fd, a->dmabuf_off - at);
	}
	if (!a->length)
		return 0;
	if (!ur_user_mem_reaches(a->mem))
		return -EACCES;
	if (a->synced)
		return 0;
	if (a->mem->own_copy)
		ur_pinned_begin(a->mem, a->addr, a->length,
				ur_user_rights_for(a->access) == PROT_WRITE,
				&mr->pinned);
	return 0;
}

int ur_app_mem_attach(struct ur_emr *mr)
{
	int err = find_memory(mr);

	if (!err)
		ur_user_mem_get(mr->attr.mem);
	return err;
}

struct ur_emr_left ur_app_mem_detach(struct ur_emr *mr)
{
	struct ur_emr_left left = {
		.map = mr->map,
		.len = mr->map_len,
	};

	ur_user_mem_put(mr->attr.mem);
	if (mr->gpu)
		ur_gpu_detach(mr);
	mr->map = NULL;
	mr->direct = NULL;
	return left;
}

void ur_emr_unmap(const struct ur_emr_left *left)
{
	u8 *at = left->map, *end = at + left->len;

	for (; at && at < end; at += UNMAP_STEP)
		munmap(at, ur_min_u64((u64)(end - at), UNMAP_STEP));
}

void ur_app_mem_describe(struct ur_emr *mr, struct ur_mr_attr *out)
{
	memset(out, 0, sizeof(*out));
	out->pd = mr->attr.pd;
	out->access = mr->attr.access;
	out->iova = mr->attr.iova;
	out->length = mr->attr.length;
	out->direct = mr->direct;
	out->ops = mr->gpu ? &ur_gpu_mem_ops : &ur_app_mem_ops;
	out->mem = mr;
	out->null_mr = mr->attr.null_mr;
	out->key = mr->attr.key;
	out->owner = mr->ectx;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Access to memory that the program's parent registered before it forked. The program knows the
 * region by its key, and does not learn when the parent deregisters it. So each access first
 * reads the parent's list of its keys, in the parent's memory. If another process has that
 * memory's place, the key is not there.
 */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "transport/mem.h"

static int check(const struct ur_emr *mr)
{
	u32 key;

	return ur_user_read(mr->attr.mem, mr->attr.key_at, &key, sizeof(key)) ||
			       key != mr->attr.key
		       ? -EFAULT
		       : 0;
}

static int read_bytes(void *mem, u64 off, void *dst, u32 len)
{
	return check(mem) ?: ur_app_mem_ops.read(mem, off, dst, len);
}

static int write_bytes(void *mem, u64 off, const void *src, u32 len)
{
	return check(mem) ?: ur_app_mem_ops.write(mem, off, src, len);
}

static int cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
	       u64 swap_mask, u64 *old)
{
	return check(mem)
		       ?: ur_app_mem_ops.cas(mem, off, compare, compare_mask,
					     swap, swap_mask, old);
}

static int faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	return check(mem)
		       ?: ur_app_mem_ops.faa(mem, off, add, boundary_mask, old);
}

static int flush(void *mem, u64 off, u64 len, u32 type)
{
	return check(mem);
}

const struct ur_mem_ops ur_parent_mem_ops = {
	.read = read_bytes,
	.write = write_bytes,
	.cas = cas,
	.faa = faa,
	.flush = flush,
};

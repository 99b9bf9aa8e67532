// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checked access to application memory. IBTA volume 1, 10.6 (memory
 * management): key, protection domain, bounds and rights, at the time of use.
 */
#include "transport/internal.h"
#include "transport/port.h"
#include "transport/qp.h"

#include <errno.h>

/* Returns whether [addr, addr + len) lies in [first, first + length), without
 * overflow. */
static bool range_inside(u64 addr, u64 len, u64 first, u64 length)
{
	u64 off = addr - first;

	return addr >= first && off <= length && len <= length - off;
}

static void mr_span(struct ur_mr *mr, u64 off, u64 len, struct ur_span *span)
{
	span->ptr = mr->attr.direct ? mr->attr.direct + off : NULL;
	span->mr = mr;
	span->off = off;
	span->len = len;
}

/* Checks one range of a local key. Returns true with *span, or false. */
static bool mem_local(struct ur_port *port, u32 pd, u32 lkey, u64 addr, u64 len,
		      u32 access, struct ur_span *span)
{
	struct ur_key *k = ur_table_lookup(&port->keys, lkey >> 8);
	struct ur_mr *mr;

	if (!k || k->kind != UR_KEY_MR || k->key != lkey)
		return false;
	mr = ur_container_of(k, struct ur_mr, k);
	if (mr->attr.pd != pd || (access & ~mr->attr.access))
		return false;
	if (!range_inside(addr, len, mr->attr.iova, mr->attr.length))
		return false;
	mr_span(mr, addr - mr->attr.iova, len, span);
	return true;
}

bool ur_mem_remote(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		   u32 access, struct ur_span *span)
{
	struct ur_key *k = ur_table_lookup(&qp->port->keys, rkey >> 8);
	struct ur_mw *mw;
	u64 off;

	if (!k || k->key != rkey)
		return false;
	if (k->kind == UR_KEY_MR)
		return mem_local(qp->port, qp->init.pd, rkey, addr, len, access,
				 span);
	mw = ur_container_of(k, struct ur_mw, k);
	if (!ur_mw_access(mw, qp, addr, len, access, &off))
		return false;
	/* The region may have been changed since the bind. */
	if (!range_inside(off, len, mw->mr->attr.iova, mw->mr->attr.length))
		return false;
	mr_span(mw->mr, off - mw->mr->attr.iova, len, span);
	return true;
}

/* Returns an address that the key allows. */
static u64 first_address(const struct ur_port *port, u32 rkey)
{
	struct ur_key *k = ur_table_lookup(&port->keys, rkey >> 8);
	const struct ur_mw *mw;

	if (!k)
		return 0;
	if (k->kind == UR_KEY_MR)
		return ur_container_of(k, struct ur_mr, k)->attr.iova;
	mw = ur_container_of(k, struct ur_mw, k);
	return mw->access & UR_ACCESS_ZERO_BASED ? 0 : mw->addr;
}

bool ur_mem_flushed(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		    u8 placement, u8 level, struct ur_span *span)
{
	u32 access = ur_access_needed(UR_OPF_FLUSH, placement);

	if (level != UR_FETH_SEL_MR)
		return ur_mem_remote(qp, rkey, addr, len, access, span);
	addr = first_address(qp->port, rkey);
	if (!ur_mem_remote(qp, rkey, addr, 0, access, span))
		return false;
	mr_span(span->mr, 0, span->mr->attr.length, span);
	return true;
}

bool ur_mem_check_list(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		       u32 count, u32 access)
{
	struct ur_span span;

	for (u32 i = 0; i < count; i++)
		if (sge[i].length &&
		    !mem_local(port, pd, sge[i].lkey, sge[i].addr,
			       sge[i].length, access, &span))
			return false;
	return true;
}

bool ur_mem_list_span(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		      u32 count, struct ur_cursor *cur, u32 off, u32 len,
		      u32 access, struct ur_span *span)
{
	u32 inside;

	if (off < cur->off)
		*cur = (struct ur_cursor){0};
	while (cur->index < count && off - cur->off >= sge[cur->index].length) {
		cur->off += sge[cur->index].length;
		cur->index++;
	}
	if (cur->index >= count)
		return false;
	inside = off - cur->off;
	sge += cur->index;
	return mem_local(port, pd, sge->lkey, sge->addr + inside,
			 ur_min_u32(len, sge->length - inside), access, span);
}

int ur_span_read(const struct ur_span *s, void *dst, u32 len)
{
	if (s->ptr) {
		memcpy(dst, s->ptr, len);
		return 0;
	}
	if (s->mr->attr.null_mr) {
		memset(dst, 0, len);
		return 0;
	}
	return s->mr->attr.ops->read(s->mr->attr.mem, s->off, dst, len);
}

int ur_span_write(const struct ur_span *s, const void *src, u32 len, bool last)
{
	if (s->ptr) {
		u8 end;

		/* Inside the device, source and target may overlap. */
		if (!last || !len) {
			memmove(s->ptr, src, len);
			return 0;
		}
		end = ((const u8 *)src)[len - 1];
		memmove(s->ptr, src, len - 1);
		/* A reader that sees the last byte sees all others. */
		__atomic_store_n(s->ptr + len - 1, end, __ATOMIC_RELEASE);
		return 0;
	}
	if (s->mr->attr.null_mr)
		return 0;
	return s->mr->attr.ops->write(s->mr->attr.mem, s->off, src, len);
}

int ur_span_copy(struct ur_port *port, const struct ur_span *dst,
		 const struct ur_span *src, u32 len, bool last,
		 const struct ur_span **blame)
{
	struct ur_span from = *src, to = *dst;
	int err = 0;

	*blame = dst;
	if (src->ptr)
		return ur_span_write(dst, src->ptr, len, last);
	if (dst->ptr) {
		*blame = src;
		return ur_span_read(src, dst->ptr, len);
	}
	while (len) {
		u32 n = ur_min_u32(len, UR_BOUNCE_BYTES);

		*blame = src;
		err = ur_span_read(&from, port->bounce, n);
		if (err)
			break;
		*blame = dst;
		err = ur_span_write(&to, port->bounce, n, last);
		if (err)
			break;
		from.off += n;
		to.off += n;
		len -= n;
	}
	return err;
}

int ur_mem_gather(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		  u32 count, struct ur_cursor *cur, u32 off, u8 *dst, u32 len)
{
	struct ur_span span;
	int err;
	u32 n;

	while (len) {
		if (!ur_mem_list_span(port, pd, sge, count, cur, off, len, 0,
				      &span))
			return -EFAULT;
		n = (u32)span.len;
		err = ur_span_read(&span, dst, n);
		if (err)
			return err;
		dst += n;
		off += n;
		len -= n;
	}
	return 0;
}

int ur_mem_scatter(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		   u32 count, struct ur_cursor *cur, u32 off, const u8 *src,
		   u32 len, bool last)
{
	struct ur_span span;
	int err;
	u32 n;

	while (len) {
		if (!ur_mem_list_span(port, pd, sge, count, cur, off, len,
				      UR_ACCESS_LOCAL_WRITE, &span))
			return -EFAULT;
		n = (u32)span.len;
		err = ur_span_write(&span, src, n, last && n == len);
		if (err)
			return err;
		src += n;
		off += n;
		len -= n;
	}
	return 0;
}

u64 ur_masked_add(u64 a, u64 b, u64 boundary)
{
	/* Adds the bits at the boundaries without their carries. */
	return ((a & ~boundary) + (b & ~boundary)) ^ ((a ^ b) & boundary);
}

static u64 swapped(u64 old, u64 swap, u64 swap_mask)
{
	return (old & ~swap_mask) | (swap & swap_mask);
}

int ur_span_cas(const struct ur_span *s, u64 compare, u64 compare_mask,
		u64 swap, u64 swap_mask, u64 *old)
{
	u64 *p = (u64 *)s->ptr;

	if (!p && s->mr->attr.null_mr) {
		*old = 0;
		return 0;
	}
	if (!p)
		return s->mr->attr.ops->cas(s->mr->attr.mem, s->off, compare,
					    compare_mask, swap, swap_mask, old);
	if ((uintptr_t)p & 7)
		return -EFAULT;
	*old = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	while (((*old ^ compare) & compare_mask) == 0 &&
	       !__atomic_compare_exchange_n(
		       p, old, swapped(*old, swap, swap_mask), false,
		       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return 0;
}

int ur_span_faa(const struct ur_span *s, u64 add, u64 boundary, u64 *old)
{
	u64 *p = (u64 *)s->ptr;

	if (!p && s->mr->attr.null_mr) {
		*old = 0;
		return 0;
	}
	if (!p)
		return s->mr->attr.ops->faa(s->mr->attr.mem, s->off, add,
					    boundary, old);
	if ((uintptr_t)p & 7)
		return -EFAULT;
	*old = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(
		p, old, ur_masked_add(*old, add, boundary), false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return 0;
}

int ur_span_flush(const struct ur_span *s, u32 type)
{
	if (s->ptr) {
		/* Plain memory is visible to all once ordered. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!(type & UR_FETH_PERSISTENT) || !s->mr->attr.ops)
			return 0;
	}
	if (s->mr->attr.null_mr || !s->mr->attr.ops || !s->mr->attr.ops->flush)
		return 0;
	return s->mr->attr.ops->flush(s->mr->attr.mem, s->off, s->len, type);
}

int ur_swqe_gather(struct ur_qp *qp, struct ur_swqe *e, u32 off, u8 *dst,
		   u32 len)
{
	if (!(e->flags & UR_WR_F_INLINE))
		return ur_mem_gather(qp->port, qp->init.pd, e->sge, e->num_sge,
				     &e->cur, off, dst, len);
	if (off < e->inl_len[0]) {
		u32 n = ur_min_u32(len, e->inl_len[0] - off);

		memcpy(dst, e->inl[0] + off, n);
		dst += n;
		off += n;
		len -= n;
	}
	if (len)
		memcpy(dst, e->inl[1] + (off - e->inl_len[0]), len);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "transport/fastpath_range.h"

bool ur_range_keep(const struct ur_qp *qp, struct ur_mr_range *s, u32 owner,
		   u32 off, const struct ur_span *span, enum ur_range_use use)
{
	const struct ur_mem_ops *ops = span->mr->attr.ops;

	if ((!span->ptr && span->mr->attr.null_mr) || span->len < qp->mtu)
		return false;
	s->ptr = span->ptr;
	s->mr = span->mr;
	s->off = span->off;
	s->gen = qp->port->mem_gen;
	s->owner = owner;
	s->first = off;
	s->end = off + (u32)span->len;
	if (s->ptr)
		return true;
	s->more = use == UR_RANGE_WRITE_WHOLE && ops->write_more;
	s->write = s->more ? ops->write_more : ops->write;
	s->ahead = use == UR_RANGE_READ && ops->ahead;
	if (s->ahead)
		ops->ahead(s->mr->attr.mem, s->off, span->len, s);
	return true;
}

bool ur_range_take(const struct ur_qp *qp, const struct ur_mr_range *s,
		   u32 owner, u32 off, u8 *dst, u32 len)
{
	const struct ur_pieces to = {
		.first = dst, .stride = len, .len = len, .n = 1, .reader = s};

	return s->gen == qp->port->mem_gen && s->owner == owner && !s->ptr &&
	       s->ahead && off >= s->first && off < s->end &&
	       len <= s->end - off &&
	       !s->mr->attr.ops->read_pieces(s->mr->attr.mem,
					     s->off + (off - s->first), &to);
}

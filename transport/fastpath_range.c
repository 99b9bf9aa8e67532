// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "transport/fastpath_range.h"

bool ur_range_keep(const struct ur_qp *qp, struct ur_mr_range *s, u32 owner,
		   u32 off, const struct ur_span *span)
{
	if ((!span->ptr && span->mr->attr.null_mr) || span->len < qp->mtu)
		return false;
	s->ptr = span->ptr;
	s->mr = span->mr;
	s->off = span->off;
	s->gen = qp->port->mem_gen;
	s->owner = owner;
	s->first = off;
	s->end = off + (u32)span->len;
	return true;
}

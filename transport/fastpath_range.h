/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory ranges of the fast path (fastpath.h): checks made for one packet hold for the next
 * ones. */
#ifndef UR_TRANSPORT_FASTPATH_RANGE_H
#define UR_TRANSPORT_FASTPATH_RANGE_H

#include "transport/internal.h"

static inline bool ur_range_holds(const struct ur_qp *qp,
				  const struct ur_mr_range *s, u32 owner,
				  u32 off)
{
	return s->gen == qp->port->mem_gen && s->owner == owner &&
	       off >= s->first && off < s->end && s->end - off >= qp->mtu;
}

/* Serves both one packet and a run of packets. A call would cost a twentieth of
 * a packet. */
#define UR_RANGE_INLINE static inline __attribute__((always_inline))

/* Stores span as the memory from message offset off on. Returns whether it holds a whole packet. */
bool ur_range_keep(const struct ur_qp *qp, struct ur_mr_range *s, u32 owner,
		   u32 off, const struct ur_span *span, enum ur_range_use use);

/* Finds the memory of a scatter or gather list at message offset off. */
UR_RANGE_INLINE bool
ur_range_find_local(struct ur_qp *qp, struct ur_mr_range *s, u32 owner, u32 pd,
		    const struct ur_sge *sge, u32 count, struct ur_cursor *cur,
		    u32 off, u32 length, u32 access, enum ur_range_use use)
{
	struct ur_span span;

	if (ur_range_holds(qp, s, owner, off))
		return true;
	return ur_mem_list_span(qp->port, pd, sge, count, cur, off,
				length - off, access, &span) &&
	       ur_range_keep(qp, s, owner, off, &span, use);
}

/* Finds the memory that the peer named. */
UR_RANGE_INLINE bool ur_range_find_remote(struct ur_qp *qp,
					  struct ur_mr_range *s, u32 owner,
					  u32 rkey, u64 va, u32 off, u32 length,
					  u32 access, enum ur_range_use use)
{
	struct ur_span span;

	if (ur_range_holds(qp, s, owner, off))
		return true;
	return ur_mem_remote(qp, rkey, va + off, length - off, access, &span) &&
	       ur_range_keep(qp, s, owner, off, &span, use);
}

/* Reads len bytes at message offset off for a packet that goes the ordinary way, where they are
 * fetched ahead. false: they are not, or cannot be read, and the caller finds out why. */
bool ur_range_take(const struct ur_qp *qp, const struct ur_mr_range *s,
		   u32 owner, u32 off, u8 *dst, u32 len);

#endif

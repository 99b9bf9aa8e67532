/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Application memory: keys, the checks of every access, and copies. Every
 * access looks its key up again, so a region that goes away in the middle of
 * a message is noticed and nothing dangles.
 */
#ifndef UR_TRANSPORT_MEM_H
#define UR_TRANSPORT_MEM_H

#include "transport/opcode.h"
#include "transport/transport.h"
#include "transport/wire_format.h"

enum ur_key_kind { UR_KEY_MR, UR_KEY_MW };

/* What the key table holds: the head of a region or a window. */
struct ur_key {
	u32 key; /* table number << 8 | low byte */
	u32 id;
	u8 kind; /* enum ur_key_kind */
};

struct ur_mr {
	struct ur_key k;
	struct ur_port *port;
	struct ur_mr_attr attr;
	u32 windows; /* bound to this region */
};

struct ur_mw {
	struct ur_key k;
	struct ur_port *port;
	u32 pd;
	int type;
	struct ur_mr *mr; /* NULL: not bound */
	u64 addr, length; /* in the region's addresses */
	u32 access;
	u32 qpn; /* type 2: the queue pair it is bound to */
};

/* A checked piece of memory: plain when ptr is set, else through mr's ops. */
struct ur_span {
	u8 *ptr;
	struct ur_mr *mr;
	u64 off;
	u64 len;
};

/* Where a walk over a gather or scatter list stands. */
struct ur_cursor {
	u32 index; /* element */
	u32 off;   /* bytes of the message before it all */
};

/* The region with that key; NULL: there is none. */
struct ur_mr *ur_mr_lookup(struct ur_port *port, u32 key);

/* access, here and below: the rights that must not be missing, UR_ACCESS_*. */

/* The rights (UR_ACCESS_*) that a request with these UR_OPF_* flags needs on the
 * memory it names. placement: UR_FETH_* of a FLUSH. */
static inline u32 ur_access_needed(u32 flags, u8 placement)
{
	u32 access = 0;

	if (flags & (UR_OPF_WRITE | UR_OPF_ATOMIC_WRITE))
		access |= UR_ACCESS_REMOTE_WRITE;
	if (flags & UR_OPF_READ_REQ)
		access |= UR_ACCESS_REMOTE_READ;
	if (flags & UR_OPF_ATOMIC)
		access |= UR_ACCESS_REMOTE_ATOMIC;
	if (flags & UR_OPF_FLUSH) {
		if (placement & UR_FETH_GLOBAL)
			access |= UR_ACCESS_FLUSH_GLOBAL;
		if (placement & UR_FETH_PERSISTENT)
			access |= UR_ACCESS_FLUSH_PERSISTENT;
	}
	return access;
}

/* Check one range that a remote peer names, through a region or a window. */
bool ur_mem_remote(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		   u32 access, struct ur_span *span);

/* What a FLUSH names: the range, or the whole region where the level says so,
 * and then the range is not looked at: it may be anything. */
bool ur_mem_flushed(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		    u8 placement, u8 level, struct ur_span *span);

/* All elements of a list: keys, ranges and rights. True when good. */
bool ur_mem_check_list(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		       u32 count, u32 access);

/* The piece of the list at message offset off, at most len long. Moves the
 * cursor there. False: bad key or range, or beyond the list. */
bool ur_mem_list_span(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		      u32 count, struct ur_cursor *cur, u32 off, u32 len,
		      u32 access, struct ur_span *span);

/* Copies. 0, -EFAULT, or -ESRCH: the memory is no more, because its process
 * ended. A write with last set stores the final byte after all others:
 * programs poll it. */
int ur_span_read(const struct ur_span *s, void *dst, u32 len);
int ur_span_write(const struct ur_span *s, const void *src, u32 len, bool last);
/* On failure *blame is src or dst. */
int ur_span_copy(struct ur_port *port, const struct ur_span *dst,
		 const struct ur_span *src, u32 len, bool last,
		 const struct ur_span **blame);

/* List at offset off to and from plain memory. Returns as above. */
int ur_mem_gather(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		  u32 count, struct ur_cursor *cur, u32 off, u8 *dst, u32 len);
int ur_mem_scatter(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		   u32 count, struct ur_cursor *cur, u32 off, const u8 *src,
		   u32 len, bool last);

/* Aligned 8 bytes, host order: as in struct ur_mem_ops. Returns as above. */
int ur_span_cas(const struct ur_span *s, u64 compare, u64 compare_mask,
		u64 swap, u64 swap_mask, u64 *old);
int ur_span_faa(const struct ur_span *s, u64 add, u64 boundary, u64 *old);
/* type: UR_FETH_* placement. Returns as above. */
int ur_span_flush(const struct ur_span *s, u32 type);

/* a + b where no carry crosses a set bit of boundary (the most
 * significant bit of a field). boundary 0: an ordinary addition. */
u64 ur_masked_add(u64 a, u64 b, u64 boundary);

/* Windows. Bind: 0, or an enum ur_wc_status. */
struct ur_swqe;
u8 ur_mw_bind(struct ur_qp *qp, const struct ur_swqe *e);
/* Invalidate a type 2 window that this queue pair may invalidate. */
bool ur_mw_invalidate(struct ur_qp *qp, u32 rkey, bool commit);
/* May this queue pair reach the range through the window? *off: where it begins
 * in the region. */
bool ur_mw_access(const struct ur_mw *mw, const struct ur_qp *qp, u64 addr,
		  u64 len, u32 access, u64 *off);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Application memory: keys, the checks of every access, and copies. Every
 * access looks its key up again, so a region that goes away in the middle of a
 * message is noticed and nothing dangles.
 *
 * All functions run on the port's thread. access is the set of rights
 * (UR_ACCESS_*) that the access needs, all of them. Copies return 0, -EFAULT
 * where the memory cannot be reached, or -ESRCH where it is no more because the
 * client's process has ended. A span is good until the port's next call from
 * the host.
 */
#ifndef UR_TRANSPORT_MEM_H
#define UR_TRANSPORT_MEM_H

#include "transport/opcode.h"
#include "transport/transport.h"
#include "transport/wire_format.h"

enum ur_key_kind { UR_KEY_MR, UR_KEY_MW };

/* The entry of the key table: the head of a region or a window. */
struct ur_key {
	u32 key; /* table number << 8 | low byte */
	u32 id;
	u8 kind; /* enum ur_key_kind */
};

struct ur_mr {
	struct ur_key k;
	struct ur_port *port;
	struct ur_mr_attr attr;
	u32 windows; /* number of windows bound to it */
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
	const void *owner;
};

/* A checked piece of memory: plain when ptr is set, else through mr's ops. */
struct ur_span {
	u8 *ptr;
	struct ur_mr *mr;
	u64 off;
	u64 len;
};

/* The position of a walk over a gather or scatter list. */
struct ur_cursor {
	u32 index; /* element */
	u32 off;   /* message offset at which the element begins */
};

/* Returns the region with that key, or NULL. */
struct ur_mr *ur_mr_lookup(struct ur_port *port, u32 key);

/* Returns the rights that a request needs on the memory it names. flags:
 * UR_OPF_* of the request; placement: UR_FETH_* of a FLUSH, else 0. */
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

/* Checks a range that a peer names by the key of a region or window. Returns
 * true with the range in *span; false for a wrong key, domain, range or
 * right. */
bool ur_mem_remote(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		   u32 access, struct ur_span *span);

/* Does the same for a FLUSH. level: UR_FETH_SEL_*. For the whole region, addr
 * and len are ignored. */
bool ur_mem_flushed(const struct ur_qp *qp, u32 rkey, u64 addr, u64 len,
		    u8 placement, u8 level, struct ur_span *span);

/* Returns whether the keys, ranges and rights of all count elements are valid
 * in protection domain pd. */
bool ur_mem_check_list(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		       u32 count, u32 access);

/* Finds the memory at message offset off of a list: at most len bytes, not
 * beyond an element's end. Moves *cur there; ascending offsets are found
 * faster. Returns true with the memory in *span; false for a bad key, range or
 * right, or an offset beyond the list. */
bool ur_mem_list_span(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		      u32 count, struct ur_cursor *cur, u32 off, u32 len,
		      u32 access, struct ur_span *span);

/* Copies len bytes of the span's memory, from its begin on, to dst. */
int ur_span_read(const struct ur_span *s, void *dst, u32 len);
/* Copies len bytes from src to the span's memory. With last set the final byte
 * is stored after all others, since programs poll it. */
int ur_span_write(const struct ur_span *s, const void *src, u32 len, bool last);
/* Copies len bytes from one span to another, last as above. On failure *blame
 * is the span, src or dst, that could not be reached. */
int ur_span_copy(struct ur_port *port, const struct ur_span *dst,
		 const struct ur_span *src, u32 len, bool last,
		 const struct ur_span **blame);

/* Copies len bytes at message offset off of a list to dst. The elements need no
 * rights. Returns -EFAULT for a bad element, too. */
int ur_mem_gather(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		  u32 count, struct ur_cursor *cur, u32 off, u8 *dst, u32 len);
/* Copies len bytes from src to message offset off of a list, whose elements
 * must allow local writes; last as in ur_span_write(). */
int ur_mem_scatter(struct ur_port *port, u32 pd, const struct ur_sge *sge,
		   u32 count, struct ur_cursor *cur, u32 off, const u8 *src,
		   u32 len, bool last);

/* Atomics on a span of 8 aligned bytes, operands in host order. They work and
 * return as those of struct ur_mem_ops. */
int ur_span_cas(const struct ur_span *s, u64 compare, u64 compare_mask,
		u64 swap, u64 swap_mask, u64 *old);
int ur_span_faa(const struct ur_span *s, u64 add, u64 boundary, u64 *old);
/* Makes the span visible or persistent. type: UR_FETH_* placement. Returns 0 or
 * a negative errno. */
int ur_span_flush(const struct ur_span *s, u32 type);

/* Returns a + b, where no carry crosses a set bit of boundary, which is the
 * most significant bit of a field. With boundary 0 this is an ordinary
 * addition. */
u64 ur_masked_add(u64 a, u64 b, u64 boundary);

struct ur_swqe;
/* Binds a window as entry e says. Returns UR_WC_SUCCESS, or UR_WC_MW_BIND_ERR
 * with nothing changed. */
u8 ur_mw_bind(struct ur_qp *qp, const struct ur_swqe *e);
/* Invalidates a type 2 window. Without commit, only checks. Returns false where
 * there is no such window, or this queue pair may not invalidate it. */
bool ur_mw_invalidate(struct ur_qp *qp, u32 rkey, bool commit);
/* Returns whether the queue pair may access the range through the window. *off
 * gets the region's address of the start of the range. */
bool ur_mw_access(const struct ur_mw *mw, const struct ur_qp *qp, u64 addr,
		  u64 len, u32 access, u64 *off);

#endif

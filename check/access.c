// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Explains why memory was refused, by the regions of this process. The peer's
 * regions are known only in the same process; else only keys and addresses that
 * would have fitted are shown.
 */
#include <byteswap.h>

#include "check/front.h"
#include "util/verbs_words.h"

static bool covers(const struct ur_watched_mr *mr, uint64_t addr,
		   uint64_t length)
{
	return addr >= mr->iova && length <= mr->length &&
	       addr - mr->iova <= mr->length - length;
}

void ur_access_local(const struct ur_watched_qp *qp,
		     const struct ur_request *request, char *text, size_t size)
{
	for (int i = 0; i < request->sges && i < UR_REQUEST_SGES; i++) {
		const struct ibv_sge *sge = &request->sge[i];
		struct ur_watched *o;

		if (!sge->length ||
		    ur_watched_number(UR_KIND_MR, qp->o.context, sge->lkey))
			continue;
		for (o = ur_watched_newest(UR_KIND_MR); o; o = o->older) {
			const struct ur_watched_mr *mr =
				(struct ur_watched_mr *)o;

			if (o->context != qp->o.context ||
			    !covers(mr, sge->addr, sge->length))
				continue;
			snprintf(text, size,
				 "no region has the lkey 0x%x; the one that "
				 "holds 0x%llx has lkey 0x%x%s",
				 sge->lkey, (unsigned long long)sge->addr,
				 o->number,
				 sge->lkey == bswap_32(o->number)
					 ? ", which is that with its bytes "
					   "turned around"
					 : "");
			return;
		}
		snprintf(text, size,
			 "no region has the lkey 0x%x, and none holds 0x%llx",
			 sge->lkey, (unsigned long long)sge->addr);
		return;
	}
	snprintf(text, size,
		 "an element of it is outside its region, or the "
		 "region does not allow it");
}

static unsigned int needed(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	default:
		return IBV_ACCESS_REMOTE_WRITE;
	}
}

/* Returns the region with this rkey, in any context. */
static const struct ur_watched_mr *by_rkey(uint32_t rkey)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_MR);

	while (o && ((struct ur_watched_mr *)o)->rkey != rkey)
		o = o->older;
	return (struct ur_watched_mr *)o;
}

/* Looks for another reading of key and address that lies in a region of
 * ours. */
static bool would_hit(const struct ur_request *request, char *text, size_t size)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_MR);

	for (; o; o = o->older) {
		const struct ur_watched_mr *mr = (struct ur_watched_mr *)o;
		const char *what = NULL;
		uint64_t a = request->remote_addr, n = request->length;
		bool key = mr->rkey == request->rkey;

		/* If the address itself fits, the rights are wrong. */
		if (key && covers(mr, a, n))
			return false;
		if (key && covers(mr, bswap_64(a), n))
			what = "its address with the bytes turned around (it "
			       "went without be64toh())";
		else if (key && !(a >> 32) && mr->iova >> 32 &&
			 covers(mr, (mr->iova & ~0xffffffffull) | a, n))
			what = "an address of which it has the lower 32 bits "
			       "(it went through an int)";
		else if (mr->rkey == bswap_32(request->rkey) &&
			 (covers(mr, a, n) || covers(mr, bswap_64(a), n)))
			what = "its rkey with the bytes turned around (it went "
			       "without ntohl())";
		else if (!key && covers(mr, a, n) &&
			 mr->o.number == request->rkey)
			what = "its lkey in place of its rkey";
		if (!what)
			continue;
		snprintf(text, size,
			 "a region of this process (lkey 0x%x, 0x%llx to "
			 "0x%llx, rkey 0x%x) would fit %s",
			 o->number, (unsigned long long)mr->iova,
			 (unsigned long long)(mr->iova + mr->length - 1),
			 mr->rkey, what);
		return true;
	}
	return false;
}

void ur_access_remote(const struct ur_watched_qp *qp,
		      const struct ur_request *request, char *text, size_t size)
{
	const struct ur_watched_mr *mr = by_rkey(request->rkey);
	const struct ur_watched_qp *peer =
		ur_watched_number(UR_KIND_QP, NULL, qp->attr.dest_qp_num);
	uint64_t addr = request->remote_addr, end = addr + request->length;
	uint64_t off = 0; /* bytes outside the region */
	unsigned int need = needed(request->opcode);

	if (mr)
		off = addr < mr->iova ? mr->iova - addr
				      : end - mr->iova - mr->length;
	if (would_hit(request, text, size))
		return;
	if (mr && !covers(mr, addr, request->length))
		snprintf(text, size,
			 "the region of this process with that rkey is 0x%llx "
			 "to 0x%llx: %llu byte%s %s",
			 (unsigned long long)mr->iova,
			 (unsigned long long)(mr->iova + mr->length - 1),
			 (unsigned long long)off, off == 1 ? "" : "s",
			 addr < mr->iova ? "before it" : "beyond it");
	else if (mr && !(mr->access & need))
		snprintf(text, size,
			 "the region of this process with that rkey has access "
			 "0x%x, without %s",
			 mr->access, ur_access_flag_name(need));
	else if (peer && peer->attr_mask & IBV_QP_ACCESS_FLAGS &&
		 !(peer->attr.qp_access_flags & need))
		snprintf(text, size,
			 "queue pair 0x%06x of this process has "
			 "qp_access_flags 0x%x, without %s",
			 peer->o.number, peer->attr.qp_access_flags,
			 ur_access_flag_name(need));
	else
		snprintf(text, size,
			 "no region of this process has that rkey; ask the "
			 "peer which of its regions it meant");
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads work requests out of a client's rings. The trust rules are at the top
 * of ring_io.h: every field is copied once, and only the copy is checked and
 * used.
 */
#include <errno.h>
#include "engine/core/ring_io.h"
#include "util/assert.h"
#include "util/verbs_words.h"

#define SEG 16u

_Static_assert(UROCE_MAX_WQE_BYTES % UROCE_SQ_BB == 0,
	       "the blocks of the longest entry fit its copy");
_Static_assert(UROCE_MAX_SGE == UR_MAX_SGE, "both sides count alike");

/* An opcode has the same number in the client's rings, in the transport and in the
 * opcode list. */
#define WQE_OPCODE(number, name, ...)                             \
	_Static_assert((int)UR_WR_##name == (number) &&           \
			       (int)UROCE_WQE_##name == (number), \
		       "opcode " #name);
#define WC(number, name, ...) \
	_Static_assert((int)UR_WC_##name == (number), #name);
#define ACCESS(bit, name) _Static_assert(UR_ACCESS_##name == (bit), #name);
#define QP_TYPE(number, name) \
	_Static_assert((int)UR_QPT_##name == (number), #name);
#define QP_STATE(number, name) \
	_Static_assert((int)UR_QP_##name == (number), #name);
/* clang-format off */
UR_WQE_OPCODE_LIST(WQE_OPCODE)
UR_WC_ERROR_LIST(WC)
UR_WC_END_LIST(WC)
UR_WC_OPCODE_LIST(WC)
UR_WC_OPCODE_LIST_NEWER(WC)
UR_ACCESS_LIST(ACCESS)
UR_ACCESS_LIST_NEWER(ACCESS)
UR_QP_TYPE_LIST(QP_TYPE)
UR_QP_STATE_LIST(QP_STATE)
/* clang-format on */

void ur_ring_init(struct ur_ring *ring, struct uroce_ring_hdr *hdr, u8 *base,
		  u32 size, u32 unit, u32 first)
{
	/* Indices are masked; what an entry may hold depends on its unit. */
	ur_assert(size && !(size & (size - 1)) && unit && !(unit % SEG));
	ring->hdr = hdr;
	ring->base = base;
	ring->size = size;
	ring->unit = unit;
	ring->next = first;
	ring->cons = first;
	ring->prod = first;
	__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&hdr->cons, first, __ATOMIC_RELEASE);
}

s64 ur_ring_avail(struct ur_ring *ring)
{
	u32 prod = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);
	u32 posted = prod - ring->cons, taken = ring->next - ring->cons;

	if (posted > ring->size || posted < taken)
		return -EINVAL;
	ring->prod = prod;
	return posted - taken;
}

void ur_ring_drop(struct ur_ring *ring)
{
	u32 prod = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);

	ring->prod = prod;
	ring->next = prod;
	ur_ring_retire(ring, prod);
}

static const u8 *unit_at(const struct ur_ring *ring, u32 index)
{
	return ring->base + (size_t)(index & (ring->size - 1)) * ring->unit;
}

/* Bytes of the segments behind the control (and address vector) segment. */
static const u8 segment_bytes[UR_WR_OPCODES] = {
	[UR_WR_WRITE] = sizeof(struct uroce_wqe_raddr),
	[UR_WR_WRITE_IMM] = sizeof(struct uroce_wqe_raddr),
	[UR_WR_READ] = sizeof(struct uroce_wqe_raddr),
	[UR_WR_CMP_SWAP] = sizeof(struct uroce_wqe_raddr) +
			   sizeof(struct uroce_wqe_atomic),
	[UR_WR_FETCH_ADD] = sizeof(struct uroce_wqe_raddr) +
			    sizeof(struct uroce_wqe_atomic),
	[UR_WR_MASK_CMP_SWAP] = sizeof(struct uroce_wqe_raddr) +
				sizeof(struct uroce_wqe_masked_atomic),
	[UR_WR_MASK_FETCH_ADD] = sizeof(struct uroce_wqe_raddr) +
				 sizeof(struct uroce_wqe_masked_atomic),
	[UR_WR_BIND_MW] = sizeof(struct uroce_wqe_bind),
	[UR_WR_ATOMIC_WRITE] = sizeof(struct uroce_wqe_raddr),
	[UR_WR_FLUSH] =
		sizeof(struct uroce_wqe_raddr) + sizeof(struct uroce_wqe_flush),
};

static void parse_raddr(struct ur_send_wr *wr, const u8 *seg)
{
	struct uroce_wqe_raddr r;

	memcpy(&r, seg, sizeof(r));
	wr->raddr = r.addr;
	wr->rkey = r.rkey;
}

/* seg: private copy, segment_bytes[] long. */
static void parse_segments(struct ur_send_wr *wr, const u8 *seg)
{
	const u8 *next = seg + sizeof(struct uroce_wqe_raddr);
	struct uroce_wqe_masked_atomic m;
	struct uroce_wqe_atomic a;
	struct uroce_wqe_flush f;
	struct uroce_wqe_bind b;

	switch (wr->opcode) {
	case UR_WR_WRITE:
	case UR_WR_WRITE_IMM:
	case UR_WR_READ:
	case UR_WR_ATOMIC_WRITE:
		parse_raddr(wr, seg);
		break;
	case UR_WR_CMP_SWAP:
	case UR_WR_FETCH_ADD:
		parse_raddr(wr, seg);
		memcpy(&a, next, sizeof(a));
		wr->swap_add = a.swap_add;
		wr->compare = a.compare;
		/* the masks that make a masked atomic an ordinary one */
		wr->swap_add_mask = wr->opcode == UR_WR_CMP_SWAP ? ~0ull : 0;
		wr->compare_mask = ~0ull;
		break;
	case UR_WR_MASK_CMP_SWAP:
	case UR_WR_MASK_FETCH_ADD:
		parse_raddr(wr, seg);
		memcpy(&m, next, sizeof(m));
		wr->swap_add = m.swap_add;
		wr->compare = m.compare;
		wr->swap_add_mask = m.swap_add_mask;
		wr->compare_mask = m.compare_mask;
		break;
	case UR_WR_BIND_MW:
		memcpy(&b, seg, sizeof(b));
		wr->bind_addr = b.addr;
		wr->bind_length = b.length;
		wr->bind_mw_rkey = b.mw_rkey;
		wr->bind_new_rkey = b.new_rkey;
		wr->bind_mr_lkey = b.mr_lkey;
		wr->bind_access = b.access;
		break;
	case UR_WR_FLUSH:
		parse_raddr(wr, seg);
		memcpy(&f, next, sizeof(f));
		wr->flush_type = f.type;
		wr->flush_level = f.level;
		wr->flush_length = f.length;
		break;
	default:
		break;
	}
}

/* Describes count bytes of inline data at byte `at` of the WQE at index. The end of
 * the ring may split it. */
static void inline_pieces(const struct ur_ring *ring, u32 index, u32 at,
			  u32 count, struct ur_send_wr *wr)
{
	u64 bytes = (u64)ring->size * ring->unit;
	u64 start = ((u64)(index & (ring->size - 1)) * ring->unit + at) &
		    (bytes - 1);
	u64 first = ur_min_u64(count, bytes - start);

	wr->inl[0] = ring->base + start;
	wr->inl_len[0] = (u32)first;
	wr->inl[1] = ring->base;
	wr->inl_len[1] = count - (u32)first;
	ur_assert_hot(start + first <= bytes && wr->inl_len[1] <= bytes);
}

static void clear_wr(struct ur_send_wr *wr)
{
	/* all but the data segments, which num_sge counts */
	memset(wr, 0, offsetof(struct ur_send_wr, sge));
}

int ur_ring_read_send(struct ur_ring *ring, bool has_av, struct ur_send_wr *wr,
		      u32 *ah)
{
	s64 avail = ur_ring_avail_cached(ring);
	u8 wqe[UROCE_MAX_WQE_BYTES] __attribute__((aligned(16)));
	u32 bytes, bbs, at = sizeof(struct uroce_wqe_ctrl);
	struct uroce_wqe_ctrl ctrl;
	struct uroce_wqe_inline inl;

	if (avail <= 0)
		return (int)avail;
	memcpy(wqe, unit_at(ring, ring->next), UROCE_SQ_BB);
	memcpy(&ctrl, wqe, sizeof(ctrl));
	bytes = ctrl.ds * SEG;
	bbs = (bytes + UROCE_SQ_BB - 1) / UROCE_SQ_BB;
	if (!bytes || bytes > UROCE_MAX_WQE_BYTES || bbs > avail)
		return -EINVAL;
	if (ctrl.opcode >= UR_WR_OPCODES || ctrl.rsv)
		return -EINVAL;
	/* Inline data stays where it is; its header fits the first BB. */
	if (!(ctrl.flags & UROCE_WQE_F_INLINE))
		for (u32 i = 1; i < bbs; i++)
			memcpy(wqe + i * UROCE_SQ_BB,
			       unit_at(ring, ring->next + i), UROCE_SQ_BB);

	clear_wr(wr);
	*ah = 0;
	wr->wr_id = ctrl.wr_id;
	wr->wqe_counter = ring->next;
	wr->ring_end = ring->next + bbs;
	wr->opcode = ctrl.opcode;
	wr->flags = ctrl.flags;
	wr->imm_inv = ctrl.imm_inv;
	if (has_av) {
		struct uroce_wqe_av av;

		if (bytes < at + sizeof(av))
			return -EINVAL;
		memcpy(&av, wqe + at, sizeof(av));
		*ah = av.ah;
		wr->dqpn = av.dqpn;
		wr->qkey = av.qkey;
		wr->xrc_srqn = av.srqn;
		at += sizeof(av);
	}
	if (bytes < at + segment_bytes[ctrl.opcode])
		return -EINVAL;
	if (ctrl.flags & UROCE_WQE_F_INLINE) {
		u32 end = at + segment_bytes[ctrl.opcode];

		if (end + sizeof(inl) > UROCE_SQ_BB ||
		    bytes < end + sizeof(inl))
			return -EINVAL;
		parse_segments(wr, wqe + at);
		memcpy(&inl, wqe + end, sizeof(inl));
		end += sizeof(inl);
		if (inl.byte_count > bytes - end)
			return -EINVAL;
		inline_pieces(ring, ring->next, end, inl.byte_count, wr);
	} else {
		parse_segments(wr, wqe + at);
		at += segment_bytes[ctrl.opcode];
		if ((bytes - at) / SEG > UR_MAX_SGE)
			return -EINVAL;
		wr->num_sge = (u16)((bytes - at) / SEG);
		for (u32 i = 0; i < wr->num_sge; i++) {
			struct uroce_wqe_data d;

			memcpy(&d, wqe + at + i * SEG, sizeof(d));
			wr->sge[i].addr = d.addr;
			wr->sge[i].length = d.length;
			wr->sge[i].lkey = d.lkey;
		}
	}
	ring->next += bbs;
	return 1;
}

int ur_ring_read_recv(struct ur_ring *ring, struct ur_recv_wr *wr)
{
	s64 avail = ur_ring_avail_cached(ring);
	struct uroce_wqe_data sge[UR_MAX_SGE];
	struct uroce_recv_wqe h;
	const u8 *p;

	if (avail <= 0)
		return (int)avail;
	p = unit_at(ring, ring->next);
	memcpy(&h, p, sizeof(h));
	if (h.num_sge > UR_MAX_SGE ||
	    sizeof(h) + h.num_sge * sizeof(sge[0]) > ring->unit)
		return -EINVAL;
	memcpy(sge, p + sizeof(h), h.num_sge * sizeof(sge[0]));
	wr->wr_id = h.wr_id;
	wr->wqe_counter = ring->next;
	wr->num_sge = h.num_sge;
	for (u32 i = 0; i < h.num_sge; i++) {
		wr->sge[i].addr = sge[i].addr;
		wr->sge[i].length = sge[i].length;
		wr->sge[i].lkey = sge[i].lkey;
	}
	ring->next++;
	ur_ring_retire(ring, ring->next);
	return 1;
}

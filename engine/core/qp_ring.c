// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rings of a queue pair: the data path, and where they lie in memory. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/limits.h"
#include "engine/core/transmit.h"

#define MAX_WR UR_MAX_QP_WR

/* ---- the data path ---- */

int ur_sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct ur_eqp *qp = qp_ctx;
	u32 ah;
	int ret;

	if (!qp->sq.hdr)
		return 0;
	ret = ur_ring_read_send(&qp->sq, qp->has_av, wr, &ah);
	if (ret < 0)
		ur_ectx_complain(qp->ectx, "send ring", qp->qpn);
	else if (ret && qp->type == UR_QPT_UD)
		wr->av = ur_ah_lookup(qp->ectx, ah, qp->init.pd);
	return ret;
}

void ur_sq_retire(void *qp_ctx, u32 ring_end)
{
	struct ur_eqp *qp = qp_ctx;

	if (qp->sq.hdr)
		ur_ring_retire(&qp->sq, ring_end);
}

void ur_qp_doorbell(struct ur_db_client *db_client)
{
	struct ur_eqp *qp =
		ur_container_of(db_client, struct ur_eqp, db_client);

	if (qp->sq.hdr && ur_ring_avail(&qp->sq)) {
		ur_transmit_note(qp);
		ur_qp_kick(qp->qp);
	}
	if (qp->rq.ring.hdr)
		ur_rq_ring(&qp->rq);
}

/* ---- their memory ---- */

/* Returns the bytes before data segments or inline data in a WQE. */
static u32 wqe_head_bytes(const struct ur_eqp_init *init, bool has_av)
{
	u32 head = sizeof(struct uroce_wqe_ctrl);

	if (has_av)
		head += sizeof(struct uroce_wqe_av);
	if (init->type != UR_QPT_UD)
		head += sizeof(struct uroce_wqe_raddr);
	return head;
}

/* Bytes of the longest WQE of a queue pair with these capabilities. */
static u32 max_wqe_bytes(const struct ur_eqp_init *init, bool has_av)
{
	u32 head = wqe_head_bytes(init, has_av);
	u32 sges = init->max_send_sge * (u32)sizeof(struct uroce_wqe_data);
	u32 inl = (u32)ur_align_up(
		sizeof(struct uroce_wqe_inline) + init->max_inline, 16);
	u32 tail;

	tail = sges > inl ? sges : inl;
	/* an atomic has one data segment, a bind none */
	if (init->type != UR_QPT_UD &&
	    tail < sizeof(struct uroce_wqe_masked_atomic) +
			    sizeof(struct uroce_wqe_data))
		tail = sizeof(struct uroce_wqe_masked_atomic) +
		       sizeof(struct uroce_wqe_data);
	return head + tail;
}

int ur_qp_rings_plan(struct ur_eqp_init *init, bool has_av,
		     struct ur_qp_rings *l)
{
	u32 bbs;

	memset(l, 0, sizeof(*l));
	if (init->max_send_wr > MAX_WR || init->max_recv_wr > MAX_WR ||
	    init->max_send_sge > UR_MAX_SGE ||
	    init->max_recv_sge > UR_MAX_SGE ||
	    init->max_inline > UROCE_MAX_INLINE)
		return -EINVAL;
	if (init->max_send_wr && init->type != UR_QPT_XRC_TGT) {
		bbs = (max_wqe_bytes(init, has_av) + UROCE_SQ_BB - 1) /
		      UROCE_SQ_BB;
		l->sq_bbs = ur_roundup_pow2(bbs * init->max_send_wr);
		/* Grant all that fits, as other devices do: some programs send
		 * inline without having asked. */
		init->max_inline = ur_min_u32(
			bbs * UROCE_SQ_BB - wqe_head_bytes(init, has_av) -
				(u32)sizeof(struct uroce_wqe_inline),
			UROCE_MAX_INLINE);
	}
	if (init->max_recv_wr && !init->srq && init->type != UR_QPT_XRC_TGT &&
	    init->type != UR_QPT_XRC_INI) {
		l->rq_entries = ur_roundup_pow2(init->max_recv_wr);
		l->rq_stride = ur_roundup_pow2(
			(u32)(sizeof(struct uroce_recv_wqe) +
			      init->max_recv_sge *
				      sizeof(struct uroce_wqe_data)));
	}
	l->rq_hdr = sizeof(struct uroce_ring_hdr);
	l->sq_off = 2 * sizeof(struct uroce_ring_hdr);
	l->bytes = l->sq_off + (u64)l->sq_bbs * UROCE_SQ_BB;
	if (l->bytes + (u64)l->rq_entries * l->rq_stride > UINT32_MAX)
		return -EINVAL;
	l->rq_off = (u32)l->bytes;
	l->bytes += (u64)l->rq_entries * l->rq_stride;
	if (!l->sq_bbs && !l->rq_entries)
		l->bytes = 0;
	return 0;
}

int ur_qp_rings_place(struct ur_eqp *qp, struct ur_ectx *ectx,
		      const struct ur_qp_rings *l)
{
	bool aside;
	u8 *base;
	int err;

	if (!l->bytes)
		return 0;
	err = ur_ectx_alloc(ectx, l->bytes, &qp->block);
	if (err)
		return err;
	base = qp->block.ptr;
	/* As ur_ectx_clear() does. */
	aside = ur_ectx_step_aside(ectx);
	memset(base, 0, l->sq_off);
	qp->has_rings = true;
	if (l->sq_bbs)
		ur_ring_init(&qp->sq, (struct uroce_ring_hdr *)base,
			     base + l->sq_off, l->sq_bbs, UROCE_SQ_BB, 0);
	if (l->rq_entries)
		ur_ring_init(&qp->rq.ring,
			     (struct uroce_ring_hdr *)(base + l->rq_hdr),
			     base + l->rq_off, l->rq_entries, l->rq_stride, 0);
	if (aside)
		ur_ectx_relock(ectx);
	return 0;
}

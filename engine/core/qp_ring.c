// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rings of a queue pair: the data path, and where they lie in memory. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/core/qp_caps.h"
#include "engine/core/transmit.h"

/* ---- the data path ---- */

int ur_sq_next(void *qp_ctx, struct ur_send_wr *wr)
{
	struct ur_eqp *qp = qp_ctx;
	u32 ah;
	int ret;

	if (!qp->sq.hdr)
		return 0;
	ret = ur_ring_read_send(&qp->sq, qp->has_av, wr, &ah);
	if (ret > 0 && qp->type == UR_QPT_UD)
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

int ur_qp_rings_plan(struct ur_eqp_init *init, struct ur_qp_rings *l)
{
	int err = ur_qp_caps_grant(init->type, init->srq, &init->caps);
	const struct ur_qp_caps *c = &init->caps;

	memset(l, 0, sizeof(*l));
	if (err)
		return err;
	l->sq_bbs = ur_sq_bbs(init->type, c);
	if (ur_qp_has_rq(init->type, init->srq, c)) {
		l->rq_entries = ur_roundup_pow2(c->max_recv_wr);
		l->rq_stride = ur_recv_stride(c->max_recv_sge);
	}
	l->rq_hdr = sizeof(struct uroce_ring_hdr);
	l->sq_off = 2 * sizeof(struct uroce_ring_hdr);
	l->rq_off = l->sq_off + l->sq_bbs * UROCE_SQ_BB;
	l->bytes = l->rq_off + (u64)l->rq_entries * l->rq_stride;
	if (!l->sq_bbs && !l->rq_entries)
		l->bytes = 0;
	return 0;
}

int ur_qp_rings_place(struct ur_eqp *qp, struct ur_ectx *ectx,
		      const struct ur_qp_rings *l)
{
	u8 *base;
	int err;

	if (!l->bytes)
		return 0;
	err = ur_ectx_alloc(ectx, l->bytes, &qp->block);
	if (err)
		return err;
	base = qp->block.ptr;
	memset(base, 0, l->sq_off);
	qp->has_rings = true;
	if (l->sq_bbs)
		ur_ring_init(&qp->sq, (struct uroce_ring_hdr *)base,
			     base + l->sq_off, l->sq_bbs, UROCE_SQ_BB, 0);
	if (l->rq_entries)
		ur_ring_init(&qp->rq.ring,
			     (struct uroce_ring_hdr *)(base + l->rq_hdr),
			     base + l->rq_off, l->rq_entries, l->rq_stride, 0);
	return 0;
}

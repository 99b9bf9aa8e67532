// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Maps the rings of queue pairs and work queues, and keeps the table of queue
 * pair numbers. */
#include "uroce.h"

static int check_geometry(const struct uroce_create_qp_resp *r)
{
	if (r->sq_bbs &&
	    ((r->sq_bbs & (r->sq_bbs - 1)) || !r->sq_max_wqes ||
	     r->sq_max_wqes > r->sq_bbs ||
	     r->sq_hdr_off + sizeof(struct uroce_ring_hdr) > r->map_len ||
	     r->sq_off + (u64)r->sq_bbs * UROCE_SQ_BB > r->map_len))
		return EPROTO;
	if (r->rq_entries &&
	    ((r->rq_entries & (r->rq_entries - 1)) || !r->rq_stride ||
	     r->rq_hdr_off + sizeof(struct uroce_ring_hdr) > r->map_len ||
	     r->rq_off + (u64)r->rq_entries * r->rq_stride > r->map_len))
		return EPROTO;
	return r->db_slot < UROCE_DB_SLOTS ? 0 : EPROTO;
}

static int setup_sq(struct uroce_qp *qp, const struct uroce_create_qp_resp *r)
{
	struct ur_sq *sq = &qp->sq;
	u32 slots = ur_roundup_pow2(r->sq_max_wqes);

	sq->slots = malloc(slots * sizeof(*sq->slots));
	if (!sq->slots)
		return ENOMEM;
	sq->slots_mask = slots - 1;
	sq->polled = sq->next - 1;
	sq->hdr = (void *)((u8 *)qp->map + r->sq_hdr_off);
	sq->base = (u8 *)qp->map + r->sq_off;
	sq->bytes_mask = r->sq_bbs * UROCE_SQ_BB - 1;
	sq->bbs = r->sq_bbs;
	sq->max_wqes = r->sq_max_wqes;
	return 0;
}

int ur_qp_map(struct ibv_context *context, struct uroce_qp *qp,
	      const struct uroce_create_qp_resp *r)
{
	struct ur_rq *rq = &qp->rq;
	int err;

	if (!r->map_len)
		return 0;
	err = check_geometry(r);
	if (err)
		return err;
	qp->map = ur_map(context, r->map_off, r->map_len);
	if (!qp->map)
		return errno;
	qp->map_len = r->map_len;
	qp->db_slot = r->db_slot;
	if (r->sq_bbs) {
		err = setup_sq(qp, r);
		if (err) {
			ur_unmap(qp->map, qp->map_len);
			return err;
		}
	}
	if (r->rq_entries) {
		rq->hdr = (void *)((u8 *)qp->map + r->rq_hdr_off);
		rq->base = (u8 *)qp->map + r->rq_off;
		rq->mask = r->rq_entries - 1;
		rq->stride = r->rq_stride;
		rq->max_wqes = r->rq_max_wqes;
	}
	return 0;
}

void ur_qp_unmap(struct uroce_qp *qp)
{
	ur_unmap(qp->map, qp->map_len);
	free(qp->sq.slots);
}

void ur_qp_drop_posted(struct uroce_qp *qp)
{
	if (qp->sq.bbs) {
		ur_lock_get(&qp->sq.lock);
		ur_sq_reset(&qp->sq);
		ur_lock_put(&qp->sq.lock);
	}
	if (qp->rq.max_wqes) {
		ur_lock_get(&qp->rq.lock);
		qp->rq.cons = qp->rq.prod;
		__atomic_store_n(&qp->rq.polled, qp->rq.prod, __ATOMIC_RELAXED);
		ur_lock_put(&qp->rq.lock);
	}
}

/* Two levels of 4096 for a QPN's 24 bits, the second allocated on demand. qp
 * NULL removes; pollers must not use the queue pair until no queue refers to
 * it. */
int ur_qp_table_set(struct uroce_context *ctx, u32 qpn, struct uroce_qp *qp)
{
	u32 hi = qpn >> 12 & (UR_QP_TABLE - 1), lo = qpn & (UR_QP_TABLE - 1);
	struct uroce_qp **page;

	/* An opened XRC target is not the creator's, and completes nothing. */
	if (qp && qp->ibv.qp_type == IBV_QPT_XRC_RECV)
		return 0;
	page = __atomic_load_n(&ctx->qp_table[hi], __ATOMIC_ACQUIRE);
	if (!page && qp) {
		struct uroce_qp **none = NULL;

		page = calloc(UR_QP_TABLE, sizeof(*page));
		if (!page)
			return ENOMEM;
		if (!__atomic_compare_exchange_n(&ctx->qp_table[hi], &none,
						 page, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			free(page);
			page = none;
		}
	}
	if (page)
		__atomic_store_n(&page[lo], qp, __ATOMIC_RELEASE);
	return 0;
}

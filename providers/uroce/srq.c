// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues, basic and XRC. */
#include "ectx.h"
#include "uroce.h"

/* Maps a ring of that geometry in place of the present one; the indices
 * continue from the ring's header. */
static int map_srq(struct ibv_context *context, struct uroce_srq *srq,
		   const struct uroce_create_srq_resp *r)
{
	u8 *map;

	if (!r->entries || (r->entries & (r->entries - 1)) ||
	    r->hdr_off + sizeof(struct uroce_ring_hdr) > r->map_len ||
	    r->wqe_off + (u64)r->entries * r->stride > r->map_len ||
	    r->db_slot >= UROCE_DB_SLOTS)
		return EPROTO;
	map = ur_map_at(context, srq->shared ? UR_OF_SHARED : UR_OF_HERE,
			r->map_off, r->map_len);
	if (!map)
		return errno;
	ur_unmap(srq->map, srq->map_len);
	srq->map = map;
	srq->map_len = r->map_len;
	srq->db_slot = r->db_slot;
	srq->srqn = r->srqn;
	srq->rq.hdr = (void *)(map + r->hdr_off);
	srq->rq.base = map + r->wqe_off;
	srq->rq.mask = r->entries - 1;
	srq->rq.stride = r->stride;
	srq->rq.max_wqes = r->max_wqes;
	srq->rq.prod = __atomic_load_n(&srq->rq.hdr->prod, __ATOMIC_ACQUIRE);
	srq->rq.cons = __atomic_load_n(&srq->rq.hdr->cons, __ATOMIC_ACQUIRE);
	return 0;
}

static int finish_srq(struct ibv_context *context, struct uroce_srq *srq,
		      struct uroce_create_srq_resp *r, u32 max_sge,
		      const struct ibv_pd *pd)
{
	int err = ur_ectx_create_srq(ur_to_ctx(context), srq, pd, max_sge, r);

	if (!err)
		err = map_srq(context, srq, r);
	if (err) {
		ur_ectx_destroy_srq(srq);
		return err;
	}
	srq->rq.is_srq = true;
	srq->rq.max_sge = max_sge;
	srq->rq.lock.elided = ur_pd_single_threaded(pd);
	return 0;
}

struct ibv_srq *uroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	UR_REQ(ib_uverbs_create_srq, ) req = {0};
	UR_RESP(ib_uverbs_create_srq_resp, struct uroce_create_srq_resp drv)
	resp = {0};
	struct uroce_srq *srq = calloc(1, sizeof(*srq));
	int err;

	if (!srq)
		return NULL;
	srq->pd = pd;
	err = ur_ectx_place_srq(ur_to_ctx(pd->context), srq, pd, NULL);
	if (!err)
		err = UR_ECTX_TRY(pd->context, pd,
				  ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr,
						     &req, sizeof(req), &resp,
						     sizeof(resp)));
	if (!err)
		err = finish_srq(pd->context, srq, &resp.drv,
				 attr->attr.max_sge, pd);
	if (err)
		return ur_fail(srq, err);
	srq->held = ur_pd_get(pd);
	srq->vsrq.srq_num = srq->srqn;
	return &srq->vsrq.srq;
}

static bool is_xrc(const struct ibv_srq_init_attr_ex *attr)
{
	return (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) &&
	       attr->srq_type == IBV_SRQT_XRC;
}

/* Refuses attributes that belong to another type. */
static int check_srq_attr(const struct ibv_srq_init_attr_ex *attr)
{
	u32 mask = attr->comp_mask;

	if (((mask & IBV_SRQ_INIT_ATTR_TYPE) &&
	     attr->srq_type == IBV_SRQT_TM) ||
	    (mask & IBV_SRQ_INIT_ATTR_TM))
		return EOPNOTSUPP;
	mask &= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	return mask == (is_xrc(attr)
				? IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ
				: 0)
		       ? 0
		       : EINVAL;
}

/* Creates the SRQ, after renewing what an earlier uroced made. */
static int create_by(struct ibv_context *context, struct uroce_srq *srq,
		     struct ibv_srq_init_attr_ex *attr,
		     struct uroce_create_srq_resp *drv)
{
	UR_REQ(ib_uverbs_create_xsrq, ) req = {0};
	UR_RESP(ib_uverbs_create_srq_resp, struct uroce_create_srq_resp drv)
	resp = {0};
	int err = 0;

	if (is_xrc(attr) && ur_may_renew(context)) {
		err = ur_ectx_renew_parts(attr->pd, attr->cq, NULL, NULL);
		if (!err)
			err = ur_ectx_renew_xrcd(attr->xrcd);
	}
	if (!err)
		err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &req,
					    sizeof(req), &resp, sizeof(resp));
	*drv = resp.drv;
	return err;
}

static int try_srq(struct ibv_context *context, struct uroce_srq *srq,
		   struct ibv_srq_init_attr_ex *attr)
{
	struct uroce_create_srq_resp drv;
	int err = UR_ECTX_TRY(context, is_xrc(attr) ? NULL : attr->pd,
			      create_by(context, srq, attr, &drv));

	return err ? err
		   : finish_srq(context, srq, &drv, attr->attr.max_sge,
				attr->pd);
}

struct ibv_srq *uroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_cq *cq =
		attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ ? attr->cq : NULL;
	struct uroce_srq *srq;
	int err = check_srq_attr(attr);

	if (err)
		return ur_fail(NULL, err);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	srq->pd = attr->pd;
	err = ur_ectx_place_srq(ur_to_ctx(context), srq, attr->pd,
				is_xrc(attr) ? attr->xrcd : NULL);
	if (!err && srq->shared)
		err = ur_cq_use_shared(cq);
	if (err)
		goto err_free;
	err = UR_ECTX_NUMBERED(try_srq(context, srq, attr));
	if (err) {
		if (srq->shared)
			ur_cq_unuse_shared(cq);
err_free:
		return ur_fail(srq, err);
	}
	srq->held = ur_pd_get(attr->pd);
	if (is_xrc(attr))
		ur_xrcd_count(attr->xrcd, 1);
	return &srq->vsrq.srq;
}

static int modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		      int mask)
{
	UR_REQ(ib_uverbs_modify_srq, struct uroce_modify_srq_req drv) req = {0};
	struct uroce_srq *srq = ur_to_srq(ibsrq);
	struct uroce_create_srq_resp moved = {0};
	int err;

	if (mask & IBV_SRQ_MAX_WR)
		req.drv.resp_addr = (uintptr_t)&moved;
	/* The ring moves, so nobody may post meanwhile. */
	ur_lock_get(&srq->rq.lock);
	err = ibv_cmd_modify_srq(ibsrq, attr, mask, &req, sizeof(req));
	if (!err)
		err = ur_ectx_modify_srq(srq, attr, mask, &moved);
	if (!err && moved.map_len)
		err = map_srq(ibsrq->context, srq, &moved);
	ur_lock_put(&srq->rq.lock);
	return err;
}

int uroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	return UR_ECTX_OLD(ur_ectx_old_srq(ur_to_srq(ibsrq)),
			   modify_srq(ibsrq, attr, mask));
}

int uroce_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct uroce_call limit = {.msg.op = UROCE_CALL_QUERY_SRQ};
	UR_REQ(ib_uverbs_query_srq, ) req = {0};
	struct uroce_context *ctx = ur_to_ctx(srq->context);
	int err = UR_ECTX_OLD(ur_ectx_old_srq(ur_to_srq(srq)),
			      ibv_cmd_query_srq(srq, attr, &req, sizeof(req)));

	if (!err && ur_to_srq(srq)->engine &&
	    ur_ectx_has(ctx, ur_to_srq(srq)->engine))
		attr->srq_limit =
			ur_engine_about(ur_to_srq(srq)->engine, &limit)
				? 0
				: limit.reply.value;
	return err;
}

int uroce_destroy_srq(struct ibv_srq *ibsrq)
{
	struct uroce_srq *srq = ur_to_srq(ibsrq);
	int err = ur_ectx_destroy_srq(srq);

	if (err)
		return err;
	if (srq->shared)
		ur_cq_unuse_shared(srq->vsrq.cq);
	ur_pd_put(srq->held);
	if (srq->vsrq.srq_type == IBV_SRQT_XRC)
		ur_xrcd_count(&srq->vsrq.xrcd->xrcd, ~0u);
	ur_unmap(srq->map, srq->map_len);
	free(srq);
	return 0;
}

int uroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	struct uroce_srq *srq = ur_to_srq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*srq_num = srq->vsrq.srq_num;
	return 0;
}

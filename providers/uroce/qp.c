// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: life, states, and the map of their rings. */
#include "uroce.h"

static u16 qpt_bit(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return UR_SENDS_RC;
	case IBV_QPT_UC:
		return UR_SENDS_UC;
	case IBV_QPT_UD:
		return UR_SENDS_UD;
	case IBV_QPT_XRC_SEND:
		return UR_SENDS_XRC;
	case IBV_QPT_RAW_PACKET:
		return UR_SENDS_RAW;
	default:
		return 0; /* XRC_RECV: posts nothing */
	}
}

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

static int setup_sq(struct ur_qp *qp, const struct uroce_create_qp_resp *r)
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

/* Maps the rings; on failure nothing is left. */
static int map_qp(struct ibv_context *context, struct ur_qp *qp,
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

static void free_qp(struct ur_qp *qp)
{
	ur_unmap(qp->map, qp->map_len);
	free(qp->sq.slots);
	free(qp);
}

/* Plain attributes go the old way; creation flags only fit the extended
 * command. */
static int cmd_create(struct ibv_context *context, struct ur_qp *qp,
		      struct ibv_qp_init_attr_ex *attr,
		      struct uroce_create_qp_resp *drv)
{
	UR_REQ(ib_uverbs_create_qp, struct uroce_create_qp_req drv) req = {0};
	UR_RESP(ib_uverbs_create_qp_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	UR_REQ_EX(ib_uverbs_ex_create_qp, struct uroce_create_qp_req drv)
	req_ex = {0};
	UR_RESP(ib_uverbs_ex_create_qp_resp, struct uroce_create_qp_resp drv)
	resp_ex = {0};
	int err;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) {
		err = ibv_cmd_create_qp_ex2(context, qp, attr, &req_ex,
					    sizeof(req_ex), &resp_ex,
					    sizeof(resp_ex), NULL);
		*drv = resp_ex.drv;
	} else {
		err = ibv_cmd_create_qp_ex(context, qp, attr, &req, sizeof(req),
					   &resp, sizeof(resp));
		*drv = resp.drv;
	}
	return err;
}

static void take_caps(struct ur_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	const struct ur_context *ctx = ur_to_ctx(qp->ibv.context);

	qp->max_send_sge = ur_min_u32(attr->cap.max_send_sge, ctx->max_sge);
	qp->max_inline = ur_min_u32(attr->cap.max_inline_data, ctx->max_inline);
	qp->rq.max_sge = attr->cap.max_recv_sge;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->db = ctx->db;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		qp->sq.lock.elided = qp->rq.lock.elided =
			ur_pd_single_threaded(attr->pd);
}

static int check_init_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC &&
	    attr->qp_type != IBV_QPT_UD && attr->qp_type != IBV_QPT_XRC_SEND &&
	    attr->qp_type != IBV_QPT_XRC_RECV &&
	    attr->qp_type != IBV_QPT_RAW_PACKET)
		return EOPNOTSUPP;
	if (attr->comp_mask &
	    ~(u32)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
		   IBV_QP_INIT_ATTR_CREATE_FLAGS |
		   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    (attr->create_flags & ~(u32)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB))
		return EOPNOTSUPP;
	return 0;
}

/* Two levels of 4096, the second made when needed: a QPN has 24 bits. NULL
 * removes; the poller must be kept from it until it is out of every queue. */
int ur_qp_table_set(struct ur_context *ctx, u32 qpn, struct ur_qp *qp)
{
	u32 hi = qpn >> 12 & (UR_QP_TABLE - 1), lo = qpn & (UR_QP_TABLE - 1);
	struct ur_qp **page;

	/* An opened queue pair is not its maker's, and polls nothing. */
	if (qp && qp->ibv.qp_type == IBV_QPT_XRC_RECV)
		return 0;
	page = __atomic_load_n(&ctx->qp_table[hi], __ATOMIC_ACQUIRE);
	if (!page && qp) {
		struct ur_qp **none = NULL;

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

struct ibv_qp *uroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct uroce_create_qp_resp drv;
	struct ur_qp *qp;
	u32 tail;
	int err = check_init_attr(attr);

	if (err)
		goto err_out;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->qpt_bit = qpt_bit(attr->qp_type);
	err = cmd_create(context, qp, attr, &drv);
	if (err)
		goto err_free;
	take_caps(qp, attr);
	err = map_qp(context, qp, &drv);
	if (err)
		goto err_destroy;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		/* After the command, which writes the library's fields. */
		err = ur_qp_set_wr_methods(qp, attr->send_ops_flags);
		if (err)
			goto err_unmap;
		memcpy(&tail, qp->room + ur_vqp_tail, sizeof(tail));
		tail |= VERBS_QP_EX;
		memcpy(qp->room + ur_vqp_tail, &tail, sizeof(tail));
	}
	err = ur_qp_table_set(ur_to_ctx(context), qp->ibv.qp_num, qp);
	if (err)
		goto err_unmap;
	return &qp->ibv;

err_unmap:
	ur_unmap(qp->map, qp->map_len);
	free(qp->sq.slots);
err_destroy:
	ibv_cmd_destroy_qp(&qp->ibv);
err_free:
	free(qp);
err_out:
	errno = err;
	return NULL;
}

struct ibv_qp *uroce_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = uroce_create_qp_ex(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *uroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr)
{
	UR_REQ(ib_uverbs_open_qp, struct uroce_create_qp_req drv) req = {0};
	UR_RESP(ib_uverbs_create_qp_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	struct ur_qp *qp = calloc(1, sizeof(*qp));
	int err;

	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, qp, UR_VQP_ROOM, attr, &req, sizeof(req),
			      &resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	qp->state = IBV_QPS_UNKNOWN;
	return &qp->ibv;
}

int uroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr)
{
	UR_REQ(ib_uverbs_query_qp, ) req = {0};
	struct ur_qp *qp = ur_to_qp(ibqp);
	u8 before = ur_qp_state(qp);
	int err = ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &req,
				   sizeof(req));

	/* Another thread may have moved it since the device answered. */
	if (!err && before != IBV_QPS_UNKNOWN && (mask & IBV_QP_STATE))
		__atomic_compare_exchange_n(&qp->state, &before,
					    (u8)attr->qp_state, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return err;
}

/* Takes both completion queues' locks in turn: when it returns, nobody polls
 * for this queue pair any more. */
static void forget_completions(struct ibv_qp *qp)
{
	ur_cq_forget_qp(qp->recv_cq, qp->qp_num);
	if (qp->send_cq != qp->recv_cq)
		ur_cq_forget_qp(qp->send_cq, qp->qp_num);
	if (qp->srq && ur_to_srq(qp->srq)->vsrq.cq)
		ur_cq_forget_qp(ur_to_srq(qp->srq)->vsrq.cq, qp->qp_num);
}

/* The device dropped all that was posted, and so do we. */
static void reset_rings(struct ur_qp *qp)
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
	forget_completions(&qp->ibv);
}

int uroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	UR_REQ(ib_uverbs_modify_qp, ) req = {0};
	struct ur_qp *qp = ur_to_qp(ibqp);
	int err = ibv_cmd_modify_qp(ibqp, attr, mask, &req, sizeof(req));

	if (err || !(mask & IBV_QP_STATE))
		return err;
	if (ur_qp_state(qp) != IBV_QPS_UNKNOWN)
		__atomic_store_n(&qp->state, (u8)attr->qp_state,
				 __ATOMIC_RELAXED);
	if (attr->qp_state == IBV_QPS_RESET)
		reset_rings(qp);
	return 0;
}

int uroce_destroy_qp(struct ibv_qp *ibqp)
{
	struct ur_qp *qp = ur_to_qp(ibqp);
	int err = ibv_cmd_destroy_qp(ibqp);

	if (err)
		return err;
	ur_qp_table_set(ur_to_ctx(ibqp->context), ibqp->qp_num, NULL);
	forget_completions(ibqp);
	free_qp(qp);
	return 0;
}

/* The device's order of bytes inside a message is nobody's promise. */
int uroce_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
				 uint32_t flags)
{
	return 0;
}

/*
 * Enhanced connection establishment: both sides say what they have, the
 * passive side answers with what both have. This device has no options yet,
 * so what is accepted of any offer is none.
 */
int uroce_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct ur_qp *qp = ur_to_qp(ibqp);

	if (ece->comp_mask)
		return EOPNOTSUPP;
	if (ece->vendor_id != UROCE_VENDOR_ID)
		return EINVAL;
	if (ur_qp_state(qp) != IBV_QPS_RESET && ur_qp_state(qp) != IBV_QPS_INIT)
		return EINVAL;
	qp->ece_options = ece->options & UR_ECE_OPTIONS;
	return 0;
}

int uroce_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	*ece = (struct ibv_ece){
		.vendor_id = UROCE_VENDOR_ID,
		.options = ur_to_qp(ibqp)->ece_options,
	};
	return 0;
}

int uroce_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid)
{
	return ibv_cmd_attach_mcast(qp, gid, lid);
}

int uroce_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid)
{
	return ibv_cmd_detach_mcast(qp, gid, lid);
}

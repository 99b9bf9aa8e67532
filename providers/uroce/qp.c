// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: life and states. */
#include "ectx.h"
#include "providers/uroce/raw/ectx_raw.h"
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

static int take_spread(struct uroce_qp *qp,
		       const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	struct uroce_spread *s;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE))
		return 0;
	if (hash->rx_hash_key_len != sizeof(s->key))
		return EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ENOMEM;
	s->table = ur_to_rwq_table(attr->rwq_ind_tbl);
	s->hash = *hash;
	s->hash.rx_hash_key = s->key;
	memcpy(s->key, hash->rx_hash_key, sizeof(s->key));
	__atomic_add_fetch(&s->table->users, 1, __ATOMIC_RELAXED);
	qp->spread = s;
	return 0;
}

static void end_spread(struct uroce_qp *qp)
{
	if (qp->spread)
		__atomic_sub_fetch(&qp->spread->table->users, 1,
				   __ATOMIC_RELAXED);
	free(qp->spread);
}

static void free_qp(struct uroce_qp *qp)
{
	ur_pd_put(qp->pd);
	ur_xrcd_count(qp->xrcd, ~0u);
	ur_qp_unmap(qp);
	free(qp->groups);
	end_spread(qp);
	free(qp);
}

/* Creates the queue pair, after renewing what an earlier uroced made. */
static int create_by(struct ibv_context *context, struct uroce_qp *qp,
		     struct ibv_qp_init_attr_ex *attr,
		     struct uroce_create_qp_resp *drv)
{
	int err = 0;

	if (ur_may_renew(context))
		err = qp->xrcd ? ur_ectx_renew_xrcd(qp->xrcd)
			       : ur_ectx_renew_parts(attr->pd, attr->send_cq,
						     attr->recv_cq, attr->srq);
	if (!err && qp->spread)
		err = ur_ectx_renew_table(qp->spread->table);
	return err ? err : ur_qp_cmd_create(context, qp, attr, drv);
}

static void take_caps(struct uroce_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr)
{
	const struct uroce_context *ctx = ur_to_ctx(qp->ibv.context);

	qp->max_send_sge = ur_min_u32(attr->cap.max_send_sge, ctx->max_sge);
	qp->max_inline = ur_min_u32(attr->cap.max_inline_data, ctx->max_inline);
	qp->rq.max_sge = attr->cap.max_recv_sge;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->db = ctx->db;
	if (qp->qpt_bit == UR_SENDS_UD)
		ur_ectx_batches(&qp->db);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		qp->sq.lock.elided = qp->rq.lock.elided =
			ur_pd_single_threaded(attr->pd);
}

#define RSS_ATTRS (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)

static int check_init_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC &&
	    attr->qp_type != IBV_QPT_UD && attr->qp_type != IBV_QPT_XRC_SEND &&
	    attr->qp_type != IBV_QPT_XRC_RECV &&
	    attr->qp_type != IBV_QPT_RAW_PACKET)
		return EOPNOTSUPP;
	if (attr->comp_mask &
	    ~(u32)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
		   IBV_QP_INIT_ATTR_CREATE_FLAGS | RSS_ATTRS |
		   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) &&
	    attr->qp_type != IBV_QPT_XRC_RECV)
		return EINVAL;
	/* One without the other has no meaning. */
	if ((attr->comp_mask & RSS_ATTRS) &&
	    (attr->comp_mask & RSS_ATTRS) != RSS_ATTRS)
		return EINVAL;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    (attr->create_flags & ~(u32)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB))
		return EOPNOTSUPP;
	return 0;
}

static int try_qp(struct ibv_context *context, struct uroce_qp *qp,
		  struct ibv_qp_init_attr_ex *attr,
		  struct uroce_create_qp_resp *drv)
{
	int err = UR_ECTX_TRY(context, NULL, create_by(context, qp, attr, drv));

	if (err)
		return err;
	err = ur_ectx_create_qp(ur_to_ctx(context), qp, attr, drv);
	if (err)
		ur_ectx_destroy_qp(qp);
	return err;
}

struct ibv_qp *uroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr)
{
	u64 mark = ur_ectx_hint_mark(ur_to_ctx(context));
	struct uroce_create_qp_resp drv;
	struct uroce_qp *qp;
	u32 tail;
	int err = check_init_attr(attr);

	if (err)
		goto err_out;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->qpt_bit = qpt_bit(attr->qp_type);
	err = take_spread(qp, attr);
	if (!err)
		err = ur_ectx_place_qp(ur_to_ctx(context), qp, attr);
	if (err)
		goto err_free;
	err = UR_ECTX_NUMBERED(try_qp(context, qp, attr, &drv));
	if (err)
		goto err_free;
	ur_ectx_hint_taken(ur_to_ctx(context), mark);
	take_caps(qp, attr);
	err = ur_qp_map(context, qp, &drv);
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
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		qp->pd = ur_pd_get(attr->pd);
	ur_xrcd_count(qp->xrcd, 1);
	return &qp->ibv;

err_unmap:
	ur_qp_unmap(qp);
err_destroy:
	ur_ectx_destroy_qp(qp);
err_free:
	end_spread(qp);
	free(qp);
err_out:
	return ur_fail(NULL, err);
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
	struct uroce_context *ctx = ur_to_ctx(context);
	struct uroce_qp *qp = calloc(1, sizeof(*qp));
	int err;

	if (!qp)
		return NULL;
	err = ur_ectx_open_qp(ctx, qp, attr);
	if (!err)
		err = UR_ECTX_TRY(context, NULL,
				  qp->engine
					  ? ur_ectx_renew_open(ctx, qp, attr)
					  : ur_qp_cmd_open(context, qp, attr));
	if (err) {
		ur_ectx_unopen_qp(ctx, qp);
		return ur_fail(qp, err);
	}
	qp->handle = qp->ibv.handle;
	qp->state = IBV_QPS_UNKNOWN;
	ur_xrcd_count(qp->xrcd, 1);
	return &qp->ibv;
}

int uroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr)
{
	UR_REQ(ib_uverbs_query_qp, ) req = {0};
	struct uroce_qp *qp = ur_to_qp(ibqp);
	u32 made = __atomic_load_n(&qp->recoveries, __ATOMIC_ACQUIRE);
	u8 before = ur_qp_state(qp);
	int err = ur_ectx_flush_qp(ur_to_ctx(ibqp->context), qp)
			  ?: ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &req,
					      sizeof(req));

	if (err)
		err = ur_ectx_query_left(ur_to_ctx(ibqp->context), qp, attr,
					 init_attr, err, made);
	else if (qp->engine)
		ur_ectx_query_qp(ur_to_ctx(ibqp->context), qp, attr);
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

int uroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct uroce_qp *qp = ur_to_qp(ibqp);
	int err = UR_ECTX_OLD(
		ur_ectx_old_qp(qp),
		ur_ectx_modify_qp(ur_to_ctx(ibqp->context), qp, attr, mask));

	if (err || !(mask & IBV_QP_STATE))
		return err;
	if (ur_qp_state(qp) != IBV_QPS_UNKNOWN)
		__atomic_store_n(&qp->state, (u8)attr->qp_state,
				 __ATOMIC_RELAXED);
	if (attr->qp_state == IBV_QPS_RESET) {
		ur_qp_drop_posted(qp);
		forget_completions(ibqp);
	}
	return 0;
}

/* Bursts are the device's, and cannot be set. */
int uroce_modify_qp_rate_limit(struct ibv_qp *ibqp,
			       struct ibv_qp_rate_limit_attr *rate)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .rate_limit = rate->rate_limit};
	struct uroce_qp *qp = ur_to_qp(ibqp);

	if (rate->comp_mask || rate->max_burst_sz || rate->typical_pkt_sz)
		return EOPNOTSUPP;
	return UR_ECTX_OLD(ur_ectx_old_qp(qp),
			   ur_ectx_modify_qp(ur_to_ctx(ibqp->context), qp,
					     &attr, IBV_QP_RATE_LIMIT));
}

int uroce_destroy_qp(struct ibv_qp *ibqp)
{
	struct uroce_qp *qp = ur_to_qp(ibqp);
	int err = ur_ectx_destroy_qp(qp);

	if (err)
		return err;
	ur_qp_table_set(ur_to_ctx(ibqp->context), ibqp->qp_num, NULL);
	forget_completions(ibqp);
	free_qp(qp);
	return 0;
}

/* No byte order inside a message is guaranteed. */
int uroce_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
				 uint32_t flags)
{
	return 0;
}

/*
 * Enhanced connection establishment: each side offers its options, and the
 * passive side replies with the common ones. This device has none yet, so none
 * are accepted.
 */
int uroce_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct uroce_qp *qp = ur_to_qp(ibqp);

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

static int attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, u16 lid)
{
	int err = ibv_cmd_attach_mcast(qp, gid, lid);

	if (err)
		return err;
	err = ur_ectx_mcast(ur_to_qp(qp), gid, true);
	if (err)
		ibv_cmd_detach_mcast(qp, gid, lid);
	return err;
}

int uroce_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid)
{
	return UR_ECTX_OLD(ur_ectx_old_qp(ur_to_qp(qp)),
			   attach_mcast(qp, gid, lid));
}

int uroce_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
		       uint16_t lid)
{
	int err = ur_ectx_forgive(ur_to_ctx(qp->context),
				  ibv_cmd_detach_mcast(qp, gid, lid));

	return err ? err : ur_ectx_mcast(ur_to_qp(qp), gid, false);
}

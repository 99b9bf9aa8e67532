// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work queues, and the indirection tables that name them. */
#include "providers/uroce/raw/ectx_raw.h"
#include "providers/uroce/uroce.h"

/* As with other devices, receives can be posted in RESET, and are dropped by
 * the next move to RESET. */
static int post_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	/* bad_wr may be NULL. */
	struct ibv_recv_wr *bad;

	return ur_post_recv(&ur_to_wq(wq)->qp, wr, bad_wr ? bad_wr : &bad);
}

static int setup(struct ibv_context *context, struct uroce_wq *wq,
		 const struct ibv_wq_init_attr *attr,
		 const struct uroce_create_qp_resp *drv)
{
	struct uroce_context *ctx = ur_to_ctx(context);
	struct uroce_qp *qp = &wq->qp;
	int err;

	qp->db = ctx->db;
	qp->rq.max_sge = attr->max_sge;
	qp->rq.lock.elided = ur_pd_single_threaded(attr->pd);
	err = ur_qp_map(context, qp, drv);
	if (err)
		return err;
	err = ur_qp_table_set(ctx, wq->ibv.wq_num, qp);
	if (err)
		ur_qp_unmap(qp);
	return err;
}

static int cmd_destroy_wq(struct uroce_wq *wq)
{
	return ur_to_ctx(wq->ibv.context)->engine || wq->qp.engine
		       ? ur_ectx_destroy_wq(wq)
		       : ibv_cmd_destroy_wq(&wq->ibv);
}

static int create_by(struct ibv_context *context, struct uroce_wq *wq,
		     struct ibv_wq_init_attr *attr,
		     struct uroce_create_qp_resp *drv)
{
	int err = 0;

	if (ur_may_renew(context))
		err = ur_ectx_renew_parts(attr->pd, NULL, attr->cq, NULL);
	return err ? err : ur_wq_cmd_create(context, wq, attr, drv);
}

static int try_wq(struct ibv_context *context, struct uroce_wq *wq,
		  struct ibv_wq_init_attr *attr,
		  struct uroce_create_qp_resp *drv)
{
	int err = UR_ECTX_TRY(context, NULL, create_by(context, wq, attr, drv));

	if (err)
		return err;
	err = ur_ectx_create_wq(ur_to_ctx(context), wq, attr, drv);
	if (err)
		cmd_destroy_wq(wq);
	return err;
}

static int create_wq(struct ibv_context *context, struct uroce_wq *wq,
		     struct ibv_wq_init_attr *attr)
{
	struct uroce_create_qp_resp drv;
	int err = UR_ECTX_NUMBERED(try_wq(context, wq, attr, &drv));

	if (err)
		return err;
	err = setup(context, wq, attr, &drv);
	if (err)
		cmd_destroy_wq(wq);
	return err;
}

struct ibv_wq *uroce_create_wq(struct ibv_context *context,
			       struct ibv_wq_init_attr *attr)
{
	struct uroce_wq *wq = calloc(1, sizeof(*wq));
	int err;

	if (!wq)
		return NULL;
	err = ur_ectx_place_wq(ur_to_ctx(context), wq, attr->pd);
	if (!err)
		err = create_wq(context, wq, attr);
	if (err)
		return ur_fail(wq, err);
	wq->qp.pd = ur_pd_get(attr->pd);
	wq->ibv.state = IBV_WQS_RESET;
	wq->ibv.post_recv = post_recv;
	return &wq->ibv;
}

static int modify_wq(struct uroce_wq *wq, struct ibv_wq_attr *attr)
{
	UR_REQ_EX(ib_uverbs_ex_modify_wq, ) req = {0};
	int err = ibv_cmd_modify_wq(&wq->ibv, attr, &req, sizeof(req));

	if (err || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return err;
	return ur_ectx_modify_wq(wq, attr->wq_state);
}

int uroce_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	struct uroce_wq *wq = ur_to_wq(ibwq);
	int err = UR_ECTX_OLD(ur_ectx_old_wq(wq), modify_wq(wq, attr));

	if (err || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return err;
	if (attr->wq_state == IBV_WQS_RESET) {
		ur_qp_drop_posted(&wq->qp);
		ur_cq_forget_qp(ibwq->cq, ibwq->wq_num);
	}
	return 0;
}

int uroce_destroy_wq(struct ibv_wq *ibwq)
{
	struct uroce_wq *wq = ur_to_wq(ibwq);
	int err = __atomic_load_n(&wq->tables, __ATOMIC_RELAXED)
			  ? EBUSY
			  : cmd_destroy_wq(wq);

	if (err)
		return err;
	ur_qp_table_set(ur_to_ctx(ibwq->context), ibwq->wq_num, NULL);
	ur_cq_forget_qp(ibwq->cq, ibwq->wq_num);
	ur_qp_unmap(&wq->qp);
	ur_pd_put(wq->qp.pd);
	free(wq);
	return 0;
}

static void count_table(struct uroce_rwq_table *t, u32 n)
{
	for (u32 i = 0; i < t->size; i++)
		__atomic_add_fetch(&t->wq[i]->tables, n, __ATOMIC_RELAXED);
}

static int make_table(struct ibv_context *context, struct uroce_rwq_table *t)
{
	int err = ur_ectx_renew_wqs(t);

	return err ? err : ur_rwq_table_cmd_create(context, t);
}

struct ibv_rwq_ind_table *
uroce_create_rwq_ind_table(struct ibv_context *context,
			   struct ibv_rwq_ind_table_init_attr *attr)
{
	struct uroce_rwq_table *t;
	u32 size;
	int err;

	/* The library puts the whole table on the stack. */
	if (attr->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
		return ur_fail(NULL, EINVAL);
	size = 1u << attr->log_ind_tbl_size;
	t = calloc(1, sizeof(*t) + size * sizeof(struct uroce_wq *));
	if (!t)
		return NULL;
	t->size = size;
	for (u32 i = 0; i < size; i++)
		t->wq[i] = ur_to_wq(attr->ind_tbl[i]);
	err = UR_ECTX_TRY(context, NULL, make_table(context, t));
	if (err)
		return ur_fail(t, err);
	count_table(t, 1);
	return &t->ibv;
}

int uroce_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	struct uroce_rwq_table *t = ur_to_rwq_table(table);
	int err;

	/* The next uroced does not know its users. */
	if (__atomic_load_n(&t->users, __ATOMIC_RELAXED))
		return EBUSY;
	err = ur_ectx_forgive(ur_to_ctx(table->context),
			      ibv_cmd_destroy_rwq_ind_table(table));
	if (!err) {
		count_table(t, ~0u);
		free(t);
	}
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work queues, and the indirection tables that name them. */
#include "providers/uroce/guest.h"
#include "providers/uroce/uroce.h"

/* As other devices do, receives can be posted in RESET; they go with the next
 * move to it. */
static int post_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	/* A program that does not ask which one was bad gives none. */
	struct ibv_recv_wr *bad;

	return ur_post_recv(&ur_to_wq(wq)->qp, wr, bad_wr ? bad_wr : &bad);
}

static int setup(struct ibv_context *context, struct uroce_wq *wq,
		 const struct ibv_wq_init_attr *attr,
		 const struct uroce_create_qp_resp *drv)
{
	struct uroce_qp *qp = &wq->qp;
	int err;

	qp->db = ur_to_ctx(context)->device_db;
	qp->in_device = ur_to_ctx(context)->guest;
	qp->rq.max_sge = attr->max_sge;
	qp->rq.lock.elided = ur_pd_single_threaded(attr->pd);
	err = ur_qp_map(context, qp, drv);
	if (err)
		return err;
	err = ur_qp_table_set(ur_to_ctx(context), wq->ibv.wq_num, qp);
	if (err)
		ur_qp_unmap(qp);
	return err;
}

static int cmd_destroy_wq(struct uroce_wq *wq)
{
	return ur_to_ctx(wq->ibv.context)->guest ? ur_guest_destroy_wq(wq)
						 : ibv_cmd_destroy_wq(&wq->ibv);
}

struct ibv_wq *uroce_create_wq(struct ibv_context *context,
			       struct ibv_wq_init_attr *attr)
{
	UR_REQ_EX(ib_uverbs_ex_create_wq, struct uroce_create_qp_req drv)
	req = {0};
	UR_RESP(ib_uverbs_ex_create_wq_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	struct uroce_wq *wq = calloc(1, sizeof(*wq));
	int err;

	if (!wq)
		return NULL;
	err = ur_cq_use_device(attr->cq);
	if (err)
		goto err_free;
	err = ibv_cmd_create_wq(context, attr, &wq->ibv, &req, sizeof(req),
				&resp, sizeof(resp));
	if (err)
		goto err_unuse;
	err = setup(context, wq, attr, &resp.drv);
	if (err)
		goto err_destroy;
	wq->ibv.state = IBV_WQS_RESET;
	wq->ibv.post_recv = post_recv;
	return &wq->ibv;
err_destroy:
	cmd_destroy_wq(wq);
err_unuse:
	ur_cq_unuse_device(attr->cq);
err_free:
	free(wq);
	errno = err;
	return NULL;
}

int uroce_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	UR_REQ_EX(ib_uverbs_ex_modify_wq, ) req = {0};
	struct uroce_wq *wq = ur_to_wq(ibwq);
	int err = ibv_cmd_modify_wq(ibwq, attr, &req, sizeof(req));

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
	int err = cmd_destroy_wq(wq);

	if (err)
		return err;
	ur_cq_unuse_device(ibwq->cq);
	ur_qp_table_set(ur_to_ctx(ibwq->context), ibwq->wq_num, NULL);
	ur_cq_forget_qp(ibwq->cq, ibwq->wq_num);
	ur_qp_unmap(&wq->qp);
	free(wq);
	return 0;
}

struct ibv_rwq_ind_table *
uroce_create_rwq_ind_table(struct ibv_context *context,
			   struct ibv_rwq_ind_table_init_attr *attr)
{
	UR_RESP(ib_uverbs_ex_create_rwq_ind_table_resp, ) resp = {0};
	struct ibv_rwq_ind_table *table;
	int err;

	/* The library puts all of it on the stack. */
	if (attr->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE) {
		errno = EINVAL;
		return NULL;
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	err = ibv_cmd_create_rwq_ind_table(context, attr, table, &resp,
					   sizeof(resp));
	if (err) {
		free(table);
		errno = err;
		return NULL;
	}
	return table;
}

int uroce_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	int err = ibv_cmd_destroy_rwq_ind_table(table);

	if (!err)
		free(table);
	return err;
}

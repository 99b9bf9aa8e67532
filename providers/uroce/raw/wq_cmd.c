// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands that make work queues and indirection tables. */
#include "providers/uroce/ectx.h"

int ur_wq_cmd_create(struct ibv_context *context, struct uroce_wq *wq,
		     struct ibv_wq_init_attr *attr,
		     struct uroce_create_qp_resp *drv)
{
	UR_REQ_EX(ib_uverbs_ex_create_wq, struct uroce_create_qp_req drv)
	req = {.drv = {wq->qp.number ? UROCE_QP_F_AGAIN : 0, wq->qp.number}};
	UR_RESP(ib_uverbs_ex_create_wq_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	int err = ibv_cmd_create_wq(context, attr, &wq->ibv, &req, sizeof(req),
				    &resp, sizeof(resp));

	*drv = resp.drv;
	return err;
}

int ur_rwq_table_cmd_create(struct ibv_context *context,
			    struct uroce_rwq_table *t)
{
	UR_RESP(ib_uverbs_ex_create_rwq_ind_table_resp, ) resp = {0};
	struct ibv_wq **wq = calloc(t->size, sizeof(struct ibv_wq *));
	struct ibv_rwq_ind_table_init_attr attr = {
		.log_ind_tbl_size = (u32)__builtin_ctz(t->size),
		.ind_tbl = wq,
	};
	u32 recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					 __ATOMIC_ACQUIRE);
	int err;

	if (!wq)
		return ENOMEM;
	for (u32 i = 0; i < t->size; i++)
		wq[i] = &t->wq[i]->ibv;
	err = ibv_cmd_create_rwq_ind_table(context, &attr, &t->ibv, &resp,
					   sizeof(resp));
	if (!err)
		__atomic_store_n(&t->recoveries, recoveries, __ATOMIC_RELEASE);
	free(wq);
	return err;
}

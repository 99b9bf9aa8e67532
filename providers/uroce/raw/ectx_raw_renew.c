// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Renews work queues, tables and counters objects of an earlier uroced (ectx_renew.c). The next
 * uroced does not learn of existing flow rules; it checks new ones.
 */
#include "providers/uroce/raw/ectx_raw.h"

/* ---- work queues ---- */

/* The work queue keeps its number, and gets its last state. */
static int make_again(struct uroce_wq *wq, struct uroce_wq *made)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = wq->qp.rq.max_wqes,
		.max_sge = wq->qp.rq.max_sge,
		.pd = wq->ibv.pd,
		.cq = wq->ibv.cq,
	};
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE};
	UR_REQ_EX(ib_uverbs_ex_modify_wq, ) req = {0};
	struct uroce_create_qp_resp drv;
	int err;

	made->qp.number = wq->ibv.wq_num;
	err = ur_wq_cmd_create(wq->ibv.context, made, &init, &drv);
	for (u32 state = IBV_WQS_RDY; !err && state <= (u32)wq->ibv.state;
	     state++) {
		attr.wq_state = (enum ibv_wq_state)state;
		err = ibv_cmd_modify_wq(&made->ibv, &attr, &req, sizeof(req));
		if (err)
			ibv_cmd_destroy_wq(&made->ibv);
	}
	if (!err)
		wq->ibv.handle = wq->qp.handle = made->ibv.handle;
	return err;
}

static int make_wq(void *object)
{
	struct uroce_wq *wq = object, *made = calloc(1, sizeof(*made));
	int err = made ? make_again(wq, made) : ENOMEM;

	free(made);
	return err;
}

int ur_ectx_renew_wq(struct uroce_wq *wq)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct uroce_context *ctx = ur_to_ctx(wq->ibv.context);
	int err;

	if (!ur_ectx_owns(ctx, wq->qp.engine))
		return EINVAL;
	if (!wq->qp.engine ||
	    __atomic_load_n(&wq->qp.recoveries, __ATOMIC_ACQUIRE) ==
		    __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE))
		return 0;
	err = ur_ectx_renew_parts(wq->ibv.pd, NULL, wq->ibv.cq, NULL);
	return err ? err
		   : ur_ectx_renew_once(wq->ibv.context, &wq->qp.recoveries,
					&lock, make_wq, wq);
}

static int again_wq(void *wq)
{
	return ur_ectx_renew_wq(wq);
}

struct ur_ectx_old ur_ectx_old_wq(struct uroce_wq *wq)
{
	return (struct ur_ectx_old){
		ur_to_ctx(wq->ibv.context), &wq->qp.recoveries, again_wq,
		wq->qp.engine && ur_ectx_owns(ur_to_ctx(wq->ibv.context),
					      wq->qp.engine)
			? wq
			: NULL};
}

/* ---- tables, counters ---- */

int ur_ectx_renew_wqs(struct uroce_rwq_table *table)
{
	int err = 0;

	for (u32 i = 0; !err && i < table->size; i++)
		err = ur_ectx_renew_wq(table->wq[i]);
	return err;
}

static int make_table_again(struct ibv_context *context,
			    struct uroce_rwq_table *table)
{
	int err = ur_ectx_renew_wqs(table);

	return err ? err : ur_rwq_table_cmd_create(context, table);
}

int ur_ectx_renew_table(struct uroce_rwq_table *table)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct uroce_context *ctx = ur_to_ctx(table->ibv.context);
	int err = 0;

	pthread_mutex_lock(&lock);
	if (table->recoveries !=
	    __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE))
		err = make_table_again(&ctx->ibv, table);
	pthread_mutex_unlock(&lock);
	return err;
}

static int make_counters(void *object)
{
	struct ibv_counters_init_attr attr = {0};
	struct uroce_counters *c = object;

	return ibv_cmd_create_counters(c->vc.counters.context, &attr, &c->vc,
				       NULL);
}

int ur_ectx_renew_counters(struct uroce_counters *counters)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return ur_ectx_renew_once(counters->vc.counters.context,
				  &counters->recoveries, &lock, make_counters,
				  counters);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Renews queue pairs that an earlier uroced made (ectx_renew.c). */
#include <string.h>

#include "ectx.h"
#include "providers/uroce/raw/ectx_raw.h"

/* The attributes for each state transition, as in the transport's modify table. */
int ur_ectx_mask_to(const struct uroce_qp *qp, enum ibv_qp_state state)
{
	/* uroced ignores attributes of the other half of XRC. */
	bool ud = qp->qpt_bit == UR_SENDS_UD,
	     rc = !ud && qp->qpt_bit != UR_SENDS_UC;

	if (qp->qpt_bit == UR_SENDS_RAW)
		return IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0);
	switch (state) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return IBV_QP_STATE |
		       (ud ? 0
			   : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN) |
		       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
			   : 0);
	case IBV_QPS_RTS:
		return IBV_QP_STATE | IBV_QP_SQ_PSN |
		       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY |
					IBV_QP_MAX_QP_RD_ATOMIC
			   : 0);
	default:
		return IBV_QP_STATE;
	}
}

/* The states on the way to each state, in order. uroced does not know SQE. */
static const enum ibv_qp_state paths[][5] = {
	[IBV_QPS_RESET] = {IBV_QPS_RESET},
	[IBV_QPS_INIT] = {IBV_QPS_INIT},
	[IBV_QPS_RTR] = {IBV_QPS_INIT, IBV_QPS_RTR},
	[IBV_QPS_RTS] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS},
	[IBV_QPS_SQD] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD},
	[IBV_QPS_SQE] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS},
	[IBV_QPS_ERR] = {IBV_QPS_INIT, IBV_QPS_ERR},
};

static int go_to_state(const struct uroce_qp *qp, struct ibv_qp *made)
{
	const struct uroce_engine_qp now = ur_engine_qp(qp);
	struct ibv_qp_attr attr;
	int err = 0;

	ur_ectx_show_qp(&now, &attr);
	if (now.state >= UR_ARRAY_SIZE(paths))
		return EINVAL;
	for (const enum ibv_qp_state *state = paths[now.state]; *state && !err;
	     state++) {
		attr.qp_state = *state;
		err = ur_qp_cmd_modify(made, &attr,
				       ur_ectx_mask_to(qp, *state));
	}
	if (!err && now.rate_limit && now.state == IBV_QPS_RTS)
		err = ur_qp_cmd_modify(made, &attr,
				       IBV_QP_STATE | IBV_QP_RATE_LIMIT);
	return err;
}

static int catch_up(struct uroce_qp *qp, struct ibv_qp *made)
{
	struct uroce_context *ctx = ur_to_ctx(qp->ibv.context);
	int err;

	pthread_mutex_lock(&ctx->modifies);
	err = go_to_state(qp, made);
	if (!err)
		qp->owed = 0;
	pthread_mutex_unlock(&ctx->modifies);
	return err;
}

/* The first process that has the target open makes it again. */
static int make_target_again(struct ibv_context *context, struct uroce_qp *qp,
			     struct uroce_qp *made,
			     struct ibv_qp_open_attr *open)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_context = open->qp_context,
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = open->xrcd,
	};
	struct uroce_create_qp_resp drv;
	int err;

	made->engine = qp->engine;
	err = ur_qp_cmd_open(context, made, open);
	if (err != EINVAL || !ur_to_ctx(context)->recoveries)
		return err;
	made->number = open->qp_num;
	err = ur_qp_cmd_create(context, made, &init, &drv);
	made->number = 0;
	if (err)
		return err;
	err = catch_up(qp, &made->ibv);
	if (err)
		ibv_cmd_destroy_qp(&made->ibv);
	return err;
}

static pthread_mutex_t queue_pairs = PTHREAD_MUTEX_INITIALIZER;

int ur_ectx_renew_open(struct uroce_context *ctx, struct uroce_qp *qp,
		       struct ibv_qp_open_attr *attr)
{
	int err = ur_ectx_renew_xrcd(attr->xrcd);

	if (err)
		return err;
	pthread_mutex_lock(&queue_pairs);
	err = make_target_again(&ctx->ibv, qp, qp, attr);
	pthread_mutex_unlock(&queue_pairs);
	return err;
}

static int open_again(struct uroce_qp *qp, struct uroce_qp *made)
{
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_CONTEXT | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp->ibv.qp_num,
		.xrcd = qp->xrcd,
		.qp_context = qp->ibv.qp_context,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	int err = make_target_again(qp->ibv.context, qp, made, &open);

	if (!err)
		qp->ibv.handle = qp->handle = made->ibv.handle;
	return err;
}

/* The queue pair keeps its number. */
static int make_again(struct uroce_qp *qp, struct uroce_qp *made)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = qp->ibv.send_cq,
		.recv_cq = qp->ibv.recv_cq,
		.srq = qp->ibv.srq,
		.cap = ur_ectx_cap(qp),
		.qp_type = qp->ibv.qp_type,
		.sq_sig_all = qp->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = qp->ibv.pd,
	};
	struct uroce_create_qp_resp drv;
	int err;

	if (qp->spread) {
		init.comp_mask |=
			IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
		init.rwq_ind_tbl = &qp->spread->table->ibv;
		init.rx_hash_conf = qp->spread->hash;
	}
	made->number = qp->ibv.qp_num;
	err = ur_qp_cmd_create(qp->ibv.context, made, &init, &drv);
	if (err)
		return err;
	err = catch_up(qp, &made->ibv);
	if (!err)
		err = ur_ectx_renew_groups(qp, &made->ibv);
	if (err)
		ibv_cmd_destroy_qp(&made->ibv);
	else
		qp->ibv.handle = qp->handle = made->ibv.handle;
	return err;
}

static int make_qp(void *object)
{
	struct uroce_qp *qp = object, *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return ENOMEM;
	err = qp->xrcd ? open_again(qp, made) : make_again(qp, made);
	free(made);
	return err;
}

int ur_ectx_renew_qp(struct uroce_qp *qp)
{
	int err = qp->xrcd ? ur_ectx_renew_xrcd(qp->xrcd)
			   : ur_ectx_renew_parts(qp->ibv.pd, qp->ibv.send_cq,
						 qp->ibv.recv_cq, qp->ibv.srq);

	if (!err && qp->spread)
		err = ur_ectx_renew_table(qp->spread->table);
	return err ? err
		   : ur_ectx_renew_once(qp->ibv.context, &qp->recoveries,
					&queue_pairs, make_qp, qp);
}

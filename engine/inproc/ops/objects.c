// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Objects of an engine in a program. Control has checked their attributes. */
#include <errno.h>
#include <stdlib.h>
#include "engine/inproc/ops/process.h"

struct uroce_eah {
	struct uroce_ectx *ctx;
	struct ur_eah *ah;
};

static struct ur_ecq *cq_of(const struct uroce_ecq *cq)
{
	return cq ? cq->cq : NULL;
}

int ur_process_create_srq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_esrq_init *in = &call->msg.srq;
	const struct ur_esrq_init init = {.pd = in->pdn,
					  .max_wr = in->max_wr,
					  .max_sge = in->max_sge,
					  .xrc = in->xrcdn,
					  .xrcd = in->xrcdn,
					  .srqn = in->srqn,
					  .cq = cq_of(in->cq),
					  .user_handle = in->user_handle,
					  .async = ctx->async};
	struct uroce_esrq *srq = calloc(1, sizeof(*srq));
	int err;

	if (!srq)
		return -ENOMEM;
	srq->ctx = ctx;
	err = ur_esrq_create(ctx->ectx, &init, &srq->srq, &call->reply.new_srq);
	return ur_process_made(call, srq, err);
}

int ur_process_resize_srq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_esrq *srq = call->it;

	return ur_esrq_resize(srq->srq, call->msg.value, &call->reply.new_srq);
}

int ur_process_limit_srq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_esrq *srq = call->it;

	return ur_esrq_set_limit(srq->srq, call->msg.value);
}

int ur_process_query_srq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_esrq *srq = call->it;

	call->reply.value = ur_esrq_limit(srq->srq);
	return 0;
}

int ur_process_destroy_srq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_esrq *srq = call->it;
	struct ur_events_left async;
	int err = ur_esrq_destroy(srq->srq, &async);

	if (err)
		return err;
	call->reply.read[0] = ur_process_take_back(ctx, &async);
	free(srq);
	return 0;
}

int ur_process_create_ah(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_engine_path *in = &call->msg.ah.path;
	struct ur_epath path = {
		.sgid_index = in->sgid_index,
		.flow_label = in->flow_label,
		.traffic_class = in->traffic_class,
		.hop_limit = in->hop_limit,
		.sl = in->sl,
		.v1 = in->v1,
	};
	struct uroce_eah *ah = calloc(1, sizeof(*ah));
	int err;

	if (!ah)
		return -ENOMEM;
	ah->ctx = ctx;
	memcpy(path.sgid, in->sgid, sizeof(path.sgid));
	memcpy(path.dgid, in->dgid, sizeof(path.dgid));
	err = ur_eah_create(ctx->ectx, call->msg.ah.pdn, &path, &ah->ah);
	if (!err)
		call->reply.value = ur_eah_number(ah->ah);
	return ur_process_made(call, ah, err);
}

int ur_process_destroy_ah(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eah *ah = call->it;

	ur_eah_destroy(ah->ah);
	free(ah);
	return 0;
}

static int make_plain(struct uroce_eqp *qp, const struct uroce_eqp_init *in,
		      struct uroce_create_qp_resp *resp)
{
	struct ur_eqp_init init = {
		.type = (enum ur_qp_type)in->type,
		.pd = in->pdn,
		.caps.max_send_wr = in->max_send_wr,
		.caps.max_recv_wr = in->max_recv_wr,
		.caps.max_send_sge = in->max_send_sge,
		.caps.max_recv_sge = in->max_recv_sge,
		.caps.max_inline = in->max_inline,
		.sq_sig_all = in->sq_sig_all,
		.block_self_mcast = in->block_self_mcast,
		.send_cq = cq_of(in->send_cq),
		.recv_cq = cq_of(in->recv_cq),
		.srq = in->srq ? in->srq->srq : NULL,
		.qpn = in->qpn,
		.user_handle = in->user_handle,
		.realm = qp->ctx->realm,
		.async = qp->ctx->async,
		.wq = in->wq,
	};

	return ur_eqp_create(qp->ctx->ectx, &init, &qp->qp, resp);
}

int ur_process_create_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_eqp_init *in = &call->msg.qp.init;
	struct uroce_create_qp_resp *resp = &call->reply.new_qp;
	struct uroce_eqp *qp = calloc(1, sizeof(*qp));
	int err;

	if (!qp)
		return -ENOMEM;
	qp->ctx = ctx;
	err = in->type == UR_QPT_XRC_TGT ? ur_process_make_target(qp, in, resp)
					 : make_plain(qp, in, resp);
	if (!err && in->rss)
		err = ur_process_spread(qp, in->rss);
	return ur_process_made(call, qp, err);
}

int ur_process_open_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eqp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return -ENOMEM;
	qp->ctx = ctx;
	return ur_process_made(call, qp,
			       ur_process_open_target(qp, &call->msg.qp.init));
}

static void take_path(struct ur_epath *path, const struct uroce_engine_qp *in)
{
	*path = (struct ur_epath){
		.sgid_index = in->sgid_index,
		.flow_label = in->flow_label,
		.traffic_class = in->traffic_class,
		.hop_limit = in->hop_limit,
		.sl = in->sl,
		.v1 = in->v1,
		.nobodys = in->nobodys,
	};
	memcpy(path->sgid, in->sgid, sizeof(path->sgid));
	memcpy(path->dgid, in->dgid, sizeof(path->dgid));
}

int ur_process_may_modify_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_engine_qp *in = &call->msg.modify.attr;
	const struct ur_qp_attr attr = {
		.state = (enum ur_qp_state)in->state,
		.cur_state = (enum ur_qp_state)in->cur_state,
	};
	struct uroce_eqp *qp = call->it;

	return ur_eqp_may_modify(qp->qp, &attr, call->msg.modify.mask);
}

int ur_process_modify_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_engine_qp *in = &call->msg.modify.attr;
	u32 mask = call->msg.modify.mask;
	struct ur_qp_attr attr = {
		.state = (enum ur_qp_state)in->state,
		.cur_state = (enum ur_qp_state)in->cur_state,
		.path_mtu = in->path_mtu,
		.qkey = in->qkey,
		.rq_psn = in->rq_psn,
		.sq_psn = in->sq_psn,
		.dest_qpn = in->dest_qpn,
		.access = in->access,
		.port_num = 1,
		.max_rd_atomic = in->max_rd_atomic,
		.max_dest_rd_atomic = in->max_dest_rd_atomic,
		.min_rnr_timer = in->min_rnr_timer,
		.timeout = in->timeout,
		.retry_cnt = in->retry_cnt,
		.rnr_retry = in->rnr_retry,
		.en_sqd_async_notify = in->en_sqd_async_notify,
		.rate_limit = in->rate_limit,
		.static_bps = in->static_bps,
	};
	struct uroce_eqp *qp = call->it;
	struct ur_epath path;

	take_path(&path, in);
	return ur_eqp_modify(qp->qp, &attr, mask & UR_QP_ATTR_AV ? &path : NULL,
			     mask);
}

int ur_process_query_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eqp *qp = call->it;

	ur_eqp_describe(qp->qp, &call->reply.now);
	return 0;
}

int ur_process_mcast(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eqp *qp = call->it;

	return ur_eqp_mcast(qp->qp, call->msg.gid.gid, call->msg.gid.index);
}

int ur_process_destroy_qp(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eqp *qp = call->it;
	struct ur_events_left async;
	int err = 0;

	if (qp->target)
		ur_process_close_target(qp, &async);
	else
		err = qp->users ? -EBUSY : ur_eqp_destroy(qp->qp, &async);
	if (err)
		return err;
	ur_process_unspread(qp);
	call->reply.read[0] = ur_process_take_back(ctx, &async);
	free(qp);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Raw packets of a context whose engine is in this process: the packet sockets that the device
 * grants, work queues, flow rules.
 */
#include <string.h>
#include <unistd.h>

#include "providers/uroce/raw/ectx_raw.h"

static int call_raw(struct uroce_context *ctx, struct uroce_engine_raw *raw)
{
	return ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_RAW, UR_ECTX_NO_IN, 0, 0,
			    UROCE_ATTR_ENGINE_RAW_RESP, raw, sizeof(*raw));
}

static int use_raw(struct uroce_context *ctx)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_HAS_RAW};
	struct uroce_engine_raw raw;
	int err;

	/* uroced marks what its sockets send with the slot of the opener's engine. */
	if (ctx->imported)
		return EOPNOTSUPP;
	if (ur_engine_has(ctx->engine, &call))
		return 0;
	err = UR_ECTX_TRY(&ctx->ibv, NULL, call_raw(ctx, &raw));
	if (err)
		return err;
	call.msg.op = UROCE_CALL_USE_RAW;
	call.n_fds = UR_ARRAY_SIZE(raw.fd);
	memcpy(call.fds, raw.fd, sizeof(raw.fd));
	err = ur_engine_call(ctx->engine, &call);
	for (u32 i = 0; i < UR_ARRAY_SIZE(raw.fd); i++)
		close(raw.fd[i]);
	return err;
}

int ur_ectx_use_raw(struct uroce_context *ctx)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int err;

	pthread_mutex_lock(&lock);
	err = use_raw(ctx);
	pthread_mutex_unlock(&lock);
	return err;
}

/* ---- work queues ---- */

int ur_ectx_place_wq(struct uroce_context *ctx, struct uroce_wq *wq,
		     const struct ibv_pd *pd)
{
	if (!ur_ectx_makes_here(ctx))
		return EIO;
	return ctx->imported ? EOPNOTSUPP : 0;
}

int ur_ectx_create_wq(struct uroce_context *ctx, struct uroce_wq *wq,
		      const struct ibv_wq_init_attr *attr,
		      struct uroce_create_qp_resp *resp)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_CREATE_QP};
	int err;

	if (!ur_ectx_is_here(ctx))
		return EIO;
	call.msg.qp.init = (struct uroce_eqp_init){
		.type = IBV_QPT_RAW_PACKET,
		.qpn = wq->ibv.wq_num,
		.pdn = ur_to_pd(attr->pd)->pdn,
		.max_recv_wr = attr->max_wr,
		.max_recv_sge = attr->max_sge,
		.wq = 1,
		.user_handle = (uintptr_t)&wq->ibv,
		.recv_cq = ur_to_cq(attr->cq)->engine,
	};
	wq->qp.handle = wq->ibv.handle;
	wq->qp.recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	err = ur_engine_call(ctx->engine, &call);
	if (err)
		return err;
	wq->qp.engine = call.it;
	*resp = call.reply.new_qp;
	return 0;
}

int ur_ectx_modify_wq(struct uroce_wq *wq, enum ibv_wq_state state)
{
	struct uroce_context *ctx = ur_to_ctx(wq->ibv.context);

	if (!ur_ectx_has(ctx, wq->qp.engine))
		return EIO;
	if (!wq->qp.engine)
		return 0;
	return ur_engine_tell(wq->qp.engine, UROCE_CALL_MODIFY_WQ, state);
}

/* ---- tables ---- */

void ur_ectx_spread(const struct uroce_spread *spread,
		    struct uroce_eqp_rss *rss, struct uroce_eqp **wq)
{
	const struct uroce_rwq_table *t = spread->table;

	*rss = (struct uroce_eqp_rss){
		.fields = (u32)spread->hash.rx_hash_fields_mask,
		.size = t->size,
		.wq = wq,
	};
	memcpy(rss->key, spread->key, sizeof(rss->key));
	for (u32 i = 0; i < t->size; i++)
		wq[i] = t->wq[i]->qp.engine;
}

/* ---- rules ---- */

static void count_flows(struct uroce_counters *counters, u32 n)
{
	if (counters)
		__atomic_add_fetch(&counters->flows, n, __ATOMIC_RELAXED);
}

int ur_ectx_create_flow(struct uroce_qp *qp, struct uroce_flow *flow,
			struct uroce_counters *counters)
{
	struct uroce_context *ctx = ur_to_ctx(qp->ibv.context);
	struct uroce_call call = {
		.msg.op = UROCE_CALL_CREATE_FLOW,
		.counts = counters ? &counters->here : NULL,
	};
	int err;

	if (!qp->engine)
		return 0;
	if (!ur_ectx_has(ctx, qp->engine))
		return EIO;
	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_FLOW,
			   UROCE_METHOD_ENGINE_FLOW,
			   UROCE_ATTR_ENGINE_FLOW_HANDLE, 0, flow->ibv.handle,
			   UROCE_ATTR_ENGINE_FLOW_RESP, &call.msg.flow,
			   sizeof(call.msg.flow));
	if (!err)
		err = ur_engine_about(qp->engine, &call);
	if (err)
		return err;
	flow->engine = call.it;
	flow->counters = counters;
	count_flows(counters, 1);
	return 0;
}

void ur_ectx_destroy_flow(struct uroce_context *ctx, struct uroce_flow *flow)
{
	/* In a child of fork the flow is the parent's. */
	if (flow->engine && ur_ectx_has_still(ctx, flow->engine))
		ur_engine_tell(flow->engine, UROCE_CALL_DESTROY_FLOW, 0);
	count_flows(flow->counters, ~0u);
}

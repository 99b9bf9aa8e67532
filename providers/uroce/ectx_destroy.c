// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Destroys queues of a context with its own engine: first in the engine, then
 * in the device, which may reuse their numbers. Both engines send events under
 * the same names into the same files, so either may take back unread events of
 * the other. Together they count those that the program has read. One thread at
 * a time destroys, or an event that another thread is taking back would count
 * as read.
 */
#include "ectx.h"

struct destroy {
	u16 object, method, handle_id, resp_id;
	u32 handle;
	void *resp;
	u16 resp_len;
};

static int in_uroced(struct uroce_context *ctx, const struct destroy *d)
{
	int err = ur_ectx_call(&ctx->ibv, d->object, d->method, d->handle_id, 0,
			       d->handle, d->resp_id, d->resp, d->resp_len);

	return ur_ectx_forgive(ctx, err);
}

/* Does the same as ibv_cmd_destroy_*(), for events that a killed device no longer counts. */
static void wait_for_acks(pthread_mutex_t *mutex, pthread_cond_t *cond,
			  u32 *completed, u32 events)
{
	pthread_mutex_lock(mutex);
	while ((s32)(*completed - events) < 0)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}

/* Discounts events for the library, which waits for all others and does not
 * know these. */
static void acked_here(pthread_mutex_t *mutex, u32 *completed, u32 events)
{
	pthread_mutex_lock(mutex);
	*completed -= events;
	pthread_mutex_unlock(mutex);
}

static int destroy_both_cqs(struct uroce_cq *cq,
			    struct ib_uverbs_destroy_cq_resp *resp)
{
	struct ibv_cq *ibv = &cq->vcq.cq;
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	const struct destroy d = {UVERBS_OBJECT_CQ,
				  UVERBS_METHOD_CQ_DESTROY,
				  UVERBS_ATTR_DESTROY_CQ_HANDLE,
				  UVERBS_ATTR_DESTROY_CQ_RESP,
				  ibv->handle,
				  resp,
				  sizeof(*resp)};
	u32 events[2] = {0};
	int err = ur_engine_destroy(cq->engine, UROCE_CALL_DESTROY_CQ, events);

	if (err)
		return err;
	cq->engine = NULL;
	ur_shared_destroy_cq(cq, events);
	err = in_uroced(ctx, &d);
	resp->comp_events_reported += events[0];
	resp->async_events_reported += events[1];
	return err;
}

int ur_ectx_destroy_cq(struct uroce_cq *cq)
{
	struct ibv_cq *ibv = &cq->vcq.cq;
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	struct ib_uverbs_destroy_cq_resp resp = {0};
	int err;

	if (!ur_ectx_has_still(ctx, cq->engine)) {
		ibv->comp_events_completed = ibv->async_events_completed = 0;
		return ur_ectx_forgive(ctx, ibv_cmd_destroy_cq(ibv));
	}
	if (cq->engine && ibv->handle != cq->handle)
		return ur_unknown_handle();
	/* Here first: uroced would refuse only after the engine's object is gone. */
	if (__atomic_load_n(&cq->shared_users, __ATOMIC_RELAXED))
		return EBUSY;
	pthread_mutex_lock(&ctx->destroys);
	err = destroy_both_cqs(cq, &resp);
	pthread_mutex_unlock(&ctx->destroys);
	if (err && cq->engine)
		return err;
	/* The library knows how to handle a lost device. */
	if (err) {
		acked_here(&ibv->mutex, &ibv->comp_events_completed,
			   resp.comp_events_reported);
		acked_here(&ibv->mutex, &ibv->async_events_completed,
			   resp.async_events_reported);
		return ibv_cmd_destroy_cq(ibv);
	}
	wait_for_acks(&ibv->mutex, &ibv->cond, &ibv->comp_events_completed,
		      resp.comp_events_reported);
	wait_for_acks(&ibv->mutex, &ibv->cond, &ibv->async_events_completed,
		      resp.async_events_reported);
	return 0;
}

int ur_ectx_destroy_srq(struct uroce_srq *srq)
{
	struct ibv_srq *ibv = &srq->vsrq.srq;
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	struct ib_uverbs_destroy_srq_resp resp = {0};
	const struct destroy d = {UVERBS_OBJECT_SRQ,
				  UVERBS_METHOD_SRQ_DESTROY,
				  UVERBS_ATTR_DESTROY_SRQ_HANDLE,
				  UVERBS_ATTR_DESTROY_SRQ_RESP,
				  ibv->handle,
				  &resp,
				  sizeof(resp)};
	u32 events[2] = {0};
	int err = 0;

	if (!ur_ectx_has_still(ctx, srq->engine)) {
		ibv->events_completed = 0;
		return ur_ectx_forgive(ctx, ibv_cmd_destroy_srq(ibv));
	}
	if (srq->engine && ibv->handle != srq->handle)
		return ur_unknown_handle();
	pthread_mutex_lock(&ctx->destroys);
	if (srq->engine)
		err = ur_engine_destroy(srq->engine, UROCE_CALL_DESTROY_SRQ,
					events);
	if (!err) {
		srq->engine = NULL;
		err = in_uroced(ctx, &d);
	}
	pthread_mutex_unlock(&ctx->destroys);
	if (err && srq->engine)
		return err;
	if (err) {
		acked_here(&ibv->mutex, &ibv->events_completed, events[0]);
		return ibv_cmd_destroy_srq(ibv);
	}
	wait_for_acks(&ibv->mutex, &ibv->cond, &ibv->events_completed,
		      events[0] + resp.events_reported);
	return 0;
}

int ur_ectx_destroy_qp(struct uroce_qp *qp)
{
	struct ibv_qp *ibv = &qp->ibv;
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	struct uroce_eqp *engine = qp->engine;
	struct ib_uverbs_destroy_qp_resp resp = {0};
	const struct destroy d = {UVERBS_OBJECT_QP,
				  UVERBS_METHOD_QP_DESTROY,
				  UVERBS_ATTR_DESTROY_QP_HANDLE,
				  UVERBS_ATTR_DESTROY_QP_RESP,
				  ibv->handle,
				  &resp,
				  sizeof(resp)};
	u32 events[2] = {0};
	int err = 0;

	if (!ur_ectx_has_still(ctx, engine)) {
		ibv->events_completed = 0;
		return ur_ectx_forgive(ctx, ibv_cmd_destroy_qp(ibv));
	}
	if (engine && ibv->handle != qp->handle)
		return ur_unknown_handle();
	/* Another thread may query the state before it acknowledges an
	 * event. */
	qp->engine = NULL;
	pthread_mutex_lock(&ctx->destroys);
	if (engine)
		err = ur_engine_destroy(engine, UROCE_CALL_DESTROY_QP, events);
	if (err) {
		qp->engine = engine;
		pthread_mutex_unlock(&ctx->destroys);
		return err;
	}
	if (!engine || !ur_ectx_hint_destroy_qp(qp))
		err = in_uroced(ctx, &d);
	pthread_mutex_unlock(&ctx->destroys);
	if (err) {
		acked_here(&ibv->mutex, &ibv->events_completed, events[0]);
		return ibv_cmd_destroy_qp(ibv);
	}
	wait_for_acks(&ibv->mutex, &ibv->cond, &ibv->events_completed,
		      events[0] + resp.events_reported);
	return 0;
}

int ur_ectx_destroy_wq(struct uroce_wq *wq)
{
	struct ibv_wq *ibv = &wq->ibv;
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	struct uroce_eqp *engine = wq->qp.engine;
	u32 events = 0, here[2] = {0};
	const struct destroy d = {UVERBS_OBJECT_WQ,
				  UVERBS_METHOD_WQ_DESTROY,
				  UVERBS_ATTR_DESTROY_WQ_HANDLE,
				  UVERBS_ATTR_DESTROY_WQ_RESP,
				  ibv->handle,
				  &events,
				  sizeof(events)};
	int err = 0;

	if (!ur_ectx_has_still(ctx, engine)) {
		ibv->events_completed = 0;
		return ur_ectx_forgive(ctx, ibv_cmd_destroy_wq(ibv));
	}
	if (engine && ibv->handle != wq->qp.handle)
		return ur_unknown_handle();
	pthread_mutex_lock(&ctx->destroys);
	if (engine)
		err = ur_engine_destroy(engine, UROCE_CALL_DESTROY_QP, here);
	if (!err) {
		wq->qp.engine = NULL;
		err = in_uroced(ctx, &d);
	}
	pthread_mutex_unlock(&ctx->destroys);
	if (err && wq->qp.engine)
		return err;
	if (err) {
		acked_here(&ibv->mutex, &ibv->events_completed, here[0]);
		return ibv_cmd_destroy_wq(ibv);
	}
	wait_for_acks(&ibv->mutex, &ibv->cond, &ibv->events_completed,
		      here[0] + events);
	return 0;
}

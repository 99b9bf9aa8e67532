// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs, between control and the transport. */
#include <errno.h>
#include <stdlib.h>
#include "device/engine/engine_impl.h"
#include "device/engine/poll_loop.h"
#include "transport/qp.h"

struct create_args {
	struct ur_ectx *ectx;
	struct ur_eqp *qp;
	struct ur_qp_rings rings;
	struct uroce_create_qp_resp *resp;
};

static int create(struct ur_engine *engine, void *arg)
{
	struct create_args *a = arg;
	struct ur_eqp *qp = a->qp;
	struct ur_eqp_init *in = &qp->init;
	struct uroce_create_qp_resp *r = a->resp;
	struct ur_qp_init init = {
		.type = in->type,
		.pd = in->pd,
		.max_send_wr = in->max_send_wr,
		.max_recv_wr = in->max_recv_wr,
		.max_send_sge = in->max_send_sge,
		.max_recv_sge = in->max_recv_sge,
		.max_inline = in->max_inline,
		.sq_sig_all = in->sq_sig_all,
		.srq = in->srq ? in->srq->srq : NULL,
		.xrcd = in->xrcd,
		.send_cq_ctx = in->send_cq,
		.recv_cq_ctx = in->recv_cq,
		.ctx = qp,
		.rq_ctx = &qp->rq,
		.realm = in->realm,
	};
	int ret = ur_qp_create(engine->port, &init, &qp->qp);

	if (ret)
		return ret;
	qp->qpn = ur_qp_number(qp->qp);
	if (in->send_cq)
		in->send_cq->users++;
	if (in->recv_cq)
		in->recv_cq->users++;
	memset(r, 0, sizeof(*r));
	if (!qp->has_rings)
		return 0;
	ur_ectx_add_db_client(a->ectx, &qp->db_client);
	r->map_off = qp->block.off;
	r->map_len = qp->block.len;
	r->sq_hdr_off = a->rings.sq_hdr;
	r->sq_off = a->rings.sq_off;
	r->sq_bbs = a->rings.sq_bbs;
	r->sq_max_wqes = r->sq_bbs ? in->max_send_wr : 0;
	r->rq_hdr_off = a->rings.rq_hdr;
	r->rq_off = a->rings.rq_off;
	r->rq_entries = a->rings.rq_entries;
	r->rq_stride = a->rings.rq_stride;
	r->rq_max_wqes = r->rq_entries ? in->max_recv_wr : 0;
	r->db_slot = qp->db_client.slot;
	return 0;
}

u32 ur_eqp_kib(u32 max_send_wr, u32 max_send_sge)
{
	/* The number of elements is rounded up to whole blocks of the ring. */
	u32 sge = ur_min_u32(max_send_sge, UR_MAX_SGE - 4) + 4;
	u32 depth = ur_roundup_pow2(ur_min_u32(max_send_wr, UR_SQ_WINDOW));
	size_t one = sizeof(struct ur_swqe) + sge * sizeof(struct ur_sge);

	return (u32)(depth * one / 1024 + 1);
}

int ur_eqp_create(struct ur_ectx *ectx, struct ur_eqp_init *init,
		  struct ur_eqp **ret_qp, struct uroce_create_qp_resp *resp)
{
	struct create_args a = {.ectx = ectx, .resp = resp};
	bool has_av = init->type == UR_QPT_UD || init->type == UR_QPT_XRC_INI;
	struct ur_eqp *qp;
	int ret;

	if (init->max_send_wr && !init->max_send_sge)
		init->max_send_sge = 1;
	if (init->max_recv_wr && !init->max_recv_sge)
		init->max_recv_sge = 1;
	ret = ur_qp_rings_plan(init, has_av, &a.rings);
	if (ret)
		return ret;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->engine = ectx->engine;
	qp->ectx = a.rings.bytes ? ectx : NULL;
	qp->type = (u8)init->type;
	qp->has_av = has_av;
	qp->db_client.ring = ur_qp_doorbell;
	qp->init = *init;
	ur_rq_init(&qp->rq, ectx);
	qp->rq.qp = qp;
	ur_list_init(&qp->refs);
	ur_list_init(&qp->self.node);
	qp->self.qp = qp;
	qp->self.async = init->async;
	ur_evsrc_init(&qp->self.src, init->user_handle);
	if (init->async)
		ur_list_add_tail(&qp->refs, &qp->self.node);
	a.qp = qp;
	ret = ur_qp_rings_place(qp, ectx, &a.rings);
	if (ret)
		goto err_free;
	ret = ur_engine_call(ectx->engine, create, &a);
	if (ret)
		goto err_rings;
	*ret_qp = qp;
	return 0;
err_rings:
	ur_arena_free(&ectx->arena, &qp->block);
err_free:
	free(qp);
	return ret;
}

u32 ur_eqp_number(const struct ur_eqp *qp)
{
	return qp->qpn;
}

/* ---- modify, query ---- */

struct modify_args {
	struct ur_eqp *qp;
	struct ur_qp_attr attr;
	const struct ur_epath *path;
	u32 mask;
};

static int modify(struct ur_engine *engine, void *arg)
{
	struct modify_args *a = arg;
	struct ur_eqp *qp = a->qp;
	u32 mask = a->mask;
	int ret;

	a->attr.av = NULL;
	if (mask & UR_QP_ATTR_AV) {
		u32 dqpn = a->attr.dest_qpn;

		if (!(mask & UR_QP_ATTR_DEST_QPN)) {
			struct ur_qp_attr now;

			ur_qp_query(qp->qp, &now);
			dqpn = now.dest_qpn;
		}
		ret = ur_av_create(engine, a->path, qp->qpn, dqpn, &a->attr.av);
		if (ret)
			return ret;
		a->attr.av->realm = qp->init.realm;
	}
	ur_poll_settle(engine, qp);
	ret = ur_qp_modify(qp->qp, engine->now, &a->attr, mask);
	if (!ret && (mask & UR_QP_ATTR_AV)) {
		qp->path = *a->path;
		qp->have_path = true;
	}
	ur_av_put(a->attr.av);
	if (ret)
		return ret;
	if ((mask & UR_QP_ATTR_STATE) && a->attr.state == UR_QP_RESET) {
		if (qp->sq.hdr)
			ur_ring_drop(&qp->sq);
		if (qp->rq.ring.hdr)
			ur_ring_drop(&qp->rq.ring);
	} else if (qp->sq.hdr && ur_ring_avail(&qp->sq)) {
		/* what was posted before this state allowed it */
		ur_qp_kick(qp->qp);
	}
	return 0;
}

int ur_eqp_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask)
{
	struct modify_args a = {qp, *attr, path, mask};

	if ((mask & UR_QP_ATTR_AV) && !path)
		return -EINVAL;
	return ur_engine_call(qp->engine, modify, &a);
}

static int query(struct ur_engine *engine, void *arg)
{
	struct modify_args *a = arg;

	ur_qp_query(a->qp->qp, &a->attr);
	a->attr.av = NULL;
	return 0;
}

void ur_eqp_query(struct ur_eqp *qp, struct ur_qp_attr *attr,
		  struct ur_eqp_init *init, struct ur_epath *path,
		  bool *have_path)
{
	struct modify_args a = {.qp = qp};

	ur_engine_call(qp->engine, query, &a);
	*attr = a.attr;
	*init = qp->init;
	*path = qp->path;
	*have_path = qp->have_path;
}

void ur_eqp_counters(const struct ur_eqp *qp, u64 *values)
{
	const u64 *live = ur_qp_counters(qp->qp);

	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		values[i] = __atomic_load_n(&live[i], __ATOMIC_RELAXED);
}

struct mcast_args {
	struct ur_eqp *qp;
	const u8 *gid;
	bool attach;
};

static int mcast(struct ur_engine *engine, void *arg)
{
	struct mcast_args *a = arg;
	int ret;

	if (!a->attach) {
		ret = ur_mcast_detach(a->qp->qp, a->gid);
		if (!ret)
			ur_engine_leave(engine, a->gid);
		return ret;
	}
	ret = ur_engine_join(engine, a->gid);
	if (ret)
		return ret;
	ret = ur_mcast_attach(a->qp->qp, a->gid);
	if (ret)
		ur_engine_leave(engine, a->gid);
	return ret;
}

int ur_eqp_mcast(struct ur_eqp *qp, const u8 *gid, bool attach)
{
	struct mcast_args a = {qp, gid, attach};

	return ur_engine_call(qp->engine, mcast, &a);
}

/* ---- destroy, shared openers ---- */

struct destroy_args {
	struct ur_eqp *qp;
	struct ur_eqp_ref *ref;
	u32 events;
};

static int destroy(struct ur_engine *engine, void *arg)
{
	struct destroy_args *a = arg;
	struct ur_eqp *qp = a->qp;

	if (ur_qp_attached(qp->qp))
		return -EBUSY;
	ur_poll_settle(engine, qp);
	ur_qp_destroy(qp->qp);
	ur_list_del(&qp->rq.kick_node);
	if (qp->init.send_cq)
		qp->init.send_cq->users--;
	if (qp->init.recv_cq)
		qp->init.recv_cq->users--;
	if (qp->self.async) {
		ur_list_del(&qp->self.node);
		a->events =
			ur_evsock_purge(&qp->self.async->sock, &qp->self.src);
	}
	if (qp->has_rings) {
		ur_ectx_del_db_client(qp->ectx, &qp->db_client);
		if (qp->sq.hdr)
			ur_ring_drop(&qp->sq);
	}
	return 0;
}

int ur_eqp_destroy(struct ur_eqp *qp, u32 *async_events)
{
	struct destroy_args a = {.qp = qp};
	int ret = ur_engine_call(qp->engine, destroy, &a);

	if (ret)
		return ret;
	if (qp->has_rings)
		ur_arena_free(&qp->ectx->arena, &qp->block);
	*async_events = a.events;
	free(qp);
	return 0;
}

static int add_ref(struct ur_engine *engine, void *arg)
{
	struct ur_eqp_ref *ref = arg;

	ur_list_add_tail(&ref->qp->refs, &ref->node);
	return 0;
}

int ur_eqp_open(struct ur_eqp *qp, struct ur_easync *async, u64 user_handle,
		struct ur_eqp_ref **ret_ref)
{
	struct ur_eqp_ref *ref = calloc(1, sizeof(*ref));

	if (!ref)
		return -ENOMEM;
	ref->qp = qp;
	ref->async = async;
	ur_list_init(&ref->node);
	ur_evsrc_init(&ref->src, user_handle);
	if (async)
		ur_engine_call(qp->engine, add_ref, ref);
	*ret_ref = ref;
	return 0;
}

static int del_ref(struct ur_engine *engine, void *arg)
{
	struct destroy_args *a = arg;

	ur_list_del(&a->ref->node);
	a->events = ur_evsock_purge(&a->ref->async->sock, &a->ref->src);
	return 0;
}

void ur_eqp_close(struct ur_eqp_ref *ref, u32 *async_events)
{
	struct destroy_args a = {.ref = ref};

	if (ref->async)
		ur_engine_call(ref->qp->engine, del_ref, &a);
	*async_events = a.events;
	free(ref);
}

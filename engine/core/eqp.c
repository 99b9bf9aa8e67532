// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs between control and the transport: creation, modification, query and
 * destruction, with their rings (qp_ring.c), their events and the further openers
 * of an XRC target.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/faults/adverse.h"
#include "engine/core/engine_impl.h"
#include "engine/core/poll_loop.h"
#include "engine/grant/program_counters.h"
#include "engine/grant/program_failures.h"
#include "engine/core/transmit.h"
#include "engine/ground/user.h"
#include "engine/wire/wire.h"
#include "transport/modify_table.h"
#include "transport/qp.h"
#include "util/assert.h"

/* Result of a call that must be repeated: more requests were posted than one call
 * sends. */
#define UR_DRAINS 1

/* The transport keeps a reference while the queue pair lives, and the burst buffer
 * for longer. */
static int make_raw_av(struct ur_qp_init *init)
{
	if (init->type != UR_QPT_RAW_PACKET)
		return 0;
	init->raw_av = calloc(1, sizeof(*init->raw_av));
	if (!init->raw_av)
		return -ENOMEM;
	init->raw_av->raw = true;
	init->raw_av->refs = 1;
	return 0;
}

static int create_qp(struct ur_engine *engine, struct ur_eqp *qp)
{
	struct ur_eqp_init *in = &qp->init;
	struct ur_qp_init init = {
		.type = in->type,
		.pd = in->pd,
		.max_send_wr = in->caps.max_send_wr,
		.max_recv_wr = in->caps.max_recv_wr,
		.max_send_sge = in->caps.max_send_sge,
		.max_recv_sge = in->caps.max_recv_sge,
		.max_inline = in->caps.max_inline,
		.sq_sig_all = in->sq_sig_all,
		.srq = in->srq ? in->srq->srq : NULL,
		.xrcd = in->xrcd,
		.send_cq_ctx = in->send_cq,
		.recv_cq_ctx = in->recv_cq,
		.ctx = qp,
		.rq_ctx = &qp->rq,
		.block_self_mcast = in->block_self_mcast,
		.realm = in->realm,
		.qpn = in->qpn,
		.owner = qp->uid,
		.packets = qp->adverse,
		.rest = qp->adverse && (qp->adverse->what & UROCE_ADVERSE_REST),
	};
	int err = make_raw_av(&init);

	ur_assert(qp->engine == engine);
	if (engine->inproc.counters) {
		ur_failures_forget(engine->inproc.counters, in->qpn);
		init.shown =
			ur_counters_of_qp(engine->inproc.counters, in->qpn);
	}
	if (!err)
		err = ur_qp_create(engine->port, &init, &qp->qp);
	if (err && init.shown)
		ur_counters_qp_gone(engine->inproc.counters, in->qpn);
	if (!err && init.raw_av)
		init.raw_av->wire = ur_qp_number(qp->qp);
	ur_av_put(init.raw_av);
	if (err)
		return err;
	qp->qpn = ur_qp_number(qp->qp);
	if (in->send_cq)
		in->send_cq->users++;
	if (in->recv_cq)
		in->recv_cq->users++;
	if (qp->has_rings)
		ur_ectx_add_db_client(qp->ectx, &qp->db_client);
	return 0;
}
UR_ENGINE_CALL(1, create_qp, struct ur_eqp *);

static void fill_resp(const struct ur_eqp *qp, const struct ur_qp_rings *rings,
		      struct uroce_create_qp_resp *r)
{
	memset(r, 0, sizeof(*r));
	if (!qp->has_rings)
		return;
	r->map_off = qp->block.off;
	r->map_len = qp->block.len;
	r->sq_hdr_off = rings->sq_hdr;
	r->sq_off = rings->sq_off;
	r->sq_bbs = rings->sq_bbs;
	r->sq_max_wqes = r->sq_bbs ? qp->init.caps.max_send_wr : 0;
	r->rq_hdr_off = rings->rq_hdr;
	r->rq_off = rings->rq_off;
	r->rq_entries = rings->rq_entries;
	r->rq_stride = rings->rq_stride;
	r->rq_max_wqes = r->rq_entries ? qp->init.caps.max_recv_wr : 0;
	r->db_slot = qp->db_client.slot;
}

static void free_qp(struct ur_eqp *qp)
{
	free(qp->rss);
	ur_adverse_free_qp(qp);
	free(qp);
}

int ur_eqp_create(struct ur_ectx *ectx, struct ur_eqp_init *init,
		  struct ur_eqp **ret_qp, struct uroce_create_qp_resp *resp)
{
	bool has_av = init->type == UR_QPT_UD || init->type == UR_QPT_XRC_INI;
	struct ur_qp_rings rings;
	struct ur_eqp *qp;
	int err;

	if (init->type == UR_QPT_RAW_PACKET && !init->wq && !ectx->engine->raw)
		return -EOPNOTSUPP;
	err = ur_qp_rings_plan(init, &rings);
	if (err)
		return err;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->engine = ectx->engine;
	qp->uid = ectx->mem->uid;
	qp->pid = ectx->mem->pid;
	qp->ectx = rings.bytes ? ectx : NULL;
	qp->type = (u8)init->type;
	qp->has_av = has_av;
	qp->db_client.ring = ur_qp_doorbell;
	qp->init = *init;
	ur_rq_init(&qp->rq, ectx);
	qp->rq.qp = qp;
	ur_list_init(&qp->rung);
	ur_list_init(&qp->refs);
	ur_list_init(&qp->self.node);
	qp->self.qp = qp;
	qp->self.async = init->async;
	ur_evsrc_init(&qp->self.src, init->user_handle);
	if (init->async)
		ur_list_add_tail(&qp->refs, &qp->self.node);
	err = ur_adverse_make_qp(qp, ectx);
	if (err)
		goto err_free;
	err = ur_qp_rings_place(qp, ectx, &rings);
	if (err)
		goto err_free;
	err = call_create_qp(ectx->engine, qp);
	if (err)
		goto err_rings;
	fill_resp(qp, &rings, resp);
	*ret_qp = qp;
	return 0;
err_rings:
	ur_arena_free(&ectx->arena, &qp->block);
err_free:
	free_qp(qp);
	return err;
}

/* ---- modify, query ---- */

/* A connection's peer is the holder of the peer's number when that is set, on any path. */
static int make_av(struct ur_engine *engine, const struct ur_eqp *qp,
		   const struct ur_epath *path, u32 mask,
		   struct ur_qp_attr *attr)
{
	const struct ur_wire *wire = ur_wire_of(engine, path->v1);
	struct ur_qp_attr now;
	u32 dqpn;
	int err;

	ur_qp_query(qp->qp, &now);
	dqpn = mask & UR_QP_ATTR_DEST_QPN ? attr->dest_qpn : now.dest_qpn;
	err = ur_av_create(engine, path, qp->qpn, dqpn, &attr->av);
	if (err)
		return err;
	ur_av_set_ecn(engine, attr->av, qp->init.type);
	attr->av->realm = qp->init.realm;
	attr->av->lqpn = qp->qpn;
	if (!(mask & UR_QP_ATTR_DEST_QPN))
		attr->av->grant_id = now.av ? now.av->grant_id : 0;
	else if (path->nobodys)
		attr->av->grant_id = UR_NO_GRANT_ID;
	else if (wire->near->grant_id)
		attr->av->grant_id =
			wire->near->grant_id(wire, path->dgid, dqpn);
	return 0;
}

static int modify(struct ur_engine *engine, struct ur_eqp *qp,
		  struct ur_qp_attr attr, const struct ur_epath *path, u32 mask)
{
	int err;

	ur_assert(qp->engine == engine);
	if (ur_transmit_drain(engine, qp))
		return UR_DRAINS;
	/* Requests whose acknowledgement has arrived end well. */
	if ((mask & UR_QP_ATTR_STATE) && attr.state == UR_QP_ERR)
		ur_poll_arrived(engine);
	attr.av = NULL;
	if (mask & UR_QP_ATTR_AV) {
		err = make_av(engine, qp, path, mask, &attr);
		if (err)
			return err;
	}
	err = ur_qp_modify(qp->qp, engine->now, &attr, mask);
	if (!err && (mask & UR_QP_ATTR_AV)) {
		qp->path = *path;
		qp->have_path = true;
	}
	ur_av_put(attr.av);
	if (err)
		return err;
	if ((mask & UR_QP_ATTR_STATE) && attr.state == UR_QP_RESET) {
		ur_eqp_forget_failures(qp);
		ur_adverse_forget_qp(qp);
		if (qp->sq.hdr)
			ur_ring_drop(&qp->sq);
		if (qp->rq.ring.hdr)
			ur_ring_drop(&qp->rq.ring);
	} else if (qp->sq.hdr && ur_ring_avail(&qp->sq)) {
		/* requests may have been posted before this state allowed them */
		ur_qp_kick(qp->qp);
	}
	return 0;
}
UR_ENGINE_CALL(4, modify, struct ur_eqp *, struct ur_qp_attr,
	       const struct ur_epath *, u32);

int ur_eqp_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		  const struct ur_epath *path, u32 mask)
{
	int err;

	mask = ur_qp_own_attrs(qp->init.type, mask);
	if ((mask & UR_QP_ATTR_AV) && !path)
		return -EINVAL;
	do
		err = call_modify(qp->engine, qp, *attr, path, mask);
	while (err == UR_DRAINS);
	return err;
}

static int may_modify(struct ur_engine *engine, struct ur_eqp *qp,
		      struct ur_qp_attr attr, u32 mask)
{
	ur_assert(qp->engine == engine);
	return ur_qp_may_modify(qp->qp, &attr, mask);
}
UR_ENGINE_CALL(3, may_modify, struct ur_eqp *, struct ur_qp_attr, u32);

int ur_eqp_may_modify(struct ur_eqp *qp, const struct ur_qp_attr *attr,
		      u32 mask)
{
	return call_may_modify(qp->engine, qp, *attr,
			       ur_qp_own_attrs(qp->init.type, mask));
}

/* The address vector belongs to the queue pair alone, and between two turns no packet
 * of it is in tx. Requests posted before may get either class. */
void ur_eqp_take_class(struct ur_engine *engine, struct ur_eqp *qp,
		       u8 traffic_class, u8 hop_limit)
{
	struct ur_epath path = qp->path;
	struct ur_qp_attr now;

	ur_qp_query(qp->qp, &now);
	if (!now.av)
		return;
	path.hop_limit = hop_limit;
	path.traffic_class = traffic_class;
	ur_av_set_class(now.av, &path);
	ur_av_set_ecn(engine, now.av, qp->init.type);
	ur_qp_set_ecn(qp->qp);
}

static int query(struct ur_engine *engine, struct ur_eqp *qp,
		 struct ur_qp_attr *attr)
{
	ur_assert(qp->engine == engine);
	ur_qp_query(qp->qp, attr);
	attr->av = NULL;
	return 0;
}
UR_ENGINE_CALL(2, query, struct ur_eqp *, struct ur_qp_attr *);

void ur_eqp_describe(struct ur_eqp *qp, struct uroce_engine_qp *to)
{
	struct ur_qp_attr attr;

	call_query(qp->engine, qp, &attr);
	ur_qp_describe(&attr, qp->have_path ? &qp->path : NULL, to);
	to->cur_state = ur_qp_is_shown(qp->qp) ? UROCE_ENGINE_QP_SHOWN : 0;
}

static int mcast(struct ur_engine *engine, struct ur_eqp *qp, const u8 *gid,
		 bool attach)
{
	u32 before = ur_qp_attached(qp->qp);
	int err;

	ur_assert(qp->engine == engine);
	if (!attach) {
		err = ur_mcast_detach(qp->qp, gid);
		if (!err)
			ur_engine_leave(engine, gid);
		return err;
	}
	err = ur_engine_join(engine, gid);
	if (err)
		return err;
	err = ur_mcast_attach(qp->qp, gid);
	/* The queue pair may have been a member before. */
	if (ur_qp_attached(qp->qp) == before)
		ur_engine_leave(engine, gid);
	return err;
}
UR_ENGINE_CALL(3, mcast, struct ur_eqp *, const u8 *, bool);

int ur_eqp_mcast(struct ur_eqp *qp, const u8 *gid, bool attach)
{
	return call_mcast(qp->engine, qp, gid, attach);
}

static int find_owner(struct ur_engine *engine, u32 qpn, void **owner)
{
	const struct ur_qp *qp = ur_qp_lookup(engine->port, qpn);
	const struct ur_eqp *eqp = qp ? qp->init.ctx : NULL;

	*owner = eqp ? eqp->init.owner : NULL;
	return 0;
}
UR_ENGINE_CALL(2, find_owner, u32, void **);

void *ur_engine_qp_owner(struct ur_engine *engine, u32 qpn)
{
	void *owner;

	call_find_owner(engine, qpn, &owner);
	return owner;
}

/* ---- destroy, shared openers ---- */

static int destroy_qp(struct ur_engine *engine, struct ur_eqp *qp,
		      struct ur_events_left *async)
{
	if (ur_qp_attached(qp->qp))
		return -EBUSY;
	if (ur_transmit_drain(engine, qp))
		return UR_DRAINS;
	ur_assert(qp->engine == engine);
	ur_list_del(&qp->rung);
	ur_qp_destroy(qp->qp);
	if (engine->inproc.counters)
		ur_counters_qp_gone(engine->inproc.counters, qp->qpn);
	ur_adverse_forget_qp(qp);
	ur_list_del(&qp->rq.kick_node);
	if (qp->init.send_cq) {
		ur_assert(qp->init.send_cq->users);
		qp->init.send_cq->users--;
	}
	if (qp->init.recv_cq) {
		ur_assert(qp->init.recv_cq->users);
		qp->init.recv_cq->users--;
	}
	if (qp->self.async) {
		ur_list_del(&qp->self.node);
		ur_evsock_forget(&qp->self.async->sock, &qp->self.src, async);
	}
	if (qp->has_rings) {
		ur_ectx_del_db_client(qp->ectx, &qp->db_client);
		if (qp->sq.hdr)
			ur_ring_drop(&qp->sq);
	}
	return 0;
}
UR_ENGINE_CALL(2, destroy_qp, struct ur_eqp *, struct ur_events_left *);

int ur_eqp_destroy(struct ur_eqp *qp, struct ur_events_left *async)
{
	int err;

	*async = (struct ur_events_left){0};
	do
		err = call_destroy_qp(qp->engine, qp, async);
	while (err == UR_DRAINS);
	if (err)
		return err;
	if (qp->has_rings)
		ur_arena_free(&qp->ectx->arena, &qp->block);
	free_qp(qp);
	return 0;
}

static int add_ref(struct ur_engine *engine, struct ur_eqp_ref *ref)
{
	ur_assert(ref->qp->engine == engine);
	ur_list_add_tail(&ref->qp->refs, &ref->node);
	return 0;
}
UR_ENGINE_CALL(1, add_ref, struct ur_eqp_ref *);

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
		call_add_ref(qp->engine, ref);
	*ret_ref = ref;
	return 0;
}

static int del_ref(struct ur_engine *engine, struct ur_eqp_ref *ref,
		   struct ur_events_left *async)
{
	ur_assert(ref->qp->engine == engine);
	ur_list_del(&ref->node);
	ur_evsock_forget(&ref->async->sock, &ref->src, async);
	return 0;
}
UR_ENGINE_CALL(2, del_ref, struct ur_eqp_ref *, struct ur_events_left *);

void ur_eqp_close(struct ur_eqp_ref *ref, struct ur_events_left *async)
{
	*async = (struct ur_events_left){0};
	if (ref->async)
		call_del_ref(ref->qp->engine, ref, async);
	free(ref);
}

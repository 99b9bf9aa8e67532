// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes objects, which the device has made, in the engine of this process
 * too. */
#include <string.h>
#include <unistd.h>

#include "ectx.h"
#include "providers/uroce/raw/ectx_raw.h"

int ur_ectx_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		      const struct ibv_comp_channel *channel, u32 flags,
		      struct uroce_create_cq_resp *resp)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_CREATE_CQ,
			.cq = {.entries = resp->entries,
			       .flags = flags,
			       .user_handle = (uintptr_t)&cq->vcq.cq,
			       .channel = (uintptr_t)channel}},
		.n_fds = 2,
		.fds = {-1, channel ? channel->fd : -1},
	};
	int err, tx;

	if (!ur_ectx_makes_here(ctx))
		return EIO;
	err = ur_ectx_set_async(ctx);
	if (err)
		return err;
	cq->handle = cq->vcq.cq.handle;
	cq->flags = flags;
	err = ur_engine_call(ctx->engine, &call);
	if (err != ENOENT)
		goto out;
	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_CQ, UROCE_METHOD_ENGINE_CQ,
			   UROCE_ATTR_ENGINE_CQ_HANDLE, 0, cq->vcq.cq.handle,
			   UROCE_ATTR_ENGINE_CQ_RESP, &call.fds[0],
			   sizeof(call.fds[0]));
	/* The preload library has the new channel's sending end. */
	if (err && (err != EINVAL || !ur_ectx_own_channel(ctx, channel)))
		return err;
	tx = call.fds[0];
	err = ur_engine_call(ctx->engine, &call);
	if (tx >= 0)
		close(tx);
out:
	if (err)
		return err;
	cq->engine = call.it;
	*resp = call.reply.new_cq;
	return 0;
}

int ur_ectx_resize_cq(struct uroce_cq *cq, struct uroce_resize_cq_resp *resp)
{
	struct uroce_context *ctx = ur_to_ctx(cq->vcq.cq.context);

	return ur_ectx_has(ctx, cq->engine)
		       ? ur_engine_resize_cq(cq->engine, resp->entries, resp)
		       : EIO;
}

int ur_ectx_modify_cq(struct uroce_cq *cq,
		      const struct ibv_modify_cq_attr *attr)
{
	const u32 moderation =
		attr->moderate.cq_count | (u32)attr->moderate.cq_period << 16;
	int err;

	if (!ur_ectx_has(ur_to_ctx(cq->vcq.cq.context), cq->engine))
		return EIO;
	err = ur_engine_tell(cq->engine, UROCE_CALL_MODIFY_CQ, moderation);
	return err ? err : ur_shared_modify_cq(cq, moderation);
}

static struct uroce_ecq *engine_cq(const struct ibv_cq *cq)
{
	return cq ? ur_to_cq(cq)->engine : NULL;
}

/* Returns whether the queue pair would use a queue of this process's parent. */
static bool uses_parents(const struct uroce_context *ctx,
			 const struct ibv_qp_init_attr_ex *attr)
{
	return ctx->parted && attr->qp_type != IBV_QPT_XRC_RECV &&
	       (!ur_ectx_owns(ctx, engine_cq(attr->send_cq)) ||
		(attr->qp_type != IBV_QPT_XRC_SEND &&
		 !ur_ectx_owns(ctx, engine_cq(attr->recv_cq))) ||
		(attr->srq &&
		 !ur_ectx_owns(ctx, ur_to_srq(attr->srq)->engine)));
}

int ur_ectx_place_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		     const struct ibv_qp_init_attr_ex *attr)
{
	if (!ur_ectx_makes_here(ctx))
		return EIO;
	if (uses_parents(ctx, attr))
		return EIO;
	if (attr->qp_type != IBV_QPT_XRC_RECV)
		return 0;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) ||
	    !ur_to_xrcd(attr->xrcd)->number)
		return EOPNOTSUPP;
	qp->xrcd = attr->xrcd;
	qp->shared = ur_to_xrcd(qp->xrcd)->shared;
	return 0;
}

int ur_ectx_place_srq(struct uroce_context *ctx, struct uroce_srq *srq,
		      const struct ibv_pd *pd, const struct ibv_xrcd *xrcd)
{
	if (!ur_ectx_makes_here(ctx))
		return EIO;
	if (xrcd && !ur_to_xrcd(xrcd)->number)
		return EOPNOTSUPP;
	srq->shared = xrcd && ur_to_xrcd(xrcd)->shared;
	srq->db = srq->shared ? ctx->shared_db : ctx->db;
	return 0;
}

static void use_queues(struct uroce_eqp_init *init,
		       const struct ibv_qp_init_attr_ex *attr)
{
	init->pdn = ur_to_pd(attr->pd)->pdn;
	init->send_cq = engine_cq(attr->send_cq);
	if (attr->qp_type == IBV_QPT_XRC_SEND) {
		init->max_recv_wr = init->max_recv_sge = 0;
		return;
	}
	init->recv_cq = engine_cq(attr->recv_cq);
	if (attr->srq)
		init->srq = ur_to_srq(attr->srq)->engine;
}

static int create_spread(struct uroce_context *ctx, const struct uroce_qp *qp,
			 struct uroce_call *call)
{
	const u32 size = qp->spread->table->size;
	struct uroce_eqp **wq = calloc(size, sizeof(*wq));
	struct uroce_eqp_rss rss;
	int err;

	if (!wq)
		return ENOMEM;
	ur_ectx_spread(qp->spread, &rss, wq);
	call->msg.qp.init.rss = &rss;
	err = ur_engine_call(ctx->engine, call);
	free(wq);
	return err;
}

/* Returns the engine that has the queue pair. */
static struct uroce_ectx *engine_of(const struct uroce_context *ctx,
				    const struct uroce_qp *qp)
{
	return qp->shared ? ctx->shared : ctx->engine;
}

int ur_ectx_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr,
		      struct uroce_create_qp_resp *resp)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_CREATE_QP};
	struct uroce_eqp_init *init = &call.msg.qp.init;
	int err;

	if (!ur_ectx_is_here(ctx))
		return EIO;
	*init = (struct uroce_eqp_init){
		.type = attr->qp_type,
		.qpn = qp->ibv.qp_num,
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = attr->cap.max_recv_wr,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = attr->cap.max_recv_sge,
		.max_inline = attr->cap.max_inline_data,
		.sq_sig_all = attr->sq_sig_all,
		.user_handle = (uintptr_t)&qp->ibv,
	};
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		init->block_self_mcast =
			attr->create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	if (qp->xrcd) {
		init->xrcdn = ur_to_xrcd(qp->xrcd)->number;
		err = ur_ectx_set_async(ctx);
		if (err)
			return err;
	} else {
		use_queues(init, attr);
	}
	qp->handle = qp->ibv.handle;
	qp->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	if (qp->qpt_bit == UR_SENDS_RAW) {
		err = ur_ectx_use_raw(ctx);
		if (err)
			return err;
	}
	err = qp->spread ? create_spread(ctx, qp, &call)
			 : ur_engine_call(engine_of(ctx, qp), &call);
	if (err)
		return err;
	qp->engine = call.it;
	*resp = call.reply.new_qp;
	return 0;
}

/* The attributes that the library sets. */
#define OPEN_ATTRS \
	(IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE)

int ur_ectx_open_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		    const struct ibv_qp_open_attr *attr)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_OPEN_QP,
			.qp.init = {.type = attr->qp_type,
				    .qpn = attr->qp_num,
				    .user_handle = (uintptr_t)&qp->ibv}}};
	const struct uroce_xrcd *xrcd;
	int err;

	if ((attr->comp_mask & OPEN_ATTRS) != OPEN_ATTRS ||
	    attr->qp_type != IBV_QPT_XRC_RECV ||
	    !ur_to_xrcd(attr->xrcd)->number)
		return 0;
	if (!ur_ectx_makes_here(ctx))
		return EIO;
	xrcd = ur_to_xrcd(attr->xrcd);
	call.msg.qp.init.xrcdn = xrcd->number;
	qp->shared = xrcd->shared;
	err = ur_engine_call(engine_of(ctx, qp), &call);
	/* ENOENT: no process has it open in this engine; the device knows what
	 * it is. */
	if (err == ENOENT)
		return qp->shared ? EINVAL : 0;
	if (err)
		return err;
	qp->engine = call.it;
	qp->xrcd = attr->xrcd;
	qp->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	return 0;
}

void ur_ectx_unopen_qp(struct uroce_context *ctx, struct uroce_qp *qp)
{
	/* Its events are ignored: the program has not got the object. */
	if (qp->engine && ur_ectx_has_still(ctx, qp->engine))
		ur_engine_tell(qp->engine, UROCE_CALL_DESTROY_QP, 0);
}

int ur_ectx_create_srq(struct uroce_context *ctx, struct uroce_srq *srq,
		       const struct ibv_pd *pd, u32 max_sge,
		       struct uroce_create_srq_resp *resp)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_CREATE_SRQ,
			.srq = {.max_wr = resp->max_wqes,
				.max_sge = max_sge,
				.user_handle = (uintptr_t)&srq->vsrq.srq,
				.pdn = pd ? ur_to_pd(pd)->pdn : 0}}};
	struct uroce_esrq_init *init = &call.msg.srq;
	u32 srqn = resp->srqn;
	int err;

	if (!ur_ectx_is_here(ctx))
		return EIO;
	err = ur_ectx_set_async(ctx);
	if (err)
		return err;
	if (srq->vsrq.srq_type == IBV_SRQT_XRC) {
		init->xrcdn = ur_to_xrcd(&srq->vsrq.xrcd->xrcd)->number;
		init->cq = srq->shared ? ur_to_cq(srq->vsrq.cq)->shared
				       : ur_to_cq(srq->vsrq.cq)->engine;
		init->srqn = srqn;
	}
	srq->handle = srq->vsrq.srq.handle;
	srq->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	err = ur_engine_call(srq->shared ? ctx->shared : ctx->engine, &call);
	if (err)
		return err;
	srq->engine = call.it;
	*resp = call.reply.new_srq;
	resp->srqn = srqn;
	return 0;
}

int ur_ectx_modify_srq(struct uroce_srq *srq, const struct ibv_srq_attr *attr,
		       int mask, struct uroce_create_srq_resp *moved)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_RESIZE_SRQ, .value = moved->max_wqes}};
	int err = 0;

	if (!ur_ectx_has(ur_to_ctx(srq->vsrq.srq.context), srq->engine))
		return EIO;
	if (!srq->engine)
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR) {
		err = ur_engine_about(srq->engine, &call);
		*moved = call.reply.new_srq;
	}
	if (!err && (mask & IBV_SRQ_LIMIT))
		err = ur_engine_tell(srq->engine, UROCE_CALL_LIMIT_SRQ,
				     attr->srq_limit);
	moved->srqn = srq->srqn;
	return err;
}

/* An engine that borrows sockets and rings from the device. */
struct grantee {
	struct uroce_context *ctx;
	struct uroce_ectx *engine;
	u32 which; /* UROCE_ENGINE_SHARED, or 0 */
};

static struct grantee own_of(struct uroce_context *ctx)
{
	return (struct grantee){ctx, ctx->engine,
				ctx->imported ? UROCE_ENGINE_SHARED : 0};
}

static struct grantee grantee_of(struct uroce_context *ctx,
				 const struct uroce_qp *qp)
{
	return qp->shared
		       ? (struct grantee){ctx, ctx->shared, UROCE_ENGINE_SHARED}
		       : own_of(ctx);
}

/* The engine gets the socket of an address at the first use. */
static int use_gid(const struct grantee *b, u32 index, const u8 gid[16])
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_HAS_GID, .gid.index = index}};
	struct uroce_engine_socket s = {.fd = -1};
	int err;

	memcpy(call.msg.gid.gid, gid, sizeof(s.gid));
	if (ur_engine_has(b->engine, &call))
		return 0;
	err = ur_ectx_call(
		&b->ctx->ibv, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_SOCKET,
		UROCE_ATTR_ENGINE_SOCKET_INDEX, sizeof(index), index | b->which,
		UROCE_ATTR_ENGINE_SOCKET_RESP, &s, sizeof(s));
	if (err)
		return err;
	call.msg.op = UROCE_CALL_USE_GID;
	call.n_fds = s.fd >= 0;
	call.fds[0] = s.fd;
	err = memcmp(s.gid, gid, sizeof(s.gid))
		      ? EAGAIN /* the entry has changed meanwhile */
		      : ur_engine_call(b->engine, &call);
	if (s.fd >= 0)
		close(s.fd);
	/* Another thread borrowed meanwhile, and all get the same socket. */
	return err == EALREADY ? 0 : err;
}

/* Returns whether a caller who wants all addresses can ignore err: the entry
 * has gone or changed. */
static bool is_other(int err)
{
	return err == EINVAL || err == EAGAIN || err == EBUSY;
}

/* A datagram may arrive at any address of the port. */
static int use_all(struct uroce_context *ctx)
{
	const struct grantee own = own_of(ctx);
	struct ibv_port_attr port;
	struct ibv_gid_entry *gids;
	ssize_t n;
	int err = uroce_query_port(&ctx->ibv, 1, &port);

	if (err)
		return err;
	gids = calloc((size_t)port.gid_tbl_len, sizeof(*gids));
	if (!gids)
		return ENOMEM;
	n = ibv_query_gid_table(&ctx->ibv, gids, (size_t)port.gid_tbl_len, 0);
	if (n < 0)
		err = (int)-n;
	for (ssize_t i = 0; !err && i < n; i++) {
		if (gids[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		err = use_gid(&own, gids[i].gid_index, gids[i].gid.raw);
		if (is_other(err))
			err = 0;
	}
	free(gids);
	return err;
}

/* Packets to another program of this device go through a shared ring; without one, as to another
 * host. */
static void use_ring(const struct grantee *b, u32 slot)
{
	struct uroce_call has = {
		.msg = {.op = UROCE_CALL_HAS_RING, .value = slot}};
	struct uroce_call use = {.msg.op = UROCE_CALL_USE_RING, .n_fds = 3};
	struct uroce_engine_ring r = {0};

	if (ur_engine_has(b->engine, &has) ||
	    ur_ectx_call(&b->ctx->ibv, UVERBS_OBJECT_DEVICE,
			 UROCE_METHOD_ENGINE_RING, UROCE_ATTR_ENGINE_RING_SLOT,
			 sizeof(slot), slot | b->which,
			 UROCE_ATTR_ENGINE_RING_RESP, &r, sizeof(r)))
		return;
	use.msg.ring = r;
	memcpy(use.fds, (int[]){r.words_fd, r.out_fd, r.in_fd},
	       sizeof(use.fds));
	ur_engine_call(b->engine, &use);
	close(r.words_fd);
	close(r.out_fd);
	close(r.in_fd);
}

static void use_rings(const struct grantee *b, u32 slots)
{
	for (; slots; slots &= slots - 1)
		use_ring(b, (u32)__builtin_ctz(slots));
}

int ur_ectx_create_ah(struct uroce_context *ctx, struct uroce_ah *ah,
		      const struct ibv_pd *pd)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_CREATE_AH};
	struct uroce_engine_path *path = &call.msg.ah.path;
	struct grantee own;
	int err;

	if (!ur_ectx_makes_here(ctx))
		return EIO;
	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_AH, UROCE_METHOD_ENGINE_AH,
			   UROCE_ATTR_ENGINE_AH_HANDLE, 0, ah->ibv.handle,
			   UROCE_ATTR_ENGINE_AH_RESP, path, sizeof(*path));
	own = own_of(ctx);
	/* RoCEv1 has no socket for each address. */
	if (!err && !path->v1)
		err = use_gid(&own, path->sgid_index, path->sgid);
	if (!err)
		use_rings(&own, path->peer_slots);
	call.msg.ah.pdn = ur_to_pd(pd)->pdn;
	if (!err)
		err = ur_engine_call(ctx->engine, &call);
	if (err)
		return err;
	ah->engine = call.it;
	ah->ah = call.reply.value;
	return 0;
}

/* The attributes that verbs define; the device refuses others in its own
 * way. */
#define KNOWN_MASK ((IBV_QP_RATE_LIMIT << 1) - 1)

/* Fields outside the mask are undefined. */
static u8 named_state(enum ibv_qp_state state, int mask, int bit)
{
	return mask & bit ? (u8)state : 0;
}

int ur_ectx_may_modify_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
			  const struct ibv_qp_attr *attr, int *mask)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_MAY_MODIFY_QP,
			.modify = {.attr.state = named_state(
					   attr->qp_state, *mask, IBV_QP_STATE),
				   .attr.cur_state =
					   named_state(attr->cur_qp_state,
						       *mask, IBV_QP_CUR_STATE),
				   .mask = (u32)*mask}}};

	if (!qp->engine || !ur_ectx_has(ctx, qp->engine) ||
	    (*mask & ~KNOWN_MASK))
		return 0;
	*mask &= ~IBV_QP_CUR_STATE;
	return ur_engine_about(qp->engine, &call);
}

int ur_ectx_modified_qp(struct uroce_context *ctx, struct uroce_qp *qp,
			const struct ibv_qp_attr *asked, int mask,
			struct uroce_engine_qp *to)
{
	const struct grantee engine = grantee_of(ctx, qp);
	int err = 0;

	if ((mask & IBV_QP_AV) && !to->v1)
		err = use_gid(&engine, to->sgid_index, to->sgid);
	if (!err && qp->qpt_bit == UR_SENDS_UD && (mask & IBV_QP_STATE) &&
	    asked->qp_state == IBV_QPS_RTR)
		err = use_all(ctx);
	if (!err && (mask & IBV_QP_AV) && to->peer_slot)
		use_ring(&engine, to->peer_slot);
	to->cur_state =
		named_state(asked->cur_qp_state, mask, IBV_QP_CUR_STATE);
	return err ? err : ur_engine_modify_qp(qp, to, mask);
}

void ur_ectx_query_qp(struct uroce_context *ctx, const struct uroce_qp *qp,
		      struct ibv_qp_attr *attr)
{
	struct uroce_engine_qp now;

	if (!ur_ectx_has(ctx, qp->engine))
		return;
	now = ur_engine_qp(qp);
	attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)now.state;
	attr->rq_psn = now.rq_psn;
	attr->sq_psn = now.sq_psn;
	attr->sq_draining = now.sq_draining;
}

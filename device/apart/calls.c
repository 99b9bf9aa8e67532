// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Carries out the messages of a program, each a function of struct uroce_engine_ops. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <unistd.h>
#include "device/apart/apart.h"

#define GIDS 1024u /* entries of a GID table */
/* enum ibv_rereg_mr_flags */
#define ALL_OF_REGION 7u

/* Removes the object that the message is about, unless err, the result of destroying it, is an error. */
static int ended(const struct ur_apart_call *c, int err)
{
	if (!err)
		ur_apart_del(c->client, c->named);
	return err;
}

/* ---- slot resources ---- */

static int begin(const struct ur_apart_call *c)
{
	c->reply->msg.begun = (struct uroce_apart_begun){
		.db_map_off = c->client->info.db_map_off,
		.db_map_len = c->client->info.db_map_len};
	c->reply->fds[0] = c->client->info.fd;
	c->reply->fds[1] = c->client->info.wake_fd;
	return 0;
}

static int drain(const struct ur_apart_call *c)
{
	c->client->ops->drain(c->client->ctx);
	return 0;
}

static int has_gid(const struct ur_apart_call *c)
{
	const struct uroce_apart_gid *g = &c->in->gid;

	return g->index < GIDS &&
	       c->client->ops->has_gid(c->client->ctx, g->index, g->gid);
}

static int use_gid(const struct ur_apart_call *c)
{
	const struct uroce_apart_gid *g = &c->in->gid;
	int err;

	if (g->index >= GIDS)
		return -EINVAL;
	err = c->client->ops->use_gid(c->client->ctx, g->index, g->gid,
				      c->fds[0]);
	if (!err)
		c->fds[0] = -1;
	return err;
}

static int has_ring(const struct ur_apart_call *c)
{
	return c->in->value < 32 &&
	       c->client->ops->has_ring(c->client->ctx, c->in->value);
}

static int use_ring(const struct ur_apart_call *c)
{
	struct uroce_engine_ring ring = c->in->ring;

	for (u32 i = 0; i < UROCE_APART_MSG_FDS; i++)
		if (!ur_apart_file_is_good(c->fds[i]))
			return -EINVAL;
	ring.words_fd = c->fds[0];
	ring.out_fd = c->fds[1];
	ring.in_fd = c->fds[2];
	return ring.slot < 32 ? c->client->ops->use_ring(c->client->ctx, &ring)
			      : -EINVAL;
}

static int set_async(const struct ur_apart_call *c)
{
	return c->client->ops->set_async(c->client->ctx, c->fds[0], c->fds[1],
					 c->fds[2]);
}

/* ---- completion queues ---- */

static int create_cq(const struct ur_apart_call *c)
{
	const struct uroce_apart_cq *in = &c->in->cq;
	const struct uroce_ecq_init init = {
		.entries = in->entries,
		.flags = in->flags,
		.user_handle = in->user_handle,
		.tx = c->fds[0],
		.rx = c->fds[1],
		.channel = (const void *)(uintptr_t)in->channel,
	};
	struct uroce_ecq *cq;
	int err;

	if (!ur_apart_cq_is_good(in))
		return -EINVAL;
	err = c->client->ops->create_cq(c->client->ctx, &init, &cq,
					&c->reply->msg.new_cq);
	return ur_apart_made(c, UR_APART_CQ, cq, err);
}

static int modify_cq(const struct ur_apart_call *c)
{
	return c->client->ops->modify_cq(c->it, (u16)c->in->value,
					 (u16)(c->in->value >> 16));
}

static int resize_cq(const struct ur_apart_call *c)
{
	return c->client->ops->resize_cq(c->it, c->in->value,
					 &c->reply->msg.new_ring);
}

static int destroy_cq(const struct ur_apart_call *c)
{
	int err =
		ended(c, c->client->ops->destroy_cq(c->it, c->reply->msg.read));

	if (err)
		return err;
	c->reply->fds[0] = c->client->ops->left_sender(c->client->ctx);
	c->reply->close = true;
	return 0;
}

/* ---- shared receive queues ---- */

static int create_srq(const struct ur_apart_call *c)
{
	struct uroce_esrq_init init = c->in->srq;
	struct uroce_esrq *srq;
	int err;

	if (init.cq)
		return -EINVAL;
	init.cq = ur_apart_given(c, UR_APART_CQ, c->in->value);
	if (!ur_apart_srq_is_good(&init, init.cq))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	err = c->client->ops->create_srq(c->client->ctx, &init, &srq,
					 &c->reply->msg.new_srq);
	return ur_apart_made(c, UR_APART_SRQ, srq, err);
}

static int resize_srq(const struct ur_apart_call *c)
{
	return c->client->ops->resize_srq(c->it, c->in->value,
					  &c->reply->msg.new_srq);
}

static int limit_srq(const struct ur_apart_call *c)
{
	return c->client->ops->limit_srq(c->it, c->in->value);
}

static int query_srq(const struct ur_apart_call *c)
{
	c->reply->msg.value = c->client->ops->query_srq(c->it);
	return 0;
}

static int destroy_srq(const struct ur_apart_call *c)
{
	return ended(c, c->client->ops->destroy_srq(c->it, c->reply->msg.read));
}

/* ---- address handles ---- */

static int create_ah(const struct ur_apart_call *c)
{
	const struct uroce_engine_path *path = &c->in->ah.path;
	struct uroce_eah *ah;
	u32 pdn = c->in->ah.pdn;
	int err;

	if (path->sgid_index >= GIDS || path->flow_label >> 20 || path->sl > 15)
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &pdn);
	if (err)
		return err;
	err = c->client->ops->create_ah(c->client->ctx, pdn, path, &ah,
					&c->reply->msg.value);
	return ur_apart_made(c, UR_APART_AH, ah, err);
}

static int destroy_ah(const struct ur_apart_call *c)
{
	c->client->ops->destroy_ah(c->it);
	return ended(c, 0);
}

/* ---- queue pairs ---- */

static int create_target(const struct ur_apart_call *c)
{
	const struct uroce_eqp_init init = {
		.type = c->in->qp.init.type,
		.qpn = c->in->qp.init.qpn,
		.xrcdn = c->in->qp.init.xrcdn,
		.user_handle = c->in->qp.init.user_handle,
	};
	const struct uroce_engine_ops *ops = c->client->ops;
	struct uroce_eqp *qp;
	int err;

	if (!ur_apart_target_is_good(&init, c->client->slot))
		return -EINVAL;
	err = c->in->op == UROCE_APART_OPEN_QP
		      ? ops->open_qp(c->client->ctx, &init, &qp)
		      : ops->create_qp(c->client->ctx, &init, &qp,
				       &c->reply->msg.new_qp);
	return ur_apart_made(c, UR_APART_QP, qp, err);
}

static int create_qp(const struct ur_apart_call *c)
{
	struct uroce_eqp_init init = c->in->qp.init;
	struct uroce_eqp *qp;
	int err;

	if (init.type == IB_UVERBS_QPT_XRC_TGT)
		return create_target(c);
	if (init.type == IB_UVERBS_QPT_RAW_PACKET)
		return c->client->ops->use_raw ? ur_apart_create_raw(c)
					       : -EOPNOTSUPP;
	init.send_cq = ur_apart_given(c, UR_APART_CQ, c->in->qp.send_cq);
	init.recv_cq = ur_apart_given(c, UR_APART_CQ, c->in->qp.recv_cq);
	init.srq = ur_apart_given(c, UR_APART_SRQ, c->in->qp.srq);
	if (!init.send_cq ||
	    !init.recv_cq != (init.type == IB_UVERBS_QPT_XRC_INI) ||
	    (c->in->qp.srq && !init.srq) ||
	    !ur_apart_qp_is_good(&init, c->client->slot))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	err = c->client->ops->create_qp(c->client->ctx, &init, &qp,
					&c->reply->msg.new_qp);
	return ur_apart_made(c, UR_APART_QP, qp, err);
}

static int may_modify_qp(const struct ur_apart_call *c)
{
	const struct uroce_apart_modify *m = &c->in->modify;

	if (!ur_apart_states_are_good(m))
		return -EINVAL;
	return c->client->ops->may_modify_qp(c->it, &m->attr, m->mask);
}

static int modify_qp(const struct ur_apart_call *c)
{
	const struct uroce_apart_modify *m = &c->in->modify;

	if (!ur_apart_modify_is_good(m) || m->attr.sgid_index >= GIDS)
		return -EINVAL;
	return c->client->ops->modify_qp(c->it, &m->attr, m->mask);
}

static int query_qp(const struct ur_apart_call *c)
{
	c->client->ops->query_qp(c->it, &c->reply->msg.now);
	return 0;
}

static int mcast(const struct ur_apart_call *c)
{
	const struct uroce_apart_gid *g = &c->in->gid;
	int err = c->client->ops->mcast(c->it, g->gid, g->index);

	if (err)
		return err;
	if (!g->index) {
		ur_apart_leave(c->client, c->named, g->gid);
		return 0;
	}
	err = ur_apart_join(c->client, c->named, g->gid);
	if (err)
		c->client->ops->mcast(c->it, g->gid, 0);
	return err;
}

static int destroy_qp(const struct ur_apart_call *c)
{
	return ended(c, c->client->ops->destroy_qp(c->it, c->reply->msg.read));
}

/* ---- regions and windows ---- */

/* Claims a region that uroced has named, as the program has it now. */
static int claim_mr(const struct ur_apart_call *c, u32 number,
		    const struct uroce_emr_init *init)
{
	struct ur_apart_object *mr =
		ur_apart_find(c->client, UR_APART_MR, number);

	c->reply->msg.number = number;
	return c->client->ops->rereg_mr(mr->it, ALL_OF_REGION, init);
}

static int reg_mr(const struct ur_apart_call *c)
{
	struct uroce_emr_init init = c->in->mr.init;
	struct uroce_emr *mr;
	u32 listed;
	int err;

	if (!ur_apart_mr_is_good(&init))
		return -EINVAL;
	init.dmabuf = c->fds[0];
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	listed = init.flags & UROCE_EMR_FILE
			 ? 0
			 : ur_apart_claim(c->client, init.key);
	if (listed)
		return claim_mr(c, listed, &init);
	err = c->client->ops->reg_mr(c->client->ctx, &init, &mr);
	return ur_apart_made(c, UR_APART_MR, mr, err);
}

static int rereg_mr(const struct ur_apart_call *c)
{
	struct uroce_emr_init init = c->in->mr.init;
	int err;

	if (c->in->mr.flags > ALL_OF_REGION || !ur_apart_mr_is_good(&init) ||
	    (init.flags & UROCE_EMR_FILE))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	return err ? err
		   : c->client->ops->rereg_mr(c->it, c->in->mr.flags, &init);
}

static int set_parent(const struct ur_apart_call *c)
{
	if (c->fds[0] < 0)
		return -EINVAL;
	return c->client->ops->set_parent(c->client->ctx, c->fds[0],
					  c->in->value);
}

static int dereg_mr(const struct ur_apart_call *c)
{
	return ended(c, c->client->ops->dereg_mr(c->it));
}

static int claimed(const struct ur_apart_call *c)
{
	ur_apart_claimed(c->client);
	return 0;
}

static int alloc_mw(const struct ur_apart_call *c)
{
	const struct uroce_apart_mw *in = &c->in->mw;
	struct uroce_emw *mw;
	u32 pdn = in->pdn;
	int err;

	if (in->type != 1 && in->type != 2)
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &pdn);
	if (err)
		return err;
	err = c->client->ops->alloc_mw(c->client->ctx, pdn, in->type, in->rkey,
				       &mw);
	return ur_apart_made(c, UR_APART_MW, mw, err);
}

static int dealloc_mw(const struct ur_apart_call *c)
{
	c->client->ops->dealloc_mw(c->it);
	return ended(c, 0);
}

/* Their functions; the kinds of objects that they make and are about; raw: not in a library without raw packets. */
static const struct operation {
	int (*fn)(const struct ur_apart_call *c);
	enum ur_apart_kind makes, about;
	bool raw;
} operations[UROCE_APART_OPS] = {
	[UROCE_APART_BEGIN] = {begin},
	[UROCE_APART_HAS_GID] = {has_gid},
	[UROCE_APART_USE_GID] = {use_gid},
	[UROCE_APART_HAS_RING] = {has_ring},
	[UROCE_APART_USE_RING] = {use_ring},
	[UROCE_APART_SET_ASYNC] = {set_async},
	[UROCE_APART_CREATE_CQ] = {create_cq, .makes = UR_APART_CQ},
	[UROCE_APART_MODIFY_CQ] = {modify_cq, .about = UR_APART_CQ},
	[UROCE_APART_RESIZE_CQ] = {resize_cq, .about = UR_APART_CQ},
	[UROCE_APART_DESTROY_CQ] = {destroy_cq, .about = UR_APART_CQ},
	[UROCE_APART_CREATE_SRQ] = {create_srq, .makes = UR_APART_SRQ},
	[UROCE_APART_RESIZE_SRQ] = {resize_srq, .about = UR_APART_SRQ},
	[UROCE_APART_LIMIT_SRQ] = {limit_srq, .about = UR_APART_SRQ},
	[UROCE_APART_QUERY_SRQ] = {query_srq, .about = UR_APART_SRQ},
	[UROCE_APART_DESTROY_SRQ] = {destroy_srq, .about = UR_APART_SRQ},
	[UROCE_APART_CREATE_AH] = {create_ah, .makes = UR_APART_AH},
	[UROCE_APART_DESTROY_AH] = {destroy_ah, .about = UR_APART_AH},
	[UROCE_APART_CREATE_QP] = {create_qp, .makes = UR_APART_QP},
	[UROCE_APART_OPEN_QP] = {create_target, .makes = UR_APART_QP},
	[UROCE_APART_MAY_MODIFY_QP] = {may_modify_qp, .about = UR_APART_QP},
	[UROCE_APART_MODIFY_QP] = {modify_qp, .about = UR_APART_QP},
	[UROCE_APART_QUERY_QP] = {query_qp, .about = UR_APART_QP},
	[UROCE_APART_MCAST] = {mcast, .about = UR_APART_QP},
	[UROCE_APART_DESTROY_QP] = {destroy_qp, .about = UR_APART_QP},
	[UROCE_APART_REG_MR] = {reg_mr, .makes = UR_APART_MR},
	[UROCE_APART_REREG_MR] = {rereg_mr, .about = UR_APART_MR},
	[UROCE_APART_DEREG_MR] = {dereg_mr, .about = UR_APART_MR},
	[UROCE_APART_ALLOC_MW] = {alloc_mw, .makes = UR_APART_MW},
	[UROCE_APART_DEALLOC_MW] = {dealloc_mw, .about = UR_APART_MW},
	[UROCE_APART_CLAIMED] = {claimed},
	[UROCE_APART_SET_PARENT] = {set_parent},
	[UROCE_APART_HAS_RAW] = {ur_apart_has_raw, .raw = true},
	[UROCE_APART_USE_RAW] = {ur_apart_use_raw, .raw = true},
	[UROCE_APART_MODIFY_WQ] = {ur_apart_modify_wq, .about = UR_APART_WQ,
				   .raw = true},
	[UROCE_APART_CREATE_FLOW] = {ur_apart_create_flow,
				     .makes = UR_APART_FLOW,
				     .about = UR_APART_QP, .raw = true},
	[UROCE_APART_READ_FLOW] = {ur_apart_read_flow, .about = UR_APART_FLOW,
				   .raw = true},
	[UROCE_APART_DESTROY_FLOW] = {ur_apart_destroy_flow,
				      .about = UR_APART_FLOW, .raw = true},
	[UROCE_APART_DRAIN] = {drain},
};

/* Finds the object that the message is about. A work queue is destroyed as a queue pair. */
static bool find_named(struct ur_apart_call *c, enum ur_apart_kind kind)
{
	if (!kind)
		return true;
	c->named = ur_apart_find(c->client, kind, c->in->number);
	if (!c->named && c->in->op == UROCE_APART_DESTROY_QP)
		c->named = ur_apart_find(c->client, UR_APART_WQ, c->in->number);
	c->it = c->named ? c->named->it : NULL;
	return c->named;
}

static int carry_out(struct ur_apart_call *c)
{
	const struct operation *o = &operations[c->in->op];
	int err = 0;

	if (!o->fn || (o->raw && !c->client->ops->use_raw))
		return -EOPNOTSUPP;
	if (c->asked->n_wqs &&
	    (c->in->op != UROCE_APART_CREATE_QP ||
	     c->in->qp.init.type != IB_UVERBS_QPT_RAW_PACKET))
		return -EINVAL;
	if (o->makes)
		err = ur_apart_make_room(c->client, o->makes);
	if (err)
		return err;
	return find_named(c, o->about) ? o->fn(c) : -EINVAL;
}

void ur_apart_call(struct ur_apart_client *client,
		   const struct ur_apart_asked *asked, int *fds,
		   struct ur_apart_reply *reply)
{
	const struct uroce_apart_msg *msg = &asked->msg;
	struct ur_apart_call c = {client, msg, asked, fds, reply, NULL, NULL};

	*reply = (struct ur_apart_reply){.msg.op = msg->op, .fds = {-1, -1}};
	reply->msg.ret =
		msg->op < UROCE_APART_OPS ? carry_out(&c) : -EOPNOTSUPP;
}

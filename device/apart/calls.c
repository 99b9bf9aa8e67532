// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Carries out the messages of a program, each a function of struct uroce_door. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <unistd.h>
#include "device/apart/apart.h"
#include "util/assert.h"

#define GIDS 1024u /* entries of a GID table */
/* enum ibv_rereg_mr_flags */
#define ALL_OF_REGION 7u

struct call {
	struct ur_apart_client *client;
	const struct uroce_apart_msg *in;
	int *fds;
	struct ur_apart_reply *reply;
	const struct ur_apart_asked *asked;
};

static void *find(const struct call *c, enum ur_apart_kind kind, u32 number)
{
	struct ur_apart_object *o = ur_apart_find(c->client, kind, number);

	return o ? o->it : NULL;
}

/* Returns the object that the message names. */
static void *named(const struct call *c, enum ur_apart_kind kind)
{
	return find(c, kind, c->in->number);
}

/* Adds the new object it, unless err, the result of creating it, is an error. There is
 * room. */
static int add(const struct call *c, enum ur_apart_kind kind, void *it, int err)
{
	if (!err)
		c->reply->msg.number = ur_apart_add(c->client, kind, it);
	return err;
}

static void del(const struct call *c, enum ur_apart_kind kind)
{
	ur_apart_del(c->client, ur_apart_find(c->client, kind, c->in->number));
}

/* ---- slot resources ---- */

static int begin(const struct call *c)
{
	c->reply->msg.begun = (struct uroce_apart_begun){
		.db_map_off = c->client->info.db_map_off,
		.db_map_len = c->client->info.db_map_len};
	c->reply->fds[0] = c->client->info.fd;
	c->reply->fds[1] = c->client->info.wake_fd;
	return 0;
}

static int drain(const struct call *c)
{
	c->client->door->settle(c->client->guest);
	return 0;
}

static int has_gid(const struct call *c)
{
	const struct uroce_apart_gid *g = &c->in->gid;

	return g->index < GIDS &&
	       c->client->door->has_gid(c->client->guest, g->index, g->gid);
}

static int borrow(const struct call *c)
{
	const struct uroce_apart_gid *g = &c->in->gid;
	int err;

	if (g->index >= GIDS)
		return -EINVAL;
	err = c->client->door->borrow(c->client->guest, g->index, g->gid,
				      c->fds[0]);
	if (!err)
		c->fds[0] = -1;
	return err;
}

static int has_ring(const struct call *c)
{
	return c->in->value < 32 &&
	       c->client->door->has_ring(c->client->guest, c->in->value);
}

static int borrow_ring(const struct call *c)
{
	struct uroce_engine_ring ring = c->in->ring;

	for (u32 i = 0; i < UROCE_APART_MSG_FDS; i++)
		if (!ur_apart_file_is_good(c->fds[i]))
			return -EINVAL;
	ring.words_fd = c->fds[0];
	ring.out_fd = c->fds[1];
	ring.in_fd = c->fds[2];
	return ring.slot < 32
		       ? c->client->door->borrow_ring(c->client->guest, &ring)
		       : -EINVAL;
}

static int set_async(const struct call *c)
{
	return c->client->door->set_async(c->client->guest, c->fds[0],
					  c->fds[1], c->fds[2]);
}

/* ---- completion queues ---- */

static int create_cq(const struct call *c)
{
	const struct uroce_apart_cq *in = &c->in->cq;
	const struct uroce_guest_cq_init init = {
		.entries = in->entries,
		.flags = in->flags,
		.user_handle = in->user_handle,
		.tx = c->fds[0],
		.rx = c->fds[1],
		.channel = (const void *)(uintptr_t)in->channel,
	};
	struct uroce_guest_cq *cq;
	int err;

	if (!ur_apart_cq_is_good(in))
		return -EINVAL;
	err = c->client->door->create_cq(c->client->guest, &init, &cq,
					 &c->reply->msg.new_cq);
	return add(c, UR_APART_CQ, cq, err);
}

static int modify_cq(const struct call *c)
{
	struct uroce_guest_cq *cq = named(c, UR_APART_CQ);

	return cq ? c->client->door->modify_cq(cq, (u16)c->in->value,
					       (u16)(c->in->value >> 16))
		  : -EINVAL;
}

static int resize_cq(const struct call *c)
{
	struct uroce_guest_cq *cq = named(c, UR_APART_CQ);

	return cq ? c->client->door->resize_cq(cq, c->in->value,
					       &c->reply->msg.new_ring)
		  : -EINVAL;
}

static int destroy_cq(const struct call *c)
{
	struct uroce_guest_cq *cq = named(c, UR_APART_CQ);
	int err = cq ? c->client->door->destroy_cq(cq, c->reply->msg.read)
		     : -EINVAL;

	if (err)
		return err;
	del(c, UR_APART_CQ);
	c->reply->fds[0] = c->client->door->left_sender(c->client->guest);
	c->reply->close = true;
	return 0;
}

/* ---- shared receive queues ---- */

static int create_srq(const struct call *c)
{
	struct uroce_guest_srq_init init = c->in->srq;
	struct uroce_guest_srq *srq;
	int err;

	if (init.cq)
		return -EINVAL;
	init.cq = find(c, UR_APART_CQ, c->in->value);
	if (!ur_apart_srq_is_good(&init, init.cq))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	err = c->client->door->create_srq(c->client->guest, &init, &srq,
					  &c->reply->msg.new_srq);
	return add(c, UR_APART_SRQ, srq, err);
}

static int resize_srq(const struct call *c)
{
	struct uroce_guest_srq *srq = named(c, UR_APART_SRQ);

	return srq ? c->client->door->resize_srq(srq, c->in->value,
						 &c->reply->msg.new_srq)
		   : -EINVAL;
}

static int limit_srq(const struct call *c)
{
	struct uroce_guest_srq *srq = named(c, UR_APART_SRQ);

	return srq ? c->client->door->limit_srq(srq, c->in->value) : -EINVAL;
}

static int query_srq(const struct call *c)
{
	struct uroce_guest_srq *srq = named(c, UR_APART_SRQ);

	if (!srq)
		return -EINVAL;
	c->reply->msg.value = c->client->door->query_srq(srq);
	return 0;
}

static int destroy_srq(const struct call *c)
{
	struct uroce_guest_srq *srq = named(c, UR_APART_SRQ);
	int err = srq ? c->client->door->destroy_srq(srq, c->reply->msg.read)
		      : -EINVAL;

	if (!err)
		del(c, UR_APART_SRQ);
	return err;
}

/* ---- address handles ---- */

static int create_ah(const struct call *c)
{
	const struct uroce_engine_path *path = &c->in->ah.path;
	struct uroce_guest_ah *ah;
	u32 pdn = c->in->ah.pdn;
	int err;

	if (path->sgid_index >= GIDS || path->flow_label >> 20 || path->sl > 15)
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &pdn);
	if (err)
		return err;
	err = c->client->door->create_ah(c->client->guest, pdn, path, &ah,
					 &c->reply->msg.value);
	return add(c, UR_APART_AH, ah, err);
}

static int destroy_ah(const struct call *c)
{
	struct uroce_guest_ah *ah = named(c, UR_APART_AH);

	if (!ah)
		return -EINVAL;
	c->client->door->destroy_ah(ah);
	del(c, UR_APART_AH);
	return 0;
}

/* ---- queue pairs ---- */

static int create_target(const struct call *c)
{
	const struct uroce_guest_qp_init init = {
		.type = c->in->qp.init.type,
		.qpn = c->in->qp.init.qpn,
		.xrcdn = c->in->qp.init.xrcdn,
		.user_handle = c->in->qp.init.user_handle,
	};
	const struct uroce_door *door = c->client->door;
	struct uroce_guest_qp *qp;
	int err;

	if (!ur_apart_target_is_good(&init, c->client->slot))
		return -EINVAL;
	err = c->in->op == UROCE_APART_OPEN_QP
		      ? door->open_qp(c->client->guest, &init, &qp)
		      : door->create_qp(c->client->guest, &init, &qp,
					&c->reply->msg.new_qp);
	return add(c, UR_APART_QP, qp, err);
}

static int raw(const struct call *c)
{
	return ur_apart_call_raw(c->client, c->asked, c->fds, c->reply);
}

static int create_qp(const struct call *c)
{
	struct uroce_guest_qp_init init = c->in->qp.init;
	struct uroce_guest_qp *qp;
	int err;

	if (init.type == IB_UVERBS_QPT_XRC_TGT)
		return create_target(c);
	if (init.type == IB_UVERBS_QPT_RAW_PACKET)
		return raw(c);
	init.send_cq = find(c, UR_APART_CQ, c->in->qp.send_cq);
	init.recv_cq = find(c, UR_APART_CQ, c->in->qp.recv_cq);
	init.srq = find(c, UR_APART_SRQ, c->in->qp.srq);
	if (!init.send_cq ||
	    !init.recv_cq != (init.type == IB_UVERBS_QPT_XRC_INI) ||
	    (c->in->qp.srq && !init.srq) ||
	    !ur_apart_qp_is_good(&init, c->client->slot))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	err = c->client->door->create_qp(c->client->guest, &init, &qp,
					 &c->reply->msg.new_qp);
	return add(c, UR_APART_QP, qp, err);
}

static int may_modify_qp(const struct call *c)
{
	struct uroce_guest_qp *qp = named(c, UR_APART_QP);
	const struct uroce_apart_modify *m = &c->in->modify;

	if (!qp || !ur_apart_states_are_good(m))
		return -EINVAL;
	return c->client->door->may_modify_qp(qp, &m->attr, m->mask);
}

static int modify_qp(const struct call *c)
{
	struct uroce_guest_qp *qp = named(c, UR_APART_QP);
	const struct uroce_apart_modify *m = &c->in->modify;

	if (!qp || !ur_apart_modify_is_good(m) || m->attr.sgid_index >= GIDS)
		return -EINVAL;
	return c->client->door->modify_qp(qp, &m->attr, m->mask);
}

static int query_qp(const struct call *c)
{
	struct uroce_guest_qp *qp = named(c, UR_APART_QP);

	if (!qp)
		return -EINVAL;
	c->client->door->query_qp(qp, &c->reply->msg.now);
	return 0;
}

static int mcast(const struct call *c)
{
	struct ur_apart_object *qp =
		ur_apart_find(c->client, UR_APART_QP, c->in->number);
	const struct uroce_apart_gid *g = &c->in->gid;
	int err;

	if (!qp)
		return -EINVAL;
	err = c->client->door->mcast(qp->it, g->gid, g->index);
	if (err)
		return err;
	if (!g->index) {
		ur_apart_leave(c->client, qp, g->gid);
		return 0;
	}
	err = ur_apart_join(c->client, qp, g->gid);
	if (err)
		c->client->door->mcast(qp->it, g->gid, 0);
	return err;
}

static int destroy_qp(const struct call *c)
{
	enum ur_apart_kind kind =
		named(c, UR_APART_WQ) ? UR_APART_WQ : UR_APART_QP;
	struct uroce_guest_qp *qp = named(c, kind);
	int err = qp ? c->client->door->destroy_qp(qp, c->reply->msg.read)
		     : -EINVAL;

	if (!err)
		del(c, kind);
	return err;
}

/* ---- regions and windows ---- */

/* Claims a region that uroced has named, as the program has it now. */
static int claim_mr(const struct call *c, u32 number,
		    const struct uroce_guest_mr_init *init)
{
	struct ur_apart_object *mr =
		ur_apart_find(c->client, UR_APART_MR, number);

	c->reply->msg.number = number;
	return c->client->door->rereg_mr(mr->it, ALL_OF_REGION, init);
}

static int reg_mr(const struct call *c)
{
	struct uroce_guest_mr_init init = c->in->mr.init;
	struct uroce_guest_mr *mr;
	u32 listed;
	int err;

	if (!ur_apart_mr_is_good(&init))
		return -EINVAL;
	init.dmabuf = c->fds[0];
	err = ur_apart_find_domain(c->client, &init.pdn);
	if (err)
		return err;
	listed = init.flags & UROCE_GUEST_MR_FILE
			 ? 0
			 : ur_apart_claim(c->client, init.key);
	if (listed)
		return claim_mr(c, listed, &init);
	err = c->client->door->reg_mr(c->client->guest, &init, &mr);
	return add(c, UR_APART_MR, mr, err);
}

static int rereg_mr(const struct call *c)
{
	struct uroce_guest_mr_init init = c->in->mr.init;
	struct uroce_guest_mr *mr = named(c, UR_APART_MR);
	int err;

	if (!mr || c->in->mr.flags > ALL_OF_REGION ||
	    !ur_apart_mr_is_good(&init) || (init.flags & UROCE_GUEST_MR_FILE))
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &init.pdn);
	return err ? err
		   : c->client->door->rereg_mr(mr, c->in->mr.flags, &init);
}

static int set_parent(const struct call *c)
{
	if (c->fds[0] < 0)
		return -EINVAL;
	return c->client->door->set_parent(c->client->guest, c->fds[0],
					   c->in->value);
}

static int dereg_mr(const struct call *c)
{
	struct uroce_guest_mr *mr = named(c, UR_APART_MR);
	int err = mr ? c->client->door->dereg_mr(mr) : -EINVAL;

	if (!err)
		del(c, UR_APART_MR);
	return err;
}

static int claimed(const struct call *c)
{
	ur_apart_claimed(c->client);
	return 0;
}

static int alloc_mw(const struct call *c)
{
	const struct uroce_apart_mw *in = &c->in->mw;
	struct uroce_guest_mw *mw;
	u32 pdn = in->pdn;
	int err;

	if (in->type != 1 && in->type != 2)
		return -EINVAL;
	err = ur_apart_find_domain(c->client, &pdn);
	if (err)
		return err;
	err = c->client->door->alloc_mw(c->client->guest, pdn, in->type,
					in->rkey, &mw);
	return add(c, UR_APART_MW, mw, err);
}

static int dealloc_mw(const struct call *c)
{
	struct uroce_guest_mw *mw = named(c, UR_APART_MW);

	if (!mw)
		return -EINVAL;
	c->client->door->dealloc_mw(mw);
	del(c, UR_APART_MW);
	return 0;
}

/* The kind of object that each makes. */
static const enum ur_apart_kind makes[UROCE_APART_OPS] = {
	[UROCE_APART_CREATE_CQ] = UR_APART_CQ,
	[UROCE_APART_CREATE_SRQ] = UR_APART_SRQ,
	[UROCE_APART_CREATE_AH] = UR_APART_AH,
	[UROCE_APART_CREATE_QP] = UR_APART_QP,
	[UROCE_APART_OPEN_QP] = UR_APART_QP,
	[UROCE_APART_REG_MR] = UR_APART_MR,
	[UROCE_APART_ALLOC_MW] = UR_APART_MW,
	[UROCE_APART_CREATE_FLOW] = UR_APART_FLOW,
};

static int (*const calls[UROCE_APART_OPS])(const struct call *c) = {
	[UROCE_APART_BEGIN] = begin,
	[UROCE_APART_HAS_GID] = has_gid,
	[UROCE_APART_BORROW] = borrow,
	[UROCE_APART_HAS_RING] = has_ring,
	[UROCE_APART_BORROW_RING] = borrow_ring,
	[UROCE_APART_SET_ASYNC] = set_async,
	[UROCE_APART_CREATE_CQ] = create_cq,
	[UROCE_APART_MODIFY_CQ] = modify_cq,
	[UROCE_APART_RESIZE_CQ] = resize_cq,
	[UROCE_APART_DESTROY_CQ] = destroy_cq,
	[UROCE_APART_CREATE_SRQ] = create_srq,
	[UROCE_APART_RESIZE_SRQ] = resize_srq,
	[UROCE_APART_LIMIT_SRQ] = limit_srq,
	[UROCE_APART_QUERY_SRQ] = query_srq,
	[UROCE_APART_DESTROY_SRQ] = destroy_srq,
	[UROCE_APART_CREATE_AH] = create_ah,
	[UROCE_APART_DESTROY_AH] = destroy_ah,
	[UROCE_APART_CREATE_QP] = create_qp,
	[UROCE_APART_OPEN_QP] = create_target,
	[UROCE_APART_MAY_MODIFY_QP] = may_modify_qp,
	[UROCE_APART_MODIFY_QP] = modify_qp,
	[UROCE_APART_QUERY_QP] = query_qp,
	[UROCE_APART_MCAST] = mcast,
	[UROCE_APART_DESTROY_QP] = destroy_qp,
	[UROCE_APART_REG_MR] = reg_mr,
	[UROCE_APART_REREG_MR] = rereg_mr,
	[UROCE_APART_DEREG_MR] = dereg_mr,
	[UROCE_APART_ALLOC_MW] = alloc_mw,
	[UROCE_APART_DEALLOC_MW] = dealloc_mw,
	[UROCE_APART_CLAIMED] = claimed,
	[UROCE_APART_SET_PARENT] = set_parent,
	[UROCE_APART_HAS_RAW] = raw,
	[UROCE_APART_BORROW_RAW] = raw,
	[UROCE_APART_MODIFY_WQ] = raw,
	[UROCE_APART_CREATE_FLOW] = raw,
	[UROCE_APART_READ_FLOW] = raw,
	[UROCE_APART_DESTROY_FLOW] = raw,
	[UROCE_APART_DRAIN] = drain,
};

void ur_apart_call(struct ur_apart_client *client,
		   const struct ur_apart_asked *asked, int *fds,
		   struct ur_apart_reply *reply)
{
	const struct uroce_apart_msg *msg = &asked->msg;
	const struct call c = {client, msg, fds, reply, asked};

	*reply = (struct ur_apart_reply){.msg.op = msg->op, .fds = {-1, -1}};
	if (msg->op >= UROCE_APART_OPS || !calls[msg->op]) {
		reply->msg.ret = -EOPNOTSUPP;
		return;
	}
	if (asked->n_wqs && (msg->op != UROCE_APART_CREATE_QP ||
			     msg->qp.init.type != IB_UVERBS_QPT_RAW_PACKET))
		reply->msg.ret = -EINVAL;
	else if (makes[msg->op])
		reply->msg.ret = ur_apart_make_room(client, makes[msg->op]);
	if (!reply->msg.ret)
		reply->msg.ret = calls[msg->op](&c);
}

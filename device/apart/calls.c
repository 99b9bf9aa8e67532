// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Carries out the messages of a program: checks each, puts objects in the place of their numbers, and passes it on to
 * the engine. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/apart/apart.h"

#define GIDS 1024u /* entries of a GID table */
/* enum ibv_rereg_mr_flags */
#define ALL_OF_REGION 7u

/* Puts the engine's number of a protection domain in the place of the program's, and passes the call on. */
static int pass_with_domain(struct ur_apart_call *c, u32 *pdn)
{
	int err = ur_apart_find_domain(c->client, pdn);

	return err ? err : ur_apart_pass(c);
}

/* ---- slot resources ---- */

static int begin(struct ur_apart_call *c)
{
	c->call.reply.begun = (struct uroce_call_begun){
		.db_map_off = c->client->info.db_map_off,
		.db_map_len = c->client->info.db_map_len};
	c->call.out[0] = c->client->info.fd;
	c->call.out[1] = c->client->info.wake_fd;
	return 0;
}

static int has_gid(struct ur_apart_call *c)
{
	return c->call.msg.gid.index < GIDS ? ur_apart_pass(c) : 0;
}

static int use_gid(struct ur_apart_call *c)
{
	return c->call.msg.gid.index < GIDS ? ur_apart_pass(c) : -EINVAL;
}

static int has_ring(struct ur_apart_call *c)
{
	return c->call.msg.value < 32 ? ur_apart_pass(c) : 0;
}

static int use_ring(struct ur_apart_call *c)
{
	for (u32 i = 0; i < UROCE_CALL_FDS; i++)
		if (!ur_apart_file_is_good(c->call.fds[i]))
			return -EINVAL;
	return c->call.msg.ring.slot < 32 ? ur_apart_pass(c) : -EINVAL;
}

/* ---- queues ---- */

static int create_cq(struct ur_apart_call *c)
{
	return ur_apart_cq_is_good(&c->call.msg.cq) ? ur_apart_pass(c)
						    : -EINVAL;
}

static int create_srq(struct ur_apart_call *c)
{
	struct uroce_esrq_init *init = &c->call.msg.srq;

	if (init->cq)
		return -EINVAL;
	init->cq = ur_apart_given(c, UR_APART_CQ, c->call.msg.value);
	if (!ur_apart_srq_is_good(init, init->cq))
		return -EINVAL;
	return pass_with_domain(c, &init->pdn);
}

static int create_ah(struct ur_apart_call *c)
{
	const struct uroce_engine_path *path = &c->call.msg.ah.path;

	if (path->sgid_index >= GIDS || path->flow_label >> 20 || path->sl > 15)
		return -EINVAL;
	return pass_with_domain(c, &c->call.msg.ah.pdn);
}

static int create_target(struct ur_apart_call *c)
{
	struct uroce_eqp_init *init = &c->call.msg.qp.init;

	*init = (struct uroce_eqp_init){
		.type = init->type,
		.qpn = init->qpn,
		.xrcdn = init->xrcdn,
		.user_handle = init->user_handle,
	};
	return ur_apart_target_is_good(init, c->client->slot) ? ur_apart_pass(c)
							      : -EINVAL;
}

static int create_qp(struct ur_apart_call *c)
{
	struct uroce_call_qp *in = &c->call.msg.qp;
	struct uroce_eqp_init *init = &in->init;

	if (init->type == IB_UVERBS_QPT_XRC_TGT)
		return create_target(c);
	init->send_cq = ur_apart_given(c, UR_APART_CQ, in->send_cq);
	init->recv_cq = ur_apart_given(c, UR_APART_CQ, in->recv_cq);
	init->srq = ur_apart_given(c, UR_APART_SRQ, in->srq);
	if (init->type == IB_UVERBS_QPT_RAW_PACKET)
		return UROCE_WITH_RAW_PACKET ? ur_apart_create_raw(c)
					     : -EOPNOTSUPP;
	if (!init->send_cq ||
	    !init->recv_cq != (init->type == IB_UVERBS_QPT_XRC_INI) ||
	    (in->srq && !init->srq) ||
	    !ur_apart_qp_is_good(init, c->client->slot))
		return -EINVAL;
	return pass_with_domain(c, &init->pdn);
}

static int may_modify_qp(struct ur_apart_call *c)
{
	return ur_apart_states_are_good(&c->call.msg.modify) ? ur_apart_pass(c)
							     : -EINVAL;
}

static int modify_qp(struct ur_apart_call *c)
{
	const struct uroce_call_modify *m = &c->call.msg.modify;

	if (!ur_apart_modify_is_good(m) || m->attr.sgid_index >= GIDS)
		return -EINVAL;
	return ur_apart_pass(c);
}

static int mcast(struct ur_apart_call *c)
{
	struct uroce_call_gid *g = &c->call.msg.gid;
	int err = ur_apart_pass(c);

	if (err)
		return err;
	if (!g->index) {
		ur_apart_leave(c->client, c->named, g->gid);
		return 0;
	}
	err = ur_apart_join(c->client, c->named, g->gid);
	if (err) {
		g->index = 0;
		ur_apart_pass(c);
	}
	return err;
}

/* ---- regions and windows ---- */

/* Claims a region that uroced has named, as the program has it now. */
static int claim_mr(struct ur_apart_call *c, u32 number)
{
	c->makes = UR_APART_NONE;
	c->call.msg.op = UROCE_CALL_REREG_MR;
	c->call.msg.mr.flags = ALL_OF_REGION;
	c->call.it = ur_apart_given(c, UR_APART_MR, number);
	c->call.reply.number = number;
	return ur_apart_pass(c);
}

static int reg_mr(struct ur_apart_call *c)
{
	struct uroce_emr_init *init = &c->call.msg.mr.init;
	u32 listed;
	int err;

	if (!ur_apart_mr_is_good(init))
		return -EINVAL;
	init->dmabuf = c->call.fds[0];
	err = ur_apart_find_domain(c->client, &init->pdn);
	if (err)
		return err;
	listed = init->flags & UROCE_EMR_FILE
			 ? 0
			 : ur_apart_claim(c->client, init->key);
	return listed ? claim_mr(c, listed) : ur_apart_pass(c);
}

static int rereg_mr(struct ur_apart_call *c)
{
	struct uroce_call_mr *mr = &c->call.msg.mr;

	if (mr->flags > ALL_OF_REGION || !ur_apart_mr_is_good(&mr->init) ||
	    (mr->init.flags & UROCE_EMR_FILE))
		return -EINVAL;
	return pass_with_domain(c, &mr->init.pdn);
}

static int set_parent(struct ur_apart_call *c)
{
	return c->call.n_fds ? ur_apart_pass(c) : -EINVAL;
}

static int claimed(struct ur_apart_call *c)
{
	ur_apart_claimed(c->client);
	return 0;
}

static int alloc_mw(struct ur_apart_call *c)
{
	struct uroce_call_mw *in = &c->call.msg.mw;

	return in->type == 1 || in->type == 2 ? pass_with_domain(c, &in->pdn)
					      : -EINVAL;
}

/* Their functions, and the kinds of objects that they make and are about. */
static const struct operation {
	int (*fn)(struct ur_apart_call *c);
	enum ur_apart_kind makes, about;
} operations[UROCE_CALL_OPS] = {
	[UROCE_CALL_BEGIN] = {begin},
	[UROCE_CALL_HAS_GID] = {has_gid},
	[UROCE_CALL_USE_GID] = {use_gid},
	[UROCE_CALL_HAS_RING] = {has_ring},
	[UROCE_CALL_USE_RING] = {use_ring},
	[UROCE_CALL_SET_ASYNC] = {ur_apart_pass},
	[UROCE_CALL_CREATE_CQ] = {create_cq, .makes = UR_APART_CQ},
	[UROCE_CALL_MODIFY_CQ] = {ur_apart_pass, .about = UR_APART_CQ},
	[UROCE_CALL_RESIZE_CQ] = {ur_apart_pass, .about = UR_APART_CQ},
	[UROCE_CALL_DESTROY_CQ] = {ur_apart_pass, .about = UR_APART_CQ},
	[UROCE_CALL_CREATE_SRQ] = {create_srq, .makes = UR_APART_SRQ},
	[UROCE_CALL_RESIZE_SRQ] = {ur_apart_pass, .about = UR_APART_SRQ},
	[UROCE_CALL_LIMIT_SRQ] = {ur_apart_pass, .about = UR_APART_SRQ},
	[UROCE_CALL_QUERY_SRQ] = {ur_apart_pass, .about = UR_APART_SRQ},
	[UROCE_CALL_DESTROY_SRQ] = {ur_apart_pass, .about = UR_APART_SRQ},
	[UROCE_CALL_CREATE_AH] = {create_ah, .makes = UR_APART_AH},
	[UROCE_CALL_DESTROY_AH] = {ur_apart_pass, .about = UR_APART_AH},
	[UROCE_CALL_CREATE_QP] = {create_qp, .makes = UR_APART_QP},
	[UROCE_CALL_OPEN_QP] = {create_target, .makes = UR_APART_QP},
	[UROCE_CALL_MAY_MODIFY_QP] = {may_modify_qp, .about = UR_APART_QP},
	[UROCE_CALL_MODIFY_QP] = {modify_qp, .about = UR_APART_QP},
	[UROCE_CALL_QUERY_QP] = {ur_apart_pass, .about = UR_APART_QP},
	[UROCE_CALL_MCAST] = {mcast, .about = UR_APART_QP},
	[UROCE_CALL_DESTROY_QP] = {ur_apart_pass, .about = UR_APART_QP},
	[UROCE_CALL_REG_MR] = {reg_mr, .makes = UR_APART_MR},
	[UROCE_CALL_REREG_MR] = {rereg_mr, .about = UR_APART_MR},
	[UROCE_CALL_DEREG_MR] = {ur_apart_pass, .about = UR_APART_MR},
	[UROCE_CALL_ALLOC_MW] = {alloc_mw, .makes = UR_APART_MW},
	[UROCE_CALL_DEALLOC_MW] = {ur_apart_pass, .about = UR_APART_MW},
	[UROCE_CALL_CLAIMED] = {claimed},
	[UROCE_CALL_SET_PARENT] = {set_parent},
	[UROCE_CALL_HAS_RAW] = {ur_apart_pass},
	[UROCE_CALL_USE_RAW] = {ur_apart_use_raw},
	[UROCE_CALL_MODIFY_WQ] = {ur_apart_modify_wq, .about = UR_APART_WQ},
	[UROCE_CALL_CREATE_FLOW] = {ur_apart_create_flow,
				    .makes = UR_APART_FLOW,
				    .about = UR_APART_QP},
	[UROCE_CALL_READ_FLOW] = {ur_apart_read_flow, .about = UR_APART_FLOW},
	[UROCE_CALL_DESTROY_FLOW] = {ur_apart_destroy_flow,
				     .about = UR_APART_FLOW},
	[UROCE_CALL_DRAIN] = {ur_apart_pass},
};

/* Finds the object that the message is about. A work queue is destroyed as a queue pair. */
static bool find_named(struct ur_apart_call *c, enum ur_apart_kind kind)
{
	const struct uroce_call_msg *msg = &c->call.msg;

	if (!kind)
		return true;
	c->named = ur_apart_find(c->client, kind, msg->number);
	if (!c->named && msg->op == UROCE_CALL_DESTROY_QP)
		c->named = ur_apart_find(c->client, UR_APART_WQ, msg->number);
	c->call.it = c->named ? c->named->it : NULL;
	return c->named;
}

/* Adds what the call has made to the objects. */
static void add(struct ur_apart_call *c)
{
	const u32 number = ur_apart_add(c->client, c->makes, c->call.it);

	c->client->objects[number - 1].raw =
		c->call.msg.op == UROCE_CALL_CREATE_QP &&
		c->call.msg.qp.init.type == IB_UVERBS_QPT_RAW_PACKET;
	c->call.reply.number = number;
}

static int carry_out(struct ur_apart_call *c)
{
	const u32 op = c->call.msg.op;
	const struct operation *o =
		op < UROCE_CALL_OPS ? &operations[op] : &operations[0];
	int ret = 0;

	if (!o->fn)
		return -EOPNOTSUPP;
	if (c->n_wqs && (op != UROCE_CALL_CREATE_QP ||
			 c->call.msg.qp.init.type != IB_UVERBS_QPT_RAW_PACKET))
		return -EINVAL;
	c->makes = o->makes;
	if (o->makes)
		ret = ur_apart_make_room(c->client, o->makes);
	if (ret)
		return ret;
	if (!find_named(c, o->about))
		return -EINVAL;
	ret = o->fn(c);
	if (!ret && c->makes)
		add(c);
	if (!ret && uroce_call_makes(op) < 0)
		ur_apart_del(c->client, c->named);
	return ret;
}

void ur_apart_call(struct ur_apart_client *client, struct ur_apart_call *c)
{
	const u32 op = c->call.msg.op;

	c->client = client;
	c->call.out[0] = c->call.out[1] = -1;
	c->call.reply = (struct uroce_call_msg){.op = op};
	c->call.reply.ret = carry_out(c);
}

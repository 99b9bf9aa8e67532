// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs: creation, opening, destruction. The three forms of the create command are in
 * qp_create.c, modify and query in qp_modify.c.
 *
 * An XRC target QP belongs to its domain, not to a session: every handle on it, including
 * the creator's, is an opener, and the last one destroys it.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include "device/client_rights.h"
#include "device/memory.h"
#include "device/uverbs/obj_qp.h"
#include "device/report/why.h"
#include "util/assert.h"
#include "util/verbs_words.h"

/* Types, states and rights of the uverbs ABI equal the transport's. */
#define QP_TYPE(number, name) \
	_Static_assert((int)IB_UVERBS_QPT_##name == (number), #name);
#define ACCESS(bit, name) \
	_Static_assert((int)IB_UVERBS_ACCESS_##name == (bit), #name);
/* clang-format off */
UR_QP_TYPE_LIST(QP_TYPE)
UR_ACCESS_LIST(ACCESS)
/* clang-format on */

#define BLOCK_MULTICAST_LOOPBACK IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK

static void target_put(struct ur_xrc_target *t)
{
	ur_assert(t->openers);
	if (--t->openers)
		return;
	ur_list_del(&t->node);
	ur_qpc_destroy(t->qpc);
	free(t);
}

static void choose_owner(struct ur_xrc_target *t)
{
	t->qpc->owner =
		ur_list_empty(&t->opened)
			? NULL
			: ur_list_first(&t->opened, struct ur_obj_qp, opener);
}

static void close_target(struct ur_obj_qp *qp)
{
	struct ur_xrc_target *t = qp->target;

	ur_list_del(&qp->opener);
	if (ur_list_empty(&t->opened))
		ur_why_keep_qp(qp);
	choose_owner(t);
	target_put(t);
}

static int destroy_qp(struct ur_object *obj)
{
	struct ur_obj_qp *qp = ur_obj_qp_of(obj);

	if (qp->target) {
		close_target(qp);
	} else {
		/* A client that ends has not detached its groups. */
		ur_assert(qp->n_mcast <= UR_ARRAY_SIZE(qp->mcast));
		if (obj->file->closing)
			while (qp->n_mcast)
				ur_qp_leave(qp, --qp->n_mcast);
		if (qp->n_mcast)
			return -EBUSY;
		ur_why_keep_qp(qp);
		ur_qpc_destroy(qp->qpc);
	}
	ur_object_unuse(qp->pd);
	ur_object_unuse(qp->send_cq);
	ur_object_unuse(qp->recv_cq);
	ur_object_unuse(qp->srq);
	ur_object_unuse(qp->table);
	ur_object_unuse(qp->xrcd);
	ur_async_put(qp->async);
	return 0;
}

static const struct ur_object_type qp_type = {
	.id = UVERBS_OBJECT_QP,
	.name = "queue pairs",
	.size = sizeof(struct ur_obj_qp),
	.kib = UR_KIB_QP,
	.destroy = destroy_qp,
};

/* Checks the sizes of existing queues only: ibv_create_qp(3) ignores the others. */
static int check_caps(const struct ur_limits *l, const struct ur_qp_args *a)
{
	const struct ib_uverbs_qp_cap *cap = &a->cap;
	bool sends = a->type != IB_UVERBS_QPT_XRC_TGT;
	bool receives = sends && a->type != IB_UVERBS_QPT_XRC_INI && !a->srq &&
			!a->table;

	if (sends && (cap->max_send_wr > l->max_qp_wr ||
		      cap->max_send_sge > l->max_sge ||
		      cap->max_inline_data > l->max_inline))
		return -EINVAL;
	if (receives &&
	    (cap->max_recv_wr > l->max_qp_wr || cap->max_recv_sge > l->max_sge))
		return -EINVAL;
	return 0;
}

static int check_args(const struct ur_limits *l, const struct ur_qp_args *a)
{
	switch (a->type) {
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
		if (!a->pd || !a->send_cq || !a->recv_cq)
			return -EINVAL;
		break;
	case IB_UVERBS_QPT_XRC_INI:
		if (!a->pd || !a->send_cq || a->srq)
			return -EINVAL;
		break;
	case IB_UVERBS_QPT_XRC_TGT:
		if (!a->xrcd)
			return -EINVAL;
		break;
	case IB_UVERBS_QPT_RAW_PACKET:
		if (!a->pd ||
		    (!a->send_cq && (!a->table || a->cap.max_send_wr)) ||
		    (!a->recv_cq && !a->table))
			return -EINVAL;
		break;
	case IB_UVERBS_QPT_DRIVER:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
	if (a->srq && a->srq->xrcd)
		return -EINVAL;
	if (a->flags &
	    ~(IB_UVERBS_QP_CREATE_SQ_SIG_ALL | BLOCK_MULTICAST_LOOPBACK))
		return -EOPNOTSUPP;
	return check_caps(l, a);
}

static int check_raw(const struct ur_cmd *cmd, const struct ur_qp_args *a)
{
	static bool said;

	if (ur_has_raw(cmd->dev) && !ur_client_may_raw(cmd->file->session))
		return -EPERM;
	if (ur_has_raw(cmd->dev))
		return 0;
	if (!said)
		ur_log("%s: a raw packet queue pair was asked for: that takes "
		       "%s",
		       cmd->dev->name,
		       UROCE_WITH_RAW_PACKET
			       ? "--raw-ethernet, or raw-ethernet in "
				 "uroce.conf, and an Ethernet netdev"
			       : "a build of uroced that has them");
	said = true;
	return -EOPNOTSUPP;
}

/* Makes a QP other than an XRC target. */
static int make_plain(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		      const struct ur_qp_args *a, struct ur_qpc_init *init)
{
	qp->pd = a->pd;
	qp->send_cq = a->send_cq;
	if (a->type != IB_UVERBS_QPT_XRC_INI) {
		qp->recv_cq = a->recv_cq;
		qp->srq = a->srq;
	}
	if (qp->srq || a->type == IB_UVERBS_QPT_XRC_INI)
		init->caps.max_recv_wr = init->caps.max_recv_sge = 0;
	init->has_srq = qp->srq;
	return ur_qpc_create(cmd->dev, init, &qp->qpc);
}

static void open_target(struct ur_obj_qp *qp, struct ur_xrc_target *t)
{
	t->openers++;
	qp->target = t;
	qp->qpc = t->qpc;
	ur_list_add_tail(&t->opened, &qp->opener);
	choose_owner(t);
}

static int make_target(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		       const struct ur_qp_args *a, struct ur_qpc_init *init)
{
	struct ur_xrc_target *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	init->caps = (struct ur_qp_caps){0};
	err = ur_qpc_create(cmd->dev, init, &t->qpc);
	if (err) {
		free(t);
		return err;
	}
	ur_list_init(&t->node);
	ur_list_init(&t->opened);
	open_target(qp, t);
	qp->xrcd = a->xrcd;
	ur_list_add_tail(&a->xrcd->xrcd->targets, &t->node);
	return 0;
}

static void use_parts(struct ur_obj_qp *qp)
{
	ur_object_use(qp->pd);
	ur_object_use(qp->send_cq);
	ur_object_use(qp->recv_cq);
	ur_object_use(qp->srq);
	ur_object_use(qp->table);
	ur_object_use(qp->xrcd);
}

static int make_spread(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		       const struct ur_qp_args *a, struct ur_qpc_init *init)
{
	int err = ur_rss_check(cmd, a);

	if (!err)
		err = make_plain(cmd, qp, a, init);
	if (!err)
		qp->table = a->table;
	return err;
}

/* Makes the QP according to its type. */
static int make_typed(struct ur_cmd *cmd, struct ur_obj_qp *qp,
		      const struct ur_qp_args *a, struct ur_qpc_init *init)
{
	if (a->type == IB_UVERBS_QPT_XRC_TGT)
		return make_target(cmd, qp, a, init);
	return a->table ? make_spread(cmd, qp, a, init)
			: make_plain(cmd, qp, a, init);
}

int ur_qp_make(struct ur_cmd *cmd, struct ur_qp_args *a, struct ur_obj_qp **ret)
{
	const struct uroce_create_qp_resp udata = {0};
	struct ur_obj_async *async;
	struct ur_qpc_init init;
	struct ur_obj_qp *qp;
	int err = check_args(&cmd->dev->daemon->limits, a);

	if (!err)
		err = ur_program_engine_qp(cmd, a);
	if (!err && a->type == IB_UVERBS_QPT_RAW_PACKET)
		err = check_raw(cmd, a);
	if (err)
		return err;
	err = ur_async_from_fd(cmd->file, a->event_fd, &async);
	if (err)
		return err;
	err = -ENOMEM;
	/* A number given by the program may need more room in the table (transport/table.c). */
	qp = ur_object_new_of(cmd->file, &qp_type,
			      UR_KIB_QP + (a->number ? 2 : 0));
	if (!qp)
		goto err_async;
	init = (struct ur_qpc_init){
		.type = (enum ur_qp_type)a->type,
		.slot = a->slot,
		.number = a->number,
		.caps = {a->cap.max_send_wr, a->cap.max_recv_wr,
			 a->cap.max_send_sge, a->cap.max_recv_sge,
			 a->cap.max_inline_data},
		.sq_sig_all = a->sq_sig_all ||
			      (a->flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
		/* choose_owner() chooses that of a target. */
		.owner = a->type == IB_UVERBS_QPT_XRC_TGT ? NULL : qp,
	};
	qp->type = (enum ur_qp_type)a->type;
	qp->obj.user_handle = a->user_handle;
	qp->create_flags = a->flags;
	qp->async = async;
	err = make_typed(cmd, qp, a, &init);
	if (err)
		goto err_abort;
	use_parts(qp);
	cmd->created = &qp->obj;
	*ret = qp;
	return ur_udata_out(cmd, &udata, sizeof(udata));
err_abort:
	ur_object_abort(&qp->obj);
err_async:
	ur_async_put(async);
	return err;
}

int ur_w_open_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_open_qp *req = in;
	struct ib_uverbs_create_qp_resp *resp = out;
	struct uroce_create_qp_resp udata = {0};
	struct ur_obj_xrcd *x =
		ur_object_get(cmd->file, UVERBS_OBJECT_XRCD, req->pd_handle);
	struct ur_xrc_target *target = NULL;
	struct ur_obj_qp *qp;

	if (!x || req->qp_type != IB_UVERBS_QPT_XRC_TGT)
		return -EINVAL;
	ur_list_each(struct ur_xrc_target, t, &x->xrcd->targets, node) {
		if (t->qpc->qpn == req->qpn)
			target = t;
	}
	if (!target)
		return -EINVAL;
	qp = ur_object_new(cmd->file, &qp_type);
	if (!qp)
		return -ENOMEM;
	qp->type = UR_QPT_XRC_TGT;
	qp->obj.user_handle = req->user_handle;
	ur_async_from_fd(cmd->file, -1, &qp->async);
	open_target(qp, target);
	qp->xrcd = x;
	ur_object_use(x);
	cmd->created = &qp->obj;
	resp->qp_handle = qp->obj.handle;
	resp->qpn = req->qpn;
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

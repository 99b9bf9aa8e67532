// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Modify: the effects of attributes and of a change of state. Which are allowed says
 * the table in modify_table.c. */
#include "transport/internal.h"
#include "transport/modify_table.h"

#include <errno.h>

#define AV	UR_QP_ATTR_AV
#define MTU	UR_QP_ATTR_PATH_MTU
#define TIMEOUT UR_QP_ATTR_TIMEOUT
#define RQ_PSN	UR_QP_ATTR_RQ_PSN
#define RD_IN	UR_QP_ATTR_MAX_DEST_RD_ATOMIC
#define SQ_PSN	UR_QP_ATTR_SQ_PSN
#define RATE	UR_QP_ATTR_RATE_LIMIT

/* ---- effects; nothing here can fail ---- */

static void set_av(struct ur_qp *qp, struct ur_av *av)
{
	struct ur_av *old = qp->attr.av;

	qp->attr.av = av ? ur_av_get(av) : NULL;
	ur_av_put(old);
}

static void set_mtu(struct ur_qp *qp, u32 mtu)
{
	qp->attr.path_mtu = mtu;
	qp->mtu = mtu;
	qp->mtu_shift = (u32)__builtin_ctz(mtu);
	ur_burst_set_mtu(qp);
}

static void set_timeout(struct ur_qp *qp, u8 code)
{
	qp->attr.timeout = code;
	qp->ack_ns = ur_ack_timeout_ns(code);
}

static void set_sq_psn(struct ur_qp *qp, u32 psn)
{
	struct ur_requester *req = &qp->req;

	qp->attr.sq_psn = psn & UR_PSN_MASK;
	req->una = req->tx_psn = req->max_psn = qp->attr.sq_psn;
	__atomic_store_n(&qp->shown[UR_QP_SHOWN_SQ_PSN],
			 qp->attr.sq_psn | UR_QP_SHOWN_SET, __ATOMIC_RELAXED);
}

static void set_rq_psn(struct ur_qp *qp, u32 psn)
{
	qp->attr.rq_psn = psn & UR_PSN_MASK;
	qp->resp.epsn = qp->attr.rq_psn;
	qp->resp.msn = 0;
}

static void apply(struct ur_qp *qp, const struct ur_qp_attr *a, u32 mask)
{
	ur_qp_attr_take(&qp->attr, a, mask);
	if (mask & AV)
		set_av(qp, a->av);
	if (mask & MTU)
		set_mtu(qp, a->path_mtu);
	if (mask & TIMEOUT)
		set_timeout(qp, a->timeout);
	if (mask & SQ_PSN)
		set_sq_psn(qp, a->sq_psn);
	if (mask & RQ_PSN)
		set_rq_psn(qp, a->rq_psn);
}

static void reset(struct ur_qp *qp)
{
	ur_path_leave(qp);
	ur_qp_drop_work(qp);
	set_av(qp, NULL);
	qp->attr = (struct ur_qp_attr){.path_mtu = qp->port->cfg.mtu_bytes};
	set_timeout(qp, 0);
	ur_cc_cap(qp);
	ur_list_del(&qp->active);
	qp->held = false;
	ur_port_disarm(qp->port, qp);
}

static void enter(struct ur_qp *qp, enum ur_qp_state next)
{
	enum ur_qp_state cur = qp->state;

	if (next == UR_QP_ERR) {
		ur_qp_fail(qp);
		return;
	}
	if (next == UR_QP_RESET)
		reset(qp);
	ur_qp_set_state(qp, next);
	if (next == UR_QP_RTR) {
		if (ur_qp_is_datagram(qp))
			set_mtu(qp, qp->port->cfg.mtu_bytes);
		ur_cc_init(qp);
		if (ur_unready_is_due(qp))
			ur_port_arm(qp->port, qp, qp->port->now);
	}
	if (next == UR_QP_SQD && cur == UR_QP_RTS)
		qp->attr.sq_draining = 1;
	if (next == UR_QP_RTS)
		qp->attr.sq_draining = 0;
	if (next == UR_QP_RTS || next == UR_QP_SQD)
		ur_qp_kick(qp);
}

int ur_qp_may_modify(const struct ur_qp *qp, const struct ur_qp_attr *attr,
		     u32 mask)
{
	return ur_qp_may(qp->state, qp->init.type, attr, mask) ? 0 : -EINVAL;
}

int ur_qp_modify(struct ur_qp *qp, ur_time now, const struct ur_qp_attr *attr,
		 u32 mask)
{
	int err = ur_qp_may_modify(qp, attr, mask);

	if (!err && (!ur_qp_values_valid(qp->port->cfg.mtu_bytes, attr, mask) ||
		     ((mask & AV) && !attr->av)))
		err = -EINVAL;
	if (err)
		return err;
	if (mask & RD_IN) {
		err = ur_replay_resize(qp, attr->max_dest_rd_atomic);
		if (err)
			return err;
	}
	if (((mask & AV) && attr->static_bps) ||
	    ((mask & RATE) && attr->rate_limit)) {
		err = ur_cc_reserve(qp);
		if (err)
			return err;
	}
	qp->port->now = now;
	apply(qp, attr, mask);
	ur_cc_cap(qp);
	if (mask & AV) {
		ur_path_join(qp);
		ur_qp_set_ecn(qp);
	}
	if (mask & UR_QP_ATTR_STATE)
		enter(qp, attr->state);
	return 0;
}

void ur_qp_query(const struct ur_qp *qp, struct ur_qp_attr *attr)
{
	*attr = qp->attr;
	attr->state = qp->state;
	attr->cur_state = qp->state;
	if (qp->has_sq && qp->state >= UR_QP_RTS)
		attr->sq_psn = qp->req.max_psn;
	if (!ur_qp_is_datagram(qp) && qp->state >= UR_QP_RTR)
		attr->rq_psn = qp->resp.epsn;
}

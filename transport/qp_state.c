// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The modify table: IBTA volume 1, 11.2.5.2 table 96, with the XRC columns of
 * annex A14 and the optional attributes that Linux verbs take. Data first,
 * then the interpreter, then what each attribute does.
 */
#include "transport/internal.h"
#include "transport/qp_state.h"

#include <errno.h>

#define ACCESS	   UR_QP_ATTR_ACCESS_FLAGS
#define PKEY	   UR_QP_ATTR_PKEY_INDEX
#define PORT	   UR_QP_ATTR_PORT
#define QKEY	   UR_QP_ATTR_QKEY
#define AV	   UR_QP_ATTR_AV
#define MTU	   UR_QP_ATTR_PATH_MTU
#define TIMEOUT	   UR_QP_ATTR_TIMEOUT
#define RETRY	   UR_QP_ATTR_RETRY_CNT
#define RNR	   UR_QP_ATTR_RNR_RETRY
#define RQ_PSN	   UR_QP_ATTR_RQ_PSN
#define RD_OUT	   UR_QP_ATTR_MAX_QP_RD_ATOMIC
#define RD_IN	   UR_QP_ATTR_MAX_DEST_RD_ATOMIC
#define ALT	   UR_QP_ATTR_ALT_PATH
#define RNR_TIMER  UR_QP_ATTR_MIN_RNR_TIMER
#define SQ_PSN	   UR_QP_ATTR_SQ_PSN
#define MIG	   UR_QP_ATTR_PATH_MIG_STATE
#define DEST	   UR_QP_ATTR_DEST_QPN
#define CUR	   UR_QP_ATTR_CUR_STATE
#define SQD_NOTIFY UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY
#define RATE	   UR_QP_ATTR_RATE_LIMIT

/* clang-format off */
#define ANY_TO_RESET_ERR						       \
	[UR_QP_RESET] = {.valid = true}, [UR_QP_ERR] = {.valid = true}

const struct ur_qp_transition
	ur_qp_transitions[UR_QP_STATES][UR_QP_STATES] = {
	[UR_QP_RESET] = {
		[UR_QP_RESET] = {.valid = true},
		[UR_QP_INIT] = {
			.valid = true,
			.required = {
				[UR_QPT_RC] = PKEY | PORT | ACCESS,
				[UR_QPT_UC] = PKEY | PORT | ACCESS,
				[UR_QPT_UD] = PKEY | PORT | QKEY,
				[UR_QPT_RAW_PACKET] = PORT,
				[UR_QPT_XRC_INI] = PKEY | PORT | ACCESS,
				[UR_QPT_XRC_TGT] = PKEY | PORT | ACCESS,
			},
		},
	},
	[UR_QP_INIT] = {
		ANY_TO_RESET_ERR,
		[UR_QP_INIT] = {
			.valid = true,
			.optional = {
				[UR_QPT_RC] = PKEY | PORT | ACCESS,
				[UR_QPT_UC] = PKEY | PORT | ACCESS,
				[UR_QPT_UD] = PKEY | PORT | QKEY,
				[UR_QPT_XRC_INI] = PKEY | PORT | ACCESS,
				[UR_QPT_XRC_TGT] = PKEY | PORT | ACCESS,
			},
		},
		[UR_QP_RTR] = {
			.valid = true,
			.required = {
				[UR_QPT_RC] = AV | MTU | DEST | RQ_PSN |
					      RD_IN | RNR_TIMER,
				[UR_QPT_UC] = AV | MTU | DEST | RQ_PSN,
				[UR_QPT_XRC_INI] = AV | MTU | DEST | RQ_PSN,
				[UR_QPT_XRC_TGT] = AV | MTU | DEST | RQ_PSN |
						   RD_IN | RNR_TIMER,
			},
			.optional = {
				[UR_QPT_RC] = ALT | ACCESS | PKEY,
				[UR_QPT_UC] = ALT | ACCESS | PKEY,
				[UR_QPT_UD] = PKEY | QKEY,
				[UR_QPT_XRC_INI] = ALT | ACCESS | PKEY,
				[UR_QPT_XRC_TGT] = ALT | ACCESS | PKEY,
			},
		},
	},
	[UR_QP_RTR] = {
		ANY_TO_RESET_ERR,
		[UR_QP_RTS] = {
			.valid = true,
			.required = {
				[UR_QPT_RC] = TIMEOUT | RETRY | RNR | SQ_PSN |
					      RD_OUT,
				[UR_QPT_UC] = SQ_PSN,
				[UR_QPT_UD] = SQ_PSN,
				[UR_QPT_XRC_INI] = TIMEOUT | RETRY | RNR |
						   SQ_PSN | RD_OUT,
				[UR_QPT_XRC_TGT] = TIMEOUT | SQ_PSN,
			},
			.optional = {
				[UR_QPT_RC] = CUR | ALT | ACCESS | RNR_TIMER |
					      MIG | RATE,
				[UR_QPT_UC] = CUR | ALT | ACCESS | MIG | RATE,
				[UR_QPT_UD] = CUR | QKEY | RATE,
				[UR_QPT_RAW_PACKET] = RATE,
				[UR_QPT_XRC_INI] = CUR | ALT | ACCESS | MIG,
				[UR_QPT_XRC_TGT] = CUR | ALT | ACCESS |
						   RNR_TIMER | MIG,
			},
		},
	},
	[UR_QP_RTS] = {
		ANY_TO_RESET_ERR,
		[UR_QP_RTS] = {
			.valid = true,
			.optional = {
				[UR_QPT_RC] = CUR | ACCESS | ALT | MIG |
					      RNR_TIMER | RATE,
				[UR_QPT_UC] = CUR | ACCESS | ALT | MIG | RATE,
				[UR_QPT_UD] = CUR | QKEY | RATE,
				[UR_QPT_RAW_PACKET] = RATE,
				[UR_QPT_XRC_INI] = CUR | ACCESS | ALT | MIG,
				[UR_QPT_XRC_TGT] = CUR | ACCESS | ALT | MIG |
						   RNR_TIMER,
			},
		},
		[UR_QP_SQD] = {
			.valid = true,
			.optional = {
				[UR_QPT_RC] = SQD_NOTIFY,
				[UR_QPT_UC] = SQD_NOTIFY,
				[UR_QPT_UD] = SQD_NOTIFY,
				[UR_QPT_XRC_INI] = SQD_NOTIFY,
				[UR_QPT_XRC_TGT] = SQD_NOTIFY,
			},
		},
	},
	[UR_QP_SQD] = {
		ANY_TO_RESET_ERR,
		[UR_QP_RTS] = {
			.valid = true,
			.optional = {
				[UR_QPT_RC] = CUR | ALT | ACCESS | RNR_TIMER |
					      MIG,
				[UR_QPT_UC] = CUR | ALT | ACCESS | MIG,
				[UR_QPT_UD] = CUR | QKEY,
				[UR_QPT_XRC_INI] = CUR | ALT | ACCESS | MIG,
				[UR_QPT_XRC_TGT] = CUR | ALT | ACCESS |
						   RNR_TIMER | MIG,
			},
		},
		[UR_QP_SQD] = {
			.valid = true,
			.optional = {
				[UR_QPT_RC] = PORT | AV | TIMEOUT | RETRY |
					      RNR | RD_OUT | RD_IN | ALT |
					      ACCESS | PKEY | RNR_TIMER | MIG,
				[UR_QPT_UC] = AV | ALT | ACCESS | PKEY | MIG,
				[UR_QPT_UD] = PKEY | QKEY,
				[UR_QPT_XRC_INI] = PORT | AV | TIMEOUT |
						   RETRY | RNR | RD_OUT | ALT |
						   ACCESS | PKEY | MIG,
				[UR_QPT_XRC_TGT] = PORT | AV | TIMEOUT |
						   RD_IN | ALT | ACCESS |
						   PKEY | RNR_TIMER | MIG,
			},
		},
	},
	[UR_QP_SQE] = {
		ANY_TO_RESET_ERR,
		[UR_QP_RTS] = {
			.valid = true,
			.optional = {
				[UR_QPT_UC] = CUR | ACCESS,
				[UR_QPT_UD] = CUR | QKEY,
			},
		},
	},
	[UR_QP_ERR] = { ANY_TO_RESET_ERR },
};
/* clang-format on */

bool ur_qp_modify_allowed(enum ur_qp_state cur, enum ur_qp_state next,
			  enum ur_qp_type type, u32 mask)
{
	const struct ur_qp_transition *t;
	u32 required;

	if (cur >= UR_QP_STATES || next >= UR_QP_STATES || type >= UR_QP_TYPES)
		return false;
	if ((mask & CUR) && cur != UR_QP_RTR && cur != UR_QP_RTS &&
	    cur != UR_QP_SQD && cur != UR_QP_SQE)
		return false;
	t = &ur_qp_transitions[cur][next];
	if (!t->valid)
		return false;
	required = t->required[type];
	if ((mask & required) != required)
		return false;
	return !(mask & ~(required | t->optional[type] | UR_QP_ATTR_STATE));
}

/* ---- values ---- */

static bool mtu_valid(const struct ur_qp *qp, u32 mtu)
{
	return mtu >= 256 && mtu <= 4096 && (mtu & (mtu - 1)) == 0 &&
	       mtu <= qp->port->cfg.mtu_bytes;
}

static bool values_valid(const struct ur_qp *qp, const struct ur_qp_attr *a,
			 u32 mask)
{
	if ((mask & PORT) && a->port_num != 1)
		return false;
	if ((mask & PKEY) && a->pkey_index != 0)
		return false;
	if ((mask & AV) && !a->av)
		return false;
	if ((mask & MTU) && !mtu_valid(qp, a->path_mtu))
		return false;
	if ((mask & TIMEOUT) && a->timeout > 31)
		return false;
	if ((mask & RETRY) && a->retry_cnt > 7)
		return false;
	if ((mask & RNR) && a->rnr_retry > 7)
		return false;
	if ((mask & RNR_TIMER) && a->min_rnr_timer > 31)
		return false;
	if ((mask & RD_OUT) && a->max_rd_atomic > UR_MAX_RD_ATOMIC)
		return false;
	if ((mask & RD_IN) && a->max_dest_rd_atomic > UR_MAX_RD_ATOMIC)
		return false;
	if ((mask & DEST) && a->dest_qpn > UR_QPN_MASK)
		return false;
	/* RoCE has no path migration; only "migrated" (0) is valid. */
	if ((mask & ALT) || ((mask & MIG) && a->path_mig_state != 0))
		return false;
	return true;
}

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
	struct ur_qp_attr *q = &qp->attr;

	if (mask & ACCESS)
		q->access = a->access;
	if (mask & PKEY)
		q->pkey_index = a->pkey_index;
	if (mask & PORT)
		q->port_num = a->port_num;
	if (mask & QKEY)
		q->qkey = a->qkey;
	if (mask & AV) {
		set_av(qp, a->av);
		q->static_bps = a->static_bps;
	}
	if (mask & RATE)
		q->rate_limit = a->rate_limit;
	if (mask & MTU)
		set_mtu(qp, a->path_mtu);
	if (mask & TIMEOUT)
		set_timeout(qp, a->timeout);
	if (mask & RETRY)
		q->retry_cnt = a->retry_cnt;
	if (mask & RNR)
		q->rnr_retry = a->rnr_retry;
	if (mask & RNR_TIMER)
		q->min_rnr_timer = a->min_rnr_timer;
	if (mask & RD_OUT)
		q->max_rd_atomic = a->max_rd_atomic;
	if (mask & RD_IN)
		q->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & DEST)
		q->dest_qpn = a->dest_qpn;
	if (mask & SQ_PSN)
		set_sq_psn(qp, a->sq_psn);
	if (mask & RQ_PSN)
		set_rq_psn(qp, a->rq_psn);
	if (mask & SQD_NOTIFY)
		q->en_sqd_async_notify = a->en_sqd_async_notify;
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

/* The caller may name the present state. It may not know that the queue pair has entered SQE. */
int ur_qp_may_modify(const struct ur_qp *qp, const struct ur_qp_attr *attr,
		     u32 mask)
{
	enum ur_qp_state cur = qp->state;
	enum ur_qp_state next = mask & UR_QP_ATTR_STATE ? attr->state : cur;

	if ((mask & CUR) && attr->cur_state != cur)
		return -EINVAL;
	return ur_qp_modify_allowed(cur, next, qp->init.type, mask) ? 0
								    : -EINVAL;
}

int ur_qp_modify(struct ur_qp *qp, ur_time now, const struct ur_qp_attr *attr,
		 u32 mask)
{
	int err = ur_qp_may_modify(qp, attr, mask);

	if (!err && !values_valid(qp, attr, mask))
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

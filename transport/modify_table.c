// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The modify table: IBTA volume 1, 11.2.5.2 table 96, with the XRC columns of
 * annex A14 and the optional attributes that Linux verbs take. Data first,
 * then the interpreter, then the values of attributes.
 */
#include "transport/modify_table.h"
#include "transport/psn.h"

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
/* A move to a state: what a queue pair of each type needs for it, and may set besides. */
#define TO(state, ...)	  [UR_QP_##state] = {.valid = true, __VA_ARGS__}
#define NEEDS(...)	  .required = {__VA_ARGS__}
#define MAY(...)	  .optional = {__VA_ARGS__}
#define RC		  [UR_QPT_RC]
#define UC		  [UR_QPT_UC]
#define UD		  [UR_QPT_UD]
#define RAW		  [UR_QPT_RAW_PACKET]
#define XRC_INI		  [UR_QPT_XRC_INI]
#define XRC_TGT		  [UR_QPT_XRC_TGT]
#define ANY_TO_RESET_ERR  TO(RESET, ), TO(ERR, )

const struct ur_qp_transition
	ur_qp_transitions[UR_QP_STATES][UR_QP_STATES] = {
	[UR_QP_RESET] = {
		TO(RESET, ),
		TO(INIT,
		   NEEDS(RC = PKEY | PORT | ACCESS,
		         UC = PKEY | PORT | ACCESS,
		         UD = PKEY | PORT | QKEY,
		         RAW = PORT,
		         XRC_INI = PKEY | PORT | ACCESS,
		         XRC_TGT = PKEY | PORT | ACCESS)),
	},
	[UR_QP_INIT] = {
		ANY_TO_RESET_ERR,
		TO(INIT,
		   MAY(RC = PKEY | PORT | ACCESS,
		       UC = PKEY | PORT | ACCESS,
		       UD = PKEY | PORT | QKEY,
		       XRC_INI = PKEY | PORT | ACCESS,
		       XRC_TGT = PKEY | PORT | ACCESS)),
		TO(RTR,
		   NEEDS(RC = AV | MTU | DEST | RQ_PSN | RD_IN | RNR_TIMER,
		         UC = AV | MTU | DEST | RQ_PSN,
		         XRC_INI = AV | MTU | DEST | RQ_PSN,
		         XRC_TGT = AV | MTU | DEST | RQ_PSN | RD_IN | RNR_TIMER),
		   MAY(RC = ALT | ACCESS | PKEY,
		       UC = ALT | ACCESS | PKEY,
		       UD = PKEY | QKEY,
		       XRC_INI = ALT | ACCESS | PKEY,
		       XRC_TGT = ALT | ACCESS | PKEY)),
	},
	[UR_QP_RTR] = {
		ANY_TO_RESET_ERR,
		TO(RTS,
		   NEEDS(RC = TIMEOUT | RETRY | RNR | SQ_PSN | RD_OUT,
		         UC = SQ_PSN,
		         UD = SQ_PSN,
		         XRC_INI = TIMEOUT | RETRY | RNR | SQ_PSN | RD_OUT,
		         XRC_TGT = TIMEOUT | SQ_PSN),
		   MAY(RC = CUR | ALT | ACCESS | RNR_TIMER | MIG | RATE,
		       UC = CUR | ALT | ACCESS | MIG | RATE,
		       UD = CUR | QKEY | RATE,
		       RAW = RATE,
		       XRC_INI = CUR | ALT | ACCESS | MIG,
		       XRC_TGT = CUR | ALT | ACCESS | RNR_TIMER | MIG)),
	},
	[UR_QP_RTS] = {
		ANY_TO_RESET_ERR,
		TO(RTS,
		   MAY(RC = CUR | ACCESS | ALT | MIG | RNR_TIMER | RATE,
		       UC = CUR | ACCESS | ALT | MIG | RATE,
		       UD = CUR | QKEY | RATE,
		       RAW = RATE,
		       XRC_INI = CUR | ACCESS | ALT | MIG,
		       XRC_TGT = CUR | ACCESS | ALT | MIG | RNR_TIMER)),
		TO(SQD,
		   MAY(RC = SQD_NOTIFY,
		       UC = SQD_NOTIFY,
		       UD = SQD_NOTIFY,
		       XRC_INI = SQD_NOTIFY,
		       XRC_TGT = SQD_NOTIFY)),
	},
	[UR_QP_SQD] = {
		ANY_TO_RESET_ERR,
		TO(RTS,
		   MAY(RC = CUR | ALT | ACCESS | RNR_TIMER | MIG,
		       UC = CUR | ALT | ACCESS | MIG,
		       UD = CUR | QKEY,
		       XRC_INI = CUR | ALT | ACCESS | MIG,
		       XRC_TGT = CUR | ALT | ACCESS | RNR_TIMER | MIG)),
		TO(SQD,
		   MAY(RC = PORT | AV | TIMEOUT | RETRY | RNR | RD_OUT | RD_IN | ALT | ACCESS | PKEY | RNR_TIMER | MIG,
		       UC = AV | ALT | ACCESS | PKEY | MIG,
		       UD = PKEY | QKEY,
		       XRC_INI = PORT | AV | TIMEOUT | RETRY | RNR | RD_OUT | ALT | ACCESS | PKEY | MIG,
		       XRC_TGT = PORT | AV | TIMEOUT | RD_IN | ALT | ACCESS | PKEY | RNR_TIMER | MIG)),
	},
	[UR_QP_SQE] = {
		ANY_TO_RESET_ERR,
		TO(RTS,
		   MAY(UC = CUR | ACCESS,
		       UD = CUR | QKEY)),
	},
	[UR_QP_ERR] = {ANY_TO_RESET_ERR},
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

/* The caller may name the present state. It may not know that the queue pair has entered SQE. */
bool ur_qp_may(enum ur_qp_state cur, enum ur_qp_type type,
	       const struct ur_qp_attr *attr, u32 mask)
{
	enum ur_qp_state next = mask & UR_QP_ATTR_STATE ? attr->state : cur;

	return !((mask & CUR) && attr->cur_state != cur) &&
	       ur_qp_modify_allowed(cur, next, type, mask);
}

u32 ur_qp_own_attrs(enum ur_qp_type type, u32 mask)
{
	switch (type) {
	case UR_QPT_XRC_INI:
		return mask & ~(RD_IN | RNR_TIMER);
	case UR_QPT_XRC_TGT:
		return mask & ~(RD_OUT | RETRY | RNR);
	default:
		return mask;
	}
}

/* ---- values ---- */

static bool mtu_valid(u32 max_mtu, u32 mtu)
{
	return mtu >= 256 && mtu <= 4096 && (mtu & (mtu - 1)) == 0 &&
	       mtu <= max_mtu;
}

bool ur_qp_values_valid(u32 max_mtu, const struct ur_qp_attr *a, u32 mask)
{
	if ((mask & PORT) && a->port_num != 1)
		return false;
	if ((mask & PKEY) && a->pkey_index != 0)
		return false;
	if ((mask & MTU) && !mtu_valid(max_mtu, a->path_mtu))
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

void ur_qp_attr_take(struct ur_qp_attr *to, const struct ur_qp_attr *a,
		     u32 mask)
{
	if (mask & ACCESS)
		to->access = a->access;
	if (mask & PKEY)
		to->pkey_index = a->pkey_index;
	if (mask & PORT)
		to->port_num = a->port_num;
	if (mask & QKEY)
		to->qkey = a->qkey;
	if (mask & AV)
		to->static_bps = a->static_bps;
	if (mask & RATE)
		to->rate_limit = a->rate_limit;
	if (mask & MTU)
		to->path_mtu = a->path_mtu;
	if (mask & TIMEOUT)
		to->timeout = a->timeout;
	if (mask & RETRY)
		to->retry_cnt = a->retry_cnt;
	if (mask & RNR)
		to->rnr_retry = a->rnr_retry;
	if (mask & RNR_TIMER)
		to->min_rnr_timer = a->min_rnr_timer;
	if (mask & RD_OUT)
		to->max_rd_atomic = a->max_rd_atomic;
	if (mask & RD_IN)
		to->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & DEST)
		to->dest_qpn = a->dest_qpn;
	if (mask & SQ_PSN)
		to->sq_psn = a->sq_psn & UR_PSN_MASK;
	if (mask & RQ_PSN)
		to->rq_psn = a->rq_psn & UR_PSN_MASK;
	if (mask & SQD_NOTIFY)
		to->en_sqd_async_notify = a->en_sqd_async_notify;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads the state of queue pairs, whether their engine is here or in a program. */
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/lend_counters.h"
#include "transport/qp.h"
#include "util/assert.h"

struct look {
	struct ur_eqp *qp;
	struct ur_qp_attr attr;
};

static int look_at_qp(struct ur_engine *engine, void *arg)
{
	struct look *l = arg;

	ur_assert(l->qp->engine == engine);
	ur_qp_query(l->qp->qp, &l->attr);
	l->attr.av = NULL;
	return 0;
}

/* Only uroced grants slots. */
static bool is_shown(const struct ur_eqp *qp, u64 *shown)
{
	return ur_counters_lent_qp(qp->engine, qp->qpn, shown);
}

/* Takes the state as the program shows it, if it is possible. */
static void take_shown(struct ur_qp_attr *attr, const u64 *shown)
{
	if (shown[UR_QP_SHOWN_STATE] <= UR_QP_ERR)
		attr->state = (enum ur_qp_state)shown[UR_QP_SHOWN_STATE];
	if (shown[UR_QP_SHOWN_SQ_PSN] & UR_QP_SHOWN_SET)
		attr->sq_psn = (u32)shown[UR_QP_SHOWN_SQ_PSN] & 0xffffff;
}

void ur_eqp_look(struct ur_eqp *qp, struct ur_qp_attr *attr,
		 struct ur_eqp_init *init, struct ur_epath *path,
		 bool *have_path)
{
	struct look l = {.qp = qp};
	u64 shown[UR_QP_SHOWN];

	if (!qp->ends) {
		ur_engine_call(qp->engine, look_at_qp, &l);
		qp->seen = l.attr;
	}
	*attr = qp->seen;
	if (qp->init.away && is_shown(qp, shown))
		take_shown(attr, shown);
	*init = qp->init;
	*have_path = ur_eqp_path(qp, path);
}

static void tell_path(struct uroce_engine_qp *to, const struct ur_epath *path)
{
	memcpy(to->sgid, path->sgid, sizeof(to->sgid));
	memcpy(to->dgid, path->dgid, sizeof(to->dgid));
	to->sgid_index = path->sgid_index;
	to->flow_label = path->flow_label;
	to->traffic_class = path->traffic_class;
	to->hop_limit = path->hop_limit;
	to->nobodys = path->nobodys;
	to->sl = path->sl;
	to->v1 = path->v1;
	to->have_path = 1;
}

void ur_eqp_tell(struct ur_eqp *qp, struct uroce_engine_qp *to)
{
	struct ur_eqp_init init;
	struct ur_qp_attr attr;
	struct ur_epath path;
	bool have_path;

	ur_eqp_query(qp, &attr, &init, &path, &have_path);
	*to = (struct uroce_engine_qp){
		.state = attr.state,
		.path_mtu = attr.path_mtu,
		.qkey = attr.qkey,
		.rq_psn = attr.rq_psn,
		.sq_psn = attr.sq_psn,
		.dest_qpn = attr.dest_qpn,
		.access = attr.access,
		.rate_limit = attr.rate_limit,
		.max_rd_atomic = attr.max_rd_atomic,
		.max_dest_rd_atomic = attr.max_dest_rd_atomic,
		.min_rnr_timer = attr.min_rnr_timer,
		.timeout = attr.timeout,
		.retry_cnt = attr.retry_cnt,
		.rnr_retry = attr.rnr_retry,
		.en_sqd_async_notify = attr.en_sqd_async_notify,
		.sq_draining = attr.sq_draining,
		.static_bps = attr.static_bps,
		.cur_state = ur_qp_is_shown(qp->qp) ? UROCE_ENGINE_QP_SHOWN : 0,
	};
	if (have_path)
		tell_path(to, &path);
}

void ur_eqp_counters(const struct ur_eqp *qp, u64 *values)
{
	u64 shown[UR_QP_SHOWN];
	const u64 *live;

	memset(values, 0, UR_QP_CNT_COUNT * sizeof(*values));
	if (qp->init.away) {
		if (is_shown(qp, shown))
			memcpy(values, shown,
			       UR_QP_CNT_COUNT * sizeof(*values));
		return;
	}
	if (qp->ends)
		return;
	live = ur_qp_counters(qp->qp);
	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		values[i] = __atomic_load_n(&live[i], __ATOMIC_RELAXED);
}

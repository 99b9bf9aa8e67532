// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Raw packets of an engine in a program: its sockets, flow rules, and work queues, each of which is
 * a queue pair that only receives. Control has checked their attributes. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/inproc/ops/process.h"
#include "util/os/high_fd.h"

_Static_assert(sizeof(struct ur_flow_key) ==
			       sizeof(((struct uroce_engine_flow *)0)->key) &&
		       sizeof(struct ur_ecounters) ==
			       sizeof(struct uroce_eflow_counts),
	       "they are the engine's");

/* ---- sockets ---- */

int ur_process_has_raw(struct uroce_ectx *ctx, struct uroce_call *call)
{
	return ur_engine_has_raw(ctx->engine);
}

int ur_process_use_raw(struct uroce_ectx *ctx, struct uroce_call *call)
{
	int fd[UR_RAW_SOCKETS], err = 0;

	for (u32 i = 0; i < UR_RAW_SOCKETS; i++) {
		fd[i] = ur_high_fd_copy(call->fds[i]);
		if (fd[i] < 0)
			err = fd[i];
	}
	if (!err)
		err = ur_engine_use_raw(ctx->engine, fd);
	for (u32 i = 0; err && i < UR_RAW_SOCKETS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}

/* ---- flow rules ---- */

struct uroce_eflow {
	struct uroce_ectx *ctx;
	struct uroce_eqp *qp;
	struct ur_eflow *flow;
};

int ur_process_create_flow(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_engine_flow *in = &call->msg.flow;
	struct uroce_eqp *qp = call->it;
	struct ur_eflow_attr attr = {
		.type = (enum ur_flow_type)in->type,
		.priority = in->priority,
		.dont_trap = in->dont_trap,
		.allow_loop_back = in->allow_loop_back,
		.drop = in->drop,
		.qp = qp->qp,
		.counters = (struct ur_ecounters *)call->counts,
	};
	struct uroce_eflow *flow = calloc(1, sizeof(*flow));
	int err;

	if (!flow)
		return -ENOMEM;
	memcpy(&attr.key, in->key, sizeof(attr.key));
	memcpy(&attr.mask, in->mask, sizeof(attr.mask));
	flow->ctx = ctx;
	flow->qp = qp;
	err = ur_eflow_create(ctx->engine, &attr, &flow->flow);
	qp->users += !err;
	return ur_process_made(call, flow, err);
}

int ur_process_destroy_flow(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eflow *flow = call->it;

	ur_eflow_destroy(flow->flow);
	flow->qp->users--;
	free(flow);
	return 0;
}

/* ---- work queues ---- */

int ur_process_modify_wq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_eqp *wq = call->it;
	int err = ur_ewq_modify(wq->qp, (enum ur_wq_state)wq->wq_state,
				(enum ur_wq_state)call->msg.value);

	if (!err)
		wq->wq_state = call->msg.value;
	return err;
}

static int spread(struct uroce_eqp *qp, const struct uroce_eqp_rss *rss)
{
	struct ur_rss_conf conf = {.fields = rss->fields, .size = rss->size};
	struct ur_eqp *wq[UR_RSS_TABLE_MAX];
	int err;

	if (!rss->size || rss->size > UR_RSS_TABLE_MAX)
		return -EINVAL;
	qp->table = calloc(rss->size, sizeof(struct uroce_eqp *));
	if (!qp->table)
		return -ENOMEM;
	memcpy(conf.key, rss->key, sizeof(conf.key));
	for (u32 i = 0; i < rss->size; i++)
		wq[i] = rss->wq[i]->qp;
	err = ur_eqp_spread(qp->qp, &conf, wq);
	if (err)
		return err;
	qp->table_size = rss->size;
	for (u32 i = 0; i < rss->size; i++) {
		qp->table[i] = rss->wq[i];
		qp->table[i]->users++;
	}
	return 0;
}

int ur_process_spread(struct uroce_eqp *qp, const struct uroce_eqp_rss *rss)
{
	struct ur_events_left none;
	int err = spread(qp, rss);

	if (err) {
		free(qp->table);
		ur_eqp_destroy(qp->qp, &none);
	}
	return err;
}

void ur_process_unspread(struct uroce_eqp *qp)
{
	for (u32 i = 0; i < qp->table_size; i++)
		qp->table[i]->users--;
	free(qp->table);
}

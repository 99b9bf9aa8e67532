// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC target queue pairs of an engine in a program. A target belongs to its domain. Each opener, including the
 * creator, gets its events; the end of the last one destroys it. It is found by its number, in all contexts of
 * the engine.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine/inproc/ops/process.h"
#include "util/assert.h"

static void put(struct ur_process_target *t)
{
	struct ur_events_left none;

	ur_assert(t->openers);
	if (--t->openers)
		return;
	ur_eqp_destroy(t->qp, &none);
	free(t);
}

static int add_opener(struct uroce_eqp *qp, struct ur_process_target *t,
		      u64 user_handle)
{
	int err = ur_eqp_open(t->qp, qp->ctx->async, user_handle, &qp->ref);

	if (err)
		return err;
	t->openers++;
	qp->target = t;
	qp->qp = t->qp;
	return 0;
}

int ur_process_make_target(struct uroce_eqp *qp,
			   const struct uroce_eqp_init *in,
			   struct uroce_create_qp_resp *resp)
{
	struct ur_process_target *t = calloc(1, sizeof(*t));
	struct ur_eqp_init init = {
		.type = UR_QPT_XRC_TGT,
		.qpn = in->qpn,
		.xrcd = in->xrcdn,
		.owner = t,
	};
	int err;

	if (!t)
		return -ENOMEM;
	t->xrcdn = in->xrcdn;
	t->openers = 1; /* a reference until add_opener() has its own */
	err = ur_eqp_create(qp->ctx->ectx, &init, &t->qp, resp);
	if (err) {
		free(t);
		return err;
	}
	err = add_opener(qp, t, in->user_handle);
	put(t);
	return err;
}

int ur_process_open_target(struct uroce_eqp *qp,
			   const struct uroce_eqp_init *in)
{
	/* No other queue pair has an owner here. */
	struct ur_process_target *t =
		ur_engine_qp_owner(qp->ctx->engine, in->qpn);

	return t && t->xrcdn == in->xrcdn ? add_opener(qp, t, in->user_handle)
					  : -ENOENT;
}

void ur_process_close_target(struct uroce_eqp *qp, struct ur_events_left *async)
{
	ur_eqp_close(qp->ref, async);
	put(qp->target);
}

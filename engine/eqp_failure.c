// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Keeps the reason for which a queue pair failed, until it is reset or
 * destroyed. */
#include <string.h>
#include "engine/shards.h"
#include "transport/qp.h"

/* The kernel refused packets not long ago. */
#define SEND_ERROR_NS 10000000000ull

void ur_host_qp_failed(void *qp_ctx, const struct ur_failure *failure)
{
	struct ur_eqp *qp = qp_ctx;
	struct ur_failure *kept = &qp->failure[failure->peers];
	const struct ur_av *av = ur_port_qp_av(qp->engine->port, qp->qpn);

	/* The first is the cause, where nothing goes on after it. */
	if (kept->at && (qp->type == UR_QPT_RC || qp->type == UR_QPT_XRC_INI ||
			 qp->type == UR_QPT_XRC_TGT))
		return;
	*kept = *failure;
	if (!kept->at)
		kept->at = 1;
	if (av && av->send_error &&
	    failure->at - av->send_error_at < SEND_ERROR_NS)
		kept->send_error = av->send_error;
}

static int take_failure(struct ur_engine *engine, struct ur_eqp *qp, bool peers,
			struct ur_failure *failure)
{
	*failure = qp->failure[peers];
	return failure->at != 0;
}
UR_ENGINE_CALL(3, take_failure, struct ur_eqp *, bool, struct ur_failure *);

bool ur_eqp_failure(struct ur_eqp *qp, bool peers, struct ur_failure *failure)
{
	return call_take_failure(qp->engine, qp, peers, failure);
}

static int find_qp(struct ur_engine *engine, u32 qpn, void **owner)
{
	const struct ur_qp *qp = ur_qp_lookup(engine->port, qpn);
	const struct ur_eqp *eqp = qp ? qp->init.ctx : NULL;

	*owner = eqp ? eqp->init.owner : NULL;
	return 0;
}
UR_ENGINE_CALL(2, find_qp, u32, void **);

void *ur_engine_qp_owner(struct ur_engine *engine, u32 qpn)
{
	void *owner;

	call_find_qp(ur_shards_of(engine, qpn), qpn, &owner);
	return owner;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Keeps the reason for which a queue pair failed, until it is reset or
 * destroyed. */
#include <pthread.h>
#include <string.h>
#include "engine/core/call.h"
#include "engine/core/engine_impl.h"
#include "engine/grant/lend_failures.h"
#include "transport/qp.h"

/* For so long a packet refused by the kernel counts as the cause of a failure. */
#define SEND_ERROR_NS 10000000000ull

void ur_host_qp_failed(void *qp_ctx, const struct ur_failure *failure)
{
	struct ur_eqp *qp = qp_ctx;
	struct ur_failure *kept = &qp->failure[failure->peers], now = *failure;
	const struct ur_av *av = ur_port_qp_av(qp->engine->port, qp->qpn);

	/* If the first failure stops the queue pair, it is the cause of the others. */
	if (kept->at && (qp->type == UR_QPT_RC || qp->type == UR_QPT_XRC_INI ||
			 qp->type == UR_QPT_XRC_TGT))
		return;
	if (!now.at)
		now.at = 1;
	if (av && av->send_error &&
	    failure->at - av->send_error_at < SEND_ERROR_NS)
		now.send_error = av->send_error;
	pthread_mutex_lock(&qp->failure_lock);
	*kept = now;
	pthread_mutex_unlock(&qp->failure_lock);
	if (qp->engine->guest.counters)
		ur_failures_show(qp->engine->guest.counters, qp->qpn, &now);
}

void ur_eqp_forget_failures(struct ur_eqp *qp)
{
	pthread_mutex_lock(&qp->failure_lock);
	memset(qp->failure, 0, sizeof(qp->failure));
	pthread_mutex_unlock(&qp->failure_lock);
	if (qp->engine->guest.counters)
		ur_failures_forget(qp->engine->guest.counters, qp->qpn);
}

bool ur_eqp_failure(struct ur_eqp *qp, bool peers, struct ur_failure *failure)
{
	if (qp->init.away)
		return ur_failures_lent(qp->engine, qp->qpn, peers, failure);
	pthread_mutex_lock(&qp->failure_lock);
	*failure = qp->failure[peers];
	pthread_mutex_unlock(&qp->failure_lock);
	return failure->at != 0;
}

static int set_owner(struct ur_engine *engine, struct ur_eqp *qp, void *owner)
{
	ur_assert(qp->engine == engine);
	qp->init.owner = owner;
	return 0;
}
UR_ENGINE_CALL(2, set_owner, struct ur_eqp *, void *);

void ur_eqp_set_owner(struct ur_eqp *qp, void *owner)
{
	call_set_owner(qp->engine, qp, owner);
}

struct find {
	u32 qpn;
	void *owner;
};

static int find_qp(struct ur_engine *engine, void *arg)
{
	struct find *f = arg;
	const struct ur_qp *qp = ur_qp_lookup(engine->port, f->qpn);
	const struct ur_eqp *eqp = qp ? qp->init.ctx : NULL;

	f->owner = eqp ? eqp->init.owner : NULL;
	return 0;
}

void *ur_engine_qp_owner(struct ur_engine *engine, u32 qpn)
{
	struct find f = {.qpn = qpn};

	ur_engine_call(engine, find_qp, &f);
	return f.owner;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Keeps the reason for which a queue pair failed, until it is reset or
 * destroyed. */
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_failures.h"
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
	*kept = now;
	if (qp->engine->inproc.counters)
		ur_failures_show(qp->engine->inproc.counters, qp->qpn, &now);
}

void ur_eqp_forget_failures(struct ur_eqp *qp)
{
	memset(qp->failure, 0, sizeof(qp->failure));
	if (qp->engine->inproc.counters)
		ur_failures_forget(qp->engine->inproc.counters, qp->qpn);
}

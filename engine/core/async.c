// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Asynchronous events of QPs, CQs and SRQs, each counted with its object. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "util/assert.h"

static int destroy_async(struct ur_engine *engine, struct ur_easync *async)
{
	int rx;

	ur_assert(async->sock.engine == engine);
	ur_list_del(&async->program_node);
	rx = ur_evsock_close(&async->sock);
	free(async);
	return rx;
}
UR_ENGINE_CALL(1, destroy_async, struct ur_easync *);

int ur_easync_destroy(struct ur_easync *async)
{
	return call_destroy_async(async->sock.engine, async);
}

void ur_host_srq_event(void *srq_ctx, enum ur_event ev)
{
	struct ur_esrq *srq = srq_ctx;

	if (srq->async)
		ur_evsock_send(&srq->async->sock, &srq->async_src, (u32)ev);
}

void ur_host_qp_event(void *qp_ctx, enum ur_event ev)
{
	struct ur_eqp *qp = qp_ctx;

	if (qp->init.wq)
		ev = UR_EVENT_WQ_FATAL;
	ur_list_for_each(it, &qp->refs) {
		struct ur_eqp_ref *ref =
			ur_list_entry(it, struct ur_eqp_ref, node);

		ur_evsock_send(&ref->async->sock, &ref->src, (u32)ev);
	}
}

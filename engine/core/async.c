// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Asynchronous events: of QPs, CQs and SRQs (each counted with its object),
 * and of the port and the device. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "util/assert.h"

int ur_easync_create(struct ur_ectx *ectx, struct ur_easync **async, int *fd)
{
	struct ur_easync *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	err = ur_evsock_open(&a->sock, ectx->engine, true);
	if (err) {
		free(a);
		return err;
	}
	ur_list_init(&a->borrowed);
	ur_evsrc_init(&a->loose, 0);
	ur_list_add_tail(&ectx->asyncs, &a->node);
	*async = a;
	*fd = a->sock.rx;
	return 0;
}

static int destroy_async(struct ur_engine *engine, struct ur_easync *async)
{
	int rx;

	ur_assert(async->sock.engine == engine);
	ur_list_del(&async->borrowed);
	rx = ur_evsock_close(&async->sock);
	free(async);
	return rx;
}
UR_ENGINE_CALL(1, destroy_async, struct ur_easync *);

int ur_easync_destroy(struct ur_easync *async)
{
	ur_list_del(&async->node);
	return call_destroy_async(async->sock.engine, async);
}

static int push(struct ur_engine *engine, struct ur_easync *async, u64 element,
		u32 type)
{
	ur_assert(async->sock.engine == engine);
	/* One source for all: the element is the port number, and the device has
	 * one port. */
	async->loose.element = element;
	ur_evsock_send(&async->sock, &async->loose, type);
	return 0;
}
UR_ENGINE_CALL(3, push, struct ur_easync *, u64, u32);

void ur_easync_push(struct ur_easync *async, u64 element, u32 type)
{
	call_push(async->sock.engine, async, element, type);
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
	if (ev == UR_EVENT_COMM_EST)
		ur_engine_tell_qp_event(qp->engine, qp->qpn, ev);
}

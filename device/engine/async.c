// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Asynchronous events: of QPs, CQs and SRQs (each counted with its object),
 * and of the port and the device. */
#include <errno.h>
#include <stdlib.h>
#include "device/engine/engine_impl.h"

int ur_easync_create(struct ur_engine *engine, struct ur_easync **async,
		     int *fd)
{
	struct ur_easync *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return -ENOMEM;
	ret = ur_evsock_open(&a->sock, engine, true);
	if (ret) {
		free(a);
		return ret;
	}
	ur_evsrc_init(&a->loose, 0);
	*async = a;
	*fd = a->sock.rx;
	return 0;
}

static int destroy_async(struct ur_engine *engine, void *arg)
{
	struct ur_easync *a = arg;

	ur_evsock_close(&a->sock);
	free(a);
	return 0;
}

void ur_easync_destroy(struct ur_easync *async)
{
	ur_engine_call(async->sock.engine, destroy_async, async);
}

struct push_args {
	struct ur_easync *async;
	u64 element;
	u32 type;
};

static int push(struct ur_engine *engine, void *arg)
{
	struct push_args *p = arg;

	/* One source for all: the device has one port, whose number is the
	 * element of everything that comes here. */
	p->async->loose.element = p->element;
	ur_evsock_send(&p->async->sock, &p->async->loose, p->type);
	return 0;
}

void ur_easync_push(struct ur_easync *async, u64 element, u32 type)
{
	struct push_args p = {async, element, type};

	ur_engine_call(async->sock.engine, push, &p);
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

	ur_list_for_each(it, &qp->refs) {
		struct ur_eqp_ref *ref =
			ur_list_entry(it, struct ur_eqp_ref, node);

		ur_evsock_send(&ref->async->sock, &ref->src, (u32)ev);
	}
	if (ev == UR_EVENT_COMM_EST)
		ur_engine_tell_qp_event(qp->engine, qp->qpn, ev);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared receive queues, basic and XRC: their life, limit and failure. The
 * rings are the host's.
 */
#include "transport/internal.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

int ur_srq_create(struct ur_port *port, const struct ur_srq_attr *attr,
		  struct ur_srq **srq)
{
	struct ur_srq *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->port = port;
	s->attr = *attr;
	s->limit_armed = attr->limit != 0;
	s->srqn = attr->srqn;
	err = s->srqn ? ur_table_put(&port->srqs, s, s->srqn)
		      : ur_table_add(&port->srqs, s, &s->srqn);
	if (err) {
		free(s);
		return err;
	}
	*srq = s;
	return 0;
}

int ur_srq_destroy(struct ur_srq *srq)
{
	if (srq->users)
		return -EBUSY;
	ur_assert(ur_table_lookup(&srq->port->srqs, srq->srqn) == srq);
	ur_table_remove(&srq->port->srqs, srq->srqn);
	free(srq);
	return 0;
}

void ur_srq_set_limit(struct ur_srq *srq, u32 limit)
{
	srq->attr.limit = limit;
	srq->limit_armed = limit != 0;
}

u32 ur_srq_limit(const struct ur_srq *srq)
{
	return srq->limit_armed ? srq->attr.limit : 0;
}

u32 ur_srq_number(const struct ur_srq *srq)
{
	return srq->srqn;
}

void ur_srq_kick(struct ur_srq *srq)
{
	/* Nobody waits for receives of an SRQ: the sender has its RNR timer. */
	if (srq->port->ops->rq_want_kick)
		srq->port->ops->rq_want_kick(srq->attr.rq_ctx, false);
}

void ur_srq_taken(struct ur_srq *srq)
{
	if (!srq->limit_armed ||
	    srq->port->ops->rq_count(srq->attr.rq_ctx) >= srq->attr.limit)
		return;
	/* IBTA 10.2.9.3: once; the limit reads zero until it is set again. */
	srq->limit_armed = false;
	srq->port->ops->srq_event(srq->attr.ctx, UR_EVENT_SRQ_LIMIT_REACHED);
}

void ur_srq_fail(struct ur_srq *srq)
{
	if (srq->dead)
		return;
	srq->dead = true;
	srq->port->ops->srq_event(srq->attr.ctx, UR_EVENT_SRQ_ERR);
}

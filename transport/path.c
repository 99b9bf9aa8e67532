// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The queue pairs of a path: those of one owner that send to one address. */
#include "transport/path_impl.h"
#include "util/assert.h"

#include <stdlib.h>

/* All members are visited when a window begins or ends, and in silence; further
 * queue pairs form another path to the same address. */
#define MEMBERS_MAX 1024

static struct ur_path **list_of(struct ur_port *port, const struct ur_av *av,
				u32 owner)
{
	const u64 *key = port->path_key;
	u64 sum = ur_path_hash(port, av->dgid, owner);

	for (u32 i = 0; i < 4; i++)
		sum += key[4 + i] * ur_get_be32(av->sgid + 4 * i);
	return &port->paths[sum >> (64 - UR_PATHS_BITS)];
}

static struct ur_path *find(struct ur_path *p, const struct ur_av *av,
			    u32 owner)
{
	while (p &&
	       (p->owner != owner || p->members_count == MEMBERS_MAX ||
		memcmp(p->dgid, av->dgid, 16) || memcmp(p->sgid, av->sgid, 16)))
		p = p->next;
	return p;
}

static struct ur_path *create(struct ur_path **list, struct ur_port *port,
			      const struct ur_av *av, u32 owner)
{
	struct ur_path *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->port = port;
	p->owner = owner;
	memcpy(p->dgid, av->dgid, 16);
	memcpy(p->sgid, av->sgid, 16);
	p->held = true;
	ur_path_window_init(&p->window, port->now);
	ur_list_init(&p->members);
	ur_list_init(&p->waiting);
	ur_list_init(&p->fresh);
	p->list = list;
	ur_path_marks_init(p, av);
	p->next = *list;
	*list = p;
	return p;
}

static void destroy(struct ur_path *p)
{
	struct ur_path **at = p->list;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	ur_path_marks_fini(p);
	free(p);
}

void ur_path_leave(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	if (!p)
		return;
	ur_path_drop(qp);
	ur_path_marks_left(p, qp);
	ur_list_del(&qp->share.link);
	qp->share.path = NULL;
	qp->share.held = false;
	qp->req.patience = UR_PROBE_MIN_NS;
	ur_assert(p->members_count);
	if (!--p->members_count)
		destroy(p);
}

void ur_path_join(struct ur_qp *qp)
{
	const struct ur_av *av = qp->attr.av;
	u32 owner = qp->init.owner;
	struct ur_path *p, **list;

	ur_path_leave(qp);
	if (!qp->port->cfg.path || !ur_qp_is_reliable(qp) || !av || av->loop)
		return;
	list = list_of(qp->port, av, owner);
	p = find(*list, av, owner);
	if (!p)
		p = create(list, qp->port, av, owner);
	if (!p)
		return;
	p->members_count++;
	ur_list_add_tail(&p->members, &qp->share.link);
	qp->share.path = p;
	qp->share.held = p->held;
	qp->share.turn = qp->share.owed = qp->share.out = 0;
	qp->share.fresh_at = p->sent;
	qp->share.weight = UR_PATH_PACKET;
	qp->share.stale = 0;
	qp->share.doubt = false;
	qp->share.cuts = p->window.cuts;
	qp->share.cut.set = false; /* the first PSN may be set later */
	qp->share.need = 1;
	qp->share.cnp_at = 0;
	qp->share.cnps = 0;
	qp->share.cnp_open = false;
	if (p->held)
		ur_path_set_out(p, qp, ur_path_in_flight(qp));
}

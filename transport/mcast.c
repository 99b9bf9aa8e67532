// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups: which UD queue pairs get a copy. IBTA volume 1, 10.5.
 */
#include "transport/internal.h"
#include "transport/frame.h"
#include "transport/mcast.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

struct ur_mcast_group *ur_mcast_find(struct ur_port *port, const u8 gid[16])
{
	ur_list_for_each(it, &port->mcast) {
		struct ur_mcast_group *g =
			ur_list_entry(it, struct ur_mcast_group, list);

		if (memcmp(g->gid, gid, 16) == 0)
			return g;
	}
	return NULL;
}

static struct ur_mcast_member *find_member(struct ur_mcast_group *g,
					   const struct ur_qp *qp)
{
	ur_list_for_each(it, &g->members) {
		struct ur_mcast_member *m =
			ur_list_entry(it, struct ur_mcast_member, list);

		if (m->qp == qp)
			return m;
	}
	return NULL;
}

static u32 length(struct ur_list *list)
{
	u32 n = 0;

	ur_list_for_each(it, list)
		n++;
	return n;
}

static void free_if_empty(struct ur_mcast_group *g)
{
	if (ur_list_empty(&g->members)) {
		ur_list_del(&g->list);
		free(g);
	}
}

int ur_mcast_attach(struct ur_qp *qp, const u8 gid[16])
{
	struct ur_mcast_group *g;
	struct ur_mcast_member *m;

	if (qp->init.type != UR_QPT_UD || !ur_gid_is_mcast(gid))
		return -EINVAL;
	g = ur_mcast_find(qp->port, gid);
	if (g && find_member(g, qp))
		return 0;
	if (g ? length(&g->members) >= UR_MCAST_MEMBERS_MAX
	      : length(&qp->port->mcast) >= UR_MCAST_GROUPS_MAX)
		return -ENOMEM;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g) {
			free(m);
			return -ENOMEM;
		}
		memcpy(g->gid, gid, 16);
		ur_list_init(&g->members);
		ur_list_add_tail(&qp->port->mcast, &g->list);
	}
	m->qp = qp;
	ur_list_add_tail(&g->members, &m->list);
	qp->attached++;
	return 0;
}

static void remove_member(struct ur_mcast_member *m)
{
	ur_assert(m->qp->attached);
	m->qp->attached--;
	ur_list_del(&m->list);
	free(m);
}

int ur_mcast_detach(struct ur_qp *qp, const u8 gid[16])
{
	struct ur_mcast_group *g = ur_mcast_find(qp->port, gid);
	struct ur_mcast_member *m = g ? find_member(g, qp) : NULL;

	if (!m)
		return -EINVAL;
	remove_member(m);
	free_if_empty(g);
	return 0;
}

u32 ur_qp_attached(const struct ur_qp *qp)
{
	return qp->attached;
}

void ur_mcast_fini(struct ur_port *port)
{
	ur_list_for_each_safe(it, &port->mcast) {
		struct ur_mcast_group *g =
			ur_list_entry(it, struct ur_mcast_group, list);

		ur_list_for_each_safe(mt, &g->members)
			remove_member(ur_list_entry(mt, struct ur_mcast_member,
						    list));
		free_if_empty(g);
	}
}

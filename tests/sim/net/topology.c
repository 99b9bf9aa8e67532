// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hosts and switches, joined. */
#include "tests/check.h"
#include "tests/sim/net/net.h"

void net_star(struct net *n, const struct net_switch *sw, u64 bps,
	      ur_time delay)
{
	n->sw[0].sw = *sw;
	for (u32 i = 0; i < n->n_hosts; i++) {
		net_join(&n->sw[0], i, &n->host[i].node, 0, bps, delay);
		n->sw[0].to[i] = (u8)i;
	}
}

void net_clos(struct net *n, const struct net_switch *sw,
	      const struct net_tiers *t)
{
	u32 each = n->n_hosts / t->leaves;

	CHECK_EQ(each * t->leaves, n->n_hosts);
	CHECK(t->leaves + t->spines <= n->n_switches);
	for (u32 i = 0; i < t->leaves + t->spines; i++) {
		n->sw[i].sw = *sw;
		n->sw[i].salt = i + 1;
	}
	for (u32 h = 0; h < n->n_hosts; h++)
		net_join(&n->sw[h / each], h % each, &n->host[h].node, 0,
			 t->bps, t->delay);
	for (u32 l = 0; l < t->leaves; l++)
		for (u32 s = 0; s < t->spines; s++)
			net_join(&n->sw[l], each + s, &n->sw[t->leaves + s], l,
				 t->up_bps, t->delay);
	for (u32 h = 0; h < n->n_hosts; h++) {
		for (u32 l = 0; l < t->leaves; l++) {
			bool below = h / each == l;

			n->sw[l].to[h] = (u8)(below ? h % each : each);
			n->sw[l].paths[h] = (u8)(below ? 1 : t->spines);
		}
		for (u32 s = 0; s < t->spines; s++)
			n->sw[t->leaves + s].to[h] = (u8)(h / each);
	}
}

void net_ring(struct net *n, const struct net_switch *sw, u32 switches, u64 bps,
	      ur_time delay)
{
	u32 each = n->n_hosts / switches;

	CHECK_EQ(each * switches, n->n_hosts);
	for (u32 i = 0; i < switches; i++) {
		n->sw[i].sw = *sw;
		net_join(&n->sw[i], each, &n->sw[(i + 1) % switches], each + 1,
			 bps, delay);
	}
	for (u32 h = 0; h < n->n_hosts; h++) {
		net_join(&n->sw[h / each], h % each, &n->host[h].node, 0, bps,
			 delay);
		for (u32 i = 0; i < switches; i++)
			n->sw[i].to[h] = (u8)(h / each == i ? h % each : each);
	}
}

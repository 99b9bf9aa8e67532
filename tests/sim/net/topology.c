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

void net_clos(struct net *n, const struct net_switch *sw, u32 leaves,
	      u32 spines, u64 bps, ur_time delay)
{
	u32 each = n->n_hosts / leaves;

	CHECK_EQ(each * leaves, n->n_hosts);
	CHECK(leaves + spines <= n->n_switches);
	for (u32 i = 0; i < leaves + spines; i++) {
		n->sw[i].sw = *sw;
		n->sw[i].salt = i + 1;
	}
	for (u32 h = 0; h < n->n_hosts; h++)
		net_join(&n->sw[h / each], h % each, &n->host[h].node, 0, bps,
			 delay);
	for (u32 l = 0; l < leaves; l++)
		for (u32 s = 0; s < spines; s++)
			net_join(&n->sw[l], each + s, &n->sw[leaves + s], l,
				 bps, delay);
	for (u32 h = 0; h < n->n_hosts; h++) {
		for (u32 l = 0; l < leaves; l++) {
			bool below = h / each == l;

			n->sw[l].to[h] = (u8)(below ? h % each : each);
			n->sw[l].paths[h] = (u8)(below ? 1 : spines);
		}
		for (u32 s = 0; s < spines; s++)
			n->sw[leaves + s].to[h] = (u8)(h / each);
	}
}

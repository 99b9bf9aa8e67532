// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One link, any number of flows over it. */
#include "tests/sim/net/link.h"
#include "tests/sim/net/rows.h"

static void start(struct net *n, u32 i, const struct link *l)
{
	n->flow[i] = (struct net_flow){
		.from = &n->host[0],
		.to = &n->host[1],
		.opcode = l->opcode,
		.bytes = l->bytes,
		.depth = l->depth,
		.end = UR_NEVER,
	};
	net_flow_start(&n->flow[i]);
}

/* Data goes to host 1, or comes from there: the queue is where it leaves the
 * switch. */
static struct net_port *build(struct net *n, const struct link *l)
{
	bool read = l->opcode == UR_WR_READ;
	u32 slow = read ? 0 : 1;

	for (u32 i = 0; i < 2; i++) {
		net_join(&n->sw[0], i, &n->host[i].node, 0,
			 i == slow ? l->bps : 0, l->delay);
		n->host[i].node.port[0].bps = 0;
		n->sw[0].to[i] = (u8)i;
	}
	n->sw[0].sw.buffer = 64u << 20;
	n->sw[0].sw.port_limit = l->queue;
	n->sw[0].sw.lose = l->lose;
	return &n->sw[0].port[slow];
}

struct link_row link_run(const struct link *l)
{
	struct net_config cfg = {
		.control = l->control,
		.cost = 500,
		.turn = 5000,
		.nic_bytes = 64u << 10,
	};
	struct net *n = net_new(&cfg, 2, 1, l->flows);
	struct net_port *out = build(n, l);
	ur_time length = l->length ? l->length : 1000 * MS;
	struct link_row r = {0};

	for (u32 i = 0; i < n->n_flows; i++)
		start(n, i, l);
	net_run(n, length);
	r.goodput = rows_part(net_packets(n), l->bps ? l->bps : G, length);
	r.loss = (double)out->dropped /
		 (double)(out->dropped + out->passed / NET_FRAME_BYTES + 1);
	r.broken = net_broken(n);
	r.jain = net_jain(n);
	net_free(n);
	return r;
}

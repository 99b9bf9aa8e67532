// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The common part of the experiments. */
#include "tests/sim/net/rows.h"

/* A step adds a part of the line's rate, as in the paper on DCQCN: a
 * thousandth, and a hundredth. */
static struct ur_cc_config dcqcn(u64 bps)
{
	return (struct ur_cc_config){
		.link_bps = bps,
		.ai_bps = bps / 1000,
		.hai_bps = bps / 100,
	};
}

struct net_config rows_software(enum net_control control, u64 bps)
{
	return (struct net_config){
		.control = control,
		.cc = dcqcn(bps),
		.cost = 500,
		.turn = 5000,
		.nic_bytes = 64u << 10,
	};
}

struct net_config rows_adapter(enum net_control control, u64 bps)
{
	return (struct net_config){
		.control = control,
		.cc = dcqcn(bps),
		.cost = 50,
		.turn = 500,
		.nic_bytes = 16u << 10,
		.window_pkts = 512,
		.own_ports = true,
	};
}

struct net_flow *rows_flow(struct net *n, u32 i, u32 from, u32 to,
			   ur_time start, ur_time end)
{
	u32 label = n->flow[i].label;
	u8 sl = n->flow[i].sl;

	n->flow[i] = (struct net_flow){
		.label = label,
		.sl = sl,
		.from = &n->host[from],
		.to = &n->host[to],
		.opcode = UR_WR_WRITE,
		.bytes = 65536,
		.depth = 32,
		.start = start,
		.end = end,
	};
	net_flow_start(&n->flow[i]);
	return &n->flow[i];
}

double rows_part(u64 packets, u64 bps, ur_time ns)
{
	return (double)packets * NET_FRAME_BYTES * 8e9 /
	       ((double)bps * (double)ns);
}

void rows_rates(const struct net *n, u64 *before, ur_time ns, double *gbps)
{
	for (u32 i = 0; i < n->n_flows; i++) {
		u64 got = n->flow[i].packets - before[i];

		before[i] = n->flow[i].packets;
		gbps[i] = (double)got * NET_FRAME_BYTES * 8 / (double)ns;
	}
}

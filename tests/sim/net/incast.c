// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Incast: 2 to 64 hosts send to one behind the same switch, from the same
 * instant on. Goodput is the part of the line that what was answered takes,
 * with its headers; the queue is the longest of the port to the receiver.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS   10000000000ull
#define DELAY 1000u
#define RUN   (100 * MS)

/* After the first rates, which are the line's, have been cut. */
#define SETTLED (20 * MS)

struct kind {
	const char *name;
	enum net_control control;
	bool pfc;
	/* Bounds: those of what was measured, with room. The queues are the
   * longest ever, and the longest once settled. */
	double goodput_min, jain_min, loss_max;
	u64 queue_kib_max, settled_kib_max;
};

static const struct kind kinds[] = {
	{"dcqcn+pfc", CONTROL_DCQCN, true, 0.9, 0.95, 0, 4096, 800},
	{"dcqcn", CONTROL_DCQCN, false, 0.83, 0.95, 0.06, 2048, 1100},
	{"path", CONTROL_PATH, false, 0.98, 0.95, 0, 1400, 300},
	{"pfc", CONTROL_NONE, true, 0.98, 0.99, 0, 4096, 4096},
	{"nothing", CONTROL_NONE, false, 0.8, 0, 0.07, 2048, 2048},
};

static struct net_switch tor(const struct kind *k)
{
	return (struct net_switch){
		.buffer = 4u << 20,
		.share_8 = 8,
		.mark_least = 20u << 10,
		.mark_most = 1000u << 10,
		.mark_max = 65536,
		.lossless = k->pfc,
		.headroom = net_headroom(BPS, DELAY),
	};
}

static bool report(const struct kind *k, const struct net *n, u64 queue)
{
	const struct net_port *out = &n->sw[0].port[n->n_flows];
	double frames = (double)out->passed / NET_FRAME_BYTES;
	double goodput = rows_part(net_packets(n), BPS, RUN);
	double loss = (double)out->dropped / ((double)out->dropped + frames);
	u64 most = out->queued_most > queue ? out->queued_most : queue;
	u64 kib = most >> 10, settled = out->queued_most >> 10;
	double jain = net_jain(n);
	bool worse = goodput < k->goodput_min || jain < k->jain_min ||
		     loss > k->loss_max || kib > k->queue_kib_max ||
		     settled > k->settled_kib_max || net_broken(n);

	printf("incast %s senders=%u goodput=%.3f queue_kib=%llu "
	       "settled_kib=%llu loss=%.4f jain=%.3f broken=%u%s\n",
	       k->name, n->n_flows, goodput, (unsigned long long)kib,
	       (unsigned long long)settled, loss, jain, net_broken(n),
	       worse ? "  beyond its bound" : "");
	return worse;
}

static bool run(const struct kind *k, u32 senders)
{
	struct net_config cfg = rows_software(k->control, BPS);
	struct net_switch sw = tor(k);
	struct net_port *out;
	struct net *n;
	bool worse;
	u64 queue;

	/* Ten, as elsewhere, is too much for 64 senders, and five too little
   * for four in so short a time. */
	cfg.cc.ai_bps = 7000000;
	cfg.cc.hai_bps = 70000000;
	n = net_new(&cfg, senders + 1, 1, senders);
	out = &n->sw[0].port[senders];
	net_star(n, &sw, BPS, DELAY);
	for (u32 i = 0; i < senders; i++)
		rows_flow(n, i, i, senders, 0, UR_NEVER);
	net_run(n, SETTLED);
	queue = out->queued_most;
	out->queued_most = 0;
	net_run(n, RUN);
	worse = report(k, n, queue);
	net_free(n);
	return worse;
}

int rows_incast(void)
{
	bool bad = false;

	for (u32 k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (u32 senders = 2; senders <= 64; senders *= 2)
			bad |= run(&kinds[k], senders);
	return bad;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flows of one pair of hosts over four equal ways of a quarter of their speed:
 * with one source port, with those of queue pair numbers, and with flow labels
 * that a program has chosen; and two flows with and without a way in common.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define WAYS  4u
#define UP    (10 * G)
#define DELAY 1000u
#define RUN   (100 * MS)

enum ports { ONE_PORT, BY_NUMBER, BY_LABEL };

static struct net *two_hosts(u32 flows)
{
	const struct net_tiers t = {2, WAYS, WAYS * UP, UP, DELAY};
	struct net_config cfg = rows_adapter(CONTROL_DCQCN, WAYS * UP);
	struct net_switch sw = {
		.buffer = 4u << 20,
		.share_8 = 1,
		.mark_least = 5000,
		.mark_most = 200000,
		.mark_max = 6554, /* 10 % */
		.lossless = 1,
		.headroom = net_headroom(WAYS * UP, DELAY),
	};
	struct net *n = net_new(&cfg, 2, 2 + WAYS, flows);

	net_clos(n, &sw, &t);
	return n;
}

/* Which way a label takes: by sending a little with it. */
static u32 way_of(u32 label)
{
	struct net *n = two_hosts(1);
	u32 way = 0;

	n->flow[0].label = label;
	rows_flow(n, 0, 0, 1, 0, 10 * US);
	net_run(n, MS);
	for (u32 i = 1; i < WAYS; i++)
		if (n->sw[0].port[1 + i].passed > n->sw[0].port[1].passed)
			way = i;
	net_free(n);
	return way;
}

/* The next label after that one with this way. */
static u32 label_of(u32 after, u32 way)
{
	while (way_of(++after) != way)
		;
	return after;
}

static int report(struct net *n, const char *name, double least, u32 used_min,
		  u32 used_max)
{
	double goodput;
	u32 used = 0;
	bool worse;

	net_run(n, RUN);
	goodput = rows_part(net_packets(n), WAYS * UP, RUN);
	printf("ecmp %s flows=%u goodput=%.3f ways", name, n->n_flows, goodput);
	for (u32 i = 0; i < WAYS; i++) {
		double part = (double)n->sw[0].port[1 + i].passed * 8 * G /
			      ((double)UP * RUN);

		used += part > 0.05;
		printf(" %.2f", part);
	}
	worse = goodput < least || used < used_min || used > used_max ||
		net_dropped(n) || net_broken(n);
	printf(" jain=%.3f dropped=%llu%s\n", net_jain(n),
	       (unsigned long long)net_dropped(n),
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

static int many(enum ports ports, const char *name, double least, u32 used_min,
		u32 used_max)
{
	struct net *n = two_hosts(8);

	for (u32 i = 0, label = 0; i < 8; i++) {
		if (ports == BY_LABEL)
			label = label_of(label, i % WAYS);
		/* A label gives the port. */
		n->flow[i].label = ports == ONE_PORT ? 1 : label;
		rows_flow(n, i, 0, 1, 0, UR_NEVER);
	}
	return report(n, name, least, used_min, used_max);
}

static int two(bool collide)
{
	struct net *n = two_hosts(2);
	u32 label = label_of(0, 0);

	n->flow[0].label = label;
	n->flow[1].label = label_of(label, collide ? 0 : 1);
	for (u32 i = 0; i < 2; i++)
		rows_flow(n, i, 0, 1, 0, UR_NEVER);
	return report(n, collide ? "collide" : "apart", collide ? 0.2 : 0.4,
		      collide ? 1 : 2, collide ? 1 : 2);
}

int rows_ecmp(void)
{
	return many(ONE_PORT, "one_port", 0.2, 1, 1) |
	       many(BY_NUMBER, "numbers", 0.5, 2, 4) |
	       many(BY_LABEL, "labels", 0.85, 4, 4) | two(true) | two(false);
}

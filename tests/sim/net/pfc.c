// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Pauses: nothing is lost, another priority goes on, a pause spreads over two
 * tiers to who has nothing to do with it. Two tiers, up and then down, never
 * stand still; a ring does.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS   (10 * G)
#define DELAY 1000u

static struct net_switch pausing(void)
{
	return (struct net_switch){
		.buffer = 1u << 20,
		.share_8 = 1,
		.lossless = 1 | 1 << 3,
		.headroom = net_headroom(4 * BPS, DELAY),
	};
}

static int verdict(bool worse)
{
	printf("%s\n", worse ? "  beyond its bound" : "");
	return worse;
}

static u64 pauses(const struct net *n, u32 sw)
{
	u64 sum = 0;

	for (u32 p = 0; p < n->sw[sw].n_ports; p++)
		sum += n->sw[sw].port[p].pauses;
	return sum;
}

static u64 host_pauses(const struct net *n)
{
	u64 sum = 0;

	for (u32 i = 0; i < n->n_hosts; i++)
		sum += n->host[i].node.port[0].pauses;
	return sum;
}

/* Four hosts of one leaf send to one of the other, and a fifth to another host
 * there, with the priority of the four or another one. The lines to the spine
 * would have room for all five. */
static int spread(u8 sl, double least, double most)
{
	const struct net_tiers t = {2, 1, BPS, 4 * BPS, DELAY};
	struct net_config cfg = rows_adapter(CONTROL_NONE, BPS);
	struct net_switch sw = pausing();
	struct net *n = net_new(&cfg, 10, 3, 5);
	double part, others;
	bool bad;

	net_clos(n, &sw, &t);
	for (u32 i = 0; i < 4; i++)
		rows_flow(n, i, i, 5, 0, UR_NEVER);
	n->flow[4].sl = sl;
	rows_flow(n, 4, 4, 6, 0, UR_NEVER);
	net_run(n, 100 * MS);
	part = rows_part(n->flow[4].packets, BPS, 100 * MS);
	others = rows_part(net_packets(n), BPS, 100 * MS) - part;
	printf("pause other_priority=%u bystander=%.3f others=%.3f "
	       "pauses_spine=%llu pauses_leaf=%llu pauses_hosts=%llu "
	       "dropped=%llu broken=%u",
	       sl != 0, part, others, (unsigned long long)pauses(n, 2),
	       (unsigned long long)pauses(n, 0),
	       (unsigned long long)host_pauses(n),
	       (unsigned long long)net_dropped(n), net_broken(n));
	bad = part < least || part > most || others < 0.9 || net_dropped(n) ||
	      net_broken(n) || !host_pauses(n);
	net_free(n);
	return verdict(bad);
}

/* Senders are silent after END. Then it shows whether frames that switches hold
 * move. */
#define END   (30 * MS)
#define LATER (60 * MS)
#define LAST  (80 * MS)

static int stands(struct net *n, const char *name, bool want)
{
	u64 passed, packets;
	bool stuck;

	net_run(n, END);
	packets = net_packets(n);
	net_run(n, LATER);
	passed = net_passed(n);
	net_run(n, LAST);
	stuck = net_held(n) && net_passed(n) == passed;
	printf("deadlock %s stuck=%u held_kib=%llu goodput=%.3f dropped=%llu",
	       name, stuck, (unsigned long long)net_held(n) >> 10,
	       rows_part(packets, BPS, END) / n->n_hosts,
	       (unsigned long long)net_dropped(n));
	net_free(n);
	return verdict(stuck != want);
}

/* Each host sends to the one two switches further on. */
static int ring(enum net_control control, const char *name, bool want)
{
	struct net_config cfg = rows_adapter(control, BPS);
	struct net_switch sw = pausing();
	struct net *n = net_new(&cfg, 4, 4, 4);

	net_ring(n, &sw, 4, BPS, DELAY);
	for (u32 i = 0; i < 4; i++)
		rows_flow(n, i, i, (i + 2) % 4, 0, END);
	return stands(n, name, want);
}

/* The same hosts and flows, and as many again, over two tiers. */
static int tiers(void)
{
	const struct net_tiers t = {4, 2, BPS, BPS / 4, DELAY};
	struct net_config cfg = rows_adapter(CONTROL_NONE, BPS);
	struct net_switch sw = pausing();
	struct net *n = net_new(&cfg, 8, 6, 24);

	net_clos(n, &sw, &t);
	for (u32 i = 0; i < 24; i++)
		rows_flow(n, i, i % 8, (i + 2 + i / 8 * 2) % 8, 0, END);
	return stands(n, "tiers", false);
}

int rows_pfc(void)
{
	return spread(0, 0, 0.5) | spread(3, 0.9, 1) |
	       ring(CONTROL_NONE, "ring", true) | tiers();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Senders whose peers answer marks, and as many whose peers do not, through one line
 * whose switch marks ECT packets beyond a threshold and drops others there, as RED
 * does. A peer is found out; until then its sender takes what the others leave. Nobody
 * has more than his part for longer than a second.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS	  (1 * G)
#define DELAY	  1000u
#define LEAST	  (30u << 10)
#define MOST_KEPT (90u << 10)
#define STEP	  (100 * MS)
#define STEPS	  20
#define FOUND	  10 /* steps: a second */
#define MOST	  32

static void deafen(struct net_host *h)
{
	struct ur_cc_config cc = h->node.net->cfg.cc;

	cc.np_off = 0xff;
	ur_port_set_cc(h->port, &cc);
}

static bool run(u32 pairs)
{
	struct net_config cfg = rows_software(CONTROL_PATH, BPS);
	struct net_switch sw = {
		.buffer = 4u << 20,
		.share_8 = 8,
		.mark_least = LEAST,
		.mark_most = MOST_KEPT,
		.mark_max = 6554, /* 10 % */
		.red = true,
	};
	const struct net_tiers tiers = {2, 1, 10 * BPS, BPS, DELAY};
	struct net *n = net_new(&cfg, 2 * pairs, 3, pairs);
	u64 before[MOST] = {0};
	double gbps[MOST], part = 0, worst = 0, goodput = 0;
	u32 unanswered = 0;
	bool worse;

	net_clos(n, &sw, &tiers);
	for (u32 i = 0; i < pairs; i++) {
		if (i % 2)
			deafen(&n->host[pairs + i]);
		rows_flow(n, i, i, pairs + i, 0, UR_NEVER);
	}
	for (u32 t = 1; t <= STEPS; t++) {
		double deaf = 0, all = 0;

		net_run(n, t * STEP);
		rows_rates(n, before, STEP, gbps);
		for (u32 i = 0; i < pairs; i++) {
			all += gbps[i];
			deaf += i % 2 ? gbps[i] : 0;
		}
		part = deaf / all;
		if (t > FOUND && part > worst)
			worst = part;
		if (t > FOUND)
			goodput += all * G / BPS / (STEPS - FOUND);
		printf("deaf pairs=%u t_ms=%u part=%.3f goodput=%.3f\n", pairs,
		       t * (u32)(STEP / MS), part, all * G / BPS);
	}
	for (u32 i = 0; i < pairs; i++)
		unanswered += (u32)ur_port_counters(
			n->host[i].port)[UR_CNT_ecn_unanswered];
	worse = worst > 0.55 || goodput < 0.85 || unanswered != pairs / 2 ||
		net_broken(n);
	printf("deaf pairs=%u goodput=%.3f worst_part=%.3f unanswered=%u "
	       "queue_kib=%llu dropped=%llu%s\n",
	       pairs, goodput, worst, unanswered,
	       (unsigned long long)n->sw[0].port[pairs].queued_most >> 10,
	       (unsigned long long)net_dropped(n),
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_deaf(void)
{
	bool bad = false;

	for (u32 pairs = 2; pairs <= MOST; pairs *= 4)
		bad |= run(pairs);
	return bad;
}

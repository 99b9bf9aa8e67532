// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The figures of "Congestion Control for Large-Scale RDMA Deployments"
 * (SIGCOMM 2015) at its 40 Gbit/s and with its marks, by hosts like adapters:
 * flows that come and go (13), unfairness by PFC (3 and 8), a victim (4 and 9),
 * two bottlenecks (20). Buffers are smaller than in the paper, since our queue
 * pairs have a bounded window, and would not fill those.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS   (40 * G)
#define DELAY 1000u
#define FLOWS 10

/* The marks of the paper, or from one length of the queue on. */
static struct net_switch clos_switch(bool cut_off)
{
	return (struct net_switch){
		.buffer = 4u << 20,
		.share_8 = 1,
		.mark_least = cut_off ? 40000 : 5000,
		.mark_most = cut_off ? 40000 : 200000,
		.mark_max = 655, /* 1 % */
		.lossless = 1,
		.headroom = net_headroom(BPS, DELAY),
	};
}

static const char *name_of(enum net_control control)
{
	return control == CONTROL_DCQCN ? "dcqcn+pfc" : "pfc";
}

static int verdict(bool worse)
{
	printf("%s\n", worse ? "  beyond its bound" : "");
	return worse;
}

/* ---- flows that come and go ---- */

#define PHASE (40 * MS)
#define STEP  (1 * MS)

static double jain_of_rates(const double *gbps, u32 first, u32 last)
{
	double sum = 0, squares = 0;

	for (u32 i = first; i < last; i++) {
		sum += gbps[i];
		squares += gbps[i] * gbps[i];
	}
	return squares > 0 ? sum * sum / ((last - first) * squares) : 0;
}

/* Flow i sends from phase i to the end of phase count + i. Convergence: Jain's
 * index of the active ones is 0.95 or more for the rest of the phase. */
static int come_and_go(u32 count)
{
	struct net_config cfg = rows_adapter(CONTROL_DCQCN, BPS);
	struct net *n = net_new(&cfg, count + 1, 1, count);
	struct net_switch sw = clos_switch(false);
	u64 before[FLOWS] = {0};
	double gbps[FLOWS], mean[FLOWS];
	int bad = 0;

	net_star(n, &sw, BPS, DELAY);
	for (u32 i = 0; i < count; i++)
		rows_flow(n, i, i, count, i * PHASE, (count + i) * PHASE);
	for (u32 phase = 0; phase < 2 * count - 1; phase++) {
		u32 first = phase < count ? 0 : phase - count + 1;
		u32 last = phase < count ? phase + 1 : count;
		double settled = 0, sum = 0;

		memset(mean, 0, sizeof(mean));
		for (u32 t = 1; t <= PHASE / STEP; t++) {
			net_run(n, phase * PHASE + t * STEP);
			rows_rates(n, before, STEP, gbps);
			printf("series flows=%u t_ms=%llu", count,
			       (unsigned long long)(n->now / MS));
			for (u32 i = 0; i < count; i++) {
				printf(" %.2f", gbps[i]);
				if (t > PHASE / STEP / 2)
					mean[i] += gbps[i] * 2 * STEP / PHASE;
			}
			printf("\n");
			if (jain_of_rates(gbps, first, last) < 0.95)
				settled = (double)t * STEP / MS;
		}
		for (u32 i = first; i < last; i++)
			sum += mean[i];
		printf("comego flows=%u phase=%u active=%u settled_ms=%.0f "
		       "sum_gbps=%.1f jain=%.3f dropped=%llu",
		       count, phase, last - first, settled, sum,
		       jain_of_rates(mean, first, last),
		       (unsigned long long)net_dropped(n));
		bad |= verdict(jain_of_rates(mean, first, last) < 0.9 ||
			       sum < 0.8 * BPS / G || net_dropped(n));
	}
	net_free(n);
	return bad;
}

/* ---- fixed flows over two tiers ---- */

struct pair {
	u8 from, to;
};

#define LONG (100 * MS)

/* Rates of flows from 20 ms on. */
static void rates(const struct net_config *cfg, const struct net_switch *sw,
		  const struct net_tiers *t, u32 hosts, const struct pair *pair,
		  u32 count, double *gbps)
{
	struct net *n = net_new(cfg, hosts, t->leaves + t->spines, count);
	u64 before[FLOWS] = {0};

	net_clos(n, sw, t);
	for (u32 i = 0; i < count; i++)
		rows_flow(n, i, pair[i].from, pair[i].to, 0, UR_NEVER);
	net_run(n, 20 * MS);
	rows_rates(n, before, 20 * MS, gbps);
	net_run(n, LONG);
	rows_rates(n, before, LONG - 20 * MS, gbps);
	printf(" dropped=%llu", (unsigned long long)net_dropped(n));
	net_free(n);
}

/* Three of one leaf and one of another send to a host of the other leaf. The
 * three share what comes in from the spines, the one has a port of its own. */
static int unfairness(enum net_control control)
{
	static const struct pair pair[] = {{0, 4}, {1, 4}, {2, 4}, {3, 4}};
	const struct net_tiers t = {2, 2, BPS, BPS, DELAY};
	struct net_config cfg = rows_adapter(control, BPS);
	struct net_switch sw = clos_switch(false);
	double gbps[FLOWS], jain;

	printf("unfair %s", name_of(control));
	rates(&cfg, &sw, &t, 6, pair, 4, gbps);
	jain = jain_of_rates(gbps, 0, 4);
	printf(" h1=%.1f h2=%.1f h3=%.1f h4=%.1f jain=%.3f", gbps[0], gbps[1],
	       gbps[2], gbps[3], jain);
	return verdict(control == CONTROL_DCQCN ? jain < 0.95 : jain > 0.95);
}

/* Four of the first leaf send to the second, and some of the fourth; a fifth
 * of the first leaf sends to the third, where nobody else does. */
static int victim(enum net_control control, u32 extra, double *got)
{
	static const struct pair pair[] = {{4, 10}, {0, 5},  {1, 5}, {2, 5},
					   {3, 5},  {15, 5}, {16, 5}};
	const struct net_tiers t = {4, 2, BPS, BPS, DELAY};
	struct net_config cfg = rows_adapter(control, BPS);
	struct net_switch sw = clos_switch(false);
	double gbps[FLOWS];

	printf("victim %s extra=%u", name_of(control), extra);
	rates(&cfg, &sw, &t, 20, pair, 5 + extra, gbps);
	printf(" victim=%.1f", gbps[0]);
	*got = gbps[0];
	return verdict(control == CONTROL_DCQCN && gbps[0] < 13);
}

/* f1 and f2 share the line between the switches, f2 and f3 that to a host. */
static int parking_lot(bool cut_off)
{
	static const struct pair pair[] = {{0, 3}, {1, 4}, {5, 4}};
	const struct net_tiers t = {2, 1, BPS, BPS, DELAY};
	struct net_config cfg = rows_adapter(CONTROL_DCQCN, BPS);
	struct net_switch sw = clos_switch(cut_off);
	double gbps[FLOWS];

	printf("parking %s", cut_off ? "cut-off" : "red");
	rates(&cfg, &sw, &t, 6, pair, 3, gbps);
	printf(" f1=%.1f f2=%.1f f3=%.1f", gbps[0], gbps[1], gbps[2]);
	return verdict(gbps[1] < 5);
}

int rows_dcqcn(void)
{
	double alone, beside;
	int bad = come_and_go(2) | come_and_go(4);

	bad |= unfairness(CONTROL_NONE) | unfairness(CONTROL_DCQCN);
	for (u32 extra = 0; extra <= 2; extra++) {
		bad |= victim(CONTROL_NONE, extra, &alone);
		bad |= victim(CONTROL_DCQCN, extra, &beside);
	}
	bad |= verdict(beside < 1.5 * alone);
	bad |= parking_lot(true) | parking_lot(false);
	return bad;
}

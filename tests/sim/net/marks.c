// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A switch that marks what comes while its queue is longer than a threshold: 2 to
 * 64 hosts send to one, all from the same instant on, or each a millisecond after the
 * one before. The same with packets that are not ECT, as they all were once, which
 * that switch can only queue or drop. Bounds are those of the goal: 0.95 of the line, a queue
 * of twice the threshold, no loss, Jain's index 0.95.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define BPS	  (10 * G)
#define DELAY	  1000u
#define THRESHOLD (100u << 10)
#define SETTLED	  (20 * MS) /* after the last one has begun */
#define RUN	  (100 * MS)
#define MOST	  64

struct kind {
	const char *name;
	enum net_control control;
	ur_time apart;
};

static const struct kind kinds[] = {
	{"loss", CONTROL_LOSS, 0},
	{"marks", CONTROL_PATH, 0},
	{"marks_apart", CONTROL_PATH, MS},
};

static bool run(const struct kind *k, u32 senders)
{
	struct net_config cfg = rows_software(k->control, BPS);
	struct net_switch sw = {
		.buffer = 4u << 20,
		.share_8 = 8,
		.mark_least = THRESHOLD,
		.mark_most = THRESHOLD,
		.mark_max = 65536,
	};
	struct net *n = net_new(&cfg, senders + 1, 1, senders);
	struct net_port *out = &n->sw[0].port[senders];
	ur_time begin = senders * k->apart + SETTLED;
	u64 got[MOST], packets = 0, first;
	double goodput, jain;
	bool worse;

	net_star(n, &sw, BPS, DELAY);
	for (u32 i = 0; i < senders; i++)
		rows_flow(n, i, i, senders, i * k->apart, UR_NEVER);
	net_run(n, begin);
	first = out->queued_most;
	out->queued_most = 0;
	for (u32 i = 0; i < senders; i++)
		got[i] = n->flow[i].packets;
	net_run(n, begin + RUN);
	for (u32 i = 0; i < senders; i++) {
		got[i] = n->flow[i].packets - got[i];
		packets += got[i];
	}
	goodput = rows_part(packets, BPS, RUN);
	jain = net_jain_of(got, senders);
	worse = k->control == CONTROL_PATH &&
		(goodput < 0.95 || jain < 0.95 ||
		 out->queued_most > 2 * THRESHOLD || net_dropped(n) ||
		 !out->marked || net_broken(n));
	printf("marks %s senders=%u goodput=%.3f first_kib=%llu queue_kib=%llu "
	       "dropped=%llu jain=%.3f%s\n",
	       k->name, senders, goodput, (unsigned long long)first >> 10,
	       (unsigned long long)out->queued_most >> 10,
	       (unsigned long long)net_dropped(n), jain,
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_marks(void)
{
	bool bad = false;

	for (u32 k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (u32 senders = 2; senders <= MOST; senders *= 2)
			bad |= run(&kinds[k], senders);
	return bad;
}

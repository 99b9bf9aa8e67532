// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ours and as many of another kind send to one host, behind a switch that marks:
 * beyond a threshold, as for DCTCP, or at random between two, as RED does for TCP.
 */
#include "tests/sim/net/alien.h"
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define DELAY	1000u
#define SETTLED (100 * MS)
#define RUN	(200 * MS)
#define MOST	32

struct kind {
	const char *name;
	enum net_alien_kind alien;
	u64 bps, least, most;
	u32 max;
	double part_least, part_most; /* of ours; half is fair */
};

/* Beside CUBIC as it was when the bounds were set: who cuts by the share that is
 * marked gives way less to marks at random than who cuts by 0.3 for each. */
static const struct kind kinds[] = {
	{"dctcp", ALIEN_DCTCP, 10 * G, 100u << 10, 100u << 10, 65536, 0.37,
	 0.63},
	{"cubic", ALIEN_CUBIC, 1 * G, 30u << 10, 90u << 10, 6554, 0.3, 0.85},
};

static bool run(const struct kind *k, u32 each)
{
	struct net_config cfg = rows_software(CONTROL_PATH, k->bps);
	struct net_switch sw = {
		.buffer = 4u << 20,
		.share_8 = 8,
		.mark_least = k->least,
		.mark_most = k->most,
		.mark_max = k->max,
	};
	struct net_alien alien[MOST] = {0};
	struct net *n = net_new(&cfg, 2 * each + 1, 1, each);
	struct net_port *out = &n->sw[0].port[2 * each];
	u64 got[2 * MOST], ours = 0, theirs = 0, lost;
	double goodput, part;
	bool worse;

	net_star(n, &sw, k->bps, DELAY);
	for (u32 i = 0; i < each; i++) {
		rows_flow(n, i, i, 2 * each, 0, UR_NEVER);
		alien[i] = (struct net_alien){.net = n,
					      .kind = k->alien,
					      .from = each + i,
					      .to = 2 * each};
		net_alien_start(&alien[i]);
	}
	net_run(n, SETTLED);
	out->queued_most = 0;
	for (u32 i = 0; i < each; i++) {
		got[i] = n->flow[i].packets;
		got[each + i] = alien[i].packets;
	}
	lost = net_dropped(n);
	net_run(n, SETTLED + RUN);
	for (u32 i = 0; i < each; i++) {
		got[i] = n->flow[i].packets - got[i];
		got[each + i] = alien[i].packets - got[each + i];
		ours += got[i];
		theirs += got[each + i];
	}
	lost = net_dropped(n) - lost;
	goodput = rows_part(ours + theirs, k->bps, RUN);
	part = (double)ours / (double)(ours + theirs);
	worse = goodput < 0.95 || lost || net_broken(n) || !out->marked ||
		out->queued_most > 2 * k->most || part < k->part_least ||
		part > k->part_most || net_jain_of(got, each) < 0.95;
	printf("beside %s each=%u goodput=%.3f part=%.3f jain_ours=%.3f "
	       "queue_kib=%llu dropped=%llu%s\n",
	       k->name, each, goodput, part, net_jain_of(got, each),
	       (unsigned long long)out->queued_most >> 10,
	       (unsigned long long)lost, worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_beside(void)
{
	bool bad = false;

	for (u32 k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (u32 each = 1; each <= MOST; each *= 2)
			bad |= run(&kinds[k], each);
	return bad;
}

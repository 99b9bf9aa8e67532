// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rates, losses and fairness in a modelled network.
 *
 *	sim_net path	a window for each path; the goals are checked
 *	sim_net aimd	one for each queue pair
 *	sim_net none	128 packets or more for each queue pair
 *	sim_net incast	many hosts to one behind a switch
 *	sim_net dcqcn	flows that come and go; unfairness, victims, parking lot
 *	sim_net pfc	pauses: without loss, by priority, over tiers, deadlocks
 *	sim_net ecmp	flows over equal ways
 *	sim_net lossy	links that lose for no reason
 *	sim_net reads	READs over a short queue
 *	sim_net marks	a switch that marks beyond a threshold
 *	sim_net meter	one that marks all beyond a rate, and where nothing waits
 *	sim_net deaf	the same, and peers that answer no marks
 *	sim_net beside	the same, beside senders like DCTCP and CUBIC
 *	sim_net tail	a queue that ends: short messages, beside CUBIC
 *	sim_net cake	a queue for each flow
 *
 * One host sends to another over a link with a short queue. Goodput is the part
 * of the line that what was answered within a second takes, with its headers.
 */
#include "tests/sim/net/link.h"
#include "tests/sim/net/rows.h"
#include <stdio.h>
#include <stdlib.h>

#define GOODPUT_MIN 0.97
#define LOSS_MAX    0.01
#define JAIN_MIN    0.9

/* All rows; of each, whether it is as good as what was measured when the bounds
 * were set, which the numbers of a run without chance are. */
static int table(enum net_control control, bool check)
{
	static const u64 rates[] = {100000000, 1000000000};
	static const u32 queues[] = {32, 64, 256};
	static const u32 counts[] = {1, 8, 32, 256};
	int bad = 0;

	for (u32 i = 0; i < 24; i++) {
		u64 bps = rates[i / 12];
		u32 kib = queues[i / 4 % 3], n = counts[i % 4];
		struct link l = {
			.control = control,
			.bps = bps,
			.queue = kib << 10,
			.delay = 10 * US,
			.flows = n,
			.opcode = UR_WR_WRITE,
			.bytes = 65536,
			.depth = n > 8 ? 8 : 32,
		};
		struct link_row r = link_run(&l);
		bool worse = r.goodput < GOODPUT_MIN || r.loss > LOSS_MAX ||
			     r.jain < JAIN_MIN || r.broken;

		printf("%4llu Mbit/s %3u KiB %3u QPs: goodput %.3f loss %5.2f "
		       "%% Jain %.3f broken %u%s\n",
		       (unsigned long long)bps / 1000000, kib, n, r.goodput,
		       100 * r.loss, r.jain, r.broken,
		       check && worse ? "  beyond its bound" : "");
		bad |= check && worse;
	}
	return bad;
}

static int path(void)
{
	return table(CONTROL_PATH, true);
}

static int aimd(void)
{
	return table(CONTROL_AIMD, false);
}

static int none(void)
{
	return table(CONTROL_NONE, false);
}

static const struct {
	const char *name;
	int (*run)(void);
} rows[] = {
	{"path", path},		 {"aimd", aimd},	{"none", none},
	{"incast", rows_incast}, {"dcqcn", rows_dcqcn}, {"pfc", rows_pfc},
	{"ecmp", rows_ecmp},	 {"lossy", rows_lossy}, {"reads", rows_reads},
	{"marks", rows_marks},	 {"deaf", rows_deaf},	{"beside", rows_beside},
	{"tail", rows_tail},	 {"cake", rows_cake},	{"meter", rows_meter},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (u32 i = 0; argc == 2 && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(argv[1], rows[i].name))
			return rows[i].run();
	fprintf(stderr,
		"usage: sim_net path | aimd | none | incast | dcqcn | "
		"pfc | ecmp | lossy | reads | marks | deaf | beside | tail | cake | meter\n");
	return 2;
}

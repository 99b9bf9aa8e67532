// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A path of some microseconds on which a meter marks all that is faster than its rate, and nothing waits: no round
 * trip gets longer, so only marks say how much the path is to carry. A CNP comes once in many round trips, and a window that
 * grew in each of them would carry several times as much. Bounds: not a quarter as much again as the rate, and not less than
 * seven eighths of it.
 */
#include "tests/sim/net/rows.h"
#include <stdio.h>

#define METER	(960 * 1000000ull)
#define LINE	(100 * G)
#define SETTLED (50 * MS)
#define RUN	(200 * MS)
#define MOST	16

static bool run(ur_time delay, u32 flows)
{
	struct net_config cfg = rows_software(CONTROL_PATH, LINE);
	struct net_switch sw = {
		.buffer = 64u << 20,
		.meter_bps = METER,
		.meter_frames = 5,
	};
	struct net *n;
	u64 before;
	double part;
	bool worse;

	cfg.turn = US;
	n = net_new(&cfg, 2, 1, flows);
	net_star(n, &sw, LINE, delay);
	for (u32 i = 0; i < flows; i++)
		rows_flow(n, i, 0, 1, 0, UR_NEVER);
	net_run(n, SETTLED);
	before = net_packets(n);
	net_run(n, SETTLED + RUN);
	part = rows_part(net_packets(n) - before, METER, RUN);
	worse = part > 1.25 || part < 0.875 || net_broken(n);
	printf("meter delay_ns=%llu flows=%u goodput=%.3f broken=%u%s\n",
	       (unsigned long long)delay, flows, part, net_broken(n),
	       worse ? "  beyond its bound" : "");
	net_free(n);
	return worse;
}

int rows_meter(void)
{
	bool bad = false;

	for (ur_time delay = 500; delay <= 8 * US; delay *= 4)
		for (u32 flows = 1; flows <= MOST; flows *= 4)
			bad |= run(delay, flows);
	return bad;
}

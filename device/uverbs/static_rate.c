// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Static rates: enum ibv_rate of libibverbs. */
#include <errno.h>
#include "device/uverbs/static_rate.h"

/* Megabits per second by enum ibv_rate; 0: unknown. */
static const u32 mbps[] = {
	[2] = 2500,    [3] = 10000,   [4] = 30000,    [5] = 5000,
	[6] = 20000,   [7] = 40000,   [8] = 60000,    [9] = 80000,
	[10] = 120000, [11] = 14000,  [12] = 56000,   [13] = 112000,
	[14] = 168000, [15] = 25000,  [16] = 100000,  [17] = 200000,
	[18] = 300000, [19] = 28000,  [20] = 50000,   [21] = 400000,
	[22] = 600000, [23] = 800000, [24] = 1200000,
};

int ur_static_rate_bps(u8 rate, u64 *bps)
{
	*bps = 0;
	if (!rate)
		return 0;
	if (rate >= UR_ARRAY_SIZE(mbps) || !mbps[rate])
		return -EINVAL;
	*bps = mbps[rate] * 1000000ull;
	return 0;
}

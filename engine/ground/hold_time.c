// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdbool.h>
#include <time.h>
#include "engine/ground/hold_time.h"
#include "util/os/clock.h"

static bool measured;
/* Guarded by the control lock. */
static u64 begun, added, longest;

void ur_hold_time_measure(void)
{
	measured = true;
}

u64 ur_hold_time_now(void)
{
	return measured ? ur_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void ur_hold_time_begin(void)
{
	if (!measured)
		return;
	added = 0;
	begun = ur_hold_time_now();
}

void ur_hold_time_end(void)
{
	u64 ns;

	if (!measured)
		return;
	ns = ur_hold_time_now() - begun + added;
	if (ns > longest)
		longest = ns;
}

void ur_hold_time_add(u64 ns)
{
	if (measured)
		added += ns;
}

u64 ur_hold_time_longest(void)
{
	u64 ns = longest;

	longest = 0;
	return measured ? ns : UINT64_MAX;
}

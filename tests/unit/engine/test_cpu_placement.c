// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When the thread of an engine in a program goes to the program's processor: where others share its
 * own, again and again, but not too often. It is bound to nothing afterwards.
 */
#include "engine/core/cpu_placement.h"

#include <sched.h>
#include "tests/check.h"
#include "tests/machine.h"

#define HERE	3u
#define THERE	4u
#define LONG_NS 20000u

/* Returns after how many yields, of as many at most, it is to move; 0: never. */
static u32 yields(struct ur_cpu_placement *b, u32 most, u64 ns, ur_time now)
{
	for (u32 i = 1; i <= most; i++)
		if (ur_cpu_placement_check(b, HERE, now, ns))
			return i;
	return 0;
}

static void moves_where_others_run(void)
{
	struct ur_cpu_placement b = {.cpu = THERE + 1};
	ur_time now = 1000000000;
	u32 n = yields(&b, 100, LONG_NS, now);

	CHECK(n > 1);
	CHECK(!yields(&b, 100, LONG_NS, now + 1000)); /* not at once again */
	CHECK(yields(&b, 100, LONG_NS, now + 10000000));
}

static void stays_alone(void)
{
	struct ur_cpu_placement b = {.cpu = THERE + 1};

	CHECK(!yields(&b, 1000, 500, 1000000000));
}

static void stays_with_its_program(void)
{
	struct ur_cpu_placement b = {.cpu = HERE + 1};

	CHECK(!yields(&b, 1000, LONG_NS, 1000000000));
	/* Yields beside the program begin the count again. */
	b.cpu = THERE + 1;
	CHECK(!yields(&b, 2, LONG_NS, 1000000000));
	b.cpu = HERE + 1;
	CHECK(!yields(&b, 1, LONG_NS, 1000000000));
	b.cpu = THERE + 1;
	CHECK(!yields(&b, 3, LONG_NS, 1000000000));
}

static void stays_where_nobody_sleeps(void)
{
	struct ur_cpu_placement b = {0};

	CHECK(!yields(&b, 1000, LONG_NS, 1000000000));
}

/* To any processor but this one, and to one that it may not have. */
static void is_not_bound(void)
{
	struct ur_cpu_placement b = {0};
	cpu_set_t before, after;
	ur_time now = 1000000000;

	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	for (u32 cpu = 0; cpu < CPU_SETSIZE; cpu++, now += 10000000) {
		if (!CPU_ISSET(cpu, &before) && cpu > 64)
			continue;
		b.cpu = cpu + 1;
		for (u32 i = 0; i < 10; i++)
			ur_cpu_placement_yielded(&b, now, LONG_NS);
		CHECK(!sched_getaffinity(0, sizeof(after), &after));
		CHECK(CPU_EQUAL(&before, &after));
	}
	ur_cpu_placement_armed(&b);
	CHECK(b.cpu > 0 && CPU_ISSET(b.cpu - 1, &before));
}

int main(void)
{
	moves_where_others_run();
	stays_alone();
	stays_with_its_program();
	stays_where_nobody_sleeps();
	if (!is_emulated())
		is_not_bound();
	return 0;
}

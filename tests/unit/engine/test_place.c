// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The place of the engine: with programs that get events of completions, on
 * their processor; with programs that look for them, anywhere.
 */
#include <sched.h>
#include "engine/core/place.h"
#include "tests/check.h"

#define US 1000ull
#define MS 1000000ull

static cpu_set_t at_first;
static u32 cpu; /* one of ours, plus one */

static bool is_anywhere(void)
{
	cpu_set_t now;

	CHECK(!sched_getaffinity(0, sizeof(now), &now));
	return CPU_EQUAL(&now, &at_first);
}

static bool is_there(void)
{
	cpu_set_t now;

	CHECK(!sched_getaffinity(0, sizeof(now), &now));
	return CPU_COUNT(&now) == 1 && CPU_ISSET(cpu - 1, &now);
}

/* A program that sleeps has woken it n times, and got an event each time. */
static void company(struct ur_place *p, ur_time *now, u32 n)
{
	while (n--) {
		ur_place_called(p, cpu);
		ur_place_woken(p, *now += 10 * US);
		ur_place_told(p);
	}
}

static void test_comes_and_goes(void)
{
	struct ur_place p = {0};
	ur_time now = 50 * MS;

	/* They only call. */
	for (int i = 0; i < 100; i++) {
		ur_place_called(&p, cpu);
		ur_place_woken(&p, now += 10 * US);
	}
	CHECK(is_anywhere());
	company(&p, &now, 10);
	CHECK(is_there());
	/* Told from time to time. */
	for (int i = 0; i < 10; i++) {
		ur_place_idle(&p, now += MS);
		ur_place_told(&p);
	}
	CHECK(is_there());
	/* One that looks itself, and keeps the engine awake. */
	ur_place_idle(&p, now += 10 * US);
	ur_place_idle(&p, now += 10 * MS);
	CHECK(is_anywhere());
	company(&p, &now, 10);
	CHECK(is_there());
	/* One that looks itself, and lets it sleep. */
	ur_place_woken(&p, now += 10 * US);
	for (int i = 0; i < 10; i++) {
		ur_place_called(&p, cpu);
		ur_place_woken(&p, now += 10 * US);
	}
	CHECK(is_anywhere());
}

/* Packets wake it too, which says nothing of a processor. */
static void test_packets(void)
{
	struct ur_place p = {0};
	ur_time now = 50 * MS;

	for (int i = 0; i < 100; i++) {
		ur_place_told(&p);
		ur_place_woken(&p, now += 10 * US);
	}
	CHECK(is_anywhere());
	company(&p, &now, 10);
	CHECK(is_there());
	for (int i = 0; i < 100; i++) {
		ur_place_told(&p);
		ur_place_woken(&p, now += 10 * US);
	}
	CHECK(is_there());
	ur_place_idle(&p, now += MS);
	ur_place_idle(&p, now += 10 * MS);
	CHECK(is_anywhere());
}

int main(void)
{
	CHECK(!sched_getaffinity(0, sizeof(at_first), &at_first));
	if (CPU_COUNT(&at_first) < 2) {
		printf("skipped: one processor\n");
		return 77;
	}
	while (!CPU_ISSET(cpu, &at_first))
		cpu++;
	cpu++;
	CASE(test_comes_and_goes());
	CASE(test_packets());
	return cases_status();
}

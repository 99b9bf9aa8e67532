// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which client a connection's thread follows: one that stays, and one that has
 * moved; not one whose threads are everywhere.
 */
#include <pthread.h>
#include <sched.h>
#include "util/os/follow.h"
#include "tests/check.h"

static u32 moves(struct ur_follow *f, u32 cpus, u32 commands)
{
	u32 n = 0;

	for (u32 i = 0; i < commands; i++)
		n += ur_follow_look(f, 1 + i % cpus);
	return n;
}

static void test_one_thread(void)
{
	struct ur_follow f = {0};

	CHECK_EQ(ur_follow_look(&f, 0), false);
	CHECK_EQ(ur_follow_look(&f, 3), false);
	CHECK_EQ(ur_follow_look(&f, 3), true);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(ur_follow_look(&f, 3), false);
	/* It has moved. */
	CHECK_EQ(ur_follow_look(&f, 5), false);
	CHECK_EQ(ur_follow_look(&f, 5), true);
	CHECK_EQ(f.cpu, 5);
}

static void test_many_threads(void)
{
	struct ur_follow two = {0}, many = {0};

	CHECK(moves(&two, 2, 10000) <= 1);
	/* Less and less often, and still after a long time. */
	CHECK(moves(&many, 7, 10000) <= 10000 / 32);
	CHECK(moves(&many, 7, 1000) > 0);
	CHECK(moves(&many, 1, 100) <= 1);
	for (int i = 0; i < 100; i++)
		ur_follow_look(&many, 1);
	CHECK_EQ(ur_follow_look(&many, 2), false);
	CHECK_EQ(ur_follow_look(&many, 2), true);
}

/* The client's word may be any number. */
static void test_any_number(void)
{
	struct ur_follow f = {0};
	cpu_set_t before, after;

	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	for (int i = 0; i < 3; i++) {
		ur_follow(&f, UINT32_MAX);
		ur_follow(&f, CPU_SETSIZE + 1);
		ur_follow(&f, CPU_SETSIZE); /* there is none of it here */
	}
	CHECK(!sched_getaffinity(0, sizeof(after), &after));
	CHECK(CPU_EQUAL(&before, &after));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &before))
			continue;
		for (int k = 0; k < 300; k++)
			ur_follow(&f, (u32)i + 1);
		CHECK_EQ(sched_getcpu(), i);
	}
}

static void *release(void *arg)
{
	ur_follow_release(*(u32 *)arg);
	return NULL;
}

/* Somebody waits for it, and the client's processor is busy. */
static void test_released(void)
{
	struct ur_follow f = {0};
	cpu_set_t ours, after;
	pthread_t other;
	u32 cpu, thread;

	CHECK(!sched_getaffinity(0, sizeof(ours), &ours));
	if (CPU_COUNT(&ours) < 2)
		SKIP("one processor");
	cpu = (u32)sched_getcpu() + 1;
	CHECK_EQ(ur_follow_thread(), 0);
	for (int i = 0; i < 2; i++)
		ur_follow(&f, cpu);
	CHECK_EQ(f.cpu, cpu);
	thread = ur_follow_thread();
	CHECK_EQ(thread, (u32)gettid());
	CHECK(!pthread_create(&other, NULL, release, &thread));
	CHECK(!pthread_join(other, NULL));
	CHECK(!sched_getaffinity(0, sizeof(after), &after));
	CHECK(CPU_EQUAL(&ours, &after));
	/* The scheduler may have put it back. */
	CPU_CLR(cpu - 1, &after);
	CHECK(!sched_setaffinity(0, sizeof(after), &after));
	/* Not at once again, but at last. */
	for (int i = 0; i < 40; i++) {
		ur_follow(&f, cpu);
		CHECK(sched_getcpu() + 1 != (int)cpu);
		CHECK_EQ(ur_follow_thread(), 0);
	}
	for (int i = 0; i < 40; i++)
		ur_follow(&f, cpu);
	CHECK_EQ(sched_getcpu() + 1, (int)cpu);
	CHECK_EQ(ur_follow_thread(), thread);
	ur_follow_nobody();
	CHECK_EQ(ur_follow_thread(), 0);
	/* One that does not follow stays. */
	CHECK(!sched_getaffinity(0, sizeof(ours), &ours));
	CHECK(CPU_COUNT(&ours) > 1);
	ur_follow_release(thread);
	CHECK(!sched_getaffinity(0, sizeof(after), &after));
	CHECK(CPU_EQUAL(&ours, &after));
}

int main(void)
{
	CASE(test_one_thread());
	CASE(test_many_threads());
	CASE(test_any_number());
	CASE(test_released());
	return cases_status();
}

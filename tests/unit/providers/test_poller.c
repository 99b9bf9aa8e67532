// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Polls that find nothing: when the thread sleeps, leaves the device's
 * processor, gives its own up or keeps it. The system's calls are this file's.
 */
#include <sched.h>
#include <time.h>

#include "fake_device.h"
#include "util/os/clock.h"

/* Instead of sleeping. */
static u32 naps;

void ur_nap_ns(u64 ns)
{
	CHECK(ns <= 20000);
	naps++;
}

void ur_kernel_clock(clockid_t id, struct timespec *ts)
{
	CHECK(!clock_gettime(id, ts));
}

static void poll_empty(struct fake *f, u32 count)
{
	struct ibv_wc wc;

	while (count--)
		CHECK_EQ(uroce_poll_cq(&f->cq->vcq.cq, 1, &wc), 0);
}

/* Where processors are few, who gets long messages sleeps between them, a
 * while; others never do. */
static void test_naps(void)
{
	struct ibv_wc wc;
	struct fake f;

	for (u32 i = 0; i < 4; i++) {
		bool few = i & 1, lengthy = i & 2;

		fake_init(&f, UR_SENDS_RC, 4, 16, 4);
		f.ctx.yield_after = 4;
		f.ctx.few_cpus = few;
		naps = 0;
		poll_empty(&f, 10);
		fake_complete(&f, 1, 0x11);
		f.cq->ring.cqes[0].byte_len = lengthy ? 256 << 10 : 1000;
		CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 1, &wc), 1);
		poll_empty(&f, 4); /* it may be there already */
		CHECK_EQ(naps, 0);
		poll_empty(&f, 100);
		CHECK_EQ(naps, few && lengthy ? 64 : 0);
	}
}

/* Instead of asking the system. */
static int at_cpu;
static u32 moves;
static cpu_set_t allowed, moved_to[2];

int sched_getcpu(void)
{
	return at_cpu;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	*set = allowed;
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	CHECK(!pid);
	moved_to[moves++ % 2] = *set;
	return 0;
}

static void allow(unsigned int cpus)
{
	CPU_ZERO(&allowed);
	for (int i = 0; i < 8; i++)
		if (cpus >> i & 1)
			CPU_SET(i, &allowed);
}

/* One that may use two processors. */
static void poller_of(struct fake *f, struct uroce_db_page *page)
{
	fake_init(f, UR_SENDS_RC, 4, 16, 4);
	f->ctx.yield_after = 4;
	f->ctx.few_cpus = true;
	f->ctx.db.page = page;
	allow(1 << 2 | 1 << 5);
}

/* A thread that polls in vain where the device works goes to another processor,
 * for as long as the system leaves it there, and stays as free as it was. */
static void test_leaves_device(void)
{
	struct uroce_db_page page = {.device_cpu = 3};
	struct fake f;

	poller_of(&f, &page);
	at_cpu = 2;
	poll_empty(&f, 4 + 63);
	CHECK_EQ(moves, 0);
	poll_empty(&f, 1);
	CHECK_EQ(moves, 2);
	CHECK(CPU_COUNT(&moved_to[0]) == 1 && CPU_ISSET(5, &moved_to[0]));
	CHECK(CPU_EQUAL(&moved_to[1], &allowed));
	/* Put back, it goes again, later. */
	poll_empty(&f, 127);
	CHECK_EQ(moves, 2);
	poll_empty(&f, 1);
	CHECK_EQ(moves, 4);
}

/* It stays where it is in nobody's way, where there is no other processor, and
 * where it may not ask. */
static void test_stays(void)
{
	struct uroce_db_page page = {.device_cpu = 3};
	struct fake f;

	poller_of(&f, &page);
	at_cpu = 5;
	poll_empty(&f, 1000);
	at_cpu = 2;
	page.asleep = 1;
	poll_empty(&f, 1000);
	page.asleep = 0;
	page.device_cpu = 0;
	poll_empty(&f, 1000);
	page.device_cpu = 3;
	f.ctx.few_cpus = false;
	poll_empty(&f, 1000);
	f.ctx.few_cpus = true;
	ur_calls_refused = true;
	poll_empty(&f, 1000);
	ur_calls_refused = false;
	allow(1 << 2);
	poll_empty(&f, 1000);
	CHECK_EQ(moves, 0);
	allow(1 << 2 | 1 << 5);
	poll_empty(&f, 10000);
	CHECK(moves);
}

/* The clock advances when somebody looks at it, and when he yields. */
static u64 clock_ns = 1, yield_ns = 3000; /* to another poller */
static u32 yields;
static struct fake *completes; /* has a completion when a yield returns */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	clock_ns += 100;
	ts->tv_sec = (time_t)(clock_ns / 1000000000);
	ts->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}

int sched_yield(void)
{
	__atomic_fetch_add(&yields, 1, __ATOMIC_RELAXED);
	clock_ns += yield_ns;
	if (completes)
		fake_complete(completes, 0, 0x11);
	completes = NULL;
	return 0;
}

/* A completion that comes while a poll yields is found by this poll, not by the next one. */
static void test_looks_after_a_yield(void)
{
	struct uroce_db_page page = {.device_cpu = 3};
	struct ibv_wc wc;
	struct fake f;

	poller_of(&f, &page);
	at_cpu = 2;
	poll_empty(&f, 4);
	completes = &f;
	CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 1, &wc), 1);
}

static u32 yields_of(struct fake *f, u32 polls)
{
	yields = 0;
	poll_empty(f, polls);
	return yields;
}

/* Beside a thread that computes, to whom each yield is a whole slice, a poller
 * keeps the processor as long as that one had it, unless it waits in vain; where
 * the device may be the one that waits, never. */
static void test_takes_turns(void)
{
	struct uroce_db_page page = {.device_cpu = 6};
	struct ibv_wc wc;
	struct fake f;
	u64 start;

	poller_of(&f, &page);
	at_cpu = 2;
	ur_calls_refused = true;
	CHECK_EQ(yields_of(&f, 1000), 0);
	ur_calls_refused = false;
	CHECK_EQ(yields_of(&f, 10000), 10000);

	yield_ns = 4000000;
	for (u64 i = 0; i < 20; i++) {
		poll_empty(&f, 5); /* once in sixteen it is seen */
		fake_complete(&f, i, 0x11);
		CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 1, &wc), 1);
	}
	yields = 0;
	start = clock_ns;
	for (u64 i = 20; i < 4000; i++) {
		poll_empty(&f, 50);
		fake_complete(&f, i, 0x11);
		CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 1, &wc), 1);
	}
	/* Half of the time is its own. */
	CHECK(yields > 1);
	CHECK(yields * yield_ns <= (clock_ns - start) / 2 + yield_ns);

	/* In vain: a tenth of a millisecond, 1000 looks at this clock. */
	yields_of(&f, 10000);
	CHECK(yields >= 9 && yields <= 10);

	page.device_cpu = 3;
	f.ctx.few_cpus = false;
	CHECK_EQ(yields_of(&f, 1000), 1000);
	page.device_cpu = 0;
	CHECK_EQ(yields_of(&f, 1000), 1000);
}

/* A thread that has its processor for itself yields seldom, until somebody
 * comes; at once if that is the device. */
static void test_alone(void)
{
	struct uroce_db_page page = {.device_cpu = 6};
	struct fake f;

	poller_of(&f, &page);
	at_cpu = 2;
	yield_ns = 200;
	CHECK(yields_of(&f, 100) >= 16);
	CHECK_EQ(yields_of(&f, 32 * 100), 100);
	page.device_cpu = 3;
	f.ctx.few_cpus = false;
	CHECK_EQ(yields_of(&f, 100), 100);
	page.device_cpu = 6;
	yield_ns = 3000;
	CHECK(yields_of(&f, 1000) >= 1000 - 32);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_naps());
	CASE(test_leaves_device());
	CASE(test_stays());
	CASE(test_looks_after_a_yield());
	CASE(test_takes_turns());
	CASE(test_alone());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order in which threads get a lock that users take in turns. Each is made to
 * wait before the next one comes, and how long a turn lasts is for ever or
 * not at all, so that nothing depends on how fast the machine is.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "engine/ground/turns.h"
#include "tests/check.h"
#include "util/os/follow.h"

#define FOR_EVER UINT64_MAX

/* The thread that holds the lock while the others come. */
#define HOLDER	    9
#define MAX_THREADS 64

static struct ur_turns turns;
static pthread_t threads[MAX_THREADS];
static u32 n_threads, order[MAX_THREADS], n_done;

/* The user of a thread, and which one of his it is. */
#define NAME(user, number) ((user)*100 + (number))

static void *take_once(void *arg)
{
	u32 name = (u32)(uintptr_t)arg;

	ur_turns_take(&turns, name / 100);
	order[n_done++] = name;
	ur_turns_give(&turns);
	return NULL;
}

static void come(u32 user, u32 number)
{
	u32 waited = ur_turns_waiting(&turns, user);

	CHECK(!pthread_create(&threads[n_threads++], NULL, take_once,
			      (void *)(uintptr_t)NAME(user, number)));
	while (ur_turns_waiting(&turns, user) == waited)
		sched_yield();
}

static void begin(u64 turn_ns)
{
	ur_turns_init(&turns, turn_ns);
	ur_turns_take(&turns, HOLDER);
	n_threads = n_done = 0;
}

static void go(void)
{
	ur_turns_give(&turns);
	for (u32 i = 0; i < n_threads; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_EQ(n_done, n_threads);
}

/* One user has 20 threads that came first, and another's waits for one. */
static void many_threads(void)
{
	begin(0);
	for (u32 i = 0; i < 20; i++)
		come(1, i);
	come(2, 0);
	go();
	CHECK_EQ(order[0], NAME(1, 0));
	CHECK_EQ(order[1], NAME(2, 0));
	for (u32 i = 1; i < 20; i++)
		CHECK_EQ(order[i + 1], NAME(1, i));
}

static void round_robin(void)
{
	begin(0);
	for (u32 user = 1; user <= 3; user++)
		for (u32 i = 0; i < 5; i++)
			come(user, i);
	go();
	for (u32 i = 0; i < 15; i++)
		CHECK_EQ(order[i], NAME(i % 3 + 1, i / 3));
}

/* A turn goes on while his threads wait. */
static void one_turn(void)
{
	begin(FOR_EVER);
	for (u32 i = 0; i < 5; i++)
		for (u32 user = 1; user <= 3; user++)
			come(user, i);
	go();
	for (u32 i = 0; i < 15; i++)
		CHECK_EQ(order[i], NAME(i / 5 + 1, i % 5));
}

/* A thread that has the lock may have it again, but not before those that wait.
 * */
static void again(void)
{
	begin(FOR_EVER);
	come(1, 0);
	ur_turns_give(&turns);
	ur_turns_take(&turns, HOLDER);
	CHECK_EQ(n_done, 1);
	go();
}

/* His own come first while it is his turn, and not when it is over. */
static void own_first(u64 turn_ns)
{
	begin(turn_ns);
	come(1, 0);
	come(HOLDER, 0);
	go();
	CHECK_EQ(order[turn_ns ? 0 : 1], NAME(HOLDER, 0));
}

static u64 counter; /* the lock's */
static bool began;

static void *take_often(void *arg)
{
	while (!__atomic_load_n(&began, __ATOMIC_RELAXED))
		sched_yield();
	for (u32 i = 0; i < 2000; i++) {
		u64 was;

		ur_turns_take(&turns, (u32)(uintptr_t)arg);
		was = counter;
		if (i % 64 == 0)
			sched_yield();
		counter = was + 1;
		ur_turns_give(&turns);
	}
	return NULL;
}

/* One at a time, and nobody is forgotten. */
static void exclusion(void)
{
	ur_turns_init(&turns, 20000);
	for (uintptr_t i = 0; i < 12; i++)
		CHECK(!pthread_create(&threads[i], NULL, take_often,
				      (void *)(i % 4)));
	__atomic_store_n(&began, true, __ATOMIC_RELAXED);
	for (u32 i = 0; i < 12; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_EQ(counter, 24000);
	CHECK_EQ(turns.word, 0);
}

/* ---- threads that follow a client to his processor ---- */

/* Whether the calling thread may run on that processor, plus one, alone. */
static bool is_bound_to(u32 cpu)
{
	cpu_set_t now;

	return !sched_getaffinity(0, sizeof(now), &now) &&
	       CPU_COUNT(&now) == 1 && CPU_ISSET(cpu - 1, &now);
}

static u32 processor;

/* As one that lacks that, which others have. */
static void lack_processor(int sig)
{
	while (is_bound_to(processor))
		sched_yield();
}

/* Returns the number of one of our processors, plus one; 0: there is no other.
 * */
static u32 some_processor(void)
{
	cpu_set_t ours;
	u32 cpu = 0;

	CHECK(!sched_getaffinity(0, sizeof(ours), &ours));
	while (!CPU_ISSET(cpu, &ours))
		cpu++;
	return CPU_COUNT(&ours) < 2 ? 0 : cpu + 1;
}

enum bound {
	LACKS = 1,	 /* once it has the lock */
	LACKS_WOKEN = 2, /* when it is woken to take it */
};

static void *take_bound(void *arg)
{
	struct ur_follow f = {0};

	while (!is_bound_to(processor))
		ur_follow(&f, processor);
	CHECK(ur_follow_thread());
	ur_turns_take(&turns, 1);
	if ((uintptr_t)arg & LACKS)
		lack_processor(0);
	order[n_done++] = NAME(1, (u32)(uintptr_t)arg);
	ur_turns_give(&turns);
	return NULL;
}

static void begin_bound(void)
{
	processor = some_processor();
	if (!processor)
		SKIP("one processor");
	signal(SIGUSR1, lack_processor);
}

static void come_bound(enum bound how)
{
	u32 waited = ur_turns_waiting(&turns, 1);

	CHECK(!pthread_create(&threads[n_threads++], NULL, take_bound,
			      (void *)(uintptr_t)how));
	while (ur_turns_waiting(&turns, 1) == waited)
		sched_yield();
}

/* It found the lock free. */
static void holder_leaves(void)
{
	begin_bound();
	begin(FOR_EVER);
	ur_turns_give(&turns);
	CHECK(!pthread_create(&threads[n_threads++], NULL, take_bound,
			      (void *)LACKS));
	while (!__atomic_load_n(&turns.word, __ATOMIC_RELAXED))
		sched_yield();
	ur_turns_take(&turns, 2);
	CHECK_EQ(n_done, 1);
	go();
}

/* It was handed the lock. */
static void heir_leaves(void)
{
	begin_bound();
	begin(FOR_EVER);
	come_bound(LACKS);
	come(2, 0);
	go();
	CHECK_EQ(order[1], NAME(2, 0));
}

/* It may take the lock, of which it does not know yet. */
static void next_of_turn_leaves(void)
{
	begin_bound();
	ur_turns_init(&turns, FOR_EVER);
	n_threads = n_done = 0;
	ur_turns_take(&turns, 1);
	come_bound(LACKS_WOKEN);
	CHECK(!pthread_kill(threads[0], SIGUSR1));
	come(2, 0);
	go();
	CHECK_EQ(order[0], NAME(1, LACKS_WOKEN));
	CHECK_EQ(order[1], NAME(2, 0));
}

/* Whoever has the lock and goes where he likes is left alone. */
static void unbound_stays(void)
{
	cpu_set_t before, after;

	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	CHECK_EQ(ur_follow_thread(), 0);
	begin(FOR_EVER);
	CHECK_EQ(turns.word >> 32, HOLDER);
	CHECK_EQ((u32)turns.word, 1);
	come(2, 0);
	CHECK_EQ((u32)turns.word, 2);
	CHECK(!sched_getaffinity(0, sizeof(after), &after));
	CHECK(CPU_EQUAL(&before, &after));
	go();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(many_threads());
	CASE(round_robin());
	CASE(one_turn());
	CASE(again());
	CASE(own_first(0));
	CASE(own_first(FOR_EVER));
	CASE(exclusion());
	CASE(holder_leaves());
	CASE(heir_leaves());
	CASE(next_of_turn_leaves());
	CASE(unbound_stays());
	return cases_status();
}

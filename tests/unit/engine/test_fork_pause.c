// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When an engine in a program goes on after a fork: once the thread that forked sleeps, runs on or has
 * ended, not at once, and at once where the program forks again.
 */
#include "engine/inproc/fork_pause.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include "tests/check.h"

static struct ur_fork_pause fork_pause;
static sem_t begun, end;
static _Atomic bool stop;

static void *forks_and_sleeps(void *arg)
{
	CHECK(ur_fork_pause_begins(&fork_pause));
	sem_post(&begun);
	while (sem_wait(&end))
		;
	return NULL;
}

static void *forks_and_runs(void *arg)
{
	CHECK(ur_fork_pause_begins(&fork_pause));
	sem_post(&begun);
	while (!stop)
		;
	return NULL;
}

static void *forks_and_ends(void *arg)
{
	CHECK(ur_fork_pause_begins(&fork_pause));
	sem_post(&begun);
	return NULL;
}

/* Where the test is stopped that long, the rest is over at the first look. */
static void is_over_in_time(void *(*forks)(void *))
{
	pthread_t thread;
	u64 since;

	fork_pause = (struct ur_fork_pause){0};
	stop = false;
	CHECK(!pthread_create(&thread, NULL, forks, NULL));
	while (sem_wait(&begun))
		;
	CHECK(fork_pause.on);
	since = fork_pause.since;
	while (!ur_fork_pause_is_over(&fork_pause))
		sched_yield();
	CHECK(!fork_pause.on);
	CHECK(fork_pause.stayed - since >= UR_FORK_PAUSE_NS);
	sem_post(&end);
	stop = true;
	CHECK(!pthread_join(thread, NULL));
	while (!sem_trywait(&end))
		;
}

static void forks_in_a_row_have_one(void)
{
	fork_pause = (struct ur_fork_pause){0};
	CHECK(ur_fork_pause_begins(&fork_pause));
	CHECK(!ur_fork_pause_begins(&fork_pause));
	CHECK(!fork_pause.on && fork_pause.stayed);
	fork_pause.stayed = fork_pause.since - 1000000000u;
	CHECK(ur_fork_pause_begins(&fork_pause)); /* a second later */
	ur_fork_pause_used(&fork_pause, fork_pause.since);
	CHECK(!fork_pause.on);
}

int main(void)
{
	CHECK(!sem_init(&begun, 0, 0) && !sem_init(&end, 0, 0));
	is_over_in_time(forks_and_sleeps);
	is_over_in_time(forks_and_runs);
	is_over_in_time(forks_and_ends);
	forks_in_a_row_have_one();
	return 0;
}

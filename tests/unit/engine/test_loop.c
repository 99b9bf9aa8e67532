// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The order in which calls that are posted to the control loop run, the turns
 * at its lock, and when timers are due. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "engine/ground/loop.h"
#include "tests/check.h"

static struct ur_loop *loop;
static u32 ran, chain;
static pthread_t by;
static sem_t told;

static void note(void *arg)
{
	CHECK_EQ(ran++, (uintptr_t)arg);
	by = pthread_self();
}

static void tell(void *arg)
{
	by = pthread_self();
	sem_post(&told);
}

static void again(void *arg)
{
	if (chain--)
		CHECK(!ur_loop_post(loop, again, NULL));
	else
		tell(NULL);
}

static void *serve(void *arg)
{
	CHECK(!ur_loop_serve(loop));
	return NULL;
}

/* With nobody serving: who lets go of the lock runs them, in order. */
static void test_holder(void)
{
	ur_loop_lock(loop);
	CHECK(!ur_loop_post(loop, note, (void *)0));
	CHECK(!ur_loop_post(loop, note, (void *)1));
	CHECK_EQ(ran, 0);
	ur_loop_unlock(loop);
	CHECK_EQ(ran, 2);
	CHECK(pthread_equal(by, pthread_self()));
}

/* Calls that are posted without end do not keep the lock's holder for ever. */
static void test_chain(pthread_t server)
{
	ur_loop_lock(loop);
	chain = 1000;
	CHECK(!ur_loop_post(loop, again, NULL));
	ur_loop_unlock(loop);
	sem_wait(&told);
	CHECK(pthread_equal(by, server));
}

static void test_elsewhere(pthread_t server)
{
	CHECK(!ur_loop_post(loop, tell, NULL));
	sem_wait(&told);
	CHECK(pthread_equal(by, server));
}

/* Sooner than what the server sleeps for, and later. */
static void test_timers(pthread_t server)
{
	struct ur_loop_timer late = {.fn = tell}, soon = {.fn = tell};

	ur_loop_lock(loop);
	ur_loop_timer_set(loop, &late, ur_loop_now() + 3600000000000ull);
	ur_loop_unlock(loop);
	test_elsewhere(server); /* it has seen the first */
	ur_loop_lock(loop);
	ur_loop_timer_set(loop, &soon, ur_loop_now() + 1000000);
	ur_loop_unlock(loop);
	sem_wait(&told);
	CHECK(pthread_equal(by, server));
	ur_loop_lock(loop);
	CHECK(!soon.deadline_ns && late.deadline_ns);
	ur_loop_timer_set(loop, &late, ur_loop_now());
	ur_loop_unlock(loop);
	sem_wait(&told);
}

/* The user for whom a thread wants the lock. */
struct wants {
	uid_t uid;
	pthread_t thread;
	pid_t tid; /* once it runs; atomic */
};

static uid_t had[4];
static u32 n_had;

static void *want(void *arg)
{
	struct wants *w = arg;
	u64 end;

	ur_loop_act_for(w->uid);
	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	ur_loop_lock(loop);
	had[n_had++] = w->uid;
	/* Longer than any turn. */
	end = ur_loop_now() + 5000000;
	while (ur_loop_now() < end)
		;
	ur_loop_unlock(loop);
	return NULL;
}

static char state_of(pid_t tid)
{
	char path[64], text[256] = "", *after;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	CHECK(f);
	CHECK(fgets(text, sizeof(text), f));
	fclose(f);
	after = strrchr(text, ')');
	CHECK(after && after[1]);
	return after[2];
}

/* Begins to want it, and sleeps: it waits for nothing but the lock. */
static void start(struct wants *w)
{
	pid_t tid;

	CHECK(!pthread_create(&w->thread, NULL, want, w));
	while (!(tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)) ||
	       state_of(tid) != 'S')
		sched_yield();
}

/* Three threads of one user were first. */
static void test_users(void)
{
	struct wants wants[] = {{.uid = 1}, {.uid = 1}, {.uid = 1}, {.uid = 2}};

	ur_loop_lock(loop);
	for (u32 i = 0; i < UR_ARRAY_SIZE(wants); i++)
		start(&wants[i]);
	ur_loop_unlock(loop);
	for (u32 i = 0; i < UR_ARRAY_SIZE(wants); i++)
		pthread_join(wants[i].thread, NULL);
	CHECK_EQ(had[0], 1);
	CHECK_EQ(had[1], 2);
	CHECK_EQ(had[2], 1);
}

/* While connections end they are run; after that what they name may be gone. */
static void test_stopped(void)
{
	u32 before = ran;

	ur_loop_lock(loop);
	CHECK(!ur_loop_post(loop, note, (void *)(uintptr_t)ran));
	ur_loop_unlock(loop);
	CHECK_EQ(ran, before + 1);
	ur_loop_lock(loop);
	ur_loop_close(loop);
	CHECK(!ur_loop_post(loop, note, NULL));
	ur_loop_unlock(loop);
	CHECK_EQ(ran, before + 1);
}

int main(int argc, char **argv)
{
	pthread_t server;

	cases(&argc, argv);
	sem_init(&told, 0, 0);
	CHECK(!ur_loop_create(&loop));
	STEP(test_holder());
	STEP(test_users());
	CHECK(!pthread_create(&server, NULL, serve, NULL));
	STEP(test_elsewhere(server));
	STEP(test_chain(server));
	STEP(test_timers(server));
	ur_loop_lock(loop);
	ur_loop_stop(loop);
	ur_loop_unlock(loop);
	pthread_join(server, NULL);
	STEP(test_stopped());
	ur_loop_destroy(loop);
	return cases_status();
}

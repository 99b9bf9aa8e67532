// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Calls to an engine: a sleeping one is not woken for them, one at a time has
 * it whatever else goes on, and what its sleep was for is served afterwards.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/loop.h"
#include "tests/check.h"
#include "tests/lo_engine.h"

#define CALLERS 3
#define CALLS	3000

static struct ur_engine *engine;
static u64 count; /* only by who is the engine */

static void wait_asleep(void)
{
	while (!atomic_load(&engine->asleep))
		poll(NULL, 0, 1);
}

static int one_more(struct ur_engine *e, void *arg)
{
	return (int)++count;
}

static int is_caller(struct ur_engine *e, void *arg)
{
	return pthread_equal(pthread_self(), *(pthread_t *)arg);
}

static int get_sleeps(struct ur_engine *e, void *arg)
{
	*(u64 *)arg = e->sleeps;
	return 0;
}

static void test_asleep(void)
{
	pthread_t self = pthread_self();
	u64 before, after;

	/* It may say so and find work after all. */
	do
		wait_asleep();
	while (!ur_engine_call(engine, is_caller, &self));
	ur_engine_call(engine, get_sleeps, &before);
	for (int i = 1; i <= 1000; i++)
		CHECK_EQ(ur_engine_call(engine, is_caller, &self), 1);
	ur_engine_call(engine, get_sleeps, &after);
	CHECK_EQ(after, before);
}

static int five(struct ur_engine *e, u8 a, const char *b, u64 c, bool d,
		u16 *ret)
{
	CHECK(e == engine);
	CHECK_EQ(a, 200);
	CHECK_EQ(b[0], 'b');
	CHECK_EQ(c, 1ull << 40);
	CHECK(d);
	*ret = 5;
	return -EAGAIN;
}
UR_ENGINE_CALL(5, five, u8, const char *, u64, bool, u16 *);

static int none(struct ur_engine *e)
{
	return e == engine;
}
UR_ENGINE_CALL(0, none);

/* Arguments arrive in their order and as they were, the result comes back. */
static void test_typed(void)
{
	u16 n = 0;

	CHECK_EQ(call_five(engine, 200, "b", 1ull << 40, true, &n),
		 (u64)-EAGAIN);
	CHECK_EQ(n, 5);
	CHECK_EQ(call_none(engine), 1);
}

/* A descriptor that is ready from the start, as long as it is watched. */
struct ready {
	struct ur_watch watch;
	int fd;
	bool served, gone;
	struct ready *other; /* ends with it */
};

static void serve(struct ur_watch *watch, u32 events)
{
	struct ready *r = (struct ready *)watch;

	CHECK(!r->gone);
	r->served = true;
	if (r->other && !r->other->served) {
		ur_engine_unwatch(engine, r->other->fd);
		r->other->gone = true;
	}
}

static int add(struct ur_engine *e, void *arg)
{
	struct ready *r = arg;

	r->watch.fn = serve;
	return ur_engine_watch(e, r->fd, EPOLLIN, &r->watch);
}

static int is_served(struct ur_engine *e, void *arg)
{
	return ((struct ready *)arg)->served;
}

static int drop(struct ur_engine *e, void *arg)
{
	struct ready *r = arg;

	ur_engine_unwatch(e, r->fd);
	r->gone = true;
	return 0;
}

/* Watched descriptors come and go with the engine on its way out of a sleep for
 * their sake; and one that stays is served. */
static void *come_and_go(void *arg)
{
	for (int i = 0; i < CALLS; i++) {
		struct ready *r = calloc(1, sizeof(*r));

		CHECK(r);
		r->fd = eventfd(1, EFD_CLOEXEC);
		CHECK(r->fd >= 0);
		CHECK_EQ(ur_engine_call(engine, add, r), 0);
		while (i % 8 == 0 && !ur_engine_call(engine, is_served, r))
			sched_yield();
		CHECK_EQ(ur_engine_call(engine, drop, r), 0);
		close(r->fd);
		free(r);
	}
	return NULL;
}

/* A thread of a program that polls is the engine without a call. */
static void test_drives(void)
{
	pthread_mutex_t *owner = &engine->mailbox.owner;

	for (int i = 0; i < 50; i++) {
		struct ready r = {.fd = eventfd(1, EFD_CLOEXEC)};

		wait_asleep();
		pthread_mutex_lock(owner);
		add(engine, &r);
		poll(NULL, 0, 2); /* the engine's thread has woken, and waits */
		drop(engine, &r);
		pthread_mutex_unlock(owner);
		poll(NULL, 0, 2); /* it goes on before a call is the engine */
		ur_engine_call(engine, one_more, NULL);
		close(r.fd);
		CHECK(!r.served);
	}
}

static int add_two(struct ur_engine *e, struct ready *r)
{
	return add(e, &r[0]) || add(e, &r[1]);
}
UR_ENGINE_CALL(1, add_two, struct ready *);

static int drop_two(struct ur_engine *e, struct ready *r)
{
	return drop(e, &r[0]) || drop(e, &r[1]);
}
UR_ENGINE_CALL(1, drop_two, struct ready *);

static int serves_one(struct ur_engine *e, const struct ready *r)
{
	return r[0].served + r[1].served;
}
UR_ENGINE_CALL(1, serves_one, const struct ready *);

/* The first that is served ends the other, which was ready as well. */
static void test_ends_another(void)
{
	struct ready r[2];

	for (u32 i = 0; i < 2; i++)
		r[i] = (struct ready){.fd = eventfd(1, EFD_CLOEXEC),
				      .other = &r[1 - i]};
	CHECK_EQ(call_add_two(engine, r), 0);
	while (!call_serves_one(engine, r))
		ur_mailbox_wake(engine);
	CHECK_EQ(call_drop_two(engine, r), 0);
	CHECK_EQ(r[0].served + r[1].served, 1);
	close(r[0].fd);
	close(r[1].fd);
}

static void *count_up(void *arg)
{
	for (int i = 0; i < CALLS; i++) {
		CHECK(ur_engine_call(engine, one_more, NULL) > 0);
		if (i % 64 == 0)
			wait_asleep();
	}
	return NULL;
}

static void test_together(void)
{
	pthread_t callers[CALLERS], other;

	count = 0;
	CHECK_EQ(pthread_create(&other, NULL, come_and_go, NULL), 0);
	for (int i = 0; i < CALLERS; i++)
		CHECK_EQ(pthread_create(&callers[i], NULL, count_up, NULL), 0);
	for (int i = 0; i < CALLERS; i++)
		CHECK_EQ(pthread_join(callers[i], NULL), 0);
	CHECK_EQ(pthread_join(other, NULL), 0);
	CHECK_EQ(ur_engine_call(engine, one_more, NULL), CALLERS * CALLS + 1);
}

/* A kernel before 5.11, which has no epoll_pwait2(). */
static void forget_pwait2(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {UR_ARRAY_SIZE(code), code};
	struct epoll_event ev;

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		SKIP("no filters of system calls");
	CHECK(epoll_pwait2(-1, &ev, 1, NULL, NULL) < 0 && errno == ENOSYS);
}

/* argv: old, for an old kernel */
int main(int argc, char **argv)
{
	struct ur_engine_config config = {
		LO_ENGINE,
		.kind = &ur_program_kind,
	};

	cases(&argc, argv);
	if (argc > 1 && !strcmp(argv[1], "old"))
		forget_pwait2();
	CHECK_EQ(ur_engine_create(&config, &engine), 0);
	STEP(test_asleep());
	STEP(test_typed());
	STEP(test_drives());
	STEP(test_ends_another());
	STEP(test_together());
	wait_asleep(); /* and is stopped in that state */
	ur_engine_destroy(engine);
	return cases_status();
}

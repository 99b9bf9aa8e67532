// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The control loop on epoll. Callbacks run under the control lock; the loop releases
 * it while it waits.
 *
 * A deleted source may still be in the batch of events that the loop has just
 * received: it is marked dead, and freed after the batch.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "engine/ground/hold_time.h"
#include "engine/ground/loop.h"
#include "engine/ground/turns.h"
#include "util/os/clock.h"
#include "util/assert.h"

/* Most rounds of calls that post further calls, before descriptors are served. */
#define CALL_ROUNDS 32

struct source {
	int fd;
	bool dead;
	void (*fn)(void *arg, u32 events);
	void *arg;
	struct source *next;
};

struct ur_loop {
	struct ur_turns lock;
	int epfd, wakefd;
	bool stop, closed;
	struct source *sources, *dead;
	struct ur_loop_timer *timers; /* by deadline */
	u64 wakes_at; /* end of the thread's sleep; 0: it is awake */
	pthread_mutex_t post_lock; /* of the two below and closed; a leaf */
	struct ur_loop_call *calls, **calls_tail;
	struct ur_loop_after *after; /* of who has the lock */
};

/*
 * A user's turn while another waits: some ten commands, and a few thread wake-ups.
 * At 1 ms, 200 connections of one user do up to a sixth more work, but each other
 * user waits 1 ms for the lock.
 */
#define TURN_NS 250000ull

/* No user has the id (uid_t)-1. */
#define DAEMON_ITSELF UINT32_MAX

/* The user whom this thread acts for. */
static _Thread_local u32 acts_for = DAEMON_ITSELF;
/* The loop whose lock this thread holds. */
static _Thread_local const struct ur_loop *holds;

u64 ur_loop_now(void)
{
	return ur_clock_ns(CLOCK_MONOTONIC);
}

static void wake(struct ur_loop *loop)
{
	u64 one = 1;

	while (write(loop->wakefd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

int ur_loop_create(struct ur_loop **ret)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct ur_loop *loop = calloc(1, sizeof(*loop));
	int err;

	if (!loop)
		return -ENOMEM;
	ur_turns_init(&loop->lock, TURN_NS);
	pthread_mutex_init(&loop->post_lock, NULL);
	loop->calls_tail = &loop->calls;
	loop->epfd = epoll_create1(EPOLL_CLOEXEC);
	loop->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->epfd < 0 || loop->wakefd < 0 ||
	    epoll_ctl(loop->epfd, EPOLL_CTL_ADD, loop->wakefd, &ev) < 0) {
		err = -errno;
		ur_loop_destroy(loop);
		return err;
	}
	*ret = loop;
	return 0;
}

static void free_sources(struct source **list)
{
	while (*list) {
		struct source *s = *list;

		*list = s->next;
		free(s);
	}
}

static void drop_calls(struct ur_loop_call *c)
{
	while (c) {
		struct ur_loop_call *next = c->next;

		if (c->to_free)
			free(c);
		c = next;
	}
}

void ur_loop_destroy(struct ur_loop *loop)
{
	if (!loop)
		return;
	free_sources(&loop->sources);
	free_sources(&loop->dead);
	drop_calls(loop->calls);
	if (loop->epfd >= 0)
		close(loop->epfd);
	if (loop->wakefd >= 0)
		close(loop->wakefd);
	free(loop);
}

int ur_loop_add(struct ur_loop *loop, int fd, u32 events,
		void (*fn)(void *arg, u32 events), void *arg)
{
	struct source *s = calloc(1, sizeof(*s));
	struct epoll_event ev = {.events = events, .data.ptr = s};

	if (!s)
		return -ENOMEM;
	s->fd = fd;
	s->fn = fn;
	s->arg = arg;
	if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		int err = -errno;

		free(s);
		return err;
	}
	s->next = loop->sources;
	loop->sources = s;
	return 0;
}

void ur_loop_del(struct ur_loop *loop, int fd)
{
	for (struct source **p = &loop->sources; *p; p = &(*p)->next) {
		struct source *s = *p;

		if (s->fd != fd)
			continue;
		epoll_ctl(loop->epfd, EPOLL_CTL_DEL, fd, NULL);
		*p = s->next;
		s->dead = true;
		s->next = loop->dead;
		loop->dead = s;
		return;
	}
}

static void post(struct ur_loop *loop, struct ur_loop_call *c)
{
	bool first;

	c->next = NULL;
	pthread_mutex_lock(&loop->post_lock);
	if (loop->closed) {
		pthread_mutex_unlock(&loop->post_lock);
		drop_calls(c);
		return;
	}
	first = !loop->calls;
	__atomic_store_n(loop->calls_tail, c, __ATOMIC_RELAXED);
	loop->calls_tail = &c->next;
	pthread_mutex_unlock(&loop->post_lock);
	/* A thread that holds the lock runs the call when it releases the lock.
	 * If a call waited already, the loop has been woken. */
	if (first && holds != loop)
		wake(loop);
}

int ur_loop_post(struct ur_loop *loop, void (*fn)(void *arg), void *arg)
{
	struct ur_loop_call *c = malloc(sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct ur_loop_call){.fn = fn, .arg = arg, .to_free = true};
	post(loop, c);
	return 0;
}

void ur_loop_post_call(struct ur_loop *loop, struct ur_loop_call *call)
{
	call->to_free = false;
	post(loop, call);
}

void ur_loop_timer_clear(struct ur_loop *loop, struct ur_loop_timer *timer)
{
	struct ur_loop_timer **p = &loop->timers;

	while (*p && *p != timer)
		p = &(*p)->next;
	if (*p)
		*p = timer->next;
	timer->deadline_ns = 0;
}

void ur_loop_timer_set(struct ur_loop *loop, struct ur_loop_timer *timer,
		       u64 deadline_ns)
{
	struct ur_loop_timer **p = &loop->timers;

	ur_loop_timer_clear(loop, timer);
	timer->deadline_ns = deadline_ns ? deadline_ns : 1;
	while (*p && (*p)->deadline_ns <= timer->deadline_ns)
		p = &(*p)->next;
	timer->next = *p;
	*p = timer;
	if (timer->deadline_ns < loop->wakes_at) {
		loop->wakes_at = 0;
		wake(loop);
	}
}

static int timeout_ms(const struct ur_loop *loop)
{
	u64 now;

	if (!loop->timers)
		return -1;
	now = ur_loop_now();
	if (loop->timers->deadline_ns <= now)
		return 0;
	now = (loop->timers->deadline_ns - now + 999999) / 1000000;
	return now > 60000 ? 60000 : (int)now;
}

static void run_timers(struct ur_loop *loop)
{
	u64 now;

	if (!loop->timers)
		return;
	now = ur_loop_now();
	while (loop->timers && loop->timers->deadline_ns <= now) {
		struct ur_loop_timer *t = loop->timers;

		loop->timers = t->next;
		t->deadline_ns = 0;
		t->fn(t->arg);
	}
}

/* Runs the calls posted before now: a call that posts itself must not delay the
 * descriptors. */
static void run_calls(struct ur_loop *loop)
{
	u32 whom = acts_for;
	struct ur_loop_call *c;

	pthread_mutex_lock(&loop->post_lock);
	c = loop->calls;
	__atomic_store_n(&loop->calls, NULL, __ATOMIC_RELAXED);
	loop->calls_tail = &loop->calls;
	pthread_mutex_unlock(&loop->post_lock);
	/* Posted work is the daemon's, whichever thread runs it. */
	acts_for = DAEMON_ITSELF;
	while (c) {
		struct ur_loop_call *next = c->next;
		struct ur_loop_call *mine = c->to_free ? c : NULL;

		c->fn(c->arg); /* may free c, if it is the caller's */
		free(mine);
		c = next;
	}
	acts_for = whom;
}

/* Runs up to CALL_ROUNDS rounds of calls. Returns whether there are more. */
static bool run_rounds(struct ur_loop *loop)
{
	for (u32 i = 0; i < CALL_ROUNDS; i++) {
		if (!__atomic_load_n(&loop->calls, __ATOMIC_RELAXED))
			return false;
		run_calls(loop);
	}
	return __atomic_load_n(&loop->calls, __ATOMIC_RELAXED);
}

void ur_loop_act_for(uid_t uid)
{
	acts_for = uid;
}

bool ur_loop_mine(const struct ur_loop *loop)
{
	return holds == loop;
}

void ur_loop_lock(struct ur_loop *loop)
{
	ur_assert(holds != loop);
	ur_turns_take(&loop->lock, acts_for);
	holds = loop;
	ur_hold_time_begin();
}

void ur_loop_after(struct ur_loop *loop, struct ur_loop_after *after,
		   void (*fn)(struct ur_loop_after *after))
{
	ur_assert(holds == loop);
	after->fn = fn;
	after->next = loop->after;
	loop->after = after;
}

static void let_go(struct ur_loop *loop)
{
	struct ur_loop_after *after = loop->after;

	loop->after = NULL;
	holds = NULL;
	ur_hold_time_end();
	ur_turns_give(&loop->lock);
	while (after) {
		struct ur_loop_after *next = after->next;

		after->fn(after);
		after = next;
	}
}

void ur_loop_unlock(struct ur_loop *loop)
{
	ur_assert(holds == loop);
	if (!loop->closed && run_rounds(loop))
		wake(loop);
	let_go(loop);
}

bool ur_loop_step_aside(struct ur_loop *loop)
{
	if (acts_for == DAEMON_ITSELF)
		return false;
	ur_loop_unlock(loop);
	return true;
}

static void dispatch(struct ur_loop *loop, const struct epoll_event *ev, int n)
{
	for (int i = 0; i < n; i++) {
		struct source *s = ev[i].data.ptr;
		u64 drain;

		if (!s) {
			if (read(loop->wakefd, &drain, 8) < 0)
				drain = 0; /* taken already */
			continue;
		}
		if (!s->dead)
			s->fn(s->arg, ev[i].events);
	}
	free_sources(&loop->dead);
}

int ur_loop_serve(struct ur_loop *loop)
{
	struct epoll_event ev[32];
	int n, ms;

	ur_loop_lock(loop);
	while (!__atomic_load_n(&loop->stop, __ATOMIC_RELAXED)) {
		run_timers(loop);
		ms = run_rounds(loop) ? 0 : timeout_ms(loop);
		loop->wakes_at =
			loop->timers ? loop->timers->deadline_ns : UINT64_MAX;
		let_go(loop);
		n = epoll_wait(loop->epfd, ev, UR_ARRAY_SIZE(ev), ms);
		ur_loop_lock(loop);
		loop->wakes_at = 0;
		dispatch(loop, ev, n);
	}
	ur_loop_unlock(loop);
	return 0;
}

void ur_loop_close(struct ur_loop *loop)
{
	struct ur_loop_call *calls;

	pthread_mutex_lock(&loop->post_lock);
	loop->closed = true;
	calls = loop->calls;
	loop->calls = NULL;
	pthread_mutex_unlock(&loop->post_lock);
	drop_calls(calls);
}

void ur_loop_stop(struct ur_loop *loop)
{
	__atomic_store_n(&loop->stop, true, __ATOMIC_RELAXED);
	wake(loop);
}

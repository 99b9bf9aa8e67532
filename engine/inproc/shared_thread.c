// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads that run several engines each, and the watch over them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "engine/core/dispatch.h"
#include "engine/core/engine_impl.h"
#include "engine/core/poll_loop.h"
#include "engine/core/wait.h"
#include "engine/ground/own_memory.h"
#include "engine/inproc/shared_thread.h"
#include "util/os/high_fd.h"
#include "util/os/thread.h"

#define STACK_BYTES (256u << 10)
/* Interval at which a thread checks its sleeping engines for work while another one of them is awake. */
#define LOOK_NS 5000u
/* Interval of the watch. A turn that goes on from one of its checks to the next counts as one that does not
 * end. */
#define STALL_NS 50000000
/* Interval of calls to an engine whose descriptors are gone. */
#define CLOSED_NS 50000000u

struct ur_shared_thread {
	struct ur_list node;
	struct ur_list engines; /* struct ur_shared_place */
	u32 n;
	int epoll_fd; /* of the engines' epoll descriptors, and of wake_fd */
	int wake_fd;
	u64 looked;
	u64 yield_began,
		yield_ended; /* after the last pass; 0: it did not yield */
	struct ur_shared_place *current; /* takes a turn */
	u64 turns,
		turns_seen; /* of all engines; at the last look of the watch */
	bool stalled;
};

/* Guards all that follows, and the fields of threads and places but looked, yield_*, mode
 * and began_at. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static struct ur_list threads = {&threads, &threads};
static bool is_watched, watch_waits;
static sem_t watch_wakes;

static struct ur_engine *engine_of(struct ur_shared_place *p)
{
	return ur_container_of(p, struct ur_engine, inproc.place);
}

static void wake(struct ur_shared_thread *t)
{
	u64 one = 1;
	ssize_t n = write(t->wake_fd, &one, sizeof(one));

	ur_assert(n > 0 || errno == EAGAIN);
}

/* ---- which thread has which engine; lock held ---- */

/* Wakes the watch if turns of several engines begin. */
static void wake_watch(const struct ur_shared_thread *t)
{
	if (!watch_waits || t->n < 2)
		return;
	watch_waits = false;
	sem_post(&watch_wakes);
}

static int add_events(struct ur_shared_thread *t, struct ur_shared_place *p)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = p};

	return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, engine_of(p)->epoll_fd,
			 &ev) < 0
		       ? -errno
		       : 0;
}

static void add(struct ur_shared_thread *t, struct ur_shared_place *p)
{
	ur_list_add_tail(&t->engines, &p->node);
	p->thread = t;
	t->n++;
	wake(t);
	wake_watch(t);
}

static void del(struct ur_shared_thread *t, struct ur_shared_place *p)
{
	epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, engine_of(p)->epoll_fd, NULL);
	ur_list_del(&p->node);
	t->n--;
}

/* ---- turns ---- */

static bool sleeps(struct ur_shared_place *p, u64 now)
{
	return p->mode == UR_IDLE_SLEEP && now < engine_of(p)->asleep_until;
}

/* Takes the next of *n engines that is awake, or whose sleep is over; it comes last from then on. Counts those that
 * it passes over in *sleeping. Returns NULL if there is none. */
static struct ur_shared_place *next(struct ur_shared_thread *t, u64 now, u32 *n,
				    u32 *sleeping)
{
	struct ur_shared_place *p = NULL;

	pthread_mutex_lock(&lock);
	for (; *n && !p && !ur_list_empty(&t->engines); --*n) {
		p = ur_list_first(&t->engines, struct ur_shared_place, node);
		ur_list_del(&p->node);
		ur_list_add_tail(&t->engines, &p->node);
		if (!sleeps(p, now))
			continue;
		p = NULL;
		++*sleeping;
	}
	t->current = p;
	t->turns++;
	pthread_mutex_unlock(&lock);
	return p;
}

/* From now on its last user may free the engine. */
static void leave(struct ur_shared_place *p)
{
	struct ur_engine *e = engine_of(p);

	atomic_store(&e->asleep, 1);
	ur_mailbox_release(e);
	pthread_mutex_lock(&lock);
	p->thread->current = NULL;
	del(p->thread, p);
	p->thread = NULL;
	pthread_cond_broadcast(&left);
	pthread_mutex_unlock(&lock);
}

static void rouse(struct ur_shared_place *p)
{
	static const struct timespec zero;
	struct ur_engine *e = engine_of(p);

	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_wait_ends(e, &zero);
	p->mode = UR_IDLE_HOLD;
}

static void begin(struct ur_shared_place *p)
{
	if (p->began_at != p->thread)
		ur_wait_init(engine_of(p));
	p->began_at = p->thread;
}

/* Its descriptors are gone: serves only calls, with which the context's objects end. */
static void serve_calls(struct ur_shared_place *p)
{
	struct ur_engine *e = engine_of(p);

	ur_mailbox_run(e);
	e->asleep_until = ur_clock_ns(CLOCK_MONOTONIC) + CLOSED_NS;
	p->mode = UR_IDLE_SLEEP;
}

static void take_turn(struct ur_shared_place *p)
{
	struct ur_engine *e = engine_of(p);
	bool any;

	if (p->mode == UR_IDLE_YIELD && p->thread->yield_ended)
		ur_idle_yielded(&e->idle, p->thread->yield_began,
				p->thread->yield_ended);
	any = ur_poll_turn(e);
	if (ur_chores_run(e) || any) {
		ur_idle_work(&e->idle, e->now);
		p->mode = UR_IDLE_HOLD;
		return;
	}
	p->mode = ur_idle_wait(&e->idle, e->now);
	if (p->mode == UR_IDLE_YIELD)
		ur_wait_show_cpu(e);
	if (p->mode != UR_IDLE_SLEEP)
		return;
	if (ur_wait_begins(e))
		e->sleeps++;
	else
		rouse(p);
}

/* Lets the engine take a turn. Returns how it waits for the next one. */
static enum ur_idle_mode run_engine(struct ur_shared_place *p)
{
	struct ur_engine *e = engine_of(p);
	enum ur_idle_mode mode;

	ur_mailbox_acquire(e);
	if (e->stop) {
		leave(p);
		return UR_IDLE_SLEEP;
	}
	begin(p);
	if (atomic_load(&e->inproc.closed))
		serve_calls(p);
	else if (p->mode == UR_IDLE_SLEEP)
		rouse(p);
	else
		take_turn(p);
	mode = p->mode;
	ur_mailbox_release(e);
	return mode;
}

/* No engine takes a turn now. Returns how many there are. */
static u32 end_turns(struct ur_shared_thread *t)
{
	u32 n;

	pthread_mutex_lock(&lock);
	t->current = NULL;
	t->stalled = false;
	n = t->n;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- waiting ---- */

/* Makes an engine current. Returns false if the watch has taken it away. */
static bool take(struct ur_shared_thread *t, const struct ur_shared_place *p)
{
	pthread_mutex_lock(&lock);
	ur_list_each(struct ur_shared_place, it, &t->engines, node) {
		if (it == p)
			t->current = it;
	}
	t->turns++;
	pthread_mutex_unlock(&lock);
	return t->current;
}

/* Waits for a sleeping engine's events, and rouses that. One at a time, since meanwhile the watch may take others
 * away, and they may end. */
static void wait_for_events(struct ur_shared_thread *t,
			    const struct timespec *timeout)
{
	struct ur_shared_place *p;
	struct epoll_event ev;
	u64 count;

	if (ur_dispatch_wait(t->epoll_fd, &ev, 1, timeout) <= 0)
		return;
	t->looked = 0;
	p = ev.data.ptr;
	if (!p) {
		if (read(t->wake_fd, &count, sizeof(count)) < 0)
			ur_assert(errno == EAGAIN);
	} else if (take(t, p)) {
		ur_mailbox_acquire(engine_of(p));
		if (p->mode == UR_IDLE_SLEEP)
			rouse(p);
		ur_mailbox_release(engine_of(p));
		end_turns(t);
	}
}

static void sleep_all(struct ur_shared_thread *t)
{
	u64 until = UR_NEVER;
	struct timespec ts;

	pthread_mutex_lock(&lock);
	ur_list_each(struct ur_shared_place, p, &t->engines, node) {
		/* One that has just come may be awake. */
		until = p->mode == UR_IDLE_SLEEP
				? ur_min_u64(until, engine_of(p)->asleep_until)
				: 0;
		if (!until)
			break;
	}
	pthread_mutex_unlock(&lock);
	ts = ur_wait_until(until);
	wait_for_events(t, &ts);
	pthread_mutex_lock(&lock);
	wake_watch(t);
	pthread_mutex_unlock(&lock);
}

/* The engines note it in their next turns, under their owner locks. */
static void yield(struct ur_shared_thread *t)
{
	t->yield_began = ur_clock_ns(CLOCK_MONOTONIC);
	sched_yield();
	t->yield_ended = ur_clock_ns(CLOCK_MONOTONIC);
}

/* Serves the events of sleeping engines, at most once in LOOK_NS. */
static void look(struct ur_shared_thread *t)
{
	static const struct timespec zero;
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	if (now - t->looked < LOOK_NS)
		return;
	t->looked = now;
	wait_for_events(t, &zero);
}

/* Lets those of n engines that are awake take a turn. Returns how the thread waits before the next ones. */
static enum ur_idle_mode run_engines(struct ur_shared_thread *t, u32 n,
				     u32 *sleeping)
{
	enum ur_idle_mode least = UR_IDLE_SLEEP, mode;
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);
	struct ur_shared_place *p;

	*sleeping = 0;
	while ((p = next(t, now, &n, sleeping))) {
		mode = run_engine(p);
		*sleeping += mode == UR_IDLE_SLEEP;
		if (mode < least)
			least = mode;
	}
	t->yield_began = t->yield_ended = 0;
	return least;
}

static void *run(void *arg)
{
	struct ur_shared_thread *t = arg;
	enum ur_idle_mode mode;
	u32 n = 0, sleeping;

	ur_own_memory_thread();
	prctl(PR_SET_NAME, "uroce-turns", 0ul, 0ul, 0ul);
	for (;;) {
		mode = run_engines(t, n, &sleeping);
		n = end_turns(t);
		if (mode == UR_IDLE_SLEEP)
			sleep_all(t);
		else if (mode == UR_IDLE_YIELD)
			yield(t);
		if (mode != UR_IDLE_SLEEP && sleeping)
			look(t);
	}
	return NULL;
}

/* ---- threads; lock held ---- */

static void free_thread(struct ur_shared_thread *t)
{
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	free(t);
}

static int make_files(struct ur_shared_thread *t)
{
	struct epoll_event ev = {.events = EPOLLIN};

	t->epoll_fd = ur_high_fd(epoll_create1(EPOLL_CLOEXEC));
	t->wake_fd = ur_high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	return t->epoll_fd < 0 || t->wake_fd < 0 ||
			       epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->wake_fd,
					 &ev) < 0
		       ? -errno
		       : 0;
}

static int make_thread(struct ur_shared_thread **ret)
{
	struct ur_shared_thread *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	ur_list_init(&t->engines);
	err = make_files(t);
	if (!err)
		err = ur_thread_start(STACK_BYTES, run, t);
	if (err) {
		free_thread(t);
		return err;
	}
	ur_list_add_tail(&threads, &t->node);
	*ret = t;
	return 0;
}

/* Gives the engines of a thread whose turn does not end to another one. */
static void part(struct ur_shared_thread *t)
{
	struct ur_shared_thread *other;

	if (make_thread(&other))
		return; /* the watch tries again */
	t->stalled = true;
	ur_list_for_each_safe(it, &t->engines) {
		struct ur_shared_place *p =
			ur_list_entry(it, struct ur_shared_place, node);

		if (p == t->current || add_events(other, p))
			continue;
		del(t, p);
		add(other, p);
	}
}

/* Returns whether engines of one thread may have to wait for each other. */
static bool look_over(void)
{
	bool any = false;

	ur_list_each(struct ur_shared_thread, t, &threads, node) {
		if (t->n > 1 && t->current && t->turns == t->turns_seen)
			part(t);
		any |= t->n > 1 && (t->current || t->turns != t->turns_seen);
		t->turns_seen = t->turns;
	}
	return any;
}

static void *watch(void *arg)
{
	bool any;

	for (;;) {
		pthread_mutex_lock(&lock);
		any = look_over();
		watch_waits = !any;
		pthread_mutex_unlock(&lock);
		if (any)
			ur_nap_ns(STALL_NS);
		else
			while (sem_wait(&watch_wakes) < 0)
				; /* EINTR */
	}
	return NULL;
}

/* The first thread with two engines needs a watch. */
static int start_watch(const struct ur_shared_thread *t)
{
	int err;

	if (is_watched || !t->n)
		return 0;
	err = sem_init(&watch_wakes, 0, 0) < 0 ? -errno : 0;
	if (!err)
		err = ur_thread_start(STACK_BYTES, watch, NULL);
	is_watched = !err;
	return err;
}

static u32 most_threads(void)
{
	cpu_set_t set;
	u32 n = sched_getaffinity(0, sizeof(set), &set) < 0
			? 1
			: (u32)CPU_COUNT(&set);

	return n < 4 ? 1 : n / 2;
}

/* Returns the thread with the fewest engines, or a new one. */
static int choose(struct ur_shared_thread **best)
{
	u32 n = 0;

	*best = NULL;
	ur_list_each(struct ur_shared_thread, t, &threads, node) {
		if (t->stalled)
			continue;
		n++;
		if (!*best || t->n < (*best)->n)
			*best = t;
	}
	return *best && (!(*best)->n || n >= most_threads())
		       ? 0
		       : make_thread(best);
}

int ur_shared_thread_start(struct ur_engine *e)
{
	struct ur_shared_thread *t;
	int err;

	ur_inproc_follow(e);
	pthread_mutex_lock(&lock);
	err = choose(&t);
	if (!err)
		err = start_watch(t);
	if (!err)
		err = add_events(t, &e->inproc.place);
	if (!err)
		add(t, &e->inproc.place);
	pthread_mutex_unlock(&lock);
	return err;
}

void ur_shared_thread_stop(struct ur_engine *e)
{
	pthread_mutex_lock(&lock);
	while (e->inproc.place.thread) {
		wake(e->inproc.place.thread);
		pthread_cond_wait(&left, &lock);
	}
	pthread_mutex_unlock(&lock);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The mailbox from control to engine. Sleep race: the caller sets pending and
 * then reads asleep, the engine sets asleep and then reads pending, all
 * sequentially consistent, so one of them sees the other.
 *
 * The holder of the owner lock runs the engine. The engine's thread releases the
 * lock while it sleeps; a caller that gets it runs the function itself and sends
 * the resulting packets. That saves two thread switches for most calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/hold_time.h"
#include "engine/ground/loop.h"
#include "engine/core/poll_loop.h"
#include "engine/record/record.h"
#include "engine/core/transmit.h"
#include "engine/core/wait.h"
#include "util/os/sem_wait.h"

int ur_mailbox_init(struct ur_mailbox *box)
{
	if (sem_init(&box->done, 0, 0) < 0)
		return -errno;
	pthread_mutex_init(&box->lock, NULL);
	pthread_mutex_init(&box->orders_lock, NULL);
	box->orders_tail = &box->orders;
	pthread_mutex_init(&box->owner, NULL);
	atomic_store(&box->pending, 0);
	return 0;
}

/* ---- orders ---- */

/* Longest wait for an order; and the time after a late one in which no order is waited for. */
#define ORDER_MS 50u
#define LATE_NS	 1000000000ull

/* Its caller and the engine hold a reference each; the last one frees it. */
struct ur_order {
	struct ur_order *next;
	int (*fn)(struct ur_engine *engine, void *arg);
	int ret;
	_Atomic int users;
	sem_t done;
	u8 arg[] __attribute__((aligned(16)));
};

static void put_order(struct ur_order *o)
{
	if (atomic_fetch_sub(&o->users, 1) > 1)
		return;
	sem_destroy(&o->done);
	free(o);
}

static struct ur_order *take_orders(struct ur_mailbox *box)
{
	struct ur_order *o;

	pthread_mutex_lock(&box->orders_lock);
	o = box->orders;
	box->orders = NULL;
	box->orders_tail = &box->orders;
	pthread_mutex_unlock(&box->orders_lock);
	return o;
}

/* As the engine. */
static void run_orders(struct ur_engine *engine)
{
	struct ur_order *o, *next;

	atomic_fetch_and(&engine->mailbox.pending, ~UR_MAILBOX_ORDERS);
	for (o = take_orders(&engine->mailbox); o; o = next) {
		next = o->next;
		o->ret = o->fn(engine, o->arg);
		sem_post(&o->done);
		put_order(o);
	}
}

static void post_order(struct ur_engine *engine, struct ur_order *o)
{
	struct ur_mailbox *box = &engine->mailbox;

	pthread_mutex_lock(&box->orders_lock);
	*box->orders_tail = o;
	box->orders_tail = &o->next;
	pthread_mutex_unlock(&box->orders_lock);
	atomic_fetch_or(&box->pending, UR_MAILBOX_ORDERS);
	if (atomic_load(&engine->asleep))
		ur_mailbox_wake(engine);
}

/* Waits for the order. Returns whether the engine has run it. */
static bool wait_order(struct ur_mailbox *box, struct ur_order *o)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	if (box->late_ns && now - box->late_ns < LATE_NS)
		return !sem_trywait(&o->done);
	if (ur_sem_wait_ms(&o->done, ORDER_MS))
		return true;
	box->late_ns = ur_clock_ns(CLOCK_MONOTONIC);
	return false;
}

/* Returns whether a user's memory may delay the engine: only an engine of one user,
 * so that nobody else suffers. The first engine serves root and the device's own
 * user. */
static bool may_wait(const struct ur_engine *engine)
{
	return engine->shard && engine->config.by_user;
}

static struct ur_order *make_order(const struct ur_engine *engine,
				   const void *arg, size_t size)
{
	struct ur_order *o;

	if (!may_wait(engine))
		return NULL;
	o = calloc(1, sizeof(*o) + size);
	if (!o)
		return NULL;
	o->users = 2;
	sem_init(&o->done, 0, 0);
	memcpy(o->arg, arg, size);
	return o;
}

int ur_engine_ask(struct ur_engine *engine,
		  int (*fn)(struct ur_engine *engine, void *arg), void *arg,
		  size_t size)
{
	struct ur_order *o = make_order(engine, arg, size);
	int ret = -ETIME;

	if (!o)
		return ur_engine_call(engine, fn, arg);
	o->fn = fn;
	post_order(engine, o);
	if (wait_order(&engine->mailbox, o)) {
		memcpy(arg, o->arg, size);
		ret = o->ret;
	}
	put_order(o);
	return ret;
}

/* ---- calls ---- */

void ur_mailbox_fini(struct ur_mailbox *box)
{
	struct ur_order *o, *next;

	for (o = take_orders(box); o; o = next) {
		next = o->next;
		put_order(o);
	}
	pthread_mutex_destroy(&box->orders_lock);
	pthread_mutex_destroy(&box->lock);
	pthread_mutex_destroy(&box->owner);
	sem_destroy(&box->done);
}

void ur_mailbox_wake(struct ur_engine *engine)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
				 .data.ptr = &engine->call_watch};
	u64 one = 1;

	if (write(engine->call_fd, &one, sizeof(one)) >= 0 || errno == EAGAIN)
		return; /* EAGAIN: the counter is full, which wakes all the same */
	/* The program's seccomp filter refuses the write. The eventfd is writable, so
	 * asking epoll for EPOLLOUT wakes the engine too. */
	epoll_ctl(engine->epoll_fd, EPOLL_CTL_MOD, engine->call_fd, &ev);
}

/* Runs the function on this thread, if the engine's thread sleeps. */
static bool run_as_owner(struct ur_engine *engine,
			 int (*fn)(struct ur_engine *engine, void *arg),
			 void *arg, int *ret)
{
	struct ur_mailbox *box = &engine->mailbox;
	bool more;

	if (!atomic_load(&engine->asleep) || ur_guest_is_alone(engine) ||
	    pthread_mutex_trylock(&box->owner))
		return false;
	/* Requests posted before a command must reach the engine before it:
	 * resizing a queue counts them. The doorbell has woken the engine. Nor may a burst
	 * be leaving aside. */
	if (ur_doorbells_rung(engine) || ur_asides_end(engine)) {
		pthread_mutex_unlock(&box->owner);
		return false;
	}
	ur_assert_about = engine->netdev;
	engine->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_guest_follow(engine);
	ur_record_look(engine);
	if (atomic_load(&box->pending) & UR_MAILBOX_ORDERS)
		run_orders(engine);
	if (engine->config.guest) {
		ur_guest_acted(engine);
		/* The thread that ran the engine before may have left packets. */
		ur_transmit(engine);
	}
	*ret = fn(engine, arg);
	more = ur_poll_after_call(engine);
	ur_assert_about = NULL;
	pthread_mutex_unlock(&box->owner);
	if (more)
		ur_mailbox_wake(engine);
	return true;
}

void ur_mailbox_release(struct ur_engine *engine)
{
	pthread_mutex_unlock(&engine->mailbox.owner);
}

void ur_mailbox_acquire(struct ur_engine *engine)
{
	pthread_mutex_lock(&engine->mailbox.owner);
}

static int call(struct ur_engine *engine,
		int (*fn)(struct ur_engine *engine, void *arg), void *arg,
		bool aside)
{
	struct ur_mailbox *box = &engine->mailbox;
	int ret;

	pthread_mutex_lock(&box->lock);
	if (!run_as_owner(engine, fn, arg, &ret)) {
		box->fn = fn;
		box->arg = arg;
		atomic_fetch_or(&box->pending, UR_MAILBOX_CALL);
		if (atomic_load(&engine->asleep))
			ur_mailbox_wake(engine);
		/* The caller holds the control lock, for which all others wait. */
		while (!ur_sem_wait_ms(&box->done, 1))
			ur_place_release(&engine->place);
		ret = box->ret;
		if (!aside)
			ur_hold_time_add(box->spent_ns);
	}
	pthread_mutex_unlock(&box->lock);
	return ret;
}

int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg)
{
	struct ur_loop *loop = engine->config.loop;
	bool aside = loop && may_wait(engine) && ur_loop_mine(loop) &&
		     ur_loop_step_aside(loop);
	int ret = call(engine, fn, arg, aside);

	if (aside)
		ur_loop_lock(loop);
	return ret;
}

bool ur_mailbox_waits(struct ur_engine *engine)
{
	return atomic_load_explicit(&engine->mailbox.pending,
				    memory_order_acquire);
}

bool ur_mailbox_run(struct ur_engine *engine)
{
	struct ur_mailbox *box = &engine->mailbox;
	int pending = atomic_load(&box->pending);
	u64 began;

	if (pending & UR_MAILBOX_ORDERS)
		run_orders(engine);
	if (!(pending & UR_MAILBOX_CALL))
		return pending;
	began = ur_hold_time_now();
	box->ret = box->fn(engine, box->arg);
	box->spent_ns = ur_hold_time_now() - began;
	atomic_fetch_and(&box->pending, ~UR_MAILBOX_CALL);
	sem_post(&box->done);
	return true;
}

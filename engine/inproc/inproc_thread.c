// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's own thread in a program, and when it sleeps. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#include "engine/core/dispatch.h"
#include "engine/core/engine_impl.h"
#include "engine/ground/own_memory.h"
#include "engine/inproc/inproc_end.h"
#include "engine/core/poll_loop.h"
#include "engine/core/wait.h"

/* Interval at which the thread checks whether the program still polls. Once it does
 * not, timers and held acknowledgements are late by at most this. */
#define NAP_NS 1000000u
/* The same after a nap during which packets came that nobody polled for. */
#define SHORT_NAP_NS 20000u
/* A program that polls takes turns more often than that. */
#define LEFT_NS 10000u
/* A program that armed a queue within this time sleeps between its polls. */
#define ARMED_NS    20000000u
#define STACK_BYTES (256u << 10)
/* Polls in vain during one turn that show a program which polls. */
#define VAIN_POLLS 16u
/* Sleep interval after the program has closed the engine's descriptors. */
#define REST_NS 50000000

static bool sleeps_between(struct ur_engine *e)
{
	u32 arms = atomic_load_explicit(&e->inproc.arms, memory_order_relaxed);
	u64 now;

	if (arms == e->inproc.arms_seen && !e->inproc.armed_at)
		return false;
	now = ur_clock_ns(CLOCK_MONOTONIC);
	if (arms != e->inproc.arms_seen)
		e->inproc.armed_at = now;
	else if (now - e->inproc.armed_at >= ARMED_NS)
		e->inproc.armed_at = 0;
	e->inproc.arms_seen = arms;
	return e->inproc.armed_at;
}

/* Returns whether the program has polled since the last look, and no call waits. */
static bool is_driven(struct ur_engine *e)
{
	u32 turns =
		atomic_load_explicit(&e->inproc.turns, memory_order_relaxed);
	bool driven = turns != e->inproc.seen;

	e->inproc.seen = turns;
	return driven && !sleeps_between(e) &&
	       !atomic_load(&e->mailbox.pending);
}

/* Sends the datagrams that stay in their rings. If the lock is taken, its holder sends them. */
static void send_left(struct ur_engine *e)
{
	if (!ur_post_batch_is_left(&e->inproc.batch) ||
	    pthread_mutex_trylock(&e->mailbox.owner))
		return;
	e->inproc.batch.sent++;
	ur_post_batch_sent(&e->inproc.batch);
	ur_inproc_acted(e);
	ur_poll_posted(e);
	ur_mailbox_release(e);
}

/* Takes a turn. Returns whether it received what nobody had received for LEFT_NS. */
static bool receives_left(struct ur_engine *e)
{
	u64 last = e->now;

	if (e->inproc.pause.on || atomic_load(&e->inproc.closed))
		return false;
	e->inproc.polls = true;
	ur_poll_turn(e);
	e->inproc.polls = false;
	return e->last_rx == e->now && e->now - last >= LEFT_NS;
}

/* Takes a turn after a nap, and decides how long the next one is. If the lock is taken, its holder takes a
 * turn. */
static void turn_after_nap(struct ur_engine *e)
{
	bool left = false;

	if (!pthread_mutex_trylock(&e->mailbox.owner)) {
		left = receives_left(e);
		ur_mailbox_release(e);
	}
	e->inproc.nap_ns =
		left ? SHORT_NAP_NS : ur_min_u32(2 * e->inproc.nap_ns, NAP_NS);
}

/* Waits on nap_fd, which reports the end of the device once. Returns as epoll_wait(2) for one event. */
static int nap_wait(struct ur_engine *e, struct epoll_event *ev,
		    const struct timespec *timeout)
{
	int n = ur_dispatch_wait(e->inproc.nap_fd, ev, 1, timeout);

	if (n > 0 && ev->data.u32 == UR_NAP_DEVICE)
		e->inproc.device_ends = true;
	return n;
}

/* Naps once, in two halves during a stream (post_batch.h). Returns whether it was woken, by a call or the end of
 * the device. */
static bool nap_once(struct ur_engine *e)
{
	u32 parts = ur_post_batch_is_stream(&e->inproc.batch) ? 2 : 1;
	const struct timespec ts = {.tv_nsec = e->inproc.nap_ns / parts};
	struct epoll_event ev;
	bool woken = false;

	for (u32 i = 0; i < parts && !woken; i++) {
		woken = nap_wait(e, &ev, &ts);
		send_left(e);
	}
	return woken;
}

/*
 * Naps for NAP_NS or a little longer. Returns whether it was woken. A program that waits for a WRITE spins on
 * its memory: it polls its completion queue between two of them only, and looks like one that polls all
 * the time. After packets that were left to this thread its naps are short; they get longer as long as none
 * are left.
 */
static bool nap_a_while(struct ur_engine *e)
{
	ur_post_batch_tick(&e->inproc.batch);
	for (u32 ns = 0; ns < NAP_NS; ns += e->inproc.nap_ns) {
		if (nap_once(e))
			return true;
		turn_after_nap(e);
	}
	return false;
}

/* Naps while threads of the program poll: they do all work, timers too. hands_over: also the work that
 * waits now. */
static void nap(struct ur_engine *e, bool hands_over)
{
	static const struct timespec zero;

	atomic_store(&e->inproc.naps, true);
	atomic_store(&e->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if ((hands_over || !ur_work_waits(e)) && !sleeps_between(e)) {
		ur_mailbox_release(e);
		while (!nap_a_while(e) && is_driven(e))
			;
		ur_mailbox_acquire(e);
	}
	atomic_store(&e->asleep, 0);
	atomic_store(&e->inproc.naps, false);
	if (e->inproc.device_ends)
		ur_dispatch(e, &zero);
	e->inproc.device_ends = false;
}

/* ---- after a fork ---- */

void ur_inproc_end_pause(struct ur_engine *e)
{
	e->inproc.pause.on = false;
	if (e->inproc.pause_fd < 0)
		return;
	/* A child may have a copy, which would keep it in the epoll set after the close. */
	epoll_ctl(e->inproc.nap_fd, EPOLL_CTL_DEL, e->inproc.pause_fd, NULL);
	close(e->inproc.pause_fd);
	e->inproc.pause_fd = -1;
}

/* Only the holder of the owner lock writes the counter, so it needs no atomic add. */
void ur_inproc_acted(struct ur_engine *e)
{
	if (!e->inproc.acts)
		return;
	atomic_store_explicit(
		e->inproc.acts,
		atomic_load_explicit(e->inproc.acts, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (!e->inproc.pause.on)
		return;
	ur_fork_pause_used(&e->inproc.pause, e->now);
	ur_mailbox_wake(e);
}

/* Returns whether the program has left work to this thread. */
static bool is_asked(struct ur_engine *e)
{
	return atomic_load(&e->mailbox.pending) || ur_doorbells_rung(e);
}

/* Returns whether the child has ended, or runs another program, or the program goes on. */
static bool wait_for_child(struct ur_engine *e)
{
	static const struct timespec ts = {.tv_nsec = UR_FORK_PAUSE_NS};
	struct epoll_event ev = {0};
	int n;

	atomic_store(&e->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (is_asked(e)) {
		atomic_store(&e->asleep, 0);
		return true;
	}
	ur_mailbox_release(e);
	n = nap_wait(e, &ev, &ts);
	ur_mailbox_acquire(e);
	atomic_store(&e->asleep, 0);
	return n < 0 || (n && ev.data.u32 == UR_NAP_CHILD);
}

static void pause_after_fork(struct ur_engine *e)
{
	while (e->inproc.pause.on && !e->stop &&
	       !ur_fork_pause_is_over(&e->inproc.pause))
		if (wait_for_child(e))
			break;
	ur_inproc_end_pause(e);
}

/* ---- the thread ---- */

static bool is_over(struct ur_engine *e)
{
	return e->stop || ur_inproc_end_is(e->now, &e->inproc.end_checked);
}

/* Waits for the end; serves only calls, with which the program destroys objects. */
static void rest(struct ur_engine *e)
{
	atomic_store(&e->asleep, 1);
	while (!is_over(e)) {
		ur_mailbox_run(e);
		ur_mailbox_release(e);
		ur_nap_ns(REST_NS);
		ur_mailbox_acquire(e);
		e->now = ur_clock_ns(CLOCK_MONOTONIC);
	}
}

static void wait_for_work(struct ur_engine *e)
{
	bool driven = is_driven(e);

	/* The polling thread waits for this one. */
	if (driven && ur_inproc_is_alone(e)) {
		ur_mailbox_release(e);
		sched_yield();
		ur_mailbox_acquire(e);
	} else if (driven)
		nap(e, false);
	else if (!ur_wait(e))
		return;
	ur_inproc_check_file(e);
}

/* Takes a turn, and runs a chore. */
static bool does_work(struct ur_engine *e)
{
	bool any = ur_poll_turn(e);

	return ur_chores_run(e) || any;
}

/* Threads of the program that have work for more turns poll in vain while this one has the engine:
 * hands it to them. */
static void go_on(struct ur_engine *e)
{
	u32 turns =
		atomic_load_explicit(&e->inproc.turns, memory_order_relaxed);
	bool many = turns - e->inproc.met >= VAIN_POLLS;

	e->inproc.met = turns;
	ur_idle_work(&e->idle, e->now);
	if (many && is_driven(e) && !ur_inproc_is_alone(e) &&
	    !ur_chores_wait(e))
		nap(e, true);
}

static void *inproc_thread(void *arg)
{
	struct ur_engine *e = arg;

	ur_own_memory_thread();
	ur_inproc_end_begins();
	e->inproc.nap_ns = NAP_NS;
	pthread_mutex_lock(&e->mailbox.owner);
	ur_wait_init(e);
	while (!is_over(e)) {
		if (atomic_load(&e->inproc.closed))
			rest(e);
		else if (e->inproc.pause.on)
			pause_after_fork(e);
		else if (does_work(e))
			go_on(e);
		else
			wait_for_work(e);
	}
	/* Exit handlers of the program may still make calls, and run the engine themselves. */
	atomic_store(&e->asleep, 1);
	pthread_mutex_unlock(&e->mailbox.owner);
	ur_inproc_end_ends();
	return NULL;
}

/* The thread blocks all signals but those of faults in its own copies, so that it never runs a
 * handler of the program. */
int ur_inproc_start(struct ur_engine *e)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	ur_inproc_follow(e);
	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&e->thread, &attr, inproc_thread, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

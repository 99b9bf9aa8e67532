// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The threads of a program run its engine. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/own_memory.h"
#include "engine/core/poll_loop.h"
#include "engine/core/wait.h"
#include "engine/wire/wire.h"
#include "util/os/filtered.h"
#include "util/os/first_thread.h"
#include "util/os/timed_lock.h"

/* How long acknowledgements are held back while the program processes completions. */
#define DEFER_NS 10000u
/* Turns between two checks of the program's device file. */
#define CHECK_TURNS 256u
/* Tries for the lock before the engine's thread sleeps for it, and other threads stop taking it. */
#define LOCK_TRIES 100u
/* Time in which the engine's thread gets a processor even on a busy machine. */
#define FINISH_NS	200000000
#define FINISH_CHECK_NS 100000

/* Returns the memory of the engine's one context; NULL: no context, or another process's memory. */
static struct ur_user_mem *memory_of(const struct ur_engine *e)
{
	return !e->config.inproc || e->config.apart || ur_list_empty(&e->ectxs)
		       ? NULL
		       : ur_list_first(&e->ectxs, struct ur_ectx, node)->mem;
}

void ur_inproc_copies_begin(struct ur_engine *e)
{
	struct ur_user_mem *mem = memory_of(e);

	if (mem)
		ur_own_memory_turn_begins(mem, e->now);
}

void ur_inproc_turn_begins(struct ur_engine *e)
{
	if (e->asides.away)
		ur_asides_end(e);
	e->inproc.before = e->inproc.cqes;
	ur_inproc_copies_begin(e);
	ur_inproc_follow(e);
}

void ur_inproc_turn_ends(struct ur_engine *e)
{
	struct ur_user_mem *mem = memory_of(e);

	if (mem)
		ur_own_memory_turn_ends(mem);
}

void ur_inproc_alone(struct ur_engine *e, bool alone)
{
	if (alone)
		atomic_fetch_or(&e->inproc.waits, UR_INPROC_ALONE);
	else
		atomic_fetch_and(&e->inproc.waits, ~(u32)UR_INPROC_ALONE);
}

bool ur_inproc_is_alone(const struct ur_engine *e)
{
	return atomic_load_explicit(&e->inproc.waits, memory_order_relaxed) &
	       UR_INPROC_ALONE;
}

void ur_inproc_steps_aside(struct ur_engine *e)
{
	ur_inproc_turn_ends(e);
	ur_mailbox_release(e);
}

/* Yields before it sleeps: the holder mostly shares our processor, and would have to wake us. */
static void take_lock(struct ur_engine *e)
{
	for (u32 i = 0; i < LOCK_TRIES; i++) {
		if (!pthread_mutex_trylock(&e->mailbox.owner))
			return;
		sched_yield();
	}
	atomic_fetch_or(&e->inproc.waits, UR_INPROC_WAITS);
	pthread_mutex_lock(&e->mailbox.owner);
	atomic_fetch_and(&e->inproc.waits, ~(u32)UR_INPROC_WAITS);
}

void ur_inproc_steps_back(struct ur_engine *e)
{
	take_lock(e);
	e->now = ur_clock_ns(CLOCK_MONOTONIC);
	ur_inproc_copies_begin(e);
}

/* Returns whether the program will soon look at what this turn has brought. */
static bool is_answering(const struct ur_engine *e)
{
	return e->inproc.polls
		       ? e->last_rx == e->now
		       : e->inproc.drives && e->inproc.cqes != e->inproc.before;
}

bool ur_inproc_defers_ack(struct ur_engine *e)
{
	bool defers =
		is_answering(e) &&
		(!e->inproc.deferred_at ||
		 e->now - e->inproc.deferred_at < DEFER_NS) &&
		atomic_load_explicit(&e->inproc.naps, memory_order_relaxed);

	if (!defers)
		e->inproc.deferred_at = 0;
	else if (!e->inproc.deferred_at)
		e->inproc.deferred_at = e->now;
	return defers;
}

/* Asks writers again to wake the engine's thread, which sleeps: this turn may have consumed an earlier
 * wake-up, and writers send it only once. Returns whether a ring has records already. */
static bool came_meanwhile(struct ur_engine *e)
{
	ur_wire_sleeps(e, true);
	atomic_thread_fence(memory_order_seq_cst);
	return ur_wire_waits(e);
}

/* Takes one turn. Returns whether to wake the engine's thread. */
static bool take_turn(struct ur_engine *e, bool posted)
{
	u32 turn = atomic_fetch_add_explicit(&e->inproc.turns, 1,
					     memory_order_relaxed);

	if (turn % CHECK_TURNS == 0)
		ur_inproc_check_file(e);
	if (atomic_load(&e->inproc.closed))
		return false;
	ur_post_batch_sent(&e->inproc.batch);
	if (posted) {
		e->inproc.deferred_at = 0;
		ur_inproc_acted(e);
		ur_poll_posted(e);
	} else {
		ur_post_batch_polled(&e->inproc.batch);
		e->inproc.drives = true;
		ur_poll_turn(e);
		e->inproc.drives = false;
	}
	return atomic_load(&e->asleep) &&
	       (ur_chores_wait(e) ||
		(!atomic_load(&e->inproc.naps) &&
		 (ur_poll_overdue(e) || came_meanwhile(e))));
}

/* *aside: the caller sends it after it has released the lock; NULL: none. aside NULL: it cannot. */
static bool drive(struct ur_engine *e, bool posted, struct ur_aside **aside)
{
	bool wake;

	atomic_store_explicit(&e->inproc.driver, pthread_self(),
			      memory_order_relaxed);
	e->asides.may = aside;
	wake = take_turn(e, posted);
	e->asides.may = false;
	if (aside)
		*aside = e->asides.mine;
	e->asides.mine = NULL;
	atomic_store_explicit(&e->inproc.driver, 0, memory_order_relaxed);
	return wake;
}

/* Another thread has the engine, or waits for it: leaves the work to it. A thread of the program looks
 * at the doorbells after its turn; for any other one the engine's thread may have to wake. */
static void leave(struct ur_engine *e, bool posted)
{
	bool driven =
		atomic_load_explicit(&e->inproc.driver, memory_order_relaxed);

	if (driven)
		ur_aside_met(e);
	if (!posted) /* counts as a poll: the thread naps */
		atomic_fetch_add(&e->inproc.turns, 1);
	else if (!driven && atomic_load(&e->asleep))
		ur_mailbox_wake(e);
}

/* The calling thread's seccomp filter may kill it for system calls of the engine. The engine's thread
 * is older than the filter, and does the work. */
static void leave_to_thread(struct ur_engine *e, bool posted)
{
	int error = errno;

	atomic_thread_fence(memory_order_seq_cst);
	if (posted && atomic_load(&e->asleep))
		ur_mailbox_wake(e);
	errno = error;
}

bool ur_engine_drive(struct ur_engine *e, bool posted)
{
	struct ur_mailbox *box = &e->mailbox;
	struct ur_aside *aside;
	int error = errno, cancel;
	bool wake;

	if (atomic_load_explicit(&e->inproc.closed, memory_order_relaxed))
		return false;
	if (__builtin_expect(ur_is_filtered(), 0)) {
		leave_to_thread(e, posted);
		return true;
	}
	/* The engine's system calls are cancellation points. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do {
		atomic_thread_fence(memory_order_seq_cst);
		if (atomic_load(&e->inproc.waits) ||
		    pthread_mutex_trylock(&box->owner)) {
			leave(e, posted);
			break;
		}
		wake = drive(e, posted, &aside);
		pthread_mutex_unlock(&box->owner);
		if (wake)
			ur_mailbox_wake(e);
		if (aside)
			ur_aside_send(e, aside);
		atomic_thread_fence(memory_order_seq_cst);
		/* A thread that did not get the lock may have rung a doorbell, or sent a burst. Nobody
		 * serves it after the program has closed its descriptors. */
		posted = (ur_doorbells_rung(e) || ur_asides_wait(&e->asides)) &&
			 !atomic_load_explicit(&e->inproc.closed,
					       memory_order_relaxed);
	} while (posted);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
	return !atomic_load_explicit(&e->inproc.closed, memory_order_relaxed);
}

bool ur_engine_datagram(struct ur_engine *e)
{
	return ur_post_batch_stays(&e->inproc.batch,
				   atomic_load(&e->inproc.naps)) ||
	       ur_engine_drive(e, true);
}

u32 ur_engine_turns(const struct ur_engine *e)
{
	return atomic_load_explicit(&e->inproc.turns, memory_order_relaxed);
}

/* Waits until the engine's thread has sent the last requests. */
static void wait_for_thread(struct ur_engine *e)
{
	u64 end = ur_clock_ns(CLOCK_MONOTONIC) + FINISH_NS;

	while (ur_doorbells_rung(e) && ur_clock_ns(CLOCK_MONOTONIC) < end) {
		if (atomic_load(&e->asleep))
			ur_mailbox_wake(e);
		ur_nap_ns(FINISH_CHECK_NS);
	}
}

void ur_engine_finish(struct ur_engine *e)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + FINISH_NS;
	struct ur_mailbox *box = &e->mailbox;
	bool more = true;
	int cancel;

	/* From now on the engine's thread checks whether it is the last one. */
	if (ur_first_thread_ends())
		ur_mailbox_wake(e);
	/* In a signal handler that interrupted a turn, this thread holds the lock already. */
	if (atomic_load(&e->inproc.closed) || ur_is_filtered() ||
	    atomic_load(&e->inproc.driver) == pthread_self())
		return;
	if (ur_inproc_is_alone(e)) {
		wait_for_thread(e);
		return;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (more && ur_lock_within(&box->owner, FINISH_NS)) {
		if (ur_doorbells_rung(e) || e->asides.away ||
		    e->inproc.deferred_at)
			drive(e, true, NULL);
		more = e->asides.away && ur_clock_ns(CLOCK_MONOTONIC) < until;
		pthread_mutex_unlock(&box->owner);
		if (more)
			ur_nap_ns(FINISH_CHECK_NS);
	}
	pthread_setcancelstate(cancel, NULL);
}

/* The engine's thread sets naps and then reads arms, with a full barrier in
 * between. */
void ur_engine_armed(struct ur_engine *e)
{
	int error = errno;

	atomic_fetch_add(&e->inproc.arms, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&e->inproc.naps))
		ur_mailbox_wake(e);
	if (!ur_is_filtered()) {
		ur_cpu_placement_armed(&e->inproc.placement);
		ur_event_batch_help(&e->events);
	}
	errno = error;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The mailbox from control to engine. Sleep race: the caller sets pending and
 * then reads asleep, the engine sets asleep and then reads pending, all
 * sequentially consistent, so one of them sees the other.
 *
 * Whoever holds the owner lock is the engine. The thread releases it while it
 * sleeps, and a caller that gets it then runs the function itself and sends what
 * came of it. That spares two switches between threads for each call, and most
 * calls do without the engine's thread.
 */
#include <errno.h>
#include <unistd.h>
#include "engine/engine_impl.h"
#include "engine/ground/hold_time.h"
#include "engine/poll_loop.h"
#include "engine/record.h"
#include "engine/wait.h"
#include "util/os/sem_wait.h"

int ur_mailbox_init(struct ur_mailbox *box)
{
	if (sem_init(&box->done, 0, 0) < 0)
		return -errno;
	pthread_mutex_init(&box->lock, NULL);
	pthread_mutex_init(&box->owner, NULL);
	atomic_store(&box->pending, 0);
	return 0;
}

void ur_mailbox_fini(struct ur_mailbox *box)
{
	pthread_mutex_destroy(&box->lock);
	pthread_mutex_destroy(&box->owner);
	sem_destroy(&box->done);
}

void ur_mailbox_wake(struct ur_engine *engine)
{
	u64 one = 1;

	if (write(engine->call_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: it wakes all the same */
}

/* Run it here, if the engine sleeps. */
static bool run_as_owner(struct ur_engine *engine,
			 int (*fn)(struct ur_engine *engine, void *arg),
			 void *arg, int *ret)
{
	struct ur_mailbox *box = &engine->mailbox;
	bool more;

	if (!atomic_load(&engine->asleep) || pthread_mutex_trylock(&box->owner))
		return false;
	/* Requests posted before a command must reach the engine before it:
	 * resizing a queue counts them. The doorbell has woken the engine. */
	if (ur_doorbells_rung(engine)) {
		pthread_mutex_unlock(&box->owner);
		return false;
	}
	box->foreign_runs++;
	ur_assert_about = engine->netdev;
	engine->now = ur_clock_ns(CLOCK_MONOTONIC);
	engine->timestamp = 0;
	ur_record_look(engine);
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

bool ur_mailbox_acquire(struct ur_engine *engine)
{
	struct ur_mailbox *box = &engine->mailbox;
	u64 foreign_runs;

	pthread_mutex_lock(&box->owner);
	foreign_runs = box->foreign_runs;
	box->foreign_runs = 0;
	return foreign_runs != 0;
}

int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg)
{
	struct ur_mailbox *box = &engine->mailbox;
	int ret;

	pthread_mutex_lock(&box->lock);
	if (!run_as_owner(engine, fn, arg, &ret)) {
		box->fn = fn;
		box->arg = arg;
		atomic_store(&box->pending, 1);
		if (atomic_load(&engine->asleep))
			ur_mailbox_wake(engine);
		/* With the control lock, for which everybody waits. */
		while (!ur_sem_wait_ms(&box->done, 1))
			ur_place_release(&engine->place);
		ret = box->ret;
		ur_hold_time_add(box->spent_ns);
	}
	pthread_mutex_unlock(&box->lock);
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
	u64 began;

	if (!ur_mailbox_waits(engine))
		return false;
	began = ur_hold_time_now();
	box->ret = box->fn(engine, box->arg);
	box->spent_ns = ur_hold_time_now() - began;
	atomic_store_explicit(&box->pending, 0, memory_order_relaxed);
	sem_post(&box->done);
	return true;
}

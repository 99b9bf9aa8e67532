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

	if (!atomic_load(&engine->asleep) || ur_inproc_is_alone(engine) ||
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
	ur_record_check_probes(engine);
	engine->kind->before_call(engine);
	*ret = fn(engine, arg);
	ur_engine_woken(engine);
	more = engine->kind->after_call(engine);
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
		while (sem_wait(&box->done) < 0)
			; /* EINTR */
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

	if (!atomic_load(&box->pending))
		return false;
	began = ur_hold_time_now();
	box->ret = box->fn(engine, box->arg);
	box->spent_ns = ur_hold_time_now() - began;
	atomic_store(&box->pending, 0);
	sem_post(&box->done);
	return true;
}

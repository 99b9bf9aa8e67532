// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The mailbox from control to engine. Sleep race: the caller sets pending and
 * then reads asleep, the engine sets asleep and then reads pending, all
 * sequentially consistent, so one of them sees the other.
 */
#include <errno.h>
#include <unistd.h>
#include "device/engine_impl.h"

int ur_mailbox_init(struct ur_mailbox *box)
{
	if (sem_init(&box->done, 0, 0) < 0)
		return -errno;
	pthread_mutex_init(&box->lock, NULL);
	atomic_store(&box->pending, 0);
	return 0;
}

void ur_mailbox_fini(struct ur_mailbox *box)
{
	pthread_mutex_destroy(&box->lock);
	sem_destroy(&box->done);
}

int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg)
{
	struct ur_mailbox *box = &engine->mailbox;
	u64 one = 1;
	int ret;

	pthread_mutex_lock(&box->lock);
	box->fn = fn;
	box->arg = arg;
	atomic_store(&box->pending, 1);
	if (atomic_load(&engine->asleep) &&
	    write(engine->call_fd, &one, sizeof(one)) < 0)
		ret = -errno; /* the counter is full: it wakes all the same */
	while (sem_wait(&box->done) < 0)
		;
	ret = box->ret;
	pthread_mutex_unlock(&box->lock);
	return ret;
}

bool ur_mailbox_run(struct ur_engine *engine)
{
	struct ur_mailbox *box = &engine->mailbox;

	if (!atomic_load_explicit(&box->pending, memory_order_acquire))
		return false;
	box->ret = box->fn(engine, box->arg);
	atomic_store_explicit(&box->pending, 0, memory_order_relaxed);
	sem_post(&box->done);
	return true;
}

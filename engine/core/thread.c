// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's own thread, where no thread of a program takes its turns. */
#include "engine/core/engine_impl.h"
#include "engine/core/wait.h"
#include "util/assert.h"

static void *run(void *arg)
{
	struct ur_engine *e = arg;

	ur_assert_about = e->netdev;
	pthread_mutex_lock(&e->mailbox.owner);
	ur_wait_init(e);
	while (!e->stop) {
		if (e->kind->turn(e))
			ur_idle_work(&e->idle, e->now);
		else
			ur_wait(e);
	}
	pthread_mutex_unlock(&e->mailbox.owner);
	return NULL;
}

int ur_engine_start(struct ur_engine *engine)
{
	return -pthread_create(&engine->thread, NULL, run, engine);
}

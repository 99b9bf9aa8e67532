// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A thread for each user with sockets to close; it ends after the last one. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include "util/os/follow.h"
#include "engine/ground/log.h"
#include "device/quota.h"
#include "device/reaper.h"
#include "util/os/thread.h"

struct waiting {
	struct waiting *next;
	int sock;
	bool charged;
};

/* The reaper of one user. Under the control lock. */
struct reaper {
	struct reaper *next;
	struct ur_loop *loop;
	uid_t uid;
	bool running;
	struct waiting *first;
};

static struct reaper *reapers;

static void forget(struct reaper *r)
{
	struct reaper **p = &reapers;

	while (*p != r)
		p = &(*p)->next;
	*p = r->next;
	free(r);
}

static void *reap(void *arg)
{
	struct reaper *r = arg;
	struct ur_loop *loop = r->loop;

	ur_loop_act_for(r->uid);
	ur_follow_nobody();
	ur_loop_lock(loop);
	while (r->first) {
		struct waiting *w = r->first;

		r->first = w->next;
		ur_loop_unlock(loop);
		close(w->sock);
		ur_loop_lock(loop);
		if (w->charged)
			ur_quota_give_fds(r->uid, 1);
		free(w);
	}
	forget(r);
	ur_loop_unlock(loop);
	return NULL;
}

static int start_thread(void *(*fn)(void *arg), void *arg)
{
	return ur_thread_start((size_t)PTHREAD_STACK_MIN * 4, fn, arg);
}

static struct reaper *reaper_of(struct ur_loop *loop, uid_t uid)
{
	struct reaper *r = reapers;

	while (r && r->uid != uid)
		r = r->next;
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->loop = loop;
	r->uid = uid;
	r->next = reapers;
	reapers = r;
	return r;
}

bool ur_reap(struct ur_loop *loop, uid_t uid, int sock)
{
	struct reaper *r = reaper_of(loop, uid);
	struct waiting *w = r ? malloc(sizeof(*w)) : NULL;

	if (!w) {
		ur_debug("out of memory: a socket stays open");
		return false;
	}
	w->sock = sock;
	w->charged = !ur_quota_take_fds(uid, 1);
	w->next = r->first;
	r->first = w;
	/* If no thread can be started, the next call tries again. */
	if (!r->running)
		r->running = !start_thread(reap, r);
	return w->charged;
}

bool ur_reaping(void)
{
	return reapers;
}

static void *close_listener(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

void ur_reap_listener(int sock)
{
	if (start_thread(close_listener, (void *)(intptr_t)sock))
		ur_debug("no thread: the listener is closed at the end");
}

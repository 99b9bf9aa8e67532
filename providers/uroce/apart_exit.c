// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The end of the process, and of a context with all its objects: its engine process sends what was posted
 * last while this process's memory exists. Whoever ends holds each lock, and waits, for a limited time.
 */
#include <pthread.h>

#include "apart_channels.h"
#include "kernel-abi/uroce-forks.h"
#include "util/os/clock.h"
#include "util/os/timed_lock.h"

/* Longest wait for all engine processes together. */
#define LAST_NS 1000000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list all = {&all, &all};
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Without the handlers a child that opens a context could wait for the lock for ever: there is no list. */
static bool registered;

static void last(void)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + LAST_NS;

	if (!ur_lock_within(&lock, LAST_NS))
		return;
	ur_list_for_each(it, &all)
		ur_apart_settle(ur_list_entry(it, struct ur_apart, node),
				until);
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void begin(void)
{
	registered = &uroce_forks &&
		     uroce_forks.version == UROCE_FORKS_VERSION &&
		     !pthread_atfork(before_fork, after_fork, after_fork);
	if (registered)
		uroce_forks.tell_end(last);
}

void ur_apart_exit_add(struct ur_apart *a)
{
	pthread_once(&once, begin);
	ur_list_init(&a->node);
	if (!registered)
		return;
	pthread_mutex_lock(&lock);
	ur_list_add_tail(&all, &a->node);
	pthread_mutex_unlock(&lock);
}

void ur_apart_exit_del(struct ur_apart *a)
{
	ur_apart_settle(a, ur_clock_ns(CLOCK_MONOTONIC) + LAST_NS);
	if (!registered)
		return;
	pthread_mutex_lock(&lock);
	ur_list_del(&a->node);
	pthread_mutex_unlock(&lock);
}

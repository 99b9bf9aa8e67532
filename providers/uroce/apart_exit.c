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
/* pthread_once() always calls futex(), and ends a process where a filter refuses that. */
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static bool begun;
/* Without the handlers a child that opens a context could wait for the lock for ever: there is no list. */
static bool registered;

static void last(void)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + LAST_NS;

	if (!ur_lock_within(&lock, LAST_NS))
		return;
	ur_list_for_each(it, &all)
		ur_apart_drain(ur_list_entry(it, struct ur_apart, node), until);
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
	begun = true;
	if (!&uroce_forks || uroce_forks.version != UROCE_FORKS_VERSION ||
	    pthread_atfork(before_fork, after_fork, after_fork))
		return;
	uroce_forks.tell_end(last);
	__atomic_store_n(&registered, true, __ATOMIC_RELEASE);
}

/* A thread of the parent may have held the lock when it forked. */
static bool is_registered(void)
{
	if (!ur_lock_within(&beginning, LAST_NS))
		return false;
	if (!begun)
		begin();
	pthread_mutex_unlock(&beginning);
	return registered;
}

void ur_apart_exit_add(struct ur_apart *a)
{
	ur_list_init(&a->node);
	if (!is_registered())
		return;
	pthread_mutex_lock(&lock);
	ur_list_add_tail(&all, &a->node);
	pthread_mutex_unlock(&lock);
}

void ur_apart_exit_del(struct ur_apart *a)
{
	ur_apart_drain(a, ur_clock_ns(CLOCK_MONOTONIC) + LAST_NS);
	if (!__atomic_load_n(&registered, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&lock);
	ur_list_del(&a->node);
	pthread_mutex_unlock(&lock);
}

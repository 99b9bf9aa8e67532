// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What tests ask of the stand-in: standin.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/gpu/standin/impl.h"

struct state gpu = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.file = -1,
	.contexts = {{0, true}, {1, true}},
};
__thread struct own me;

void standin_is_mine(bool on)
{
	me.mine = on;
}

void standin_waits(void)
{
	if (me.mine) {
		fprintf(stderr, "failed: the program's thread waits\n");
		abort();
	}
	if (gpu.lag > 0)
		usleep((useconds_t)(rand() % (gpu.lag + 1)));
}

unsigned int standin_calls(void)
{
	return me.calls;
}

struct standin_thread standin_thread(void)
{
	struct standin_thread t = {.depth = me.depth, .mode = me.mode};

	for (int i = 0; i < me.depth; i++)
		t.contexts[i] = me.stack[i];
	return t;
}

void standin_each(void (*fn)(void))
{
	pthread_mutex_lock(&gpu.lock);
	gpu.each = fn;
	pthread_mutex_unlock(&gpu.lock);
}

bool standin_break(int n)
{
	bool before;

	pthread_mutex_lock(&gpu.lock);
	before = gpu.break_in > 0;
	gpu.break_in = n;
	pthread_mutex_unlock(&gpu.lock);
	return before;
}

void standin_lie(int what, unsigned long long value)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.lie_about = what;
	gpu.lie = value;
	pthread_mutex_unlock(&gpu.lock);
}

int standin_waiting(void)
{
	int n;

	pthread_mutex_lock(&gpu.lock);
	n = gpu.waiting;
	pthread_mutex_unlock(&gpu.lock);
	return n;
}

/* Each call of a user's begins with that. Returns what it is to return, or OK. */
CUresult begin_call(void)
{
	void (*now)(void);
	CUresult err;

	me.calls++;
	pthread_mutex_lock(&gpu.lock);
	err = !me.mine && gpu.break_in && !--gpu.break_in ? UNKNOWN : OK;
	now = me.mine || me.in_each ? NULL : gpu.each;
	pthread_mutex_unlock(&gpu.lock);
	if (now) {
		me.in_each = true;
		now();
		me.in_each = false;
	}
	return err;
}

void standin_block(bool on)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.blocked = on;
	pthread_cond_broadcast(&gpu.changed);
	pthread_mutex_unlock(&gpu.lock);
}

void standin_fail(int n, bool late)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.fail_in = n;
	gpu.fail_late = late;
	gpu.lost = false;
	pthread_mutex_unlock(&gpu.lock);
}

void standin_then(void (*fn)(void))
{
	pthread_mutex_lock(&gpu.lock);
	gpu.then = fn;
	pthread_mutex_unlock(&gpu.lock);
}

void standin_lag(int us)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.lag = us;
	pthread_mutex_unlock(&gpu.lock);
}

void standin_capture(bool on)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.capturing = on;
	pthread_mutex_unlock(&gpu.lock);
}

void standin_hold(bool on)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.held = on;
	gpu.most = gpu.under_way;
	gpu.copies = (struct standin_copies){0};
	pthread_cond_broadcast(&gpu.changed);
	pthread_mutex_unlock(&gpu.lock);
}

int standin_most(void)
{
	int n;

	pthread_mutex_lock(&gpu.lock);
	n = gpu.most;
	pthread_mutex_unlock(&gpu.lock);
	return n;
}

struct standin_copies standin_copies(void)
{
	struct standin_copies n;

	pthread_mutex_lock(&gpu.lock);
	n = gpu.copies;
	pthread_mutex_unlock(&gpu.lock);
	return n;
}

int standin_captured(void)
{
	int n;

	pthread_mutex_lock(&gpu.lock);
	n = gpu.captured;
	pthread_mutex_unlock(&gpu.lock);
	return n;
}

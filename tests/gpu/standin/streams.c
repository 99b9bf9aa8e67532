// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Streams, events, and copies that take their time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/standin/impl.h"

bool is_idle(void)
{
	for (struct CUstream_st *s = gpu.streams; s; s = s->next)
		if (s->done != s->asked)
			return false;
	return true;
}

/* With the lock. */
void drop_events(const struct CUctx_st *ctx, const struct CUevent_st *one)
{
	struct CUevent_st **at = &gpu.events, *e;

	while ((e = *at)) {
		if (e != one && e->context != ctx) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		free(e);
	}
}

static void run(struct CUstream_st *s, struct copy *c)
{
	int us = gpu.lag > 0 ? rand() % (gpu.lag + 1) : 0;
	bool fails = c->fails || gpu.lost;

	pthread_mutex_unlock(&gpu.lock);
	if (us)
		usleep((useconds_t)us);
	if (!fails)
		memcpy(c->to, c->from, c->bytes);
	pthread_mutex_lock(&gpu.lock);
	gpu.lost |= c->fails;
	s->done++;
	gpu.under_way--;
	pthread_cond_broadcast(&gpu.changed);
	free(c);
}

static void *stream_thread(void *arg)
{
	struct CUstream_st *s = arg;
	struct copy *c;

	pthread_mutex_lock(&gpu.lock);
	while (!s->stop || s->first) {
		c = gpu.held ? NULL : s->first;
		if (!c) {
			pthread_cond_wait(&gpu.changed, &gpu.lock);
			continue;
		}
		s->first = c->next;
		if (!s->first)
			s->last = &s->first;
		run(s, c);
	}
	pthread_mutex_unlock(&gpu.lock);
	return NULL;
}

CUresult cuStreamCreate(CUstream *ret, unsigned int flags)
{
	struct CUstream_st *s;
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(false);
	pthread_mutex_unlock(&gpu.lock);
	if (err || flags != 1)
		return err ? err : INVALID_VALUE;
	s = calloc(1, sizeof(*s));
	s->last = &s->first;
	s->context = me.stack[me.depth - 1];
	pthread_create(&s->thread, NULL, stream_thread, s);
	pthread_mutex_lock(&gpu.lock);
	s->next = gpu.streams;
	gpu.streams = s;
	pthread_mutex_unlock(&gpu.lock);
	*ret = s;
	return OK;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
	struct CUstream_st **at = &gpu.streams;

	begin_call();
	pthread_mutex_lock(&gpu.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->stop = true;
	pthread_cond_broadcast(&gpu.changed);
	pthread_mutex_unlock(&gpu.lock);
	pthread_join(s->thread, NULL);
	free(s);
	return OK;
}

CUresult cuStreamSynchronize(CUstream s)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(false);
	while (!err && s->done != s->asked)
		pthread_cond_wait(&gpu.changed, &gpu.lock);
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(false);
	if (!err) {
		*event = calloc(1, sizeof(**event));
		(*event)->context = me.stack[me.depth - 1];
		(*event)->next = gpu.events;
		gpu.events = *event;
	}
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	drop_events(NULL, event);
	pthread_mutex_unlock(&gpu.lock);
	return OK;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(true);
	gpu.copies.marks++;
	event->stream = stream;
	event->due = stream->asked;
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

CUresult cuEventQuery(CUevent event)
{
	void (*now)(void) = NULL;
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(true);
	gpu.copies.queries++;
	if (!err && event->stream && event->stream->done < event->due) {
		err = NOT_READY;
		now = gpu.then;
		gpu.then = NULL;
	}
	pthread_mutex_unlock(&gpu.lock);
	if (now)
		now();
	return err;
}

/* With the lock. Stream, memory and the current context are one. */
static bool is_of(const struct CUstream_st *s, uint64_t addr, size_t bytes)
{
	const struct allocation *a = find(addr, bytes);

	return a && a->context == s->context &&
	       me.stack[me.depth - 1] == s->context;
}

static CUresult copy_async(struct CUstream_st *s, void *to, const void *from,
			   size_t bytes, uint64_t addr)
{
	struct copy *c;
	CUresult err = begin_call();
	bool strikes;

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(true);
	strikes = gpu.fail_in < 0 || (gpu.fail_in && !--gpu.fail_in);
	if (!err && (!is_of(s, addr, bytes) || (strikes && !gpu.fail_late)))
		err = INVALID_VALUE;
	gpu.copies.all += !err;
	if (!err && gpu.lag < 0) {
		if (gpu.lag == -1)
			memcpy(to, from, bytes);
	} else if (!err) {
		c = calloc(1, sizeof(*c));
		c->to = to;
		c->from = from;
		c->bytes = bytes;
		c->fails = strikes;
		*s->last = c;
		s->last = &c->next;
		s->asked++;
		gpu.copies.beside += gpu.under_way > 0;
		if (++gpu.under_way > gpu.most)
			gpu.most = gpu.under_way;
		pthread_cond_broadcast(&gpu.changed);
	}
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
			      CUstream stream)
{
	return copy_async(stream, to, inside_of(from), bytes, from);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
			      CUstream stream)
{
	return copy_async(stream, inside_of(to), from, bytes, to);
}

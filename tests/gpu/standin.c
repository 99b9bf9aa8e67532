// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The stand-in: standin.h. Numbers are those of cuda.h. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/standin.h"

#define ARENA	 (64u << 20)
#define PAGE	 4096u
#define ALLOCS	 64
#define CONTEXTS 2
#define DEPTH	 16 /* of a thread's stack of contexts */

enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_CONTEXT = 201,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700,
	CAPTURE_UNSUPPORTED = 900,
	MODE_RELAXED = 2,
};

struct CUctx_st {
	int device;
};

struct CUevent_st {
	unsigned long long
		due; /* that copy of its stream is the last before it */
	struct CUstream_st *stream;
};

struct copy {
	struct copy *next;
	uint8_t *to;
	const uint8_t *from;
	size_t bytes;
	bool fails;
};

struct CUstream_st {
	struct CUstream_st *next;
	pthread_t thread;
	struct copy *first, **last;
	unsigned long long asked, done;
	int device;
	bool stop;
};

struct allocation {
	uint64_t at;
	size_t bytes;
	unsigned long long id; /* 0: free */
	int device;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint8_t *outside, *inside;
static int file = -1;
static pid_t owner;
static struct CUctx_st contexts[CONTEXTS] = {{0}, {1}};
static struct allocation allocations[ALLOCS];
static unsigned long long ids;
static struct CUstream_st *streams;
static bool blocked, capturing, lost;
static int captured, fail_in, lag, under_way, most;
static void (*then)(void);
static bool held;
static bool fail_late;

static __thread struct CUctx_st *stack[DEPTH];
static __thread int depth, mode;
static __thread bool mine;

/* ---- on request ---- */

void standin_is_mine(bool on)
{
	mine = on;
}

void standin_waits(void)
{
	if (mine) {
		fprintf(stderr, "failed: the program's thread waits\n");
		abort();
	}
	if (lag)
		usleep((useconds_t)(rand() % (lag + 1)));
}

void standin_block(bool on)
{
	pthread_mutex_lock(&lock);
	blocked = on;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void standin_fail(int n, bool late)
{
	pthread_mutex_lock(&lock);
	fail_in = n;
	fail_late = late;
	lost = false;
	pthread_mutex_unlock(&lock);
}

void standin_then(void (*fn)(void))
{
	pthread_mutex_lock(&lock);
	then = fn;
	pthread_mutex_unlock(&lock);
}

void standin_lag(int us)
{
	pthread_mutex_lock(&lock);
	lag = us;
	pthread_mutex_unlock(&lock);
}

void standin_capture(bool on)
{
	pthread_mutex_lock(&lock);
	capturing = on;
	pthread_mutex_unlock(&lock);
}

void standin_hold(bool on)
{
	pthread_mutex_lock(&lock);
	held = on;
	most = under_way;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

int standin_most(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = most;
	pthread_mutex_unlock(&lock);
	return n;
}

int standin_captured(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = captured;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- memory ---- */

static struct allocation *find(uint64_t addr, size_t bytes)
{
	for (int i = 0; i < ALLOCS; i++) {
		struct allocation *a = &allocations[i];

		if (a->id && addr >= a->at && addr - a->at < a->bytes &&
		    bytes <= a->bytes - (addr - a->at))
			return a;
	}
	return NULL;
}

static uint8_t *inside_of(uint64_t addr)
{
	return inside + (addr - (uintptr_t)outside);
}

uint8_t *standin_inside(uint64_t addr)
{
	uint8_t *p;

	pthread_mutex_lock(&lock);
	p = find(addr, 1) ? inside_of(addr) : NULL;
	pthread_mutex_unlock(&lock);
	return p;
}

static bool is_ready(void)
{
	return inside && owner == getpid();
}

CUresult cuInit(unsigned int flags)
{
	if (inside)
		return is_ready() ? OK : NOT_INITIALIZED;
	file = memfd_create("gpu", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, ARENA))
		return OUT_OF_MEMORY;
	outside = mmap(NULL, ARENA, PROT_NONE, MAP_SHARED, file, 0);
	inside = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	owner = getpid();
	return OK;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = CONTEXTS;
	return OK;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return ordinal < CONTEXTS ? OK : INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	*ctx = &contexts[device];
	return is_ready() ? OK : NOT_INITIALIZED;
}

/* Freed memory is used again before any other. */
static uint64_t place_for(size_t bytes)
{
	uint64_t at = (uintptr_t)outside;

	for (int i = 0; i < ALLOCS; i++)
		if (allocations[i].id && allocations[i].at < at + bytes &&
		    at < allocations[i].at + allocations[i].bytes) {
			at = allocations[i].at + allocations[i].bytes;
			i = -1;
		}
	return at + bytes <= (uintptr_t)outside + ARENA ? at : 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	struct allocation *a = NULL;
	CUresult ret = OUT_OF_MEMORY;

	if (!depth || !stack[depth - 1])
		return INVALID_CONTEXT;
	bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ALLOCS && !a; i++)
		a = allocations[i].id ? NULL : &allocations[i];
	if (a && place_for(bytes)) {
		a->at = place_for(bytes);
		a->bytes = bytes;
		a->id = ++ids;
		a->device = stack[depth - 1]->device;
		*p = a->at;
		ret = OK;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

static bool is_idle(void)
{
	for (struct CUstream_st *s = streams; s; s = s->next)
		if (s->done != s->asked)
			return false;
	return true;
}

/* As the real one it waits for all copies first. */
CUresult cuMemFree_v2(CUdeviceptr p)
{
	struct allocation *a;

	pthread_mutex_lock(&lock);
	while (!is_idle())
		pthread_cond_wait(&changed, &lock);
	a = find(p, 1);
	if (a && a->at == p)
		a->id = 0;
	pthread_mutex_unlock(&lock);
	return a ? OK : INVALID_VALUE;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	bool found;

	pthread_mutex_lock(&lock);
	found = find(to, bytes);
	pthread_mutex_unlock(&lock);
	if (found)
		memcpy(inside_of(to), from, bytes);
	return found ? OK : INVALID_VALUE;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	bool found;

	pthread_mutex_lock(&lock);
	found = find(from, bytes);
	pthread_mutex_unlock(&lock);
	if (found)
		memcpy(to, inside_of(from), bytes);
	return found ? OK : INVALID_VALUE;
}

/* ---- attributes ---- */

CUresult cuPointerGetAttribute(void *to, int what, CUdeviceptr p)
{
	struct allocation *a;
	CUresult ret = OK;

	if (!is_ready())
		return NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	a = find(p, 1);
	if (!a)
		ret = INVALID_VALUE;
	else if (what == 1)
		*(CUcontext *)to = &contexts[a->device];
	else if (what == 2)
		*(unsigned int *)to = 2;
	else if (what == 7)
		*(unsigned long long *)to = a->id;
	else if (what == 9)
		*(int *)to = a->device;
	else if (what == 11)
		*(CUdeviceptr *)to = a->at;
	else if (what == 12)
		*(size_t *)to = a->bytes;
	else
		ret = INVALID_VALUE;
	pthread_mutex_unlock(&lock);
	return ret;
}

CUresult cuPointerSetAttribute(const void *value, int what, CUdeviceptr p)
{
	return what == 6 ? OK : INVALID_VALUE;
}

/* As of drivers before 13.3 it cannot be mapped. */
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr p,
				       size_t bytes, int type,
				       unsigned long long flags)
{
	if (type != 1 || p % PAGE || bytes % PAGE)
		return INVALID_VALUE;
	*(int *)handle = standin_dmabuf(bytes, false);
	return *(int *)handle < 0 ? OUT_OF_MEMORY : OK;
}

/* ---- threads ---- */

CUresult cuThreadExchangeStreamCaptureMode(int *m)
{
	int before = mode;

	mode = *m;
	*m = before;
	return OK;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	if (!depth)
		depth = 1;
	stack[depth - 1] = ctx;
	return is_ready() ? OK : NOT_INITIALIZED;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = depth ? stack[depth - 1] : NULL;
	return OK;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	if (!is_ready() || depth == DEPTH)
		return NOT_INITIALIZED;
	stack[depth++] = ctx;
	return OK;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	if (!depth)
		return INVALID_CONTEXT;
	*ctx = stack[--depth];
	return OK;
}

/* With the lock. What a call may not do: copies by a thread of the program, without a context, while
 * something is captured. */
static CUresult check_call(bool copies)
{
	if (copies && mine) {
		fprintf(stderr, "failed: the program's thread copies\n");
		abort();
	}
	while (copies && blocked)
		pthread_cond_wait(&changed, &lock);
	if (!is_ready())
		return NOT_INITIALIZED;
	if (!depth || !stack[depth - 1])
		return INVALID_CONTEXT;
	if (capturing && mode != MODE_RELAXED) {
		captured++;
		return CAPTURE_UNSUPPORTED;
	}
	return lost ? ILLEGAL_ADDRESS : OK;
}

/* ---- streams ---- */

static void run(struct CUstream_st *s, struct copy *c)
{
	int us = lag ? rand() % (lag + 1) : 0;
	bool fails = c->fails || lost;

	pthread_mutex_unlock(&lock);
	if (us)
		usleep((useconds_t)us);
	if (!fails)
		memcpy(c->to, c->from, c->bytes);
	pthread_mutex_lock(&lock);
	lost |= c->fails;
	s->done++;
	under_way--;
	pthread_cond_broadcast(&changed);
	free(c);
}

static void *stream_thread(void *arg)
{
	struct CUstream_st *s = arg;
	struct copy *c;

	pthread_mutex_lock(&lock);
	while (!s->stop || s->first) {
		c = held ? NULL : s->first;
		if (!c) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		s->first = c->next;
		if (!s->first)
			s->last = &s->first;
		run(s, c);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

CUresult cuStreamCreate(CUstream *ret, unsigned int flags)
{
	struct CUstream_st *s;
	CUresult err;

	pthread_mutex_lock(&lock);
	err = check_call(false);
	pthread_mutex_unlock(&lock);
	if (err || flags != 1)
		return err ? err : INVALID_VALUE;
	s = calloc(1, sizeof(*s));
	s->last = &s->first;
	s->device = stack[depth - 1]->device;
	pthread_create(&s->thread, NULL, stream_thread, s);
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	*ret = s;
	return OK;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
	struct CUstream_st **at = &streams;

	pthread_mutex_lock(&lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->stop = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(s->thread, NULL);
	free(s);
	return OK;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	*event = calloc(1, sizeof(**event));
	return OK;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	free(event);
	return OK;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CUresult err;

	pthread_mutex_lock(&lock);
	err = check_call(true);
	event->stream = stream;
	event->due = stream->asked;
	pthread_mutex_unlock(&lock);
	return err;
}

CUresult cuEventQuery(CUevent event)
{
	void (*now)(void) = NULL;
	CUresult err;

	pthread_mutex_lock(&lock);
	err = check_call(true);
	if (!err && event->stream && event->stream->done < event->due) {
		err = NOT_READY;
		now = then;
		then = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (now)
		now();
	return err;
}

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	CUresult err;

	pthread_mutex_lock(&lock);
	err = check_call(false);
	pthread_mutex_unlock(&lock);
	*p = err ? NULL : aligned_alloc(PAGE, bytes);
	return err ? err : *p ? OK : OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *p)
{
	free(p);
	return OK;
}

/* With the lock. Stream, memory and the current context are of one device. */
static bool is_of(const struct CUstream_st *s, uint64_t addr, size_t bytes)
{
	const struct allocation *a = find(addr, bytes);

	return a && a->device == s->device &&
	       stack[depth - 1]->device == s->device;
}

static CUresult copy_async(struct CUstream_st *s, void *to, const void *from,
			   size_t bytes, uint64_t addr)
{
	struct copy *c;
	CUresult err;
	bool strikes;

	pthread_mutex_lock(&lock);
	err = check_call(true);
	strikes = fail_in && !--fail_in;
	if (!err && (!is_of(s, addr, bytes) || (strikes && !fail_late)))
		err = INVALID_VALUE;
	if (!err) {
		c = calloc(1, sizeof(*c));
		c->to = to;
		c->from = from;
		c->bytes = bytes;
		c->fails = strikes;
		*s->last = c;
		s->last = &c->next;
		s->asked++;
		if (++under_way > most)
			most = under_way;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
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

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
#define GPUS	 2
#define CONTEXTS 16
#define DEPTH	 16 /* of a thread's stack of contexts */

enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	NO_DEVICE = 100,
	INVALID_CONTEXT = 201,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700,
	CONTEXT_IS_DESTROYED = 709,
	HOST_MEMORY_NOT_REGISTERED = 713,
	CAPTURE_UNSUPPORTED = 900,
	UNKNOWN = 999,
	MODE_RELAXED = 2,
};

/* The first ones are the GPUs' primary ones. */
struct CUctx_st {
	int device;
	bool there;
};

struct CUevent_st {
	struct CUevent_st *next;
	struct CUctx_st *context;
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
	struct CUctx_st *context;
	bool stop;
};

struct host_memory {
	uint8_t *at; /* NULL: none */
	size_t bytes;
	struct CUctx_st *context;
};

struct allocation {
	uint64_t at;
	size_t bytes;
	unsigned long long id; /* 0: free */
	struct CUctx_st *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint8_t *outside, *inside;
static int file = -1;
static pid_t owner;
static struct CUctx_st contexts[CONTEXTS] = {{0, true}, {1, true}};
static struct allocation allocations[ALLOCS];
static struct host_memory host[ALLOCS];
static unsigned long long ids;
static struct CUstream_st *streams;
static struct CUevent_st *events;
static bool blocked, capturing, lost;
static int captured, fail_in, lag, under_way, most;
static void (*then)(void), (*each)(void);
static bool held;
static bool fail_late;
static struct standin_copies copies;
static int break_in, lie_about, waiting;
static unsigned long long lie;

static __thread struct CUctx_st *stack[DEPTH];
static __thread int depth, mode;
static __thread bool mine, in_each;
static __thread unsigned int calls;

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
	if (lag > 0)
		usleep((useconds_t)(rand() % (lag + 1)));
}

unsigned int standin_calls(void)
{
	return calls;
}

struct standin_thread standin_thread(void)
{
	struct standin_thread t = {.depth = depth, .mode = mode};

	for (int i = 0; i < depth; i++)
		t.contexts[i] = stack[i];
	return t;
}

void standin_each(void (*fn)(void))
{
	pthread_mutex_lock(&lock);
	each = fn;
	pthread_mutex_unlock(&lock);
}

bool standin_break(int n)
{
	bool before;

	pthread_mutex_lock(&lock);
	before = break_in > 0;
	break_in = n;
	pthread_mutex_unlock(&lock);
	return before;
}

void standin_lie(int what, unsigned long long value)
{
	pthread_mutex_lock(&lock);
	lie_about = what;
	lie = value;
	pthread_mutex_unlock(&lock);
}

int standin_waiting(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = waiting;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Each call of a user's begins with that. Returns what it is to return, or OK. */
static CUresult begin_call(void)
{
	void (*now)(void);
	CUresult err;

	calls++;
	pthread_mutex_lock(&lock);
	err = !mine && break_in && !--break_in ? UNKNOWN : OK;
	now = mine || in_each ? NULL : each;
	pthread_mutex_unlock(&lock);
	if (now) {
		in_each = true;
		now();
		in_each = false;
	}
	return err;
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
	copies = (struct standin_copies){0, 0};
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

struct standin_copies standin_copies(void)
{
	struct standin_copies n;

	pthread_mutex_lock(&lock);
	n = copies;
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

static struct host_memory *find_host(const uint8_t *p)
{
	for (int i = 0; i < ALLOCS; i++)
		if (host[i].at && p >= host[i].at &&
		    p < host[i].at + host[i].bytes)
			return &host[i];
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
	const char *gpus = getenv("STANDIN_GPUS");

	if (inside)
		return is_ready() ? OK : NOT_INITIALIZED;
	if (gpus && !atoi(gpus))
		return NO_DEVICE;
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
	CUresult err = begin_call();

	if (err || !is_ready())
		return err ? err : NOT_INITIALIZED;
	*count = GPUS;
	return OK;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return ordinal < GPUS ? OK : INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	CUresult err = begin_call();

	if (err || device < 0 || device >= GPUS)
		return err ? err : INVALID_VALUE;
	*ctx = &contexts[device];
	return is_ready() ? OK : NOT_INITIALIZED;
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice device)
{
	int i = GPUS;

	pthread_mutex_lock(&lock);
	while (i < CONTEXTS && contexts[i].there)
		i++;
	if (i < CONTEXTS)
		contexts[i] = (struct CUctx_st){device, true};
	pthread_mutex_unlock(&lock);
	if (i == CONTEXTS || depth == DEPTH)
		return OUT_OF_MEMORY;
	*ctx = stack[depth++] = &contexts[i];
	return OK;
}

static bool is_idle(void);

/* With the lock. */
static void drop_events(const struct CUctx_st *ctx,
			const struct CUevent_st *one)
{
	struct CUevent_st **at = &events, *e;

	while ((e = *at)) {
		if (e != one && e->context != ctx) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		free(e);
	}
}

/* The context's memory, streams and events end with it. The next context has its address. */
CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	pthread_mutex_lock(&lock);
	while (!is_idle())
		pthread_cond_wait(&changed, &lock);
	ctx->there = false;
	drop_events(ctx, NULL);
	for (struct CUstream_st *s = streams; s; s = s->next)
		if (s->context == ctx)
			s->context = NULL;
	for (int i = 0; i < ALLOCS; i++) {
		if (allocations[i].context == ctx)
			allocations[i].id = 0;
		if (host[i].context == ctx)
			host[i].at = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (depth && stack[depth - 1] == ctx)
		depth--;
	return OK;
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
		a->context = stack[depth - 1];
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

	ret = begin_call();
	if (ret || !is_ready())
		return ret ? ret : NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	a = find(p, 1);
	if (!a && what == 1 && find_host((uint8_t *)(uintptr_t)p))
		*(CUcontext *)to = find_host((uint8_t *)(uintptr_t)p)->context;
	else if (!a)
		ret = INVALID_VALUE;
	else if (what == lie_about)
		memcpy(to, &lie, what == 2 || what == 9 ? 4 : 8);
	else if (what == 1)
		*(CUcontext *)to = a->context;
	else if (what == 2)
		*(unsigned int *)to = 2;
	else if (what == 7)
		*(unsigned long long *)to = a->id;
	else if (what == 9)
		*(int *)to = a->context->device;
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
	CUresult err = begin_call();

	return err ? err : what == 6 ? OK : INVALID_VALUE;
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
	CUresult err = begin_call();

	if (err || !is_ready())
		return err ? err : NOT_INITIALIZED;
	mode = *m;
	*m = before;
	return OK;
}

static bool is_there(const struct CUctx_st *ctx)
{
	return ctx >= contexts && ctx < contexts + CONTEXTS &&
	       __atomic_load_n(&ctx->there, __ATOMIC_RELAXED);
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult err = begin_call();

	if (err || !is_ready())
		return err ? err : NOT_INITIALIZED;
	if (!is_there(ctx))
		return INVALID_CONTEXT;
	if (!depth)
		depth = 1;
	stack[depth - 1] = ctx;
	return OK;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = depth ? stack[depth - 1] : NULL;
	return OK;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	CUresult err = begin_call();

	if (err || !is_ready() || depth == DEPTH)
		return err ? err : NOT_INITIALIZED;
	if (!is_there(ctx))
		return INVALID_CONTEXT;
	stack[depth++] = ctx;
	return OK;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult err = begin_call();

	if (err || !depth)
		return err ? err : INVALID_CONTEXT;
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
	waiting++;
	while (copies && blocked)
		pthread_cond_wait(&changed, &lock);
	waiting--;
	if (!is_ready())
		return NOT_INITIALIZED;
	if (!depth || !stack[depth - 1])
		return INVALID_CONTEXT;
	if (!stack[depth - 1]->there)
		return CONTEXT_IS_DESTROYED;
	if (capturing && mode != MODE_RELAXED) {
		captured++;
		return CAPTURE_UNSUPPORTED;
	}
	return lost ? ILLEGAL_ADDRESS : OK;
}

/* ---- streams ---- */

static void run(struct CUstream_st *s, struct copy *c)
{
	int us = lag > 0 ? rand() % (lag + 1) : 0;
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
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = check_call(false);
	pthread_mutex_unlock(&lock);
	if (err || flags != 1)
		return err ? err : INVALID_VALUE;
	s = calloc(1, sizeof(*s));
	s->last = &s->first;
	s->context = stack[depth - 1];
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

	begin_call();
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

CUresult cuStreamSynchronize(CUstream s)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = check_call(false);
	while (!err && s->done != s->asked)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return err;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = check_call(false);
	if (!err) {
		*event = calloc(1, sizeof(**event));
		(*event)->context = stack[depth - 1];
		(*event)->next = events;
		events = *event;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	CUresult err = begin_call();

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	drop_events(NULL, event);
	pthread_mutex_unlock(&lock);
	return OK;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CUresult err = begin_call();

	if (err)
		return err;
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
	CUresult err = begin_call();

	if (err)
		return err;
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

CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags)
{
	CUresult err = begin_call();
	int i = 0;

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = check_call(false);
	while (!err && i < ALLOCS && host[i].at)
		i++;
	if (!err && i == ALLOCS)
		err = OUT_OF_MEMORY;
	if (!err)
		host[i] = (struct host_memory){p, bytes, stack[depth - 1]};
	pthread_mutex_unlock(&lock);
	return err;
}

CUresult cuMemHostUnregister(void *p)
{
	struct host_memory *m;

	begin_call();
	pthread_mutex_lock(&lock);
	m = find_host(p);
	if (m)
		m->at = NULL;
	pthread_mutex_unlock(&lock);
	return m ? OK : HOST_MEMORY_NOT_REGISTERED;
}

/* With the lock. Stream, memory and the current context are one. */
static bool is_of(const struct CUstream_st *s, uint64_t addr, size_t bytes)
{
	const struct allocation *a = find(addr, bytes);

	return a && a->context == s->context && stack[depth - 1] == s->context;
}

static CUresult copy_async(struct CUstream_st *s, void *to, const void *from,
			   size_t bytes, uint64_t addr)
{
	struct copy *c;
	CUresult err = begin_call();
	bool strikes;

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = check_call(true);
	strikes = fail_in && !--fail_in;
	if (!err && (!is_of(s, addr, bytes) || (strikes && !fail_late)))
		err = INVALID_VALUE;
	if (!err && lag < 0) {
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
		copies.all++;
		copies.beside += under_way > 0;
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

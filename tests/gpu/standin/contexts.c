// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* GPUs, contexts, and what each thread has of them. Numbers are those of cuda.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/standin/impl.h"

bool is_ready(void)
{
	return gpu.inside && gpu.owner == getpid();
}

CUresult cuInit(unsigned int flags)
{
	const char *gpus = getenv("STANDIN_GPUS");

	if (gpu.inside)
		return is_ready() ? OK : NOT_INITIALIZED;
	if (gpus && !atoi(gpus))
		return NO_DEVICE;
	gpu.file = memfd_create("gpu", MFD_CLOEXEC);
	if (gpu.file < 0 || ftruncate(gpu.file, ARENA))
		return OUT_OF_MEMORY;
	gpu.outside = mmap(NULL, ARENA, PROT_NONE, MAP_SHARED, gpu.file, 0);
	gpu.inside = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED,
			  gpu.file, 0);
	gpu.owner = getpid();
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
	*ctx = &gpu.contexts[device];
	return is_ready() ? OK : NOT_INITIALIZED;
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice device)
{
	int i = GPUS;

	pthread_mutex_lock(&gpu.lock);
	while (i < CONTEXTS && gpu.contexts[i].there)
		i++;
	if (i < CONTEXTS)
		gpu.contexts[i] = (struct CUctx_st){device, true};
	pthread_mutex_unlock(&gpu.lock);
	if (i == CONTEXTS || me.depth == DEPTH)
		return OUT_OF_MEMORY;
	*ctx = me.stack[me.depth++] = &gpu.contexts[i];
	return OK;
}

/* The context's memory, streams and events end with it. The next context has its address. */
CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	pthread_mutex_lock(&gpu.lock);
	while (!is_idle())
		pthread_cond_wait(&gpu.changed, &gpu.lock);
	ctx->there = false;
	drop_events(ctx, NULL);
	for (struct CUstream_st *s = gpu.streams; s; s = s->next)
		if (s->context == ctx)
			s->context = NULL;
	for (int i = 0; i < ALLOCS; i++) {
		if (gpu.allocations[i].context == ctx)
			gpu.allocations[i].id = 0;
		if (gpu.host[i].context == ctx)
			gpu.host[i].at = NULL;
	}
	pthread_mutex_unlock(&gpu.lock);
	if (me.depth && me.stack[me.depth - 1] == ctx)
		me.depth--;
	return OK;
}

CUresult cuThreadExchangeStreamCaptureMode(int *m)
{
	int before = me.mode;
	CUresult err = begin_call();

	if (err || !is_ready())
		return err ? err : NOT_INITIALIZED;
	me.mode = *m;
	*m = before;
	return OK;
}

static bool is_there(const struct CUctx_st *ctx)
{
	return ctx >= gpu.contexts && ctx < gpu.contexts + CONTEXTS &&
	       __atomic_load_n(&ctx->there, __ATOMIC_RELAXED);
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult err = begin_call();

	if (err || !is_ready())
		return err ? err : NOT_INITIALIZED;
	if (!is_there(ctx))
		return INVALID_CONTEXT;
	if (!me.depth)
		me.depth = 1;
	me.stack[me.depth - 1] = ctx;
	return OK;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = me.depth ? me.stack[me.depth - 1] : NULL;
	return OK;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	CUresult err = begin_call();

	if (err || !is_ready() || me.depth == DEPTH)
		return err ? err : NOT_INITIALIZED;
	if (!is_there(ctx))
		return INVALID_CONTEXT;
	me.stack[me.depth++] = ctx;
	return OK;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult err = begin_call();

	if (err || !me.depth)
		return err ? err : INVALID_CONTEXT;
	*ctx = me.stack[--me.depth];
	return OK;
}

/* With the lock. What a call may not do: copies by a thread of the program, without a context, while
 * something is captured. */
CUresult check_call(bool copies)
{
	if (copies && me.mine) {
		fprintf(stderr, "failed: the program's thread copies\n");
		abort();
	}
	gpu.waiting++;
	while (copies && gpu.blocked)
		pthread_cond_wait(&gpu.changed, &gpu.lock);
	gpu.waiting--;
	if (!is_ready())
		return NOT_INITIALIZED;
	if (!me.depth || !me.stack[me.depth - 1])
		return INVALID_CONTEXT;
	if (!me.stack[me.depth - 1]->there)
		return CONTEXT_IS_DESTROYED;
	if (gpu.capturing && me.mode != MODE_RELAXED) {
		gpu.captured++;
		return CAPTURE_UNSUPPORTED;
	}
	return gpu.lost ? ILLEGAL_ADDRESS : OK;
}

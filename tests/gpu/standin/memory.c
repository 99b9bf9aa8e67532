// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The GPUs' memory, that of the host that they know, and what they answer about both. */
#include <string.h>

#include "tests/gpu/standin/impl.h"

struct allocation *find(uint64_t addr, size_t bytes)
{
	for (int i = 0; i < ALLOCS; i++) {
		struct allocation *a = &gpu.allocations[i];

		if (a->id && addr >= a->at && addr - a->at < a->bytes &&
		    bytes <= a->bytes - (addr - a->at))
			return a;
	}
	return NULL;
}

struct host_memory *find_host(const uint8_t *p)
{
	for (int i = 0; i < ALLOCS; i++)
		if (gpu.host[i].at && p >= gpu.host[i].at &&
		    p < gpu.host[i].at + gpu.host[i].bytes)
			return &gpu.host[i];
	return NULL;
}

uint8_t *inside_of(uint64_t addr)
{
	return gpu.inside + (addr - (uintptr_t)gpu.outside);
}

uint8_t *standin_inside(uint64_t addr)
{
	uint8_t *p;

	pthread_mutex_lock(&gpu.lock);
	p = find(addr, 1) ? inside_of(addr) : NULL;
	pthread_mutex_unlock(&gpu.lock);
	return p;
}

/* Freed memory is used again before any other. */
static uint64_t place_for(size_t bytes)
{
	uint64_t at = (uintptr_t)gpu.outside;

	for (int i = 0; i < ALLOCS; i++)
		if (gpu.allocations[i].id &&
		    gpu.allocations[i].at < at + bytes &&
		    at < gpu.allocations[i].at + gpu.allocations[i].bytes) {
			at = gpu.allocations[i].at + gpu.allocations[i].bytes;
			i = -1;
		}
	return at + bytes <= (uintptr_t)gpu.outside + ARENA ? at : 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	struct allocation *a = NULL;
	CUresult ret = OUT_OF_MEMORY;

	if (!me.depth || !me.stack[me.depth - 1])
		return INVALID_CONTEXT;
	bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
	pthread_mutex_lock(&gpu.lock);
	for (int i = 0; i < ALLOCS && !a; i++)
		a = gpu.allocations[i].id ? NULL : &gpu.allocations[i];
	if (a && place_for(bytes)) {
		a->at = place_for(bytes);
		a->bytes = bytes;
		a->id = ++gpu.ids;
		a->context = me.stack[me.depth - 1];
		*p = a->at;
		ret = OK;
	}
	pthread_mutex_unlock(&gpu.lock);
	return ret;
}

/* As the real one it waits for all copies first. */
CUresult cuMemFree_v2(CUdeviceptr p)
{
	struct allocation *a;

	pthread_mutex_lock(&gpu.lock);
	while (!is_idle())
		pthread_cond_wait(&gpu.changed, &gpu.lock);
	a = find(p, 1);
	if (a && a->at == p)
		a->id = 0;
	pthread_mutex_unlock(&gpu.lock);
	return a ? OK : INVALID_VALUE;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	bool found;

	pthread_mutex_lock(&gpu.lock);
	found = find(to, bytes);
	pthread_mutex_unlock(&gpu.lock);
	if (found)
		memcpy(inside_of(to), from, bytes);
	return found ? OK : INVALID_VALUE;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	bool found;

	pthread_mutex_lock(&gpu.lock);
	found = find(from, bytes);
	pthread_mutex_unlock(&gpu.lock);
	if (found)
		memcpy(to, inside_of(from), bytes);
	return found ? OK : INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *to, int what, CUdeviceptr p)
{
	struct allocation *a;
	CUresult ret = OK;

	ret = begin_call();
	if (ret || !is_ready())
		return ret ? ret : NOT_INITIALIZED;
	pthread_mutex_lock(&gpu.lock);
	gpu.copies.questions++;
	a = find(p, 1);
	if (!a && what == 1 && find_host((uint8_t *)(uintptr_t)p))
		*(CUcontext *)to = find_host((uint8_t *)(uintptr_t)p)->context;
	else if (!a)
		ret = INVALID_VALUE;
	else if (what == gpu.lie_about)
		memcpy(to, &gpu.lie, what == 2 || what == 9 ? 4 : 8);
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
	pthread_mutex_unlock(&gpu.lock);
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

CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags)
{
	CUresult err = begin_call();
	int i = 0;

	if (err)
		return err;
	pthread_mutex_lock(&gpu.lock);
	err = check_call(false);
	while (!err && i < ALLOCS && gpu.host[i].at)
		i++;
	if (!err && i == ALLOCS)
		err = OUT_OF_MEMORY;
	if (!err)
		gpu.host[i] =
			(struct host_memory){p, bytes, me.stack[me.depth - 1]};
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

CUresult cuMemHostUnregister(void *p)
{
	struct host_memory *m;

	begin_call();
	pthread_mutex_lock(&gpu.lock);
	m = find_host(p);
	if (m)
		m->at = NULL;
	pthread_mutex_unlock(&gpu.lock);
	return m ? OK : HOST_MEMORY_NOT_REGISTERED;
}

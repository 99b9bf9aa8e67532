// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* CUDA's memory, by the driver's library that the program has loaded. Names and numbers are those of cuda.h. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "engine/gpu/runtime.h"

#define LIBRARY "libcuda.so.1"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext;
typedef void *CUstream;
typedef void *CUevent;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_READY = 600,
	CU_POINTER_ATTRIBUTE_CONTEXT = 1,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
	CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
	CU_MEMORYTYPE_DEVICE = 2,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_MEMHOSTALLOC_PORTABLE = 1,
	CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

/* clang-format off */
#define FUNCTIONS(F)                                                         \
	F(cuPointerGetAttribute, (void *, int, CUdeviceptr))                 \
	F(cuPointerSetAttribute, (const void *, int, CUdeviceptr))           \
	F(cuThreadExchangeStreamCaptureMode, (int *))                        \
	F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                 \
	F(cuCtxPushCurrent_v2, (CUcontext))                                  \
	F(cuCtxPopCurrent_v2, (CUcontext *))                                 \
	F(cuCtxSetCurrent, (CUcontext))                                      \
	F(cuStreamCreate, (CUstream *, unsigned int))                        \
	F(cuStreamDestroy_v2, (CUstream))                                    \
	F(cuEventCreate, (CUevent *, unsigned int))                          \
	F(cuEventDestroy_v2, (CUevent))                                      \
	F(cuEventRecord, (CUevent, CUstream))                                \
	F(cuEventQuery, (CUevent))                                           \
	F(cuMemHostAlloc, (void **, size_t, unsigned int))                   \
	F(cuMemFreeHost, (void *))                                           \
	F(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))     \
	F(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))
/* clang-format on */

#define DECLARE(name, args) static CUresult(*name) args;
FUNCTIONS(DECLARE)

static const struct {
	const char *name;
	void **to;
} functions[] = {
#define ROW(name, args) {#name, (void **)&name},
	FUNCTIONS(ROW)};

struct cuda_lane {
	CUcontext context;
	CUstream stream;
	u8 *pieces;
	CUevent events[UR_GPU_PIECES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool loaded;

/* The reference that this takes is never given back: a program that unloads the library would take our functions away. */
static bool load(void)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	if (!lib)
		return false;
	for (u32 i = 0; i < UR_ARRAY_SIZE(functions); i++) {
		*functions[i].to = dlsym(lib, functions[i].name);
		if (!*functions[i].to) {
			dlclose(lib);
			return false;
		}
	}
	return true;
}

static bool is_there(void)
{
	if (atomic_load(&loaded))
		return true;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&loaded))
		atomic_store(&loaded, load());
	pthread_mutex_unlock(&lock);
	return atomic_load(&loaded);
}

/* A thread that captures a stream may not call what else it may, unless it says that it knows better. Returns what to
 * restore, or -1. */
static int relax(void)
{
	int mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	return cuThreadExchangeStreamCaptureMode(&mode) ? -1 : mode;
}

static void restore(int mode)
{
	if (mode >= 0)
		cuThreadExchangeStreamCaptureMode(&mode);
}

static bool ask(void *to, int what, u64 addr)
{
	return !cuPointerGetAttribute(to, what, addr);
}

/* Memory that was mapped by itself (cuMemMap()), or is of a pool, has no context: the first one of its GPU reaches it. It
 * stays retained: what the program has of the GPU needs it, too. */
static CUcontext context_of(u64 addr)
{
	CUcontext context = NULL;
	int device;

	if (ask(&context, CU_POINTER_ATTRIBUTE_CONTEXT, addr) && context)
		return context;
	if (!ask(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, addr) ||
	    cuDevicePrimaryCtxRetain(&context, device))
		return NULL;
	return context;
}

static int look(u64 addr, struct ur_gpu_place *place)
{
	unsigned int type = 0, on = 1;
	CUdeviceptr base;
	size_t bytes;
	unsigned long long id;

	if (!ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, addr) ||
	    type != CU_MEMORYTYPE_DEVICE ||
	    !ask(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, addr) ||
	    !ask(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, addr) ||
	    !ask(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, addr))
		return -EFAULT;
	place->context = context_of(addr);
	if (!place->context)
		return -EFAULT;
	place->base = base;
	place->bytes = bytes;
	place->id = id;
	/* The program's own synchronous copies end before they return. Memory that was mapped by itself has no such
	 * attribute. */
	cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, addr);
	return 0;
}

static int find(u64 addr, struct ur_gpu_place *place)
{
	int mode, err;

	if (!is_there())
		return -EFAULT;
	mode = relax();
	err = look(addr, place);
	restore(mode);
	return err;
}

static int make(struct cuda_lane *lane)
{
	void *pieces;
	CUresult ret;

	if (cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING))
		return -EIO;
	ret = cuMemHostAlloc(&pieces,
			     (size_t)UR_GPU_PIECES * UR_GPU_PIECE_BYTES,
			     CU_MEMHOSTALLOC_PORTABLE);
	if (ret)
		return ret == CUDA_ERROR_OUT_OF_MEMORY ? -ENOMEM : -EIO;
	lane->pieces = pieces;
	for (u32 i = 0; i < UR_GPU_PIECES; i++)
		if (cuEventCreate(&lane->events[i], CU_EVENT_DISABLE_TIMING))
			return -EIO;
	return 0;
}

static void unmake(struct cuda_lane *lane)
{
	for (u32 i = 0; i < UR_GPU_PIECES; i++)
		if (lane->events[i])
			cuEventDestroy_v2(lane->events[i]);
	if (lane->pieces)
		cuMemFreeHost(lane->pieces);
	if (lane->stream)
		cuStreamDestroy_v2(lane->stream);
}

static int open_lane(void *context, void **ret, u8 **pieces)
{
	struct cuda_lane *lane = calloc(1, sizeof(*lane));
	int mode, err = -EIO;
	CUcontext popped;

	if (!lane)
		return -ENOMEM;
	lane->context = context;
	mode = relax();
	if (!cuCtxPushCurrent_v2(context)) {
		err = make(lane);
		if (err)
			unmake(lane);
		cuCtxPopCurrent_v2(&popped);
	}
	restore(mode);
	if (err) {
		free(lane);
		return err;
	}
	*ret = lane;
	*pieces = lane->pieces;
	return 0;
}

static void close_lane(void *arg)
{
	struct cuda_lane *lane = arg;
	CUcontext popped;
	int mode = relax();

	if (!cuCtxPushCurrent_v2(lane->context)) {
		unmake(lane);
		cuCtxPopCurrent_v2(&popped);
	}
	restore(mode);
	free(lane);
}

static bool is_same(u64 addr, u64 id)
{
	unsigned long long now;

	return ask(&now, CU_POINTER_ATTRIBUTE_BUFFER_ID, addr) && now == id;
}

static int enter(void *arg)
{
	const struct cuda_lane *lane = arg;

	relax();
	return cuCtxSetCurrent(lane->context) ? -EIO : 0;
}

static int to_host(void *arg, void *piece, u64 addr, u32 len)
{
	const struct cuda_lane *lane = arg;

	return cuMemcpyDtoHAsync_v2(piece, addr, len, lane->stream) ? -EIO : 0;
}

static int from_host(void *arg, u64 addr, const void *piece, u32 len)
{
	const struct cuda_lane *lane = arg;

	return cuMemcpyHtoDAsync_v2(addr, piece, len, lane->stream) ? -EIO : 0;
}

static int mark(void *arg, u32 piece)
{
	const struct cuda_lane *lane = arg;

	return cuEventRecord(lane->events[piece], lane->stream) ? -EIO : 0;
}

static int is_done(void *arg, u32 piece)
{
	const struct cuda_lane *lane = arg;
	CUresult ret = cuEventQuery(lane->events[piece]);

	return !ret ? 0 : ret == CUDA_ERROR_NOT_READY ? -EAGAIN : -EIO;
}

const struct ur_gpu_runtime ur_gpu_cuda = {
	.name = "cuda",
	.is_there = is_there,
	.find = find,
	.open = open_lane,
	.close = close_lane,
	.is_same = is_same,
	.enter = enter,
	.to_host = to_host,
	.from_host = from_host,
	.mark = mark,
	.is_done = is_done,
};

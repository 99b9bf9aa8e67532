// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* CUDA's memory, by the driver's library that the program has loaded. Names and numbers are those of cuda.h. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
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
	CUDA_ERROR_NOT_SUPPORTED = 801,
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
	CU_MEMHOSTREGISTER_PORTABLE = 1,
	CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

/* clang-format off */
#define FUNCTIONS(F)                                                         \
	F(cuDeviceGetCount, (int *))                                         \
	F(cuPointerGetAttribute, (void *, int, CUdeviceptr))                 \
	F(cuPointerSetAttribute, (const void *, int, CUdeviceptr))           \
	F(cuThreadExchangeStreamCaptureMode, (int *))                        \
	F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                 \
	F(cuCtxPushCurrent_v2, (CUcontext))                                  \
	F(cuCtxPopCurrent_v2, (CUcontext *))                                 \
	F(cuCtxSetCurrent, (CUcontext))                                      \
	F(cuStreamCreate, (CUstream *, unsigned int))                        \
	F(cuStreamDestroy_v2, (CUstream))                                    \
	F(cuStreamSynchronize, (CUstream))                                   \
	F(cuEventCreate, (CUevent *, unsigned int))                          \
	F(cuEventDestroy_v2, (CUevent))                                      \
	F(cuEventRecord, (CUevent, CUstream))                                \
	F(cuEventQuery, (CUevent))                                           \
	F(cuMemHostRegister_v2, (void *, size_t, unsigned int))              \
	F(cuMemHostUnregister, (void *))                                     \
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
	bool pinned;
	CUevent events[UR_GPU_PIECES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool loaded;

/* The reference to the library is never dropped: if the program unloaded the library, our pointers
 * would be invalid. */
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

static bool is_loaded(void)
{
	if (atomic_load(&loaded))
		return true;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&loaded))
		atomic_store(&loaded, load());
	pthread_mutex_unlock(&lock);
	return atomic_load(&loaded);
}

/* If the program has not initialized the library, it has no GPU memory. If its GPUs are hidden or
 * no driver runs, it never gets any. */
static bool is_there(void)
{
	int n = 0;

	return is_loaded() && !cuDeviceGetCount(&n) && n > 0;
}

/* While a thread captures a stream, most calls fail and end the capture, unless its capture mode is
 * relaxed. Returns the mode to restore, or -1 if nothing may be called. */
static int relax(void)
{
	int mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	return cuThreadExchangeStreamCaptureMode(&mode) ? -1 : mode;
}

static void restore(int mode)
{
	cuThreadExchangeStreamCaptureMode(&mode);
}

static bool ask(void *to, int what, u64 addr)
{
	return !cuPointerGetAttribute(to, what, addr);
}

/* Memory that was mapped piece by piece (cuMemMap()), or belongs to a pool, has no context: takes
 * the GPU's primary context, and retains it for good, since the program's memory needs it too. */
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

static int look(u64 addr, struct ur_gpu_allocation *place)
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
	/* Makes the program's own synchronous copies complete before they return. Mapped memory
	 * (cuMemMap()) has no such attribute. */
	cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, addr);
	return 0;
}

static int find(u64 addr, struct ur_gpu_allocation *place)
{
	int mode, err;

	if (!is_loaded())
		return -EFAULT;
	mode = relax();
	if (mode < 0)
		return -EFAULT;
	err = look(addr, place);
	restore(mode);
	return err;
}

#define PIECES_BYTES ((size_t)UR_GPU_PIECES * UR_GPU_PIECE_BYTES)

/* Allocated here and not by the runtime, so that it stays when the program destroys its CUDA context. A child of fork gets no
 * copy: copy on write would give this process other pages than the GPU has pinned. */
static u8 *map_pieces(void)
{
	void *p = mmap(NULL, PIECES_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, PIECES_BYTES, MADV_DONTFORK);
	return p;
}

/* If the memory cannot be pinned, as with encrypted memory of the host, the runtime copies once
 * more. */
static int pin(struct cuda_lane *lane)
{
	CUresult ret = cuMemHostRegister_v2(lane->pieces, PIECES_BYTES,
					    CU_MEMHOSTREGISTER_PORTABLE);

	lane->pinned = !ret;
	return !ret || ret == CUDA_ERROR_NOT_SUPPORTED ? 0
	       : ret == CUDA_ERROR_OUT_OF_MEMORY       ? -ENOMEM
						       : -EIO;
}

static int make(struct cuda_lane *lane)
{
	int err;

	lane->pieces = map_pieces();
	if (!lane->pieces)
		return -ENOMEM;
	if (cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING) ||
	    !lane->stream)
		return -EIO;
	err = pin(lane);
	for (u32 i = 0; !err && i < UR_GPU_PIECES; i++)
		if (cuEventCreate(&lane->events[i], CU_EVENT_DISABLE_TIMING) ||
		    !lane->events[i])
			err = -EIO;
	return err;
}

static void unmake(struct cuda_lane *lane)
{
	for (u32 i = 0; i < UR_GPU_PIECES; i++)
		if (lane->events[i])
			cuEventDestroy_v2(lane->events[i]);
	if (lane->stream) {
		/* A copy may still be under way that could not be awaited. */
		cuStreamSynchronize(lane->stream);
		cuStreamDestroy_v2(lane->stream);
	}
	if (lane->pinned)
		cuMemHostUnregister(lane->pieces);
}

static void free_lane(struct cuda_lane *lane)
{
	if (lane->pieces)
		munmap(lane->pieces, PIECES_BYTES);
	free(lane);
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
	if (mode >= 0 && !cuCtxPushCurrent_v2(context)) {
		err = make(lane);
		if (err)
			unmake(lane);
		cuCtxPopCurrent_v2(&popped);
	}
	if (mode >= 0)
		restore(mode);
	if (err) {
		free_lane(lane);
		return err;
	}
	*ret = lane;
	*pieces = lane->pieces;
	return 0;
}

/* Another context may have the address of one that was destroyed. */
static bool lives(void *arg)
{
	const struct cuda_lane *lane = arg;
	CUcontext context;

	return !lane->pinned || (ask(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
				     (uintptr_t)lane->pieces) &&
				 context == lane->context);
}

static void close_lane(void *arg)
{
	struct cuda_lane *lane = arg;
	CUcontext popped;
	int mode = relax();

	if (mode >= 0 && lives(lane) && !cuCtxPushCurrent_v2(lane->context)) {
		unmake(lane);
		cuCtxPopCurrent_v2(&popped);
	}
	if (mode >= 0)
		restore(mode);
	free_lane(lane);
}

static bool is_same(u64 addr, u64 id)
{
	unsigned long long now;

	return ask(&now, CU_POINTER_ATTRIBUTE_BUFFER_ID, addr) && now == id;
}

static int enter(void *arg)
{
	const struct cuda_lane *lane = arg;

	return relax() < 0 || cuCtxSetCurrent(lane->context) ? -EIO : 0;
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
	.lives = lives,
	.is_same = is_same,
	.enter = enter,
	.to_host = to_host,
	.from_host = from_host,
	.mark = mark,
	.is_done = is_done,
};

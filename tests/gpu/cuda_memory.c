// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory of GPUs by CUDA: memory.h. */
#include <errno.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/cuda.h"
#include "tests/gpu/memory.h"

static CUcontext cuda[2];
static int turn, gpus;

static void begin(void)
{
	CUdevice device;

	must(!cuInit(0) && !cuDeviceGetCount(&gpus) && gpus > 0, "CUDA");
	gpus = gpus > 1 ? 2 : 1;
	for (int i = 0; i < gpus; i++)
		must(!cuDeviceGet(&device, i) &&
			     !cuDevicePrimaryCtxRetain(&cuda[i], device),
		     "a GPU");
	must(!cuCtxSetCurrent(cuda[0]), "cuCtxSetCurrent");
}

/* Of another GPU each time. The first one stays current. */
static uint64_t allocate_next(void)
{
	CUdeviceptr d;

	must(!cuCtxSetCurrent(cuda[turn++ % gpus]), "cuCtxSetCurrent");
	must(!cuMemAlloc_v2(&d, BYTES), "cuMemAlloc");
	must(!cuCtxSetCurrent(cuda[0]), "cuCtxSetCurrent");
	return d;
}

static void set(uint64_t addr, const void *from, size_t n)
{
	must(!cuMemcpyHtoD_v2(addr, from, n), "cuMemcpyHtoD");
}

static void get(void *to, uint64_t addr, size_t n)
{
	must(!cuMemcpyDtoH_v2(to, addr, n), "cuMemcpyDtoH");
}

static struct ibv_mr *reg_pointer(struct ibv_pd *pd, uint64_t addr)
{
	CUcontext now;
	int mode = 1, before;
	struct ibv_mr *mr;

	cuThreadExchangeStreamCaptureMode(&mode);
	mr = ibv_reg_mr(pd, (void *)(uintptr_t)addr, BYTES, ACCESS);
	before = errno;
	cuThreadExchangeStreamCaptureMode(&mode);
	must(mode == 1, "the capture mode");
	must(!cuCtxGetCurrent(&now) && now == cuda[0], "the current context");
	errno = before;
	return mr;
}

const struct far_memory cuda_memory = {begin, allocate_next, set, get,
				       reg_pointer};

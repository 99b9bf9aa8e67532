// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs' questions whether GPUs' memory can be registered, and their registrations: each answer is yes where all
 * of these are taken, and no where none is. NCCL asks when it has a GPU, UCX when its module for CUDA has been loaded, which
 * initializes the library.
 * yes|no: the expected answer. Built with CUDA's library and without.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/cuda.h"

#define BYTES	   (1u << 20)
#define PAGE	   4096u
#define DMA_BUF_FD 1
#define WRITES	   (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
#define NCCL	   (WRITES | IBV_ACCESS_REMOTE_READ)
#define UCX	   (NCCL | IBV_ACCESS_REMOTE_ATOMIC)

static struct ibv_pd *pd;
static CUdeviceptr memory;
static int file = -1;

/* ---- questions ---- */

/* NCCL, and what asks as it does: RCCL, UCCL, FlagCX. */
static bool ask_nccl(void)
{
	errno = 0;
	return ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0) ||
	       (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT);
}

/* UCX, by which NIXL asks. */
static bool ask_ucx(void)
{
	errno = 0;
	return ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, -1, UCX) || errno == EBADF;
}

static const struct {
	const char *name;
	bool (*ask)(void);
} questions[] = {{"NCCL", ask_nccl}, {"UCX, NIXL", ask_ucx}};

/* ---- registrations ---- */

static struct ibv_mr *by_pointer(uint64_t off, int access)
{
	return ibv_reg_mr(pd, (void *)(uintptr_t)(memory + off), PAGE, access);
}

static struct ibv_mr *by_iova(uint64_t off, int access)
{
	return ibv_reg_mr_iova(pd, (void *)(uintptr_t)(memory + off), PAGE,
			       memory + off, access);
}

static struct ibv_mr *by_file(uint64_t off, int access)
{
	return ibv_reg_dmabuf_mr(pd, off, PAGE, memory + off, file, access);
}

static const struct {
	const char *name;
	struct ibv_mr *(*reg)(uint64_t off, int access);
	uint64_t off;
	int access;
} registrations[] = {
	{"NCCL's pointer", by_pointer, 0, NCCL},
	{"NCCL's pointer, relaxed", by_iova, 0,
	 NCCL | IBV_ACCESS_RELAXED_ORDERING},
	{"NCCL's file", by_file, 0, NCCL},
	{"NCCL's file, relaxed", by_file, 0,
	 NCCL | IBV_ACCESS_RELAXED_ORDERING},
	{"Mooncake's file", by_file, 5 * PAGE, NCCL},
	{"UCX's pointer", by_pointer, PAGE, UCX},
	{"UCX's file", by_file, PAGE, UCX},
	{"UCX's file, relaxed", by_file, 3 * PAGE,
	 UCX | IBV_ACCESS_RELAXED_ORDERING},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void ask_all(bool want)
{
	for (size_t i = 0; i < COUNT(questions); i++) {
		bool got = questions[i].ask();

		printf("%s: %s (%s)\n", questions[i].name, got ? "yes" : "no",
		       strerror(errno));
		must(got == want, questions[i].name);
	}
}

static void register_all(bool want)
{
	for (size_t i = 0; i < COUNT(registrations); i++) {
		struct ibv_mr *mr = registrations[i].reg(
			registrations[i].off, registrations[i].access);

		if (!mr == want)
			printf("%s\n", mr ? "taken" : strerror(errno));
		must(!mr == !want, registrations[i].name);
		must(!mr || !ibv_dereg_mr(mr), "ibv_dereg_mr");
	}
}

/* The program is not linked with the library, or is. */
#pragma weak cuInit
#pragma weak cuDevicePrimaryCtxRetain
#pragma weak cuCtxSetCurrent
#pragma weak cuMemAlloc_v2
#pragma weak cuMemGetHandleForAddressRange

static void allocate(void)
{
	CUcontext context;

	must(!cuDevicePrimaryCtxRetain(&context, 0) &&
		     !cuCtxSetCurrent(context),
	     "a context");
	must(!cuMemAlloc_v2(&memory, BYTES), "cuMemAlloc");
	must(!cuMemGetHandleForAddressRange(&file, memory, BYTES, DMA_BUF_FD,
					    0),
	     "cuMemGetHandleForAddressRange");
}

int main(int argc, char **argv)
{
	bool want = argc > 1 && !strcmp(argv[1], "yes");

	alarm(60);
	pd = ibv_alloc_pd(rounds_open());
	must(pd, "ibv_alloc_pd");
	/* There is no memory before the library is initialized, nor without a GPU. */
	ask_all(false);
	if (cuInit && !cuInit(0)) {
		ask_all(want);
		allocate();
		register_all(want);
	}
	must(!want || memory, "a GPU");
	printf("done 0\n");
	return 0;
}

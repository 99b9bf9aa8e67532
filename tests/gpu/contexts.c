// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Several contexts of one GPU, several GPUs, and several contexts of verbs, in one program: matrix.h. */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

#define N    4
#define PART 70001u

static CUcontext made[N];
static CUcontext first;
static struct buffer more[N];
static uint8_t copy[BYTES];

static void allocate_in(int i)
{
	CUdevice device = 0;
	CUdeviceptr p = 0;
	int gpus;

	must(!cuDeviceGetCount(&gpus) && !cuDeviceGet(&device, i % gpus),
	     "a GPU");
	must(!cuCtxCreate_v2(&made[i], 0, device) && !cuMemAlloc_v2(&p, BYTES),
	     "a context");
	must(!cuCtxPopCurrent_v2(&made[i]), "cuCtxPopCurrent");
	more[i].addr = p;
	more[i].mr = reg(pd, p, FAR);
	must(more[i].mr, "ibv_reg_mr");
}

static void fill_in(int i, uint32_t s)
{
	for (uint32_t k = 0; k < BYTES; k++)
		copy[k] = byte_at(s, k);
	set_bytes(more[i].addr, copy, BYTES, FAR);
}

/* One message from all of them to all of them. */
static void send_lists(void)
{
	uint32_t s = ++seed * 2 * N;
	struct ibv_sge sge[N];

	for (int i = 0; i < N; i++) {
		fill_in(i, s + (uint32_t)i * 2 + peer.client);
		sge[i] = (struct ibv_sge){more[i].addr + (uint32_t)i * 9, PART,
					  more[i].mr->lkey};
	}
	if (!peer.client)
		receive(sge, N);
	rounds_both(&peer);
	if (peer.client)
		must(!post(IBV_WR_SEND, sge, N, HOST, 0), "post");
	must_be(poll_one().status, IBV_WC_SUCCESS);
	for (int i = 0; i < N && !peer.client; i++) {
		get_bytes(copy, more[i].addr + (uint32_t)i * 9, PART, FAR);
		for (uint32_t k = 0; k < PART; k++)
			must(copy[k] == byte_at(s + (uint32_t)i * 2 + 1,
						k + (uint32_t)i * 9),
			     "the bytes");
	}
	rounds_both(&peer);
}

/* A context that ends has its region's requests fail, and no others. */
static void end_one(int i)
{
	struct ibv_sge sge[2] = {{more[i].addr, 4096, more[i].mr->lkey},
				 sge_of(FAR, 0, 4096)};

	must(!cuCtxDestroy_v2(made[i]), "cuCtxDestroy");
	if (peer.client) {
		must(!post(IBV_WR_RDMA_WRITE, &sge[1], 1, FAR, 0), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		must(!post(IBV_WR_RDMA_WRITE, &sge[0], 1, FAR, 0), "post");
		must_be(poll_one().status, IBV_WC_LOC_PROT_ERR);
	}
	rounds_both(&peer);
	must(!dereg(more[i].mr), "ibv_dereg_mr");
	again();
	allocate_in(i);
}

static void run_several(void)
{
	must(!cuCtxGetCurrent(&first), "cuCtxGetCurrent");
	for (int i = 0; i < N; i++)
		allocate_in(i);
	send_lists();
	end_one(1);
	send_lists();
	for (int i = N; i--;) {
		must(!dereg(more[i].mr), "ibv_dereg_mr");
		must(!cuCtxDestroy_v2(made[i]), "cuCtxDestroy");
	}
}

/* The same memory, registered in two contexts of verbs. */
static void run_verbs(void)
{
	struct ibv_context *context1 = context;
	struct ibv_pd *pd1 = pd;
	struct ibv_cq *cq1 = cq;
	struct ibv_qp *qp1 = qp;
	struct buffer own1[PLACES];
	struct named there1 = there;

	memcpy(own1, own, sizeof(own));
	pair_begin();
	exchange(IBV_WR_SEND, FAR, FAR, 0, 300001);
	must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	own[FAR].addr = own1[FAR].addr;
	own[FAR].mr = reg(pd, own[FAR].addr, FAR);
	must(own[FAR].mr, "ibv_reg_mr");
	again();
	exchange(IBV_WR_RDMA_READ, FAR, FAR, 0, 300001);
	pair_end();
	context = context1;
	pd = pd1;
	cq = cq1;
	qp = qp1;
	memcpy(own, own1, sizeof(own));
	there = there1;
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 300001);
}

void run_contexts(void)
{
	run_several();
	run_verbs();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A library that lies, fails at each step, blocks, and calls back; memory that goes away under each request: matrix.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

#define N_OPS 6
#define LEN   (BYTES / 2)

static const enum ibv_wr_opcode ops[N_OPS] = {
	IBV_WR_SEND,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_ATOMIC_CMP_AND_SWP,
};

static void anew(void)
{
	if (own[FAR].mr)
		must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	own[FAR].mr = reg(pd, own[FAR].addr, FAR);
	must(own[FAR].mr, "ibv_reg_mr");
}

/* What a request may end with whose memory fails, here or there. */
static bool is_end(enum ibv_wc_status status)
{
	return status == IBV_WC_SUCCESS || status == IBV_WC_LOC_PROT_ERR ||
	       status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_REM_OP_ERR ||
	       status == IBV_WC_REM_ACCESS_ERR ||
	       status == IBV_WC_WR_FLUSH_ERR ||
	       status == IBV_WC_REM_INV_REQ_ERR;
}

static void all_end(int n)
{
	while (n--) {
		struct ibv_wc wc = poll_one();

		if (!is_end(wc.status))
			printf("%s\n", ibv_wc_status_str(wc.status));
		must(is_end(wc.status), "the status");
	}
}

/* ---- memory that goes away ---- */

/* Another allocation at the same address, which nobody is to have bytes of. */
static void free_memory(void)
{
	uint64_t old = own[FAR].addr;

	must(!cuMemFree_v2(old), "cuMemFree");
	own[FAR].addr = allocate(FAR);
	fill(FAR, 999);
}

static void end_region(void)
{
	must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	own[FAR].mr = NULL;
}

/* No run of the new allocation's bytes, of which eight in a row are no chance. */
static void has_none(const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i + 8 <= len; i++) {
		uint32_t k = 0;

		while (k < 8 && p[i + k] == byte_at(999, i + k))
			k++;
		must(k < 8, "another allocation's bytes");
	}
}

static void amid(enum ibv_wr_opcode op, bool client, void (*goes)(void))
{
	bool atomic = is_atomic(op);
	bool takes = op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM;
	enum place mine = peer.client == client ? FAR : HOST;
	enum place theirs = client ? HOST : FAR;
	struct ibv_sge sge = sge_of(mine, 0, atomic ? 8 : LEN);
	const uint8_t *host = (uint8_t *)(uintptr_t)own[HOST].addr;

	fill(FAR, ++seed);
	fill(HOST, seed);
	for (int i = 0; !peer.client && takes && i < 4; i++)
		receive(&sge, 1);
	rounds_both(&peer);
	for (int i = 0; peer.client && i < 4; i++)
		must(!post(op, &sge, 1, theirs, 0), "post");
	if (peer.client == client)
		goes();
	if (peer.client)
		all_end(4);
	rounds_both(&peer);
	if (peer.client != client)
		has_none(host, LEN);
	/* Receives that are left end with the queue pair. */
	anew();
	again();
}

static void run_amid(void)
{
	standin_lag(300);
	for (int o = 0; o < N_OPS; o++)
		for (int side = 0; side < 2; side++) {
			amid(ops[o], side, free_memory);
			amid(ops[o], side, end_region);
		}
	standin_lag(0);
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* ---- steps that fail ---- */

static void straighten(void)
{
	CUcontext context;
	int mode = 0;

	/* A failed call may leave a context pushed and the capture mode changed. */
	while (standin_thread().depth > 1)
		must(!cuCtxPopCurrent_v2(&context), "cuCtxPopCurrent");
	must(!cuThreadExchangeStreamCaptureMode(&mode), "the capture mode");
}

static void run_broken_registrations(void)
{
	bool hit = true;

	must(!dereg(own[FAR].mr), "ibv_dereg_mr");
	for (int n = 1; hit; n++) {
		struct ibv_mr *mr;

		standin_is_mine(false);
		standin_break(n);
		mr = ibv_reg_mr(pd, (void *)(uintptr_t)own[FAR].addr, BYTES,
				ACCESS);
		must(mr || errno == EFAULT || errno == EIO, "the error");
		must(!mr || !ibv_dereg_mr(mr), "ibv_dereg_mr");
		hit = !standin_break(0);
		straighten();
		standin_is_mine(true);
	}
	own[FAR].mr = NULL;
	anew();
	again();
}

static void run_broken_requests(bool client)
{
	struct ibv_sge sge = sge_of(FAR, 0, 200000);

	for (int n = 1; n < 30; n++) {
		if (peer.client == client)
			standin_break(n);
		rounds_both(&peer);
		if (peer.client) {
			must(!post(n % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
				   &sge, 1, FAR, 0),
			     "post");
			all_end(1);
		}
		rounds_both(&peer);
		standin_break(0);
		anew();
		again();
		sge = sge_of(FAR, 0, 200000);
	}
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* ---- answers that are wrong ---- */

static void run_lies(void)
{
	static const int what[] = {1, 2, 7, 9, 11, 12};
	static const unsigned long long values[] = {0, 1, 0x1234, ~0ull};

	for (int i = 0; i < 24; i++) {
		struct ibv_mr *mr = own[FAR].mr;
		struct ibv_sge sge;

		must(!dereg(mr), "ibv_dereg_mr");
		standin_lie(what[i / 4], values[i % 4]);
		mr = reg(pd, own[FAR].addr, FAR);
		must(mr || errno == EFAULT || errno == EIO, "the error");
		own[FAR].mr = mr;
		again();
		sge = sge_of(mr ? FAR : HOST, 0, 100000);
		if (peer.client) {
			must(!post(IBV_WR_RDMA_WRITE, &sge, 1,
				   there.rkey[FAR] ? FAR : HOST, 0),
			     "post");
			all_end(1);
		}
		rounds_both(&peer);
		standin_lie(0, 0);
		anew();
		again();
	}
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

/* ---- calls that call back ---- */

static struct ibv_cq *idle_cq;
static struct ibv_qp *idle_qp;
static unsigned int called;

/* As a hook of the library may. */
static void calls_back(void)
{
	struct ibv_wc wc;
	struct ibv_recv_wr wr = {.wr_id = 7}, *bad;

	__atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
	must(!ibv_poll_cq(idle_cq, 1, &wc), "a poll from the library");
	ibv_post_recv(idle_qp, &wr, &bad);
}

static void run_calls_back(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 64},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	idle_cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	init.send_cq = init.recv_cq = idle_cq;
	idle_qp = ibv_create_qp(pd, &init);
	must(idle_qp && !ibv_modify_qp(idle_qp, &attr,
				       IBV_QP_STATE | IBV_QP_PORT |
					       IBV_QP_PKEY_INDEX |
					       IBV_QP_ACCESS_FLAGS),
	     "a queue pair");
	standin_each(calls_back);
	anew();
	again();
	for (int o = 0; o < 4; o++)
		exchange(ops[o], FAR, FAR, 0, 200000);
	standin_each(NULL);
	must(called > 50, "calls from the library");
	must(!ibv_destroy_qp(idle_qp) && !ibv_destroy_cq(idle_cq), "the end");
}

/* ---- calls that take long ---- */

/* While the engine waits for a copy, the program registers memory of the host, posts, polls, and makes objects. */
static void run_long(void)
{
	struct ibv_sge sge = sge_of(FAR, 0, 100000);

	if (peer.client) {
		standin_block(true);
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
		while (!standin_waiting())
			usleep(1000);
		usleep(300000);
		must(is_quiet(), "a completion");
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
		standin_block(false);
		all_end(2);
	}
	rounds_both(&peer);
	exchange(IBV_WR_RDMA_WRITE, FAR, FAR, 0, 100000);
}

void run_hostile(void)
{
	run_long();
	run_calls_back();
	run_lies();
	run_broken_registrations();
	run_broken_requests(true);
	run_broken_requests(false);
	run_amid();
}

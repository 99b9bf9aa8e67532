// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verbs on far memory (memory.h), between two of this program. With the stand-in (standin.h) it also shows what needs
 * one: copies that lag, block and fail.
 * MODE GID_INDEX GID PORT [SERVER].
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

static uint8_t copy[BYTES];
uint32_t seed = 1;

/* ---- operations, of each place with each ---- */

static bool takes_receive(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

void exchange(enum ibv_wr_opcode op, enum place here, enum place far,
	      uint32_t off, uint32_t len)
{
	bool read = op == IBV_WR_RDMA_READ;
	uint32_t s = ++seed * 2, at = off / 3;
	enum place my = peer.client ? here : far;
	struct ibv_sge sge = sge_of(my, at, len);
	struct ibv_wc wc;

	fill(my, s + peer.client);
	if (!peer.client && takes_receive(op))
		receive(&sge, 1);
	rounds_both(&peer);
	if (peer.client) {
		sge = sge_of(my, off, len);
		must_be(run(op, sge, far, at), IBV_WC_SUCCESS);
	} else if (takes_receive(op)) {
		wc = poll_one();
		must_be(wc.status, IBV_WC_SUCCESS);
		must(wc.byte_len == len, "the length");
		check(my, at, at + len, s + 1, off, s);
	}
	rounds_both(&peer);
	if (peer.client == read) {
		if (read)
			check(my, off, off + len, s, at, s + 1);
		else
			check(my, at, at + len, s + 1, off, s);
	}
	rounds_both(&peer);
}

static void run_operations(void)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE,
						 IBV_WR_RDMA_READ, IBV_WR_SEND,
						 IBV_WR_RDMA_WRITE_WITH_IMM};
	static const uint32_t lengths[] = {1,	  8,	  1000,	    4096,
					   65536, 300001, BYTES / 2};

	for (int o = 0; o < 4; o++)
		for (int places = 1; places < 4; places++)
			for (int l = 0; l < 7; l++)
				exchange(ops[o], places & 1, places >> 1,
					 l % 2 ? 0 : 12345, lengths[l]);
}

/* Lists of both places. */
static void run_lists(void)
{
	uint32_t s = ++seed * 2;
	struct ibv_sge sge[3] = {sge_of(FAR, 100, 50000), sge_of(HOST, 0, 9000),
				 sge_of(FAR, 200000, 123457)};

	for (int last = 2; last < 4; last++, s += 2) {
		fill(FAR, s);
		fill(HOST, s + 1);
		if (!peer.client) {
			sge[0] = sge_of(HOST, 77, 30000);
			sge[1] = sge_of(FAR, 4000, 60000);
			sge[2] = sge_of(last == 2 ? HOST : FAR, 500000, 300000);
			receive(sge, 3);
		}
		rounds_both(&peer);
		if (peer.client) {
			must(!post(IBV_WR_SEND, sge, 3, HOST, 0), "post");
			must_be(poll_one().status, IBV_WC_SUCCESS);
		} else {
			must_be(poll_one().status, IBV_WC_SUCCESS);
			get_bytes(copy, own[FAR].addr + 4000, 60000, FAR);
			for (uint32_t i = 0; i < 20000; i++)
				must(copy[i] == byte_at(s, 30100 + i),
				     "the first part");
			for (uint32_t i = 20000; i < 29000; i++)
				must(copy[i] == byte_at(s + 1, i - 20000),
				     "the second part");
			for (uint32_t i = 29000; i < 60000; i++)
				must(copy[i] == byte_at(s, 200000 + i - 29000),
				     "the third part");
		}
		rounds_both(&peer);
	}
}

/* The flag is in memory of the host: whoever sees it finds all of the payload, without asking CUDA. */
static void run_flags(void)
{
	struct ibv_sge sge[2] = {sge_of(FAR, 0, BYTES / 2), sge_of(HOST, 0, 8)};
	volatile uint64_t *flag = (void *)(uintptr_t)own[HOST].addr;

	for (uint64_t i = 1; i <= 20; i++) {
		uint32_t s = ++seed * 2;

		if (peer.client) {
			fill(FAR, s);
			*flag = i;
			must(!post(IBV_WR_RDMA_WRITE, &sge[0], 1, FAR, 0) &&
				     !post(IBV_WR_RDMA_WRITE, &sge[1], 1, HOST,
					   0),
			     "post");
			must_be(poll_one().status, IBV_WC_SUCCESS);
			must_be(poll_one().status, IBV_WC_SUCCESS);
		} else {
			while (*flag != i)
				;
			get_bytes(copy, own[FAR].addr, BYTES / 2, FAR);
			for (uint32_t k = 0; k < BYTES / 2; k++)
				must(copy[k] == byte_at(s, k), "the payload");
		}
		rounds_both(&peer);
	}
}

static void run_atomics(void)
{
	struct ibv_sge sge = sge_of(FAR, 64, 8);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.atomic = {.remote_addr = there.addr[FAR],
					       .rkey = there.rkey[FAR]}},
			   *bad;
	uint64_t zero = 0, v;

	set_bytes(own[FAR].addr, &zero, 8, FAR);
	rounds_both(&peer);
	for (uint64_t i = 0; peer.client && i < 20; i++) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.compare_add = 3;
		must(!ibv_post_send(qp, &wr, &bad), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		get_bytes(&v, own[FAR].addr + 64, 8, FAR);
		must(v == i * 10, "what was there");
		wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		wr.wr.atomic.compare_add = i * 10 + 3;
		wr.wr.atomic.swap = (i + 1) * 10;
		must(!ibv_post_send(qp, &wr, &bad), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		get_bytes(&v, own[FAR].addr + 64, 8, FAR);
		must(v == i * 10 + 3, "what was there");
	}
	rounds_both(&peer);
	get_bytes(&v, own[FAR].addr, 8, FAR);
	must(peer.client || v == 200, "the sum");
	rounds_both(&peer);
}

static void run_inline(void)
{
	struct ibv_sge sge[2] = {sge_of(HOST, 0, 8), sge_of(FAR, 0, 8)};
	struct ibv_send_wr wr[2] = {{.sg_list = sge,
				     .num_sge = 1,
				     .next = &wr[1],
				     .opcode = IBV_WR_RDMA_WRITE,
				     .send_flags = IBV_SEND_SIGNALED |
						   IBV_SEND_INLINE}},
			   *bad = NULL;

	if (peer.client) {
		wr[0].wr.rdma.remote_addr = there.addr[FAR];
		wr[0].wr.rdma.rkey = there.rkey[FAR];
		wr[1] = wr[0];
		wr[1].next = NULL;
		wr[1].sg_list = &sge[1];
		must(ibv_post_send(qp, wr, &bad) == EINVAL && bad == &wr[1],
		     "inline");
		must_be(poll_one().status, IBV_WC_SUCCESS);
	}
	rounds_both(&peer);
}

/* A window of the server's, to its FAR. */
static void run_windows(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED,
				   .bind_info = {own[FAR].mr,
						 own[FAR].addr + 4096, 8192,
						 IBV_ACCESS_REMOTE_WRITE}};
	uint32_t mine = 0, theirs, before = there.rkey[FAR];

	must(mw, "ibv_alloc_mw");
	if (!peer.client) {
		must(!ibv_bind_mw(qp, mw, &bind), "ibv_bind_mw");
		must_be(poll_one().status, IBV_WC_SUCCESS);
		mine = mw->rkey;
	}
	fill(FAR, ++seed);
	rounds_swap(&peer, &mine, &theirs, sizeof(mine));
	if (peer.client) {
		there.rkey[FAR] = theirs;
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(FAR, 0, 8192), FAR, 4096),
			IBV_WC_SUCCESS);
		must_be(run(IBV_WR_RDMA_WRITE, sge_of(FAR, 0, 8192), FAR, 4097),
			IBV_WC_REM_ACCESS_ERR);
		there.rkey[FAR] = before;
	}
	rounds_both(&peer);
	if (!peer.client)
		check(FAR, 4096, 12288, seed, 0, seed);
	rounds_both(&peer);
	must(!ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	again();
}

/* Memory of two GPUs in one list. */
static void run_gpus(void)
{
	struct buffer more = {.addr = allocate(FAR)};
	uint32_t s = ++seed * 2;
	struct ibv_sge sge[3] = {sge_of(FAR, 100, 70000)};

	more.mr = reg(pd, more.addr, FAR);
	must(more.mr, "ibv_reg_mr");
	fill(FAR, s);
	for (uint32_t i = 0; i < BYTES; i++)
		copy[i] = byte_at(s + 1, i);
	set_bytes(more.addr, copy, BYTES, FAR);
	sge[1] = (struct ibv_sge){more.addr + 5, 140001, more.mr->lkey};
	sge[2] = sge_of(FAR, 300000, 70001);
	if (!peer.client) {
		sge[0] = (struct ibv_sge){more.addr + 9, 100000, more.mr->lkey};
		sge[1] = sge_of(FAR, 77, 200000);
		receive(sge, 2);
	}
	rounds_both(&peer);
	if (peer.client)
		must(!post(IBV_WR_SEND, sge, 3, HOST, 0), "post");
	must_be(poll_one().status, IBV_WC_SUCCESS);
	if (!peer.client) {
		get_bytes(copy, more.addr + 9, 100000, FAR);
		get_bytes(copy + 100000, own[FAR].addr + 77, 180002, FAR);
		for (uint32_t i = 0; i < 280002; i++)
			must(copy[i] == (i < 70000 ? byte_at(s, 100 + i)
					 : i < 210001
						 ? byte_at(s + 1, i - 70000 + 5)
						 : byte_at(s, i - 210001 +
								      300000)),
			     "the bytes");
	}
	rounds_both(&peer);
	must(!dereg(more.mr), "ibv_dereg_mr");
	must(!cuMemFree_v2(more.addr), "cuMemFree");
}

static void run_all(void)
{
	run_operations();
	run_lists();
	run_flags();
	run_order();
	run_services();
	run_atomics();
	run_inline();
	run_windows();
	run_rereg();
	run_dereg();
	run_freed();
	run_gpus();
	run_contexts();
	run_files();
	run_child();
}

/* On a wire that loses packets, where each is copied by itself: in the call, since a stream's thread may wait
 * for a processor each time. */
static void run_lossy(void)
{
	standin_lag(-1);
	run_operations();
	run_services();
	run_lists();
	run_flags();
	run_atomics();
	run_windows();
	run_rereg();
}

static void run_standin(void)
{
	standin_lag(200);
	standin_capture(true);
	run_overlap();
	run_all();
	run_blocked();
	run_failures();
	standin_capture(false);
	must(!standin_captured(), "what is captured");
}

static void run_hostiles(void)
{
	standin_capture(true);
	run_hostile();
	standin_capture(false);
	must(!standin_captured(), "what is captured");
}

/* Of dma-bufs. */
static void run_dmabufs(void)
{
	run_rules();
	run_operations();
	run_services();
	run_lists();
	if (standin_lag)
		standin_lag(100);
	run_flags();
	run_atomics();
	if (standin_lag)
		standin_lag(0);
	run_windows();
	run_dereg();
	run_rereg();
	run_child_dmabuf();
}

/* Nothing can be registered, and whoever asks is told so. */
static void run_off(void)
{
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	far_memory->begin();
	must(!reg(pd, allocate(FAR), FAR) && errno == EFAULT, "ibv_reg_mr");
	must(!ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0) && errno == EOPNOTSUPP,
	     "ibv_reg_dmabuf_mr");
}

/* Where the program's engine is not in it. */
static void run_off_dmabuf(void)
{
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	must(!reg(pd, allocate(FAR), FAR) && errno == EOPNOTSUPP,
	     "ibv_reg_dmabuf_mr");
}

static const struct {
	const char *name;
	const struct far_memory *memory;
	void (*run)(void);
	bool alone;
} modes[] = {
	{"all", &cuda_memory, run_all, false},
	{"standin", &cuda_memory, run_standin, false},
	{"lossy", &cuda_memory, run_lossy, false},
	{"speed", &cuda_memory, run_speed, false},
	{"hostile", &cuda_memory, run_hostiles, false},
	{"dmabuf", &dmabuf_memory, run_dmabufs, false},
	{"off", &cuda_memory, run_off, true},
	{"off-dmabuf", &dmabuf_memory, run_off_dmabuf, true},
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned int i = 0;

	alarm(300);
	while (i < MODES && strcmp(mode, modes[i].name))
		i++;
	must(i < MODES, "mode");
	far_memory = modes[i].memory;
	if (!modes[i].alone) {
		rounds_begin(&peer, argc, argv);
		pair_begin();
	}
	modes[i].run();
	if (!modes[i].alone)
		pair_end();
	printf("done 0\n");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The work of a storage target of SPDK's kind: one completion queue and one
 * shared receive queue for all its initiators, data read from memory that the
 * command names by its key, and an answer that takes the key away.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include "tests/e2e/verbs/bench.h"

#define INITIATORS 6
#define ROUNDS	   20
#define BLOCK	   8192u
#define HUGE	   (2u << 20)
#define RECVS	   64

struct command {
	uint64_t address;
	uint32_t rkey, initiator, round;
};

struct initiator {
	struct ibv_qp *qp, *target; /* its own, and the target's for it */
	struct ibv_cq *cq;
	struct ibv_mw *mw;
	uint32_t rkey;
	uint8_t *data; /* a command, an answer, a block */
};

struct target {
	struct bench t;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	uint8_t *pool;
	struct initiator of[INITIATORS];
};

static uint8_t pattern(uint32_t initiator, uint32_t round, uint32_t i)
{
	return (uint8_t)(initiator * 41 + round * 7 + i + (i >> 8));
}

static uint8_t *receive_at(struct target *g, uint64_t n)
{
	return g->pool + HUGE / 2 + n * sizeof(struct command);
}

static void post_command_buffer(struct target *g, uint64_t n)
{
	struct ibv_sge sge = {(uintptr_t)receive_at(g, n),
			      sizeof(struct command), g->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK_EQ(ibv_post_srq_recv(g->srq, &wr, &bad), 0);
}

static void open_all(struct target *g, int flags)
{
	struct ibv_srq_init_attr init = {.attr = {RECVS, 1, 0}};
	struct bench *t = &g->t;

	bench_bare(t);
	g->pool = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	if (g->pool == MAP_FAILED) {
		printf("no huge page: %s\n", strerror(errno));
		exit(77);
	}
	g->mr = ibv_reg_mr(t->pd, g->pool, HUGE, ALL_ACCESS);
	g->srq = ibv_create_srq(t->pd, &init);
	g->cq = ibv_create_cq(t->ctx, 256, NULL, NULL, 0);
	CHECK(g->mr && g->srq && g->cq);
	for (int i = 0; i < INITIATORS; i++) {
		struct initiator *in = &g->of[i];

		in->cq = ibv_create_cq(t->ctx, 16, NULL, NULL, 0);
		CHECK(in->cq);
		in->qp = make_qp(t, in->cq, NULL, IBV_QPT_RC, 16, NULL);
		in->target = make_qp(t, g->cq, g->srq, IBV_QPT_RC, 16, NULL);
		connect_qp(t, in->qp, in->target->qp_num);
		connect_qp(t, in->target, in->qp->qp_num);
		in->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
		CHECK(in->mw);
		in->rkey = in->mw->rkey;
		in->data = g->pool + (uint32_t)i * 4 * BLOCK;
	}
	for (uint64_t n = 0; n < RECVS; n++)
		post_command_buffer(g, n);
}

static void close_all(struct target *g)
{
	for (int i = 0; i < INITIATORS; i++) {
		struct initiator *in = &g->of[i];

		CHECK_EQ(ibv_destroy_qp(in->qp), 0);
		CHECK_EQ(ibv_destroy_qp(in->target), 0);
		CHECK_EQ(ibv_dealloc_mw(in->mw), 0);
		CHECK_EQ(ibv_destroy_cq(in->cq), 0);
	}
	CHECK_EQ(ibv_destroy_srq(g->srq), 0);
	CHECK_EQ(ibv_destroy_cq(g->cq), 0);
	CHECK_EQ(ibv_dereg_mr(g->mr), 0);
	CHECK_EQ(munmap(g->pool, HUGE), 0);
	CHECK_EQ(ibv_dealloc_pd(g->t.pd), 0);
	CHECK_EQ(ibv_close_device(g->t.ctx), 0);
}

/* A key for the block, and the command that names it, in one list. */
static void submit(struct target *g, uint32_t i, uint32_t round)
{
	struct initiator *in = &g->of[i];
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(in->qp);
	uint8_t *block = in->data + BLOCK;
	struct ibv_mw_bind_info bind = {g->mr, (uintptr_t)block, BLOCK,
					IBV_ACCESS_REMOTE_READ};
	struct ibv_sge sge = {(uintptr_t)in->data + BLOCK / 2, 64, g->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct command command = {(uintptr_t)block, 0, i, round};

	for (uint32_t k = 0; k < BLOCK; k++)
		block[k] = pattern(i, round, k);
	in->rkey = command.rkey = ibv_inc_rkey(in->rkey);
	memcpy(in->data, &command, sizeof(command));
	CHECK_EQ(ibv_post_recv(in->qp, &recv, &bad), 0);
	ibv_wr_start(q);
	q->wr_flags = 0;
	ibv_wr_bind_mw(q, in->mw, command.rkey, &bind);
	q->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_send(q);
	ibv_wr_set_sge(q, g->mr->lkey, (uintptr_t)in->data, sizeof(command));
	CHECK_EQ(ibv_wr_complete(q), 0);
}

/* The target's part of one command: read what it names, and answer. */
static void execute(struct target *g, const struct ibv_wc *wc)
{
	struct command command;
	struct initiator *in;
	struct ibv_qp_ex *q;

	memcpy(&command, receive_at(g, wc->wr_id), sizeof(command));
	CHECK(command.initiator < INITIATORS);
	in = &g->of[command.initiator];
	CHECK_EQ(wc->qp_num, in->target->qp_num);
	post_command_buffer(g, wc->wr_id);
	q = ibv_qp_to_qp_ex(in->target);
	ibv_wr_start(q);
	q->wr_id = command.initiator;
	q->wr_flags = 0;
	ibv_wr_rdma_read(q, command.rkey, command.address);
	ibv_wr_set_sge(q, g->mr->lkey, (uintptr_t)in->data + 2 * BLOCK, BLOCK);
	q->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_send_inv(q, command.rkey);
	ibv_wr_set_sge(q, g->mr->lkey, (uintptr_t)in->data + 3 * BLOCK, 16);
	CHECK_EQ(ibv_wr_complete(q), 0);
}

static void run_all(int flags)
{
	struct target g;

	open_all(&g, flags);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < INITIATORS; i++)
			submit(&g, i, round);
		/* Each initiator has two, in the order in which they come: a
		 * command and the end of an answer. */
		for (int n = 0; n < 2 * INITIATORS; n++) {
			struct ibv_wc wc = expect_wc(g.cq, IBV_WC_SUCCESS);

			if (wc.opcode == IBV_WC_RECV)
				execute(&g, &wc);
			else
				CHECK_EQ(wc.opcode, IBV_WC_SEND);
		}
		for (uint32_t i = 0; i < INITIATORS; i++) {
			struct initiator *in = &g.of[i];
			struct ibv_wc wc = expect_wc(in->cq, IBV_WC_SUCCESS);

			/* The completions of the command and the answer come in
			 * either order. */
			if (wc.opcode == IBV_WC_SEND)
				wc = expect_wc(in->cq, IBV_WC_SUCCESS);
			else
				CHECK_EQ(expect_wc(in->cq, IBV_WC_SUCCESS)
						 .opcode,
					 IBV_WC_SEND);
			CHECK_EQ(wc.opcode, IBV_WC_RECV);
			CHECK(wc.wc_flags & IBV_WC_WITH_INV);
			CHECK_EQ(wc.invalidated_rkey, in->rkey);
			for (uint32_t k = 0; k < BLOCK; k++)
				CHECK_EQ(in->data[2 * BLOCK + k],
					 pattern(i, round, k));
		}
	}
	close_all(&g);
}

static void poll_group(void)
{
	run_all(0);
}

static void poll_group_huge(void)
{
	run_all(MAP_HUGETLB);
}

const struct verbs_test target_tests[] = {
	{"poll_group", poll_group},
	{"poll_group_huge", poll_group_huge},
	{0},
};

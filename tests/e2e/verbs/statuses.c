// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How work ends where its peer, or its own memory, is not as it should be; and
 * handles that name nothing. */
#include <errno.h>
#include "bench.h"
#include "tests/verbs_pair.h"

static struct ibv_qp *shared_qp(struct bench *t, struct ibv_pd *pd,
				struct ibv_srq *srq, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
					.recv_cq = cq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {8, 8, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	CHECK(qp);
	return qp;
}

/* A receive of a shared queue, whose domain is another one than the queue
 * pair's: its memory is of that one. */
static void in_domain(bool good)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct bench t;

	bench_open(&t, 64);
	pd = ibv_alloc_pd(t.ctx);
	CHECK(pd);
	srq = ibv_create_srq(pd, &init);
	CHECK(srq);
	mr = ibv_reg_mr(good ? pd : t.pd, t.b.buf, 64, ALL_ACCESS);
	CHECK(mr);
	qp = shared_qp(&t, t.pd, srq, t.b.cq);
	to_state(t.a.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, qp->qp_num);
	connect_qp(&t, qp, t.a.qp->qp_num);
	sge = (struct ibv_sge){(uintptr_t)t.b.buf, 64, mr->lkey};
	wr.sg_list = &sge;
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	memset(t.a.buf, 5, 64);
	memset(t.b.buf, 0, 64);
	CHECK_EQ(post_send(&t.a, 0, 0, 64, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, good ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR);
	expect_wc(t.b.cq, good ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(t.b.buf[63], good ? 5 : 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	bench_close(&t);
}

static void srq_domain(void)
{
	in_domain(true);
	in_domain(false);
}

/* The peer gets no NAK: it runs into its timeout. */
static void invalidate_refused(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_ex *a;
	struct bench t;

	bench_open(&t, 64);
	to_state(t.a.qp, IBV_QPS_RESET);
	attr = pair_attr(&t.gid, t.b.qp->qp_num);
	attr.timeout = 8;
	attr.retry_cnt = 1;
	CHECK_EQ(pair_connect(t.a.qp, &attr), 0);
	a = ibv_qp_to_qp_ex(t.a.qp);
	CHECK_EQ(post_recv(&t.b, 3, 0, 64), 0);
	a->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(a);
	ibv_wr_send_inv(a, t.b.mr->rkey);
	ibv_wr_set_sge(a, t.a.mr->lkey, (uintptr_t)t.a.buf, 8);
	CHECK_EQ(ibv_wr_complete(a), 0);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_MW_BIND_ERR).wr_id, 3);
	expect_wc(t.a.cq, IBV_WC_RETRY_EXC_ERR);
	bench_close(&t);
}

static void write_imm_refused(void)
{
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(post_recv(&t.b, 3, 0, 0), 0);
	memset(t.b.buf, 0, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE_WITH_IMM, (uintptr_t)t.b.buf,
			   t.b.mr->rkey ^ 1, 64),
		 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_LOC_ACCESS_ERR).wr_id, 3);
	bench_close(&t);
}

static void no_grh(void)
{
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(post_recv(&t.b, 3, 0, 64), 0);
	CHECK_EQ(post_send(&t.a, 0, 0, 64, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wc_flags, 0);
	bench_close(&t);
}

#define WRONG 0xdeadbeef

/* A handle that is nobody's is ENOENT, of each verb and in errno; the object stays. */
#define GARBLED(object, verb)                        \
	do {                                         \
		uint32_t handle_ = (object)->handle; \
		(object)->handle = WRONG;            \
		errno = 0;                           \
		CHECK_EQ(verb(object), ENOENT);      \
		CHECK_EQ(errno, ENOENT);             \
		(object)->handle = handle_;          \
	} while (0)

static void garbled(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_qp_ex *b;
	struct ibv_mw_bind_info info;
	struct ibv_qp_attr attr;
	struct ibv_srq *srq;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct bench t;
	uint32_t rkey;

	bench_open(&t, 64);
	b = ibv_qp_to_qp_ex(t.b.qp);
	/* Before there are windows, and after. */
	GARBLED(t.a.mr, ibv_dereg_mr);
	mw = ibv_alloc_mw(t.pd, IBV_MW_TYPE_2);
	srq = ibv_create_srq(t.pd, &init);
	attr = pair_attr(&t.gid, 0);
	ah = ibv_create_ah(t.pd, &attr.ah_attr);
	CHECK(mw && srq && ah);
	GARBLED(mw, ibv_dealloc_mw);
	GARBLED(t.b.mr, ibv_dereg_mr);
	GARBLED(t.a.qp, ibv_destroy_qp);
	GARBLED(t.a.cq, ibv_destroy_cq);
	GARBLED(srq, ibv_destroy_srq);
	GARBLED(ah, ibv_destroy_ah);
	GARBLED(t.pd, ibv_dealloc_pd);
	/* All of it goes on. */
	info = (struct ibv_mw_bind_info){t.b.mr, (uintptr_t)t.b.buf, 64,
					 IBV_ACCESS_REMOTE_WRITE};
	b->wr_flags = IBV_SEND_SIGNALED;
	rkey = ibv_inc_rkey(mw->rkey);
	ibv_wr_start(b);
	ibv_wr_bind_mw(b, mw, rkey, &info);
	CHECK_EQ(ibv_wr_complete(b), 0);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	memset(t.a.buf, 6, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf, rkey,
			   64),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t.b.buf[63], 6);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	bench_close(&t);
}

/* A change of state asks for the handle, even one that the engine could make alone. Kernels say
 * either EINVAL or ENOENT. */
static void garbled_modify(void)
{
	struct ibv_qp_attr attr;
	uint32_t handle;
	struct bench t;
	int err;

	bench_open(&t, 64);
	handle = t.a.qp->handle;
	to_state(t.a.qp, IBV_QPS_RESET);
	attr = pair_attr(&t.gid, t.b.qp->qp_num);
	t.a.qp->handle = WRONG;
	err = pair_to(t.a.qp, &attr, IBV_QPS_INIT);
	CHECK(err == EINVAL || err == ENOENT);
	CHECK_EQ(t.a.qp->state, IBV_QPS_RESET);
	t.a.qp->handle = handle;
	CHECK_EQ(pair_connect(t.a.qp, &attr), 0);
	CHECK_EQ(post_recv(&t.b, 3, 0, 64), 0);
	CHECK_EQ(post_send(&t.a, 0, 0, 64, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	bench_close(&t);
}

const struct verbs_test status_tests[] = {
	{"srq_domain", srq_domain},
	{"invalidate_refused", invalidate_refused},
	{"write_imm_refused", write_imm_refused},
	{"no_grh", no_grh},
	{"garbled", garbled},
	{"garbled_modify", garbled_modify},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Manual pages and the kernel describe arguments that few programs give: they
 * are ignored, refused, or obeyed. */
#include "bench.h"

static struct ibv_srq *make_srq(struct bench *t, uint32_t limit)
{
	struct ibv_srq_init_attr init = {
		.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = limit}};

	return ibv_create_srq(t->pd, &init);
}

/* ibv_create_srq(3): srq_limit is irrelevant. */
static void srq_limit_ignored(void)
{
	struct ibv_srq_init_attr_ex ex = {
		.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 3},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC};
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	struct bench t;

	bench_bare(&t);
	for (uint32_t limit = 3; limit < 200; limit += 97) {
		srq = make_srq(&t, limit);
		CHECK(srq);
		CHECK_EQ(ibv_query_srq(srq, &attr), 0);
		CHECK_EQ(attr.srq_limit, 0);
		CHECK_EQ(ibv_destroy_srq(srq), 0);
	}
	ex.pd = t.pd;
	srq = ibv_create_srq_ex(t.ctx, &ex);
	CHECK(srq);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	/* It is there to be set. */
	attr.srq_limit = 9;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	attr.srq_limit = 3;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 3);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	ibv_dealloc_pd(t.pd);
	ibv_close_device(t.ctx);
}

/* ibv_create_qp(3): what a queue pair with a shared receive queue would receive
 * into is ignored. Without one it counts. */
static void recv_caps_ignored(void)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {1, 2000000, 1, 99, 0}};
	struct ibv_qp *qp;
	struct bench t;

	bench_open(&t, 64);
	init.send_cq = init.recv_cq = t.a.cq;
	CHECK(!ibv_create_qp(t.pd, &init));
	CHECK_EQ(errno, EINVAL);
	init.srq = make_srq(&t, 0);
	CHECK(init.srq);
	qp = ibv_create_qp(t.pd, &init);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	/* Its send queue is its own. */
	init.cap.max_send_sge = 99;
	CHECK(!ibv_create_qp(t.pd, &init));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(ibv_destroy_srq(init.srq), 0);
	bench_close(&t);
}

/* A region has a page at least: ib_umem_get() of Linux, for all drivers. */
static void no_pages(void)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_mr *mr;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ((uintptr_t)t.a.buf % 4096, 0);
	CHECK(!ibv_reg_mr(t.pd, t.a.buf, 0, all));
	CHECK_EQ(errno, EINVAL);
	mr = ibv_reg_mr(t.pd, t.a.buf + 8, 0, all);
	CHECK(mr);
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, t.a.buf,
			   0, 0));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
}

static void write_at(struct bench *t, uint64_t at, uint32_t rkey,
		     enum ibv_wc_status status)
{
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, at, rkey, 7), 0);
	expect_wc(t->a.cq, status);
}

/* ibv_reg_mr(3): with ZERO_BASED the address is an offset, for both keys. */
static void zero_based(void)
{
	const int zero = ALL_ACCESS | IBV_ACCESS_ZERO_BASED;
	struct ibv_sge sge = {.addr = 300, .length = 7};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_mr *mr;
	struct bench t;

	bench_open(&t, 64);
	mr = ibv_reg_mr(t.pd, t.b.buf + 4100, 8192, zero);
	CHECK(mr);
	memcpy(t.a.buf, "offset", 7);
	write_at(&t, 100, mr->rkey, IBV_WC_SUCCESS);
	CHECK(!memcmp(t.b.buf + 4200, "offset", 7));
	write_at(&t, 8185, mr->rkey, IBV_WC_SUCCESS);
	sge.lkey = mr->lkey;
	CHECK_EQ(ibv_post_recv(t.b.qp, &wr, &bad), 0);
	CHECK_EQ(post_send(&t.a, 1, 0, 7, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK(!memcmp(t.b.buf + 4400, "offset", 7));
	/* Another translation takes the flag from the access it has, or gets. */
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   ALL_ACCESS));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			      t.b.buf, 4096, 0),
		 0);
	write_at(&t, 8, mr->rkey, IBV_WC_SUCCESS);
	CHECK(!memcmp(t.b.buf + 8, "offset", 7));
	write_at(&t, (uintptr_t)t.b.buf, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
}

const struct verbs_test manual_tests[] = {
	{"srq_limit_ignored", srq_limit_ignored},
	{"recv_caps_ignored", recv_caps_ignored},
	{"no_pages", no_pages},
	{"zero_based", zero_based},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "bench.h"
#include "tests/verbs_pair.h"

#include <sched.h>
#include <stdlib.h>

#define OPS_ALL                                                           \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |             \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |   \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | \
	 IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |          \
	 IBV_QP_EX_WITH_ATOMIC_WRITE)

struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	CHECK(list && list[0]);
	ctx = ibv_open_device(list[0]);
	CHECK(ctx);
	ibv_free_device_list(list);
	return ctx;
}

void bench_bare(struct bench *t)
{
	memset(t, 0, sizeof(*t));
	t->ctx = open_device();
	t->pd = ibv_alloc_pd(t->ctx);
	CHECK(t->pd);
	CHECK(!ibv_query_gid(t->ctx, 1, 0, &t->gid));
}

static void make_end(struct bench *t, struct end *e, int cqe)
{
	e->cq = ibv_create_cq(t->ctx, cqe, NULL, NULL, 0);
	CHECK(e->cq);
	e->buf = aligned_alloc(4096, BUF_BYTES);
	CHECK(e->buf);
	memset(e->buf, 0, BUF_BYTES);
	e->mr = ibv_reg_mr(t->pd, e->buf, BUF_BYTES, ALL_ACCESS);
	CHECK(e->mr);
	e->qp = make_qp(t, e->cq, NULL, IBV_QPT_RC, 64, &e->cap);
}

void bench_open(struct bench *t, int cqe)
{
	bench_bare(t);
	bench_ends(t, cqe);
}

void bench_ends(struct bench *t, int cqe)
{
	make_end(t, &t->a, cqe);
	make_end(t, &t->b, cqe);
	connect_qp(t, t->a.qp, t->b.qp->qp_num);
	connect_qp(t, t->b.qp, t->a.qp->qp_num);
}

static void close_end(struct end *e)
{
	if (e->qp)
		CHECK(!ibv_destroy_qp(e->qp));
	if (e->mr)
		CHECK(!ibv_dereg_mr(e->mr));
	if (e->cq)
		CHECK(!ibv_destroy_cq(e->cq));
	free(e->buf);
}

void bench_end_both(struct bench *t)
{
	close_end(&t->a);
	close_end(&t->b);
}

void bench_close(struct bench *t)
{
	bench_end_both(t);
	CHECK(!ibv_dealloc_pd(t->pd));
	CHECK(!ibv_close_device(t->ctx));
}

struct ibv_qp *make_qp(struct bench *t, struct ibv_cq *cq, struct ibv_srq *srq,
		       enum ibv_qp_type type, uint32_t send_wr,
		       struct ibv_qp_cap *granted)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = send_wr,
			.max_recv_wr = 64,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64},
		.qp_type = type,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = t->pd,
		.send_ops_flags = type == IBV_QPT_UD || type == IBV_QPT_UC
					  ? IBV_QP_EX_WITH_SEND
					  : OPS_ALL,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(t->ctx, &attr);

	CHECK(qp);
	CHECK(ibv_qp_to_qp_ex(qp));
	if (granted)
		*granted = attr.cap;
	return qp;
}

void connect_qp(struct bench *t, struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = pair_attr(&t->gid, dest);

	attr.qp_access_flags = ALL_ACCESS & ~IBV_ACCESS_MW_BIND;
	attr.max_rd_atomic = 4;
	attr.max_dest_rd_atomic = 4;
	CHECK_EQ(pair_connect(qp, &attr), 0);
}

void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

void to_rts_ud(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = pair_attr(NULL, 0);

	attr.qkey = 0x1234;
	CHECK_EQ(pair_connect(qp, &attr), 0);
}

struct ibv_wc wait_wc(struct ibv_cq *cq)
{
	time_t end = time(NULL) + 20;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		CHECK(time(NULL) < end);
	CHECK_EQ(n, 1);
	return wc;
}

struct ibv_wc expect_wc(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_wc(cq);

	if (wc.status != status) {
		fprintf(stderr, "status %s, not %s\n",
			ibv_wc_status_str(wc.status),
			ibv_wc_status_str(status));
		exit(1);
	}
	return wc;
}

bool next_event(struct ibv_context *ctx, int ms, struct ibv_async_event *ev)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};

	do {
		if (poll(&p, 1, ms) != 1)
			return false;
		CHECK_EQ(ibv_get_async_event(ctx, ev), 0);
		ibv_ack_async_event(ev);
	} while (ev->event_type == IBV_EVENT_GID_CHANGE);
	return true;
}

void expect_none(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	/* Long enough for a device on a busy machine to be wrong. */
	for (int i = 0; i < 200; i++) {
		CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 0);
		sched_yield();
	}
}

struct ibv_sge sge_of(const struct end *e, uint32_t off, uint32_t len)
{
	return (struct ibv_sge){(uintptr_t)e->buf + off, len, e->mr->lkey};
}

int post_recv(struct end *e, uint64_t id, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = sge_of(e, off, len);
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

int post_send(struct end *e, uint64_t id, uint32_t off, uint32_t len,
	      unsigned int flags)
{
	struct ibv_sge sge = sge_of(e, off, len);
	struct ibv_send_wr *bad, wr = {
					 .wr_id = id,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = flags,
				 };

	return ibv_post_send(e->qp, &wr, &bad);
}

int post_rdma(struct end *e, enum ibv_wr_opcode op, uint64_t raddr,
	      uint32_t rkey, uint32_t len)
{
	struct ibv_sge sge = sge_of(e, 0, len);
	struct ibv_send_wr *bad, wr = {
					 .wr_id = (uint64_t)op,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = op,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {raddr, rkey},
				 };

	return ibv_post_send(e->qp, &wr, &bad);
}

int verbs_test_main(int argc, char **argv,
		    const struct verbs_test *const *groups, void (*start)(void),
		    void (*stop)(void))
{
	bool list;

	CHECK_EQ(argc, 2);
	list = !strcmp(argv[1], "--list");
	for (; *groups; groups++)
		for (const struct verbs_test *t = *groups; t->name; t++) {
			if (list)
				puts(t->name);
			if (list || strcmp(argv[1], t->name))
				continue;
			if (start)
				start();
			t->run();
			if (stop)
				stop();
			return 0;
		}
	return list ? 0 : 2;
}

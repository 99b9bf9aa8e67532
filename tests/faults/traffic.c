// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages of every kind, between two devices and inside one. A message may
 * come late or its queue pair may end in error; the next pair serves, and no
 * byte is wrong.
 */
#include <sched.h>
#include <string.h>

#include "tests/faults/faults.h"
#include "tests/verbs_pair.h"

#define BYTES 131072
#define ALL                                                \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* One side of a connection. */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah; /* to the peer */
	union ibv_gid gid;
	uint8_t *buf;
};

static enum ibv_qp_type type;
static int broken, whole;

static void open_end(struct end *e)
{
	CHECK(!ibv_query_gid(e->ctx, 1, 0, &e->gid));
	e->pd = ibv_alloc_pd(e->ctx);
	CHECK(e->pd);
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	CHECK(e->cq);
	e->buf = aligned_alloc(4096, BYTES);
	CHECK(e->buf);
	e->mr = ibv_reg_mr(e->pd, e->buf, BYTES, ALL);
	CHECK(e->mr);
}

static void close_end(struct end *e)
{
	CHECK_EQ(ibv_dereg_mr(e->mr), 0);
	CHECK_EQ(ibv_destroy_cq(e->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(e->pd), 0);
	free(e->buf);
}

static void make_qp(struct end *e)
{
	struct ibv_qp_init_attr attr = {.send_cq = e->cq,
					.recv_cq = e->cq,
					.cap = {.max_send_wr = 16,
						.max_recv_wr = 16,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = type};

	e->qp = ibv_create_qp(e->pd, &attr);
	CHECK(e->qp);
}

static void connect_qp(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = pair_attr(&peer->gid, peer->qp->qp_num);

	attr.qkey = 77;
	attr.qp_access_flags = ALL;
	attr.max_rd_atomic = 4;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 1;
	attr.timeout = 12;
	CHECK_EQ(pair_connect(e->qp, &attr), 0);
	if (type == IBV_QPT_UD) {
		e->ah = ibv_create_ah(e->pd, &attr.ah_attr);
		CHECK(e->ah);
	}
}

static void make_pair(struct end *a, struct end *b)
{
	make_qp(a);
	make_qp(b);
	connect_qp(a, b);
	connect_qp(b, a);
}

static void end_pair(struct end *a, struct end *b)
{
	struct end *ends[] = {a, b};
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++) {
		if (ends[i]->ah)
			CHECK_EQ(ibv_destroy_ah(ends[i]->ah), 0);
		ends[i]->ah = NULL;
		CHECK_EQ(ibv_destroy_qp(ends[i]->qp), 0);
		while (ibv_poll_cq(ends[i]->cq, 1, &wc) > 0)
			;
	}
}

static void post_recv(struct end *e)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, BYTES, e->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

	CHECK_EQ(ibv_post_recv(e->qp, &wr, &bad), 0);
}

/* The next completion is a good one. */
static bool completes(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	/* ctest ends a test that waits for ever. */
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		sched_yield();
	CHECK_EQ(n, 1);
	return wc.status == IBV_WC_SUCCESS;
}

/* Whether the operation from a to b is done, on both sides. */
static bool move(struct end *a, struct end *b, enum ibv_wr_opcode op,
		 uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)a->buf, len, a->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = op,
				       .send_flags = IBV_SEND_SIGNALED};
	struct end *from = op == IBV_WR_RDMA_READ ? b : a;
	struct end *to = op == IBV_WR_RDMA_READ ? a : b;
	uint32_t grh = type == IBV_QPT_UD ? 40 : 0;

	for (uint32_t i = 0; i < len; i++)
		from->buf[i] = (uint8_t)(i * 7 + (uint32_t)op + len);
	memset(to->buf, 0, len + grh);
	if (op == IBV_WR_SEND)
		post_recv(b);
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)b->buf;
		wr.wr.atomic.rkey = b->mr->rkey;
		wr.wr.atomic.compare_add = 1;
	} else if (type == IBV_QPT_UD) {
		wr.wr.ud.ah = a->ah;
		wr.wr.ud.remote_qpn = b->qp->qp_num;
		wr.wr.ud.remote_qkey = 77;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)b->buf;
		wr.wr.rdma.rkey = b->mr->rkey;
	}
	CHECK_EQ(ibv_post_send(a->qp, &wr, &bad), 0);
	if (!completes(a->cq))
		return false;
	if (op == IBV_WR_SEND && !completes(b->cq))
		return false;
	if (op != IBV_WR_ATOMIC_FETCH_AND_ADD)
		CHECK(!memcmp(from->buf, to->buf + grh, len));
	return true;
}

static bool exchange(struct end *a, struct end *b)
{
	if (type == IBV_QPT_UD)
		return move(a, b, IBV_WR_SEND, 900) &&
		       move(b, a, IBV_WR_SEND, 8);
	return move(a, b, IBV_WR_SEND, 8) && move(b, a, IBV_WR_SEND, BYTES) &&
	       move(a, b, IBV_WR_RDMA_WRITE, BYTES) &&
	       move(a, b, IBV_WR_RDMA_READ, BYTES) &&
	       move(b, a, IBV_WR_RDMA_READ, 8) &&
	       move(a, b, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static void each(struct end *a, struct end *b)
{
	int fault = 1;

	for (int64_t n = 1; fault; n = faults_next(n)) {
		bool ok;

		make_pair(a, b);
		faults_arm(n);
		ok = exchange(a, b);
		fault = faults_disarm();
		CHECK(ok || fault);
		end_pair(a, b);
		broken += !ok;
		whole += ok;
		make_pair(a, b);
		CHECK(exchange(a, b));
		end_pair(a, b);
	}
}

void test_traffic(void)
{
	struct end a = {0}, b = {0}, c = {0};

	faults_baseline(0);
	faults_open();
	a.ctx = c.ctx = eth1;
	b.ctx = eth2;
	open_end(&a);
	open_end(&b);
	open_end(&c);
	type = IBV_QPT_RC;
	each(&a, &b);
	each(&a, &c);
	type = IBV_QPT_UD;
	each(&a, &c);
	printf("%d rounds whole, %d broken\n", whole, broken);
	close_end(&c);
	close_end(&b);
	close_end(&a);
	faults_close();
	faults_settle();
}

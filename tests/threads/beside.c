// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The work of other threads while there is traffic, on the same device and
 * where they can on the same queues. */
#include "traffic.h"

#include <fcntl.h>

/* Two ends of this thread's own on the near device. */
static void own_ends(const struct traffic *tr, struct bench *own)
{
	memset(own, 0, sizeof(*own));
	own->ctx = tr->near.bench.ctx;
	own->pd = tr->near.bench.pd;
	CHECK(!ibv_query_gid(own->ctx, 1, 0, &own->gid));
	bench_ends(own, 32);
}

/* Queue pairs come and go on the completion queue that others poll, with
 * completions in it that nobody will see. */
static void *lives(void *arg)
{
	struct traffic *tr = arg;
	struct bench *t = &tr->near.bench;
	struct bench own;

	while (!atomic_load(&tr->over)) {
		struct ibv_ah_attr ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {.dgid = t->gid, .hop_limit = 1}};
		struct ibv_ah *ah = ibv_create_ah(t->pd, &ah_attr);
		struct ibv_qp *qp =
			make_qp(t, tr->near.cq, NULL, IBV_QPT_RC, 16, NULL);

		CHECK(ah);
		connect_qp(t, qp, qp->qp_num);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
		CHECK_EQ(ibv_destroy_ah(ah), 0);
		own_ends(tr, &own);
		CHECK_EQ(post_recv(&own.b, 1, 0, 64), 0);
		CHECK_EQ(post_recv(&own.b, 2, 0, 64), 0);
		CHECK_EQ(post_send(&own.a, 3, 0, 64, IBV_SEND_SIGNALED), 0);
		expect_wc(own.a.cq, IBV_WC_SUCCESS);
		to_state(own.b.qp, IBV_QPS_ERR);
		CHECK_EQ(expect_wc(own.b.cq, IBV_WC_SUCCESS).wr_id, 1);
		CHECK_EQ(expect_wc(own.b.cq, IBV_WC_WR_FLUSH_ERR).wr_id, 2);
		to_state(own.a.qp, IBV_QPS_RESET);
		bench_end_both(&own);
	}
	return NULL;
}

/* Memory is registered, used, moved and let go. */
static void *registrations(void *arg)
{
	struct traffic *tr = arg;
	struct bench own;
	enum { BYTES = 64 * 1024 };

	own_ends(tr, &own);
	for (uint32_t n = 1; !atomic_load(&tr->over); n++) {
		uint8_t *buf = aligned_alloc(4096, BYTES);
		struct ibv_mr *mr;

		CHECK(buf);
		memset(buf, 0, BYTES);
		mr = ibv_reg_mr(own.pd, buf, BYTES, ALL_ACCESS);
		CHECK(mr);
		memset(own.a.buf, (int)n, 4096);
		CHECK_EQ(post_rdma(&own.a, IBV_WR_RDMA_WRITE,
				   (uintptr_t)buf + n % 8 * 4096, mr->rkey,
				   4096),
			 0);
		expect_wc(own.a.cq, IBV_WC_SUCCESS);
		CHECK(!memcmp(buf + n % 8 * 4096, own.a.buf, 4096));
		CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				      NULL, 0,
				      IBV_ACCESS_LOCAL_WRITE |
					      IBV_ACCESS_REMOTE_READ),
			 0);
		CHECK_EQ(post_rdma(&own.a, IBV_WR_RDMA_READ, (uintptr_t)buf,
				   mr->rkey, 4096),
			 0);
		expect_wc(own.a.cq, IBV_WC_SUCCESS);
		CHECK(!memcmp(buf, own.a.buf, 4096));
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		free(buf);
	}
	bench_end_both(&own);
	return NULL;
}

/* Windows are bound and unbound through a queue pair of this thread's. */
static void *windows(void *arg)
{
	struct traffic *tr = arg;
	struct bench own;
	struct ibv_mw *mw;

	own_ends(tr, &own);
	mw = ibv_alloc_mw(own.pd, IBV_MW_TYPE_1);
	CHECK(mw);
	while (!atomic_load(&tr->over)) {
		struct ibv_mw_bind bind = {
			.wr_id = 7,
			.send_flags = IBV_SEND_SIGNALED,
			.bind_info = {.mr = own.b.mr,
				      .addr = (uintptr_t)own.b.buf,
				      .length = 4096,
				      .mw_access_flags =
					      IBV_ACCESS_REMOTE_WRITE}};

		CHECK_EQ(ibv_bind_mw(own.b.qp, mw, &bind), 0);
		expect_wc(own.b.cq, IBV_WC_SUCCESS);
		CHECK_EQ(post_rdma(&own.a, IBV_WR_RDMA_WRITE,
				   (uintptr_t)own.b.buf, mw->rkey, 4096),
			 0);
		expect_wc(own.a.cq, IBV_WC_SUCCESS);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	bench_end_both(&own);
	return NULL;
}

/* The shared queue pairs are looked at, and the device. */
static void *queries(void *arg)
{
	struct traffic *tr = arg;
	struct ibv_qp_init_attr init;
	struct ibv_device_attr_ex dev;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	union ibv_gid gid;

	while (!atomic_load(&tr->over)) {
		for (int i = 0; i < tr->lanes; i++) {
			CHECK_EQ(ibv_query_qp(tr->near.qp[i], &attr,
					      IBV_QP_STATE, &init),
				 0);
			CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
			CHECK_EQ(ibv_query_qp(tr->far.qp[i], &attr,
					      IBV_QP_STATE, &init),
				 0);
			/* A no-op of a transition, as some programs make. */
			to_state(tr->near.qp[i], IBV_QPS_RTS);
		}
		CHECK_EQ(ibv_query_device_ex(tr->near.bench.ctx, NULL, &dev),
			 0);
		CHECK_EQ(ibv_query_port(tr->near.bench.ctx, 1, &port), 0);
		CHECK_EQ(ibv_query_gid(tr->near.bench.ctx, 1, 0, &gid), 0);
	}
	return NULL;
}

/* The completion queues that others poll get smaller and larger. */
static void *resizes(void *arg)
{
	struct traffic *tr = arg;

	for (int n = 0; !atomic_load(&tr->over); n++) {
		int cqe = n % 2 ? CQ_ENTRIES : CQ_ENTRIES / 4;

		CHECK_EQ(ibv_resize_cq(tr->near.cq, cqe), 0);
		CHECK_EQ(ibv_resize_cq(tr->far.cq, cqe), 0);
		CHECK_EQ(ibv_req_notify_cq(tr->far.cq, n % 2), 0);
	}
	return NULL;
}

/* ---- asynchronous events ---- */

static _Atomic int limits, last_wqes;
/* Queue pairs made; an event that names one is read after it was counted. */
static _Atomic int made;

/* Several wait for them on one descriptor. */
static void *async_reader(void *arg)
{
	struct traffic *tr = arg;
	struct ibv_context *ctx = tr->far.bench.ctx;
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event e;

	while (!atomic_load(&tr->over)) {
		if (poll(&p, 1, 20) < 1 || ibv_get_async_event(ctx, &e))
			continue;
		CHECK(atomic_load(&made) >= 0);
		if (e.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
			atomic_fetch_add(&limits, 1);
		else if (e.event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			atomic_fetch_add(&last_wqes, 1);
		ibv_ack_async_event(&e);
	}
	return NULL;
}

/* Arms the limit of the shared receive queue, again once it was reached, and
 * ends queue pairs that are on it. */
static void *async_maker(void *arg)
{
	struct traffic *tr = arg;
	int armed = 0, ended = 0;

	while (!atomic_load(&tr->over)) {
		struct ibv_srq_attr attr = {.srq_limit = 63};
		struct ibv_qp *qp;

		if (atomic_load(&limits) == armed) {
			CHECK_EQ(ibv_modify_srq(tr->srq, &attr, IBV_SRQ_LIMIT),
				 0);
			armed++;
		}
		qp = make_qp(&tr->far.bench, tr->far.cq, tr->srq, IBV_QPT_RC, 8,
			     NULL);
		connect_qp(&tr->far.bench, qp, qp->qp_num);
		atomic_fetch_add(&made, 1);
		to_state(qp, IBV_QPS_ERR);
		ended++;
		while (!atomic_load(&tr->over) &&
		       atomic_load(&last_wqes) < ended)
			sched_yield();
		/* Waits until its events have been acknowledged. */
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	return NULL;
}

static int run(struct traffic *tr, void *(*const *beside)(void *))
{
	traffic_open(tr);
	if (tr->srq)
		CHECK(!fcntl(tr->far.bench.ctx->async_fd, F_SETFL, O_NONBLOCK));
	traffic_run(tr, beside);
	traffic_close(tr);
	return 0;
}

#define BESIDE(name, ...)                                                  \
	static void name##_beside(void)                                    \
	{                                                                  \
		static void *(*const fns[])(void *) = {__VA_ARGS__, NULL}; \
		static struct traffic tr = {.lanes = 2, .with_srq = true}; \
                                                                           \
		run(&tr, fns);                                             \
	}

BESIDE(lives, lives, lives)
BESIDE(registrations, registrations, registrations, windows)
BESIDE(queries, queries, queries)
BESIDE(resizes, resizes)

static void async_events_beside(void)
{
	static void *(*const fns[])(void *) = {async_reader, async_reader,
					       async_maker, NULL};
	static struct traffic tr = {.lanes = 2, .with_srq = true};

	run(&tr, fns);
	CHECK(limits > 0);
	CHECK(last_wqes > 0);
}

const struct verbs_test beside_tests[] = {
	{"lives_beside", lives_beside},
	{"registrations_beside", registrations_beside},
	{"queries_beside", queries_beside},
	{"resizes_beside", resizes_beside},
	{"async_events_beside", async_events_beside},
	{0},
};

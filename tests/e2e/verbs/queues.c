// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: what they hold, states, several threads on one. */
#include <pthread.h>
#include <sched.h>

#include "bench.h"
#include "tests/verbs_pair.h"

/* As many sends as the queue has, and not one more; the receiver is not
 * ready, so none is done. */
static void sq_full(void)
{
	struct bench t;
	uint32_t n = 0;
	int err;

	bench_open(&t, 512);
	while (!(err = post_send(&t.a, n, 0, 8, IBV_SEND_SIGNALED)))
		CHECK(n++ < t.a.cap.max_send_wr);
	CHECK_EQ(err, ENOMEM);
	CHECK_EQ(n, t.a.cap.max_send_wr);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(post_recv(&t.b, i, 0, 8), 0);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, i);
		CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	CHECK_EQ(post_recv(&t.b, 0, 0, 8), 0);
	CHECK_EQ(post_send(&t.a, 0, 0, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	bench_close(&t);
}

static void rq_full(void)
{
	struct bench t;
	uint32_t n = 0;
	int err;

	bench_open(&t, 512);
	while (!(err = post_recv(&t.b, n, 0, 8)))
		CHECK(n++ < t.b.cap.max_recv_wr);
	CHECK_EQ(err, ENOMEM);
	CHECK_EQ(n, t.b.cap.max_recv_wr);
	CHECK_EQ(post_send(&t.a, 0, 0, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(post_recv(&t.b, n, 0, 8), 0);
	CHECK_EQ(post_recv(&t.b, n, 0, 8), ENOMEM);
	/* All of them come back when the queue fails, in order. */
	to_state(t.b.qp, IBV_QPS_ERR);
	for (uint32_t i = 1; i <= n; i++)
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_WR_FLUSH_ERR).wr_id, i);
	/* And those posted then. */
	CHECK_EQ(post_recv(&t.b, 99, 0, 8), 0);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_WR_FLUSH_ERR).wr_id, 99);
	CHECK_EQ(post_send(&t.b, 98, 0, 8, 0), 0);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_WR_FLUSH_ERR).wr_id, 98);
	bench_close(&t);
}

static void inline_limit(void)
{
	struct bench t;
	uint32_t max;

	bench_open(&t, 512);
	max = t.a.cap.max_inline_data;
	CHECK(max >= 64);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK_EQ(post_recv(&t.b, i, 4096, max), 0);
		memset(t.a.buf, (int)i, max);
		CHECK_EQ(post_send(&t.a, i, 0, max,
				   IBV_SEND_INLINE | IBV_SEND_SIGNALED),
			 0);
		/* The buffer is ours again at once. */
		memset(t.a.buf, 0xff, max);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).byte_len, max);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		for (uint32_t k = 0; k < max; k++)
			CHECK_EQ(t.b.buf[4096 + k], i);
	}
	CHECK_EQ(post_send(&t.a, 0, 0, max + 1, IBV_SEND_INLINE), EINVAL);
	bench_close(&t);
}

/* Completions of a destroyed queue pair are gone, the others stay. */
static void destroyed_completions(void)
{
	struct bench t;
	struct ibv_qp *c;

	bench_open(&t, 64);
	/* A third queue pair that fails at once, into a's CQ. */
	c = make_qp(&t, t.a.cq, NULL, IBV_QPT_RC, 16, NULL);
	connect_qp(&t, c, 0xfffff0);
	for (uint64_t i = 0; i < 4; i++) {
		struct ibv_send_wr *bad,
			wr = {.wr_id = 100 + i, .opcode = IBV_WR_SEND};

		CHECK_EQ(post_recv(&t.b, i, 0, 8), 0);
		CHECK_EQ(post_send(&t.a, i, 0, 8, IBV_SEND_SIGNALED), 0);
		expect_wc(t.b.cq, IBV_WC_SUCCESS);
		if (!i)
			to_state(c, IBV_QPS_ERR);
		CHECK_EQ(ibv_post_send(c, &wr, &bad), 0);
	}
	CHECK_EQ(ibv_destroy_qp(c), 0);
	for (uint64_t i = 0; i < 4; i++)
		CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).wr_id, i);
	expect_none(t.a.cq);
	bench_close(&t);
}

/* RESET forgets what was posted and what is not polled; then it works. */
static void reset(void)
{
	struct bench t;

	bench_open(&t, 512);
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 10; i++) {
			CHECK_EQ(post_recv(&t.b, i, 0, 8), 0);
			CHECK_EQ(post_recv(&t.a, i, 0, 8), 0);
		}
		for (uint64_t i = 0; i < 5; i++)
			CHECK_EQ(post_send(&t.a, i, 0, 8, IBV_SEND_SIGNALED),
				 0);
		expect_wc(t.b.cq, IBV_WC_SUCCESS);
		to_state(t.a.qp, IBV_QPS_RESET);
		to_state(t.b.qp, IBV_QPS_RESET);
		CHECK_EQ(post_send(&t.a, 0, 0, 8, 0), EINVAL);
		CHECK_EQ(post_recv(&t.a, 0, 0, 8), EINVAL);
		expect_none(t.a.cq);
		expect_none(t.b.cq);
		connect_qp(&t, t.a.qp, t.b.qp->qp_num);
		connect_qp(&t, t.b.qp, t.a.qp->qp_num);
		CHECK_EQ(post_recv(&t.b, 77, 0, 8), 0);
		CHECK_EQ(post_send(&t.a, 78, 0, 8, IBV_SEND_SIGNALED), 0);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, 77);
		CHECK_EQ(expect_wc(t.a.cq, IBV_WC_SUCCESS).wr_id, 78);
		/* The whole queue is there again. */
		for (uint32_t i = 0; i < t.b.cap.max_recv_wr; i++)
			CHECK_EQ(post_recv(&t.b, i, 0, 8), 0);
		CHECK_EQ(post_recv(&t.b, 0, 0, 8), ENOMEM);
		to_state(t.a.qp, IBV_QPS_RESET);
		to_state(t.b.qp, IBV_QPS_RESET);
		connect_qp(&t, t.a.qp, t.b.qp->qp_num);
		connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	}
	bench_close(&t);
}

enum { SENDERS = 3, PER_THREAD = 500 };

static struct bench shared;

static void *sender(void *arg)
{
	for (uint64_t i = 0; i < PER_THREAD; i++)
		while (post_send(&shared.a, i, 0, 64, IBV_SEND_SIGNALED))
			sched_yield();
	return NULL;
}

static void *receiver(void *arg)
{
	int *left = arg;
	struct ibv_wc wc[8];

	while (__atomic_load_n(left, __ATOMIC_RELAXED) > 0) {
		int n = ibv_poll_cq(shared.b.cq, 8, wc);

		for (int i = 0; i < n; i++) {
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
			CHECK_EQ(post_recv(&shared.b, 0, 0, 64), 0);
		}
		__atomic_sub_fetch(left, n, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Several threads on the same queues. */
static void threads(void)
{
	pthread_t s[SENDERS], r[2];
	struct ibv_wc wc;
	int left = SENDERS * PER_THREAD, done = 0;

	bench_open(&shared, 256);
	for (int i = 0; i < 60; i++)
		CHECK_EQ(post_recv(&shared.b, 0, 0, 64), 0);
	for (int i = 0; i < SENDERS; i++)
		CHECK(!pthread_create(&s[i], NULL, sender, NULL));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&r[i], NULL, receiver, &left));
	while (done < SENDERS * PER_THREAD) {
		int n = ibv_poll_cq(shared.a.cq, 1, &wc);

		if (n)
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		done += n;
	}
	for (int i = 0; i < SENDERS; i++)
		pthread_join(s[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(r[i], NULL);
	bench_close(&shared);
}

static struct ibv_qp *make_uc(struct bench *t, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
					.recv_cq = cq,
					.cap = {16, 16, 1, 1, 0},
					.qp_type = IBV_QPT_UC};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &attr);

	CHECK(qp);
	return qp;
}

/* A peer that sends once (UC) sends to b, which is in INIT, and sleeps when it has got
 * ready. Returns how many messages came. */
static int send_too_early(struct bench *t, struct ibv_comp_channel *channel)
{
	struct ibv_qp_attr attr = pair_attr(&t->gid, t->a.qp->qp_num);
	struct pollfd wakes = {.fd = channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int came = 0;

	to_state(t->a.qp, IBV_QPS_RESET);
	to_state(t->b.qp, IBV_QPS_RESET);
	connect_qp(t, t->a.qp, t->b.qp->qp_num);
	CHECK_EQ(pair_to(t->b.qp, &attr, IBV_QPS_INIT), 0);
	CHECK_EQ(ibv_req_notify_cq(t->b.cq, 0), 0);
	for (uint64_t i = 0; i < 4; i++) {
		CHECK_EQ(post_recv(&t->b, i, 0, 64), 0);
		CHECK_EQ(post_send(&t->a, i, 0, 64, IBV_SEND_SIGNALED), 0);
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
	}
	expect_none(t->b.cq);
	CHECK_EQ(pair_to(t->b.qp, &attr, IBV_QPS_RTR), 0);
	while (came < 4 && poll(&wakes, 1, 100) == 1) {
		CHECK_EQ(ibv_get_cq_event(channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		for (; ibv_poll_cq(cq, 1, &wc); came++)
			CHECK(wc.status == IBV_WC_SUCCESS &&
			      wc.wr_id == (uint64_t)came);
	}
	return came;
}

/* Packets of a peer that was ready sooner are not lost, where that is a moment. */
static void unready(void)
{
	struct ibv_comp_channel *channel;
	struct bench t;
	int tries = 20;

	bench_open(&t, 16);
	channel = ibv_create_comp_channel(t.ctx);
	CHECK(channel);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	CHECK_EQ(ibv_destroy_qp(t.b.qp), 0);
	CHECK_EQ(ibv_destroy_cq(t.b.cq), 0);
	t.b.cq = ibv_create_cq(t.ctx, 16, NULL, channel, 0);
	CHECK(t.b.cq);
	t.a.qp = make_uc(&t, t.a.cq);
	t.b.qp = make_uc(&t, t.b.cq);
	/* A machine that has other things to do may be late. */
	while (send_too_early(&t, channel) < 4)
		CHECK(--tries);
	bench_end_both(&t);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
	CHECK_EQ(ibv_dealloc_pd(t.pd), 0);
	CHECK_EQ(ibv_close_device(t.ctx), 0);
}

const struct verbs_test queue_tests[] = {
	{"sq_full", sq_full},
	{"rq_full", rq_full},
	{"inline_limit", inline_limit},
	{"destroyed_completions", destroyed_completions},
	{"reset", reset},
	{"unready", unready},
	{"threads", threads},
	{0},
};

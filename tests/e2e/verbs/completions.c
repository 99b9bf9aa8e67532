// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: sizes, events, moderation, overrun, time stamps. */
#include <fcntl.h>
#include <pthread.h>

#include "bench.h"

static void resize_cq(void)
{
	struct bench t;
	uint64_t sent = 0, seen = 0;

	bench_open(&t, 15);
	for (int size = 20; size < 600; size = size * 3 / 2) {
		for (int i = 0; i < 10; i++, sent++) {
			CHECK_EQ(post_recv(&t.b, sent, 0, 8), 0);
			CHECK_EQ(post_send(&t.a, sent, 0, 8, 0), 0);
		}
		for (int i = 0; i < 5; i++)
			CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id,
				 seen++);
		CHECK_EQ(ibv_resize_cq(t.b.cq, size), 0);
		CHECK(t.b.cq->cqe >= size);
		while (seen < sent)
			CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id,
				 seen++);
	}
	/* Not below what waits in it; down, when it is empty. */
	for (int i = 0; i < 40; i++) {
		CHECK_EQ(post_recv(&t.b, sent, 0, 8), 0);
		CHECK_EQ(post_send(&t.a, sent++, 0, 8,
				   i == 39 ? IBV_SEND_SIGNALED : 0),
			 0);
	}
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_resize_cq(t.b.cq, 8), EINVAL);
	while (seen < sent)
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, seen++);
	CHECK_EQ(ibv_resize_cq(t.b.cq, 8), 0);
	CHECK_EQ(ibv_resize_cq(t.b.cq, 0), EINVAL);
	bench_close(&t);
}

/* Work that was posted before the command counts, finished or not. */
static void post_and_resize(struct bench *t)
{
	for (int i = 0; i < 12; i++)
		CHECK_EQ(post_recv(&t->b, i, 0, 8), 0);
	for (int i = 0; i < 12; i++)
		CHECK_EQ(post_send(&t->a, i, 0, 8, IBV_SEND_SIGNALED), 0);
	CHECK_EQ(ibv_resize_cq(t->a.cq, 1), EINVAL);
	for (int i = 0; i < 12; i++) {
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
		expect_wc(t->b.cq, IBV_WC_SUCCESS);
	}
}

static void resize_posted(void)
{
	struct bench t;

	bench_open(&t, 15);
	for (int round = 0; round < 300; round++)
		post_and_resize(&t);
	bench_close(&t);
}

struct caller {
	struct ibv_cq *cq;
	bool done;
};

/* So it is while another thread has the engine called all the time. */
static void *call_often(void *arg)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = 1, .cq_period = 1},
	};
	struct caller *c = arg;

	while (!__atomic_load_n(&c->done, __ATOMIC_RELAXED))
		CHECK_EQ(ibv_modify_cq(c->cq, &attr), 0);
	return NULL;
}

static void resize_called(void)
{
	struct caller c = {0};
	pthread_t thread;
	struct bench t;

	bench_open(&t, 15);
	c.cq = ibv_create_cq(t.ctx, 4, NULL, NULL, 0);
	CHECK(c.cq);
	CHECK_EQ(pthread_create(&thread, NULL, call_often, &c), 0);
	for (int round = 0; round < 1500; round++)
		post_and_resize(&t);
	__atomic_store_n(&c.done, true, __ATOMIC_RELAXED);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(ibv_destroy_cq(c.cq), 0);
	bench_close(&t);
}

static uint64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void swap_cq(struct bench *t, struct end *e, struct ibv_cq *cq)
{
	CHECK_EQ(ibv_destroy_qp(e->qp), 0);
	CHECK_EQ(ibv_destroy_cq(e->cq), 0);
	e->cq = cq;
	e->qp = make_qp(t, cq, NULL, IBV_QPT_RC, 64, &e->cap);
	to_state(t->a.qp, IBV_QPS_RESET);
	connect_qp(t, t->a.qp, t->b.qp->qp_num);
	connect_qp(t, t->b.qp, t->a.qp->qp_num);
}

static void one_message(struct bench *t, unsigned int flags)
{
	CHECK_EQ(post_recv(&t->b, 1, 0, 8), 0);
	CHECK_EQ(post_send(&t->a, 2, 0, 8, flags | IBV_SEND_SIGNALED), 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
}

static void take_event(struct ibv_comp_channel *ch, struct ibv_cq *cq)
{
	struct ibv_cq *got;
	void *context;

	CHECK_EQ(ibv_get_cq_event(ch, &got, &context), 0);
	CHECK(got == cq && context == (void *)7);
	ibv_ack_cq_events(cq, 1);
}

/* One event for one arming; solicited ones only for what asks for it. */
static void notify(void)
{
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct bench t;

	bench_open(&t, 64);
	ch = ibv_create_comp_channel(t.ctx);
	CHECK(ch);
	cq = ibv_create_cq(t.ctx, 64, (void *)7, ch, 0);
	CHECK(cq);
	swap_cq(&t, &t.b, cq);
	one_message(&t, 0);
	CHECK(!readable(ch->fd, 50)); /* not armed */
	expect_wc(cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	CHECK(!readable(ch->fd, 50));
	one_message(&t, 0);
	CHECK(readable(ch->fd, 5000));
	take_event(ch, cq);
	one_message(&t, 0);
	CHECK(!readable(ch->fd, 50));
	CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
	one_message(&t, 0);
	CHECK(!readable(ch->fd, 50));
	one_message(&t, IBV_SEND_SOLICITED);
	CHECK(readable(ch->fd, 5000));
	take_event(ch, cq);
	for (int i = 0; i < 4; i++)
		expect_wc(cq, IBV_WC_SUCCESS);
	/* An error is solicited by itself. */
	CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
	CHECK_EQ(post_recv(&t.b, 1, 0, 8), 0);
	to_state(t.b.qp, IBV_QPS_ERR);
	CHECK(readable(ch->fd, 5000));
	take_event(ch, cq);
	CHECK_EQ(ibv_destroy_comp_channel(ch), EBUSY);
	bench_close(&t);
}

/* A program that asks for the next completion, and then for the next that is
 * solicited, has asked for the next: IBTA volume 1, C11-31. The other order
 * means the same. A completion that had its event is not pending any more. */
static void notify_both(void)
{
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct bench t;

	bench_open(&t, 64);
	ch = ibv_create_comp_channel(t.ctx);
	CHECK(ch);
	cq = ibv_create_cq(t.ctx, 64, (void *)7, ch, 0);
	CHECK(cq);
	swap_cq(&t, &t.b, cq);
	for (int round = 0; round < 3; round++) {
		CHECK_EQ(ibv_req_notify_cq(cq, round == 2), 0);
		if (round == 1)
			CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
		CHECK_EQ(ibv_resize_cq(cq, 64 << round), 0);
		CHECK_EQ(ibv_req_notify_cq(cq, round != 2), 0);
		one_message(&t, 0);
		CHECK(readable(ch->fd, 5000));
		take_event(ch, cq);
		/* Two requests, one event. */
		one_message(&t, IBV_SEND_SOLICITED);
		CHECK(!readable(ch->fd, 50));
		/* And the one for the next had its own. */
		CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
		one_message(&t, 0);
		CHECK(!readable(ch->fd, 50));
		one_message(&t, IBV_SEND_SOLICITED);
		CHECK(readable(ch->fd, 5000));
		take_event(ch, cq);
	}
	bench_close(&t);
}

static void post_batch(struct bench *t, int count)
{
	struct ibv_sge sge = sge_of(&t->a, 0, 8);
	struct ibv_send_wr wr[16], *bad;

	for (int i = 0; i < count; i++) {
		CHECK_EQ(post_recv(&t->b, 1, 4096, 8), 0);
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < count ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = i + 1 < count ? 0 : IBV_SEND_SIGNALED,
		};
	}
	CHECK_EQ(ibv_post_send(t->a.qp, wr, &bad), 0);
}

/* Requests that are posted at once are complete when their event comes: a
 * sleeping program is woken once, and not for each message that it is quick
 * enough to take and arm for. */
static void batch(void)
{
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct bench t;

	bench_open(&t, 64);
	ch = ibv_create_comp_channel(t.ctx);
	cq = ibv_create_cq(t.ctx, 64, (void *)7, ch, 0);
	CHECK(ch && cq);
	swap_cq(&t, &t.b, cq);
	CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	for (int i = 0; i < 500; i++) {
		struct ibv_wc wc[32];

		post_batch(&t, 16);
		CHECK(readable(ch->fd, 5000));
		take_event(ch, cq);
		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		CHECK_EQ(ibv_poll_cq(cq, 32, wc), 16);
		CHECK(!readable(ch->fd, 0));
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
	}
	bench_close(&t);
}

/* The event of fewer completions than were asked for waits for the period; that
 * of enough does not, on a machine that has a moment for us. */
static void moderation(void)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = 4, .cq_period = 60000},
	};
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct bench t;
	int soon = 0;

	bench_open(&t, 64);
	ch = ibv_create_comp_channel(t.ctx);
	cq = ibv_create_cq(t.ctx, 64, (void *)7, ch, 0);
	CHECK(ch && cq);
	swap_cq(&t, &t.b, cq);
	CHECK_EQ(ibv_modify_cq(cq, &attr), 0);
	for (int i = 0; i < 20 && !soon; i++) {
		uint64_t start = now_ns(CLOCK_MONOTONIC);

		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		for (int n = 0; n < 4; n++)
			one_message(&t, 0);
		CHECK(readable(ch->fd, 5000));
		soon = now_ns(CLOCK_MONOTONIC) - start < 60000000;
		take_event(ch, cq);
	}
	CHECK(soon);
	for (int n = 1; n < 4; n++) {
		uint64_t start = now_ns(CLOCK_MONOTONIC);

		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		for (int i = 0; i < n; i++)
			one_message(&t, 0);
		CHECK(readable(ch->fd, 5000));
		CHECK(now_ns(CLOCK_MONOTONIC) - start >= 60000000);
		take_event(ch, cq);
	}
	/* And no longer than the period that was asked for last. */
	attr.moderate.cq_count = 0;
	CHECK_EQ(ibv_modify_cq(cq, &attr), 0);
	soon = 0;
	for (int i = 0; i < 20 && !soon; i++) {
		uint64_t start = now_ns(CLOCK_MONOTONIC);

		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		one_message(&t, 0);
		CHECK(readable(ch->fd, 5000));
		soon = now_ns(CLOCK_MONOTONIC) - start < 60000000;
		take_event(ch, cq);
	}
	CHECK(soon);
	bench_close(&t);
}

static bool async_event(struct ibv_context *ctx, enum ibv_event_type type,
			int ms)
{
	struct ibv_async_event ev;

	return next_event(ctx, ms, &ev) && ev.event_type == type;
}

static void overrun(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_cq_ex *ex;
	struct bench t;
	int n;

	for (int ignore = 0; ignore < 2; ignore++) {
		bench_open(&t, 64);
		if (ignore) {
			ex = ibv_create_cq_ex(t.ctx, &attr);
			CHECK(ex);
			swap_cq(&t, &t.b, ibv_cq_ex_to_cq(ex));
		} else {
			swap_cq(&t, &t.b,
				ibv_create_cq(t.ctx, 4, NULL, NULL, 0));
		}
		n = t.b.cq->cqe + 1;
		for (int i = 0; i < n; i++)
			CHECK_EQ(post_recv(&t.b, (uint64_t)i, 0, 8), 0);
		for (int i = 0; i < n; i++)
			CHECK_EQ(post_send(&t.a, 0, 0, 8, 0), 0);
		CHECK_EQ(async_event(t.ctx, IBV_EVENT_CQ_ERR,
				     ignore ? 200 : 5000),
			 !ignore);
		bench_close(&t);
	}
}

static void timestamps(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |
			    IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_poll_cq_attr poll_attr = {0};
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	uint64_t raw0, wall0, raw, wall, last = 0;
	struct ibv_cq_ex *cq;
	struct bench t;

	bench_open(&t, 64);
	cq = ibv_create_cq_ex(t.ctx, &attr);
	CHECK(cq);
	swap_cq(&t, &t.b, ibv_cq_ex_to_cq(cq));
	CHECK_EQ(ibv_query_rt_values_ex(t.ctx, &values), 0);
	raw0 = (uint64_t)values.raw_clock.tv_sec * 1000000000u +
	       (uint64_t)values.raw_clock.tv_nsec;
	wall0 = now_ns(CLOCK_REALTIME);
	for (int i = 0; i < 50; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC_RAW);

		one_message(&t, 0);
		while (ibv_start_poll(cq, &poll_attr))
			;
		raw = ibv_wc_read_completion_ts(cq);
		wall = ibv_wc_read_completion_wallclock_ns(cq);
		CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
		CHECK_EQ(ibv_wc_read_byte_len(cq), 8);
		CHECK_EQ(ibv_wc_read_qp_num(cq), t.b.qp->qp_num);
		ibv_end_poll(cq);
		CHECK(raw >= raw0 && raw >= before);
		CHECK(raw <= now_ns(CLOCK_MONOTONIC_RAW));
		CHECK(raw >= last);
		CHECK(wall + 5000000 >= wall0 &&
		      wall <= now_ns(CLOCK_REALTIME) + 5000000);
		last = raw;
	}
	attr.wc_flags = IBV_WC_EX_WITH_FLOW_TAG;
	CHECK(!ibv_create_cq_ex(t.ctx, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
	bench_close(&t);
}

const struct verbs_test completion_tests[] = {
	{"resize_cq", resize_cq},	  {"resize_posted", resize_posted},
	{"resize_called", resize_called}, {"notify", notify},
	{"notify_both", notify_both},	  {"batch", batch},
	{"moderation", moderation},	  {"overrun", overrun},
	{"timestamps", timestamps},	  {0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC domains of a process alone: their target queue pairs, shared receive queues and events. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bench.h"

#define PIECE 64u

/* A domain with a target and a queue, and the queue pair that sends to it. */
struct domain {
	struct ibv_context *ctx;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t srqn;
	struct ibv_qp *target, *from;
};

static struct ibv_xrcd *open_alone(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &attr);

	CHECK(xrcd);
	return xrcd;
}

static struct ibv_srq *make_srq(struct bench *t, struct ibv_xrcd *xrcd,
				uint32_t *number)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd,
		.cq = t->b.cq,
		.pd = t->pd,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(t->ctx, &attr);

	CHECK(srq);
	CHECK_EQ(ibv_get_srq_num(srq, number), 0);
	return srq;
}

static struct ibv_qp *make_target(struct ibv_context *ctx,
				  struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &attr);

	CHECK(qp);
	return qp;
}

static struct ibv_qp *open_target(struct ibv_context *ctx,
				  struct ibv_xrcd *xrcd, uint32_t number)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
		.qp_num = number,
		.xrcd = xrcd,
	};

	return ibv_open_qp(ctx, &attr);
}

static void make_domain(struct bench *t, struct domain *d)
{
	d->ctx = t->ctx;
	d->xrcd = open_alone(t->ctx);
	d->srq = make_srq(t, d->xrcd, &d->srqn);
	d->target = make_target(t->ctx, d->xrcd);
	d->from = make_qp(t, t->a.cq, NULL, IBV_QPT_XRC_SEND, 16, NULL);
	connect_qp(t, d->from, d->target->qp_num);
	connect_qp(t, d->target, d->from->qp_num);
}

static void end_domain(struct domain *d)
{
	CHECK_EQ(ibv_destroy_qp(d->from), 0);
	if (d->target)
		CHECK_EQ(ibv_destroy_qp(d->target), 0);
	CHECK_EQ(ibv_destroy_srq(d->srq), 0);
	CHECK_EQ(ibv_close_xrcd(d->xrcd), 0);
}

static void receive(struct bench *t, struct ibv_srq *srq, uint64_t id)
{
	struct ibv_sge sge = sge_of(&t->b, (uint32_t)id * PIECE, PIECE);
	struct ibv_recv_wr *bad,
		wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};

	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

static void send_to(struct bench *t, struct ibv_qp *qp, uint32_t srqn,
		    uint8_t what)
{
	struct ibv_sge sge = sge_of(&t->a, 0, PIECE);
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .qp_type.xrc.remote_srqn = srqn};

	memset(t->a.buf, what, PIECE);
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
}

static void send_one(struct bench *t, const struct domain *d, uint64_t id)
{
	struct ibv_wc wc;

	receive(t, d->srq, id);
	send_to(t, d->from, d->srqn, (uint8_t)id);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	wc = expect_wc(t->b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(wc.wr_id, id);
	CHECK_EQ(wc.qp_num, d->target->qp_num);
	CHECK_EQ(wc.byte_len, PIECE);
	CHECK_EQ(t->b.buf[(id + 1) * PIECE - 1], (uint8_t)id);
}

/* Another handle of the target works when its maker's is gone; each gets the target's events. */
static void opened(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct ibv_qp_init_attr init;
	struct ibv_qp *more[2];
	struct ibv_xrcd *other;
	struct domain d;
	struct bench t;
	int seen = 0;

	bench_open(&t, 64);
	make_domain(&t, &d);
	other = open_alone(t.ctx);
	for (int i = 0; i < 2; i++) {
		more[i] = open_target(t.ctx, d.xrcd, d.target->qp_num);
		CHECK(more[i]);
		CHECK_EQ(more[i]->qp_num, d.target->qp_num);
	}
	CHECK(!open_target(t.ctx, other, d.target->qp_num));
	CHECK_EQ(errno, EINVAL);
	CHECK(!open_target(t.ctx, d.xrcd, d.from->qp_num));
	CHECK(!open_target(t.ctx, d.xrcd, t.b.qp->qp_num));
	CHECK_EQ(ibv_close_xrcd(other), 0);
	send_one(&t, &d, 1);
	CHECK_EQ(ibv_destroy_qp(d.target), 0);
	d.target = more[0];
	send_one(&t, &d, 2);
	CHECK_EQ(ibv_query_qp(more[1], &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.dest_qp_num, d.from->qp_num);
	CHECK_EQ(ibv_close_xrcd(d.xrcd), EBUSY);
	/* No such queue: the target fails. */
	send_to(&t, d.from, d.srqn ^ 1, 3);
	expect_wc(t.a.cq, IBV_WC_REM_INV_REQ_ERR);
	while (seen != 3) {
		CHECK(next_event(t.ctx, 10000, &event));
		if (event.event_type != IBV_EVENT_QP_REQ_ERR)
			continue;
		seen |= (event.element.qp == more[0]) |
			(event.element.qp == more[1]) << 1;
	}
	CHECK_EQ(ibv_query_qp(more[1], &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
	CHECK_EQ(ibv_destroy_qp(more[1]), 0);
	end_domain(&d);
	bench_close(&t);
}

/* A queue of another domain is none for the target, though the process has both. */
static void wrong(void)
{
	struct domain d, other;
	struct bench t;

	bench_open(&t, 64);
	make_domain(&t, &d);
	make_domain(&t, &other);
	CHECK(d.srqn != other.srqn);
	send_one(&t, &d, 1);
	send_one(&t, &other, 2);
	receive(&t, other.srq, 3);
	send_to(&t, d.from, other.srqn, 3);
	expect_wc(t.a.cq, IBV_WC_REM_INV_REQ_ERR);
	expect_none(t.b.cq);
	/* The receive is there for who may have it. */
	send_to(&t, other.from, other.srqn, 4);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, 3);
	end_domain(&d);
	end_domain(&other);
	bench_close(&t);
}

static struct ibv_async_event expect_event(struct ibv_context *ctx,
					   enum ibv_event_type type)
{
	struct ibv_async_event event;

	do
		CHECK(next_event(ctx, 10000, &event));
	while (event.event_type != type);
	return event;
}

static void limit(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 3};
	struct ibv_async_event event;
	struct domain d;
	struct bench t;

	bench_open(&t, 64);
	make_domain(&t, &d);
	for (uint64_t i = 0; i < 4; i++)
		receive(&t, d.srq, i);
	CHECK_EQ(ibv_modify_srq(d.srq, &attr, IBV_SRQ_LIMIT), 0);
	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(ibv_query_srq(d.srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 3);
	for (uint8_t i = 0; i < 2; i++) {
		send_to(&t, d.from, d.srqn, i);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	event = expect_event(t.ctx, IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(event.element.srq == d.srq);
	CHECK_EQ(ibv_query_srq(d.srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	/* Those that wait move with the ring. */
	attr.max_wr = 100;
	CHECK_EQ(ibv_modify_srq(d.srq, &attr, IBV_SRQ_MAX_WR), 0);
	for (uint8_t i = 2; i < 4; i++) {
		send_to(&t, d.from, d.srqn, i);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	end_domain(&d);
	bench_close(&t);
}

/* With a request that waits for a receive, the target ends, and the queue; others of the domain go on. */
static void busy(void)
{
	struct domain d;
	struct ibv_qp *from, *target;
	struct ibv_wc wc;
	struct bench t;

	bench_open(&t, 64);
	make_domain(&t, &d);
	target = make_target(t.ctx, d.xrcd);
	from = make_qp(&t, t.a.cq, NULL, IBV_QPT_XRC_SEND, 16, NULL);
	connect_qp(&t, from, target->qp_num);
	connect_qp(&t, target, from->qp_num);
	for (uint8_t i = 0; i < 4; i++)
		send_to(&t, from, d.srqn, i);
	CHECK_EQ(ibv_destroy_qp(target), 0);
	receive(&t, d.srq, 1);
	send_to(&t, d.from, d.srqn, 9);
	wc = expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(wc.qp_num, d.target->qp_num);
	CHECK_EQ(ibv_destroy_qp(from), 0);
	wc = expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(wc.qp_num, d.from->qp_num);
	/* And the queue before what is sent to it. */
	for (uint8_t i = 0; i < 4; i++)
		send_to(&t, d.from, d.srqn, i);
	CHECK_EQ(ibv_destroy_srq(d.srq), 0);
	expect_wc(t.a.cq, IBV_WC_REM_INV_REQ_ERR);
	for (int i = 0; i < 3; i++)
		expect_wc(t.a.cq, IBV_WC_WR_FLUSH_ERR);
	d.srq = make_srq(&t, d.xrcd, &d.srqn);
	end_domain(&d);
	bench_close(&t);
}

/* Two contexts of a process have a domain each, and send to each other's. */
static void contexts(void)
{
	struct bench t, u;
	struct domain d, e;

	bench_open(&t, 64);
	bench_open(&u, 64);
	make_domain(&t, &d);
	make_domain(&u, &e);
	CHECK(d.srqn != e.srqn);
	CHECK(!open_target(u.ctx, e.xrcd, d.target->qp_num));
	for (int i = 0; i < 2; i++) {
		to_state(i ? e.from : d.from, IBV_QPS_RESET);
		to_state(i ? e.target : d.target, IBV_QPS_RESET);
	}
	connect_qp(&t, d.from, e.target->qp_num);
	connect_qp(&u, e.target, d.from->qp_num);
	connect_qp(&u, e.from, d.target->qp_num);
	connect_qp(&t, d.target, e.from->qp_num);
	for (uint64_t i = 0; i < 50; i++) {
		uint64_t id = i % 16;

		receive(&u, e.srq, id);
		receive(&t, d.srq, id);
		send_to(&t, d.from, e.srqn, (uint8_t)i);
		send_to(&u, e.from, d.srqn, (uint8_t)i);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		expect_wc(u.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(u.b.cq, IBV_WC_SUCCESS).wr_id, id);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, id);
		CHECK_EQ(t.b.buf[(id + 1) * PIECE - 1], (uint8_t)i);
		CHECK_EQ(u.b.buf[(id + 1) * PIECE - 1], (uint8_t)i);
	}
	end_domain(&e);
	bench_close(&u);
	end_domain(&d);
	bench_close(&t);
}

/* A child of fork makes targets of its own in the domain; its parent's is the parent's engine's. */
static void forked(void)
{
	struct ibv_qp *made, *opened;
	struct domain d;
	struct bench t;
	int status;
	pid_t child;

	bench_open(&t, 64);
	make_domain(&t, &d);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		made = make_target(t.ctx, d.xrcd);
		opened = open_target(t.ctx, d.xrcd, made->qp_num);
		CHECK(opened);
		CHECK_EQ(ibv_destroy_qp(made), 0);
		CHECK_EQ(ibv_destroy_qp(opened), 0);
		opened = open_target(t.ctx, d.xrcd, d.target->qp_num);
		CHECK(!opened && errno == EINVAL);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	send_one(&t, &d, 1);
	end_domain(&d);
	bench_close(&t);
}

const struct verbs_test domain_tests[] = {
	{"domain_opened", opened},
	{"domain_wrong", wrong},
	{"domain_limit", limit},
	{"domain_busy", busy},
	{"domain_contexts", contexts},
	{"domain_forked", forked},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue pair, the file or the process ends at once after the last post, and
 * the message arrives all the same.
 */
#include "bench.h"
#include "tests/verbs_pair.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#define ROUNDS 100
#define QKEY   0x111
#define GRH    40

/* A datagram queue pair that is ready, and where to. */
struct sender {
	struct bench t;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	uint32_t *buf;
};

static struct bench t;
static struct ibv_qp *receiver;
static struct end in; /* its queue and buffer */

static struct ibv_qp *make_ud(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = 16,
						.max_recv_wr = 16,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr a = pair_attr(NULL, 0);
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	CHECK(qp);
	a.qkey = QKEY;
	CHECK_EQ(pair_connect(qp, &a), 0);
	return qp;
}

static void sender_open(struct sender *s)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};

	bench_bare(&s->t);
	a.grh.dgid = t.gid;
	a.grh.hop_limit = 64;
	s->cq = ibv_create_cq(s->t.ctx, 64, NULL, NULL, 0);
	s->ah = ibv_create_ah(s->t.pd, &a);
	s->buf = aligned_alloc(4096, BUF_BYTES);
	CHECK(s->cq && s->ah && s->buf);
	s->mr = ibv_reg_mr(s->t.pd, s->buf, BUF_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(s->mr);
	s->qp = make_ud(s->t.pd, s->cq);
}

static void say(struct sender *s, uint32_t what)
{
	struct ibv_sge sge = {(uintptr_t)s->buf, 64, s->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .wr.ud = {.ah = s->ah,
					   .remote_qpn = receiver->qp_num,
					   .remote_qkey = QKEY}};
	struct ibv_send_wr *bad;

	*s->buf = what;
	CHECK_EQ(ibv_post_send(s->qp, &wr, &bad), 0);
}

static void sender_close(struct sender *s)
{
	CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	if (s->ah)
		CHECK_EQ(ibv_destroy_ah(s->ah), 0);
	CHECK_EQ(ibv_destroy_cq(s->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(s->t.pd), 0);
	CHECK_EQ(ibv_close_device(s->t.ctx), 0);
	free(s->buf);
}

static void start(void)
{
	bench_bare(&t);
	in.cq = ibv_create_cq(t.ctx, 64, NULL, NULL, 0);
	in.buf = aligned_alloc(4096, BUF_BYTES);
	CHECK(in.cq && in.buf);
	in.mr = ibv_reg_mr(t.pd, in.buf, BUF_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(in.mr);
	in.qp = receiver = make_ud(t.pd, in.cq);
	CHECK_EQ(post_recv(&in, 1, 0, 128), 0);
}

/* It arrives; room for the next. */
static void arrived(uint32_t what)
{
	uint32_t got;

	expect_wc(in.cq, IBV_WC_SUCCESS);
	memcpy(&got, in.buf + GRH, sizeof(got));
	CHECK_EQ(got, what);
	CHECK_EQ(post_recv(&in, 1, 0, 128), 0);
}

static void stop(void)
{
	CHECK_EQ(ibv_destroy_qp(receiver), 0);
	CHECK_EQ(ibv_dereg_mr(in.mr), 0);
	CHECK_EQ(ibv_destroy_cq(in.cq), 0);
	CHECK_EQ(ibv_dealloc_pd(t.pd), 0);
	CHECK_EQ(ibv_close_device(t.ctx), 0);
	free(in.buf);
}

/* ---- the queue pair ---- */

static void queue_pair(bool destroy, enum ibv_qp_state state)
{
	struct sender s;

	start();
	sender_open(&s);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		say(&s, i);
		if (destroy)
			CHECK_EQ(ibv_destroy_qp(s.qp), 0);
		else
			to_state(s.qp, state);
		arrived(i);
		if (!destroy)
			CHECK_EQ(ibv_destroy_qp(s.qp), 0);
		s.qp = make_ud(s.t.pd, s.cq);
	}
	sender_close(&s);
	stop();
}

static void last_before_destroy(void)
{
	queue_pair(true, 0);
}

static void last_before_reset(void)
{
	queue_pair(false, IBV_QPS_RESET);
}

static void last_before_error(void)
{
	queue_pair(false, IBV_QPS_ERR);
}

/* The request names it by number. */
static void last_before_ah(void)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	struct sender s;

	start();
	sender_open(&s);
	a.grh.dgid = t.gid;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		say(&s, i);
		CHECK_EQ(ibv_destroy_ah(s.ah), 0);
		arrived(i);
		s.ah = ibv_create_ah(s.t.pd, &a);
		CHECK(s.ah);
	}
	sender_close(&s);
	stop();
}

/* ---- the process ---- */

static void process(void (*end)(struct sender *s), int status)
{
	start();
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		struct sender s;
		pid_t pid = fork();
		int st;

		CHECK(pid >= 0);
		if (!pid) {
			sender_open(&s);
			say(&s, i);
			end(&s);
			_exit(1);
		}
		CHECK_EQ(waitpid(pid, &st, 0), pid);
		CHECK_EQ(st, status);
		arrived(i);
	}
	stop();
}

static void by_exit(struct sender *s)
{
	exit(0);
}

static void by__exit(struct sender *s)
{
	_exit(0);
}

static void by_close(struct sender *s)
{
	/* with all its objects, as the kernel lets it */
	ibv_close_device(s->t.ctx);
	_exit(0);
}

static void by_exec(struct sender *s)
{
	execl("/bin/true", "true", NULL);
}

static void last_before_exit(void)
{
	process(by_exit, 0);
}

static void last_before__exit(void)
{
	process(by__exit, 0);
}

static void last_before_close(void)
{
	process(by_close, 0);
}

static void last_before_exec(void)
{
	process(by_exec, 0);
}

const struct verbs_test parting_tests[] = {
	{"last_before_destroy", last_before_destroy},
	{"last_before_reset", last_before_reset},
	{"last_before_error", last_before_error},
	{"last_before_ah", last_before_ah},
	{"last_before_exit", last_before_exit},
	{"last_before__exit", last_before__exit},
	{"last_before_close", last_before_close},
	{"last_before_exec", last_before_exec},
	{NULL, NULL},
};

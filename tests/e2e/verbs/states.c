// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* States that a queue pair has come to by itself, SQE, ERR, and SQD once it is drained, and which changes
 * ibv_modify_qp() allows then. */
#include "bench.h"
#include "tests/verbs_pair.h"

static struct ibv_qp_attr look(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.cur_qp_state, attr.qp_state);
	CHECK_EQ(qp->state, attr.qp_state);
	return attr;
}

/* cur: IBV_QPS_UNKNOWN says nothing. */
static int change(struct ibv_qp *qp, enum ibv_qp_state cur,
		  enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = to,
		.cur_qp_state = cur,
		.qkey = 0x1234,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.rate_limit = 1000000,
		.timeout = 14,
	};

	if (cur != IBV_QPS_UNKNOWN)
		mask |= IBV_QP_CUR_STATE;
	return ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);
}

static void send_to_itself(struct end *e, struct ibv_ah *ah, uint32_t lkey,
			   enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(e, 0, 16);
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};

	sge.lkey = lkey;
	if (e->qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = e->qp->qp_num;
		wr.wr.ud.remote_qkey = 0x1234;
	}
	CHECK_EQ(ibv_post_send(e->qp, &wr, &bad), 0);
	expect_wc(e->cq, status);
}

static void fail_send(struct end *e, struct ibv_ah *ah)
{
	send_to_itself(e, ah, e->mr->lkey ^ 0xff00, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(look(e->qp).qp_state, IBV_QPS_SQE);
}

static void to_rts(struct bench *t, enum ibv_qp_type type)
{
	if (type == IBV_QPT_UD)
		to_rts_ud(t->a.qp);
	else
		connect_qp(t, t->a.qp, t->a.qp->qp_num);
}

static void leave_sqe(enum ibv_qp_type type)
{
	struct ibv_ah_attr to = {
		.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64}};
	int own = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	int others = type == IBV_QPT_UD ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY;
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct bench t;

	bench_open(&t, 64);
	to.grh.dgid = t.gid;
	ah = ibv_create_ah(t.pd, &to);
	CHECK(ah);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	qp = t.a.qp = make_qp(&t, t.a.cq, NULL, type, 16, NULL);
	to_rts(&t, type);
	fail_send(&t.a, ah);
	/* In RTS that would be allowed, or in no state at all. */
	CHECK_EQ(change(qp, IBV_QPS_RTS, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_SQD, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_SQE, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_SQD, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_UNKNOWN, IBV_QPS_SQD, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_UNKNOWN, IBV_QPS_RTR, 0), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_RTS, others), EINVAL);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_RATE_LIMIT),
		 EINVAL);
	/* The kernel's table has no such transition with it. */
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_RESET, 0), EINVAL);
	CHECK_EQ(look(qp).qp_state, IBV_QPS_SQE);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_RTS, 0), 0);
	CHECK_EQ(look(qp).qp_state, IBV_QPS_RTS);
	send_to_itself(&t.a, ah, t.a.mr->lkey, IBV_WC_SUCCESS);
	fail_send(&t.a, ah);
	CHECK_EQ(change(qp, IBV_QPS_UNKNOWN, IBV_QPS_RTS, 0), 0);
	send_to_itself(&t.a, ah, t.a.mr->lkey, IBV_WC_SUCCESS);
	fail_send(&t.a, ah);
	CHECK_EQ(change(qp, IBV_QPS_SQE, IBV_QPS_RTS, own), 0);
	send_to_itself(&t.a, ah, t.a.mr->lkey, IBV_WC_SUCCESS);
	fail_send(&t.a, ah);
	to_state(qp, IBV_QPS_ERR);
	CHECK_EQ(look(qp).qp_state, IBV_QPS_ERR);
	to_state(qp, IBV_QPS_RESET);
	to_rts(&t, type);
	fail_send(&t.a, ah);
	to_state(qp, IBV_QPS_RESET);
	to_rts(&t, type);
	send_to_itself(&t.a, ah, t.a.mr->lkey, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	bench_close(&t);
}

static void leave_sqe_ud(void)
{
	leave_sqe(IBV_QPT_UD);
}

static void leave_sqe_uc(void)
{
	leave_sqe(IBV_QPT_UC);
}

/* A WRITE that the peer refuses. */
static void leave_err(void)
{
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   t.b.mr->rkey ^ 0xff00, 16),
		 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(look(t.a.qp).qp_state, IBV_QPS_ERR);
	CHECK_EQ(change(t.a.qp, IBV_QPS_UNKNOWN, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_RTS, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_UNKNOWN, IBV_QPS_SQD, 0), EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_ERR, IBV_QPS_RESET, 0), EINVAL);
	CHECK_EQ(look(t.a.qp).qp_state, IBV_QPS_ERR);
	CHECK_EQ(change(t.a.qp, IBV_QPS_UNKNOWN, IBV_QPS_ERR, 0), 0);
	CHECK_EQ(change(t.a.qp, IBV_QPS_UNKNOWN, IBV_QPS_RESET, 0), 0);
	to_state(t.b.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, t.b.qp->qp_num);
	connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	CHECK_EQ(look(t.a.qp).qp_state, IBV_QPS_RTS);
	t.a.buf[0] = 77;
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   t.b.mr->rkey, 16),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t.b.buf[0], 77);
	bench_close(&t);
}

/* A message that is posted while it drains waits. */
static void drain(void)
{
	struct ibv_qp_attr stop = {.qp_state = IBV_QPS_SQD,
				   .en_sqd_async_notify = 1};
	struct ibv_async_event ev;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(post_recv(&t.b, 2, 0, 16), 0);
	CHECK_EQ(ibv_modify_qp(t.a.qp, &stop,
			       IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		 0);
	CHECK_EQ(post_send(&t.a, 1, 0, 16, IBV_SEND_SIGNALED), 0);
	CHECK_EQ(look(t.a.qp).qp_state, IBV_QPS_SQD);
	CHECK(next_event(t.ctx, 20000, &ev));
	CHECK_EQ(ev.event_type, IBV_EVENT_SQ_DRAINED);
	CHECK_EQ(look(t.a.qp).sq_draining, 0);
	CHECK_EQ(change(t.a.qp, IBV_QPS_RTS, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_SQE, IBV_QPS_RTS, 0), EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_TIMEOUT),
		 EINVAL);
	CHECK_EQ(change(t.a.qp, IBV_QPS_UNKNOWN, IBV_QPS_SQD, IBV_QP_TIMEOUT),
		 0);
	expect_none(t.a.cq);
	CHECK_EQ(change(t.a.qp, IBV_QPS_SQD, IBV_QPS_RTS, 0), 0);
	CHECK_EQ(look(t.a.qp).qp_state, IBV_QPS_RTS);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	bench_close(&t);
}

const struct verbs_test state_tests[] = {
	{"leave_sqe_ud", leave_sqe_ud},
	{"leave_sqe_uc", leave_sqe_uc},
	{"leave_err", leave_err},
	{"drain", drain},
	{0},
};

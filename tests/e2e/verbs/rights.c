// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Verbs that take a capability: run with it and without, test_verbs.py. */
#include "bench.h"

#define QKEY_OF_QP1 0x80010000u
#define OWN_QKEY    0x1234u /* of to_rts_ud() */

static int set_qkey(struct ibv_qp *qp, uint32_t qkey)
{
	struct ibv_qp_attr attr = {.qkey = qkey};

	return ibv_modify_qp(qp, &attr, IBV_QP_QKEY);
}

static int init_with(struct ibv_qp *qp, uint32_t qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_QKEY);
}

static struct ibv_ah *own_ah(struct bench *t)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.dgid = t->gid, .hop_limit = 3}};

	return ibv_create_ah(t->pd, &attr);
}

/* A datagram with that Q_Key in its work request. */
static void send_with(struct end *e, struct ibv_ah *ah, uint32_t qpn,
		      uint32_t qkey)
{
	struct ibv_sge sge = sge_of(e, 0, 8);
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.ud = {ah, qpn, qkey}};

	CHECK_EQ(ibv_post_send(e->qp, &wr, &bad), 0);
	expect_wc(e->cq, IBV_WC_SUCCESS);
}

static void to_ud(struct bench *t, struct end *e)
{
	CHECK_EQ(ibv_destroy_qp(e->qp), 0);
	e->qp = make_qp(t, e->cq, NULL, IBV_QPT_UD, 16, &e->cap);
}

/* Controlled Q_Keys, those with the high bit: IBTA volume 1, 10.2.5. Nobody
 * without the right sends with one, whatever his work requests say. */
static void qkey(bool may)
{
	struct ibv_ah *ah;
	struct bench t;

	bench_open(&t, 64);
	to_ud(&t, &t.a);
	to_ud(&t, &t.b);
	CHECK_EQ(init_with(t.a.qp, QKEY_OF_QP1), may ? 0 : EPERM);
	to_state(t.a.qp, IBV_QPS_RESET);
	to_rts_ud(t.a.qp);
	to_rts_ud(t.b.qp);
	CHECK_EQ(set_qkey(t.a.qp, 1u << 31), may ? 0 : EPERM);
	CHECK_EQ(set_qkey(t.a.qp, OWN_QKEY), 0);
	ah = own_ah(&t);
	CHECK(ah);
	/* In a work request it means the queue pair's own. */
	CHECK_EQ(post_recv(&t.b, 1, 0, 48), 0);
	send_with(&t.a, ah, t.b.qp->qp_num, OWN_QKEY + 1);
	expect_none(t.b.cq);
	send_with(&t.a, ah, t.b.qp->qp_num, QKEY_OF_QP1);
	expect_wc(t.b.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	bench_close(&t);
}

static void qkey_with(void)
{
	qkey(true);
}

static void qkey_without(void)
{
	qkey(false);
}

const struct verbs_test right_tests[] = {
	{"qkey_with", qkey_with},
	{"qkey_without", qkey_without},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue pair that is about to go: what was posted to it leaves first, as far
 * as it needs no answer, and nobody else's waits or comes in between.
 */
#include "tests/scenario/transport/wiretap.h"

#define MTU	256
#define WINDOW	128 /* packets that RC sends unanswered */
#define TO_QPN	0x77
#define TO_QKEY 0x22222222

static struct wt w;
static struct wt_qp q, other;

static void start(enum ur_qp_type type)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, type, TO_QPN, 10, 9);
	wt_rts(&w, &other, type, TO_QPN + 1, 10, 9);
}

static void stop(void)
{
	ur_qp_destroy(other.qp);
	wt_close(&w);
}

static void post(struct wt_qp *from, u32 dqpn, u32 len)
{
	struct ur_send_wr *wr = wt_post(from, UR_WR_SEND, 0, len);

	wr->av = &w.av;
	wr->dqpn = dqpn;
	wr->qkey = TO_QKEY;
}

/* n datagrams of one that is destroyed; another's stay for their turn. */
static void unconnected(enum ur_qp_type type, u8 opcode, u32 n)
{
	start(type);
	for (u32 i = 0; i < 3; i++)
		post(&other, TO_QPN + 1, 8);
	ur_qp_kick(other.qp);
	for (u32 i = 0; i < n; i++)
		post(&q, TO_QPN, 8);
	wt_run_alone(&q);
	ur_qp_destroy(q.qp);
	for (u32 i = 0; i < n; i++)
		CHECK_EQ(wt_expect(&w, opcode, 10 + i)->pkt.dqpn, TO_QPN);
	CHECK_EQ(w.out_head, w.out_tail);
	CHECK_EQ(q.ring.retired, n);
	wt_run(&w);
	for (u32 i = 0; i < 3; i++)
		CHECK_EQ(wt_expect(&w, opcode, 10 + i)->pkt.dqpn, TO_QPN + 1);
	wt_silence(&w);
	stop();
	CHECK_EQ(w.av.refs, 1);
}

/* The first window of what waits for answers, then no more, ever. */
static void connected(void)
{
	const struct ur_qp_attr reset = {.state = UR_QP_RESET};

	start(UR_QPT_RC);
	post(&other, TO_QPN + 1, 8);
	ur_qp_kick(other.qp);
	post(&q, TO_QPN, 2 * WINDOW * MTU);
	wt_run_alone(&q);
	CHECK_EQ(w.out_tail - w.out_head, WINDOW);
	for (u32 i = 0; i < WINDOW; i++)
		CHECK_EQ(wt_next(&w)->pkt.psn, 10 + i);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &reset, UR_QP_ATTR_STATE), 0);
	wt_run(&w);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_silence(&w);
	wt_ack(&w, &other, 10, WT_ACK);
	wt_wc(&other, 0);
	wt_sleep(&w, 1000 * WT_MS);
	wt_silence(&w);
	ur_qp_destroy(q.qp);
	stop();
}

/* One without anything to send, and one that may not. */
static void nothing(void)
{
	const struct ur_qp_attr reset = {.state = UR_QP_RESET};

	start(UR_QPT_UD);
	wt_run_alone(&q);
	post(&q, TO_QPN, 8);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &reset, UR_QP_ATTR_STATE), 0);
	wt_run_alone(&q);
	CHECK_EQ(w.out_head, w.out_tail);
	ur_qp_destroy(q.qp);
	wt_silence(&w);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(unconnected(UR_QPT_UD, UR_OP_UD_SEND_ONLY, 1));
	CASE(unconnected(UR_QPT_UD, UR_OP_UD_SEND_ONLY, 200));
	CASE(unconnected(UR_QPT_UC, UR_OP_UC_SEND_ONLY, 200));
	CASE(connected());
	CASE(nothing());
	return cases_status();
}

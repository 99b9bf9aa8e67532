// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SQD: what was started is finished, what was not waits; flush on the way to
 * ERR; RESET forgets.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;

static void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 10, 9);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void go(enum ur_qp_state state, u32 mask)
{
	struct ur_qp_attr a = {.state = state, .en_sqd_async_notify = 1};

	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_STATE | mask), 0);
	wt_run(&w);
}

static void ack(u32 psn)
{
	wt_ack(&w, &q, psn, WT_ACK);
}

static void drain(void)
{
	struct ur_qp_attr a;

	start();
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_next(&w);
	go(UR_QP_SQD, UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_silence(&w);
	ur_qp_query(q.qp, &a);
	CHECK_EQ(a.sq_draining, 1);
	CHECK_EQ(q.event_count, 0);
	ack(10);
	wt_wc(&q, 0);
	CHECK_EQ(q.events, 1u << UR_EVENT_SQ_DRAINED);
	ur_qp_query(q.qp, &a);
	CHECK_EQ(a.sq_draining, 0);
	/* The responder half goes on. */
	wt_post_recv(&q, 0, 100);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
				.dqpn = q.qp->qpn,
				.psn = 9,
				.ackreq = true,
				.payload_bytes = 4},
		NULL);
	wt_expect_ack(&w, WT_ACK, 9);
	wt_wc(&q, 0);
	go(UR_QP_RTS, 0);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	ack(11);
	wt_wc(&q, 0);
	stop();
	/* Nothing under way: drained at once. */
	start();
	go(UR_QP_SQD, UR_QP_ATTR_EN_SQD_ASYNC_NOTIFY);
	CHECK_EQ(q.events, 1u << UR_EVENT_SQ_DRAINED);
	stop();
}

static void flush(void)
{
	start();
	for (int i = 0; i < 200; i++)
		wt_post(&q, UR_WR_SEND, 0, 4)->flags = 0;
	for (int i = 0; i < 50; i++)
		wt_post_recv(&q, 0, 100);
	wt_kick(&q);
	go(UR_QP_ERR, 0);
	for (u32 i = 0; i < 200; i++)
		CHECK_EQ(wt_wc(&q, UR_WC_WR_FLUSH_ERR).wr_id, 0x1000 + i);
	for (u32 i = 0; i < 50; i++)
		CHECK_EQ(wt_wc(&q, UR_WC_WR_FLUSH_ERR).wr_id, 0x2000 + i);
	wt_no_wc(&q);
	CHECK_EQ(q.ring.retired, 200);
	stop();
}

static void reset(void)
{
	struct ur_qp_attr a;

	start();
	a = wt_attr(&w, 0x77, 500, 600);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_post_recv(&q, 0, 100);
	wt_kick(&q);
	w.out_head = w.out_tail;
	go(UR_QP_RESET, 0);
	wt_sleep(&w, 10000 * WT_MS);
	wt_silence(&w);
	wt_no_wc(&q);
	CHECK_EQ(w.av.refs, 1);
	/* And all over again. */
	q.ring.send_head = q.ring.send_tail;
	wt_to_rts(&q, &a);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 500);
	ack(500);
	wt_wc(&q, 0);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(drain());
	CASE(flush());
	CASE(reset());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where messages go back and forth, the acknowledgement waits for the message
 * that answers, a short time and never beyond the queue pair's end.
 */
#include "tests/scenario/transport/wiretap.h"

#define HELD_NS (20 * WT_US)
#define LEARNS	4

static struct wt w;
static struct wt_qp q;
static u32 rx_psn, tx_psn;

static void start(bool piggyback)
{
	wt_config(&w, 0);
	w.cfg.piggyback = piggyback;
	wt_open(&w);
	tx_psn = 10;
	rx_psn = 0xfffffe;
	wt_rts(&w, &q, UR_QPT_RC, 0x77, tx_psn, rx_psn);
}

static void stop(void)
{
	CHECK(!ur_qp_check(q.qp));
	ur_qp_destroy(q.qp);
	wt_close(&w);
}

/* A message of the peer; its PSN. */
static u32 ask(void)
{
	u32 psn = rx_psn;

	wt_post_recv(&q, 0, 100);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.ackreq = true,
				.payload_bytes = 4},
		NULL);
	wt_wc(&q, 0);
	rx_psn = (psn + 1) & 0xffffff;
	return psn;
}

/* Ours, which the peer acknowledges; after it the acknowledgement owed. */
static void reply(bool owed, u32 psn)
{
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, tx_psn);
	if (owed)
		wt_expect_ack(&w, 0x1f, psn);
	wt_silence(&w);
	wt_ack(&w, &q, tx_psn, 0x1f);
	wt_wc(&q, 0);
	tx_psn++;
}

static void learn(void)
{
	for (int i = 0; i < LEARNS; i++) {
		u32 psn = ask();

		wt_expect_ack(&w, 0x1f, psn);
		reply(false, 0);
	}
}

static void together(void)
{
	u32 psn;

	start(true);
	learn();
	for (int i = 0; i < 10; i++) {
		psn = ask();
		wt_silence(&w);
		wt_sleep(&w, HELD_NS / 2);
		wt_silence(&w);
		reply(true, psn);
	}
	stop();
}

static void no_reply(void)
{
	u32 psn;

	start(true);
	learn();
	psn = ask();
	wt_silence(&w);
	CHECK(ur_port_deadline(w.port) <= w.now + HELD_NS);
	wt_sleep(&w, HELD_NS);
	wt_expect_ack(&w, 0x1f, psn);
	/* and from then on at once */
	reply(false, 0);
	wt_expect_ack(&w, 0x1f, ask());
	stop();
}

static void late_replies(void)
{
	start(true);
	for (int i = 0; i < 3 * LEARNS; i++) {
		wt_expect_ack(&w, 0x1f, ask());
		wt_sleep(&w, HELD_NS);
		reply(false, 0);
	}
	stop();
}

static void stream(void)
{
	u32 psn;

	start(true);
	learn();
	ask();
	wt_silence(&w);
	psn = ask(); /* the peer did not wait for us */
	wt_expect_ack(&w, 0x1f, psn);
	wt_silence(&w);
	wt_expect_ack(&w, 0x1f, ask());
	stop();
}

static void lost_acknowledgement(void)
{
	u32 psn;

	start(true);
	learn();
	psn = ask();
	wt_silence(&w);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.ackreq = true,
				.payload_bytes = 4},
		NULL);
	wt_expect_ack(&w, 0x1f, psn); /* a duplicate is answered at once */
	stop();
}

static void the_end(void)
{
	struct ur_qp_attr a = {.state = UR_QP_ERR};
	u32 psn;

	start(true);
	learn();
	CHECK(!ur_qp_release(q.qp));
	psn = ask();
	wt_silence(&w);
	CHECK(ur_qp_release(q.qp));
	wt_run(&w);
	wt_expect_ack(&w, 0x1f, psn);
	CHECK(!ur_qp_release(q.qp));
	reply(false, 0);
	psn = ask();
	wt_silence(&w);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_STATE), 0);
	wt_run(&w);
	wt_expect_ack(&w, 0x1f, psn);
	stop();
}

static void off(void)
{
	start(false);
	learn();
	learn();
	stop();
}

int main(void)
{
	together();
	no_reply();
	late_replies();
	stream();
	lost_acknowledgement();
	the_end();
	off();
	return 0;
}

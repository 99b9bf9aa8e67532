// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A host that has no room for packets to some peers: those to others go on, requests and answers, and
 * nothing of what waited is lost, or kept from ending.
 */
#include "tests/scenario/transport/wiretap.h"

#define SLOW  0x77u
#define QUICK 0x78u

static struct wt w;
static struct wt_qp slow, quick;
static u32 held; /* the number to which nothing may go */

static bool holds(void *ctx, const struct ur_av *av, u32 dqpn, bool datagram)
{
	CHECK(av == &w.av && datagram == (slow.qp->init.type == UR_QPT_UD));
	return dqpn == held;
}

static void hold(u32 dqpn)
{
	held = dqpn;
	ur_port_hold(w.port, dqpn != 0);
}

static void start(enum ur_qp_type type)
{
	static struct ur_host_ops ops;

	ops = wt_host_ops;
	ops.holds = holds;
	wt_config(&w, 0);
	w.cfg.ops = &ops;
	wt_open(&w);
	wt_rts(&w, &slow, type, SLOW, 10, 10);
	wt_rts(&w, &quick, type, QUICK, 10, 10);
	hold(SLOW);
}

static void stop(void)
{
	ur_qp_destroy(slow.qp);
	wt_stop(&w, &quick);
}

static void requests(void)
{
	start(UR_QPT_RC);
	wt_post(&slow, UR_WR_SEND, 0, 8);
	wt_kick(&slow);
	wt_silence(&w);
	wt_post(&quick, UR_WR_SEND, 0, 8);
	wt_kick(&quick);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_SEND_ONLY, 10)->pkt.dqpn, QUICK);
	wt_silence(&w);
	/* Others are held now. */
	hold(QUICK);
	wt_run(&w);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_SEND_ONLY, 10)->pkt.dqpn, SLOW);
	wt_ack(&w, &quick, 10, WT_ACK);
	wt_wc(&quick, 0);
	wt_post(&quick, UR_WR_SEND, 0, 8);
	wt_kick(&quick);
	wt_silence(&w);
	hold(0);
	wt_run(&w);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_SEND_ONLY, 11)->pkt.dqpn, QUICK);
	stop();
}

static struct ur_pkt with_ackreq(const struct wt_qp *q)
{
	struct ur_pkt pkt = wt_pkt(q, UR_OP_RC_SEND_ONLY, 10, 8);

	pkt.ackreq = true;
	return pkt;
}

static void answers(void)
{
	start(UR_QPT_RC);
	wt_post_recv(&slow, 0, 64);
	wt_post_recv(&quick, 0, 64);
	wt_feed(&w, with_ackreq(&slow), NULL);
	wt_silence(&w);
	wt_feed(&w, with_ackreq(&quick), NULL);
	CHECK_EQ(wt_expect_ack(&w, WT_ACK, 10)->pkt.dqpn, QUICK);
	hold(0);
	wt_run(&w);
	CHECK_EQ(wt_expect_ack(&w, WT_ACK, 10)->pkt.dqpn, SLOW);
	stop();
}

static void post_to(u32 dqpn)
{
	struct ur_send_wr *wr = wt_post(&quick, UR_WR_SEND, 0, 8);

	wr->av = &w.av;
	wr->dqpn = dqpn;
	wr->qkey = 0x11111111;
}

/* They go in order. */
static void datagrams(void)
{
	start(UR_QPT_UD);
	post_to(QUICK);
	post_to(SLOW);
	post_to(QUICK);
	wt_kick(&quick);
	CHECK_EQ(wt_expect(&w, UR_OP_UD_SEND_ONLY, 10)->pkt.dqpn, QUICK);
	wt_silence(&w);
	wt_wc(&quick, 0);
	wt_no_wc(&quick);
	hold(0);
	wt_run(&w);
	CHECK_EQ(wt_expect(&w, UR_OP_UD_SEND_ONLY, 11)->pkt.dqpn, SLOW);
	CHECK_EQ(wt_expect(&w, UR_OP_UD_SEND_ONLY, 12)->pkt.dqpn, QUICK);
	stop();
}

/* Work is flushed, and the queue pair begins anew or goes, while others wait. */
static void ends(enum ur_qp_type type)
{
	struct ur_qp_attr a = {.state = UR_QP_ERR};

	start(type);
	for (u32 i = 0; i < 2; i++) {
		wt_post(&slow, UR_WR_SEND, 0, 8)->av = &w.av;
		slow.send[i].dqpn = SLOW;
		wt_kick(&slow);
		wt_silence(&w);
		CHECK_EQ(ur_qp_modify(slow.qp, w.now, &a, UR_QP_ATTR_STATE), 0);
		wt_run(&w);
		if (!i)
			wt_wc(&slow, UR_WC_WR_FLUSH_ERR);
		a.state = UR_QP_RESET;
		CHECK_EQ(ur_qp_modify(slow.qp, w.now, &a, UR_QP_ATTR_STATE), 0);
		a = wt_attr(&w, SLOW, 10, 10);
		wt_to_rts(&slow, &a);
		a.state = UR_QP_RESET;
	}
	wt_no_wc(&slow);
	wt_post(&slow, UR_WR_SEND, 0, 8)->av = &w.av;
	wt_kick(&slow);
	stop();
	CHECK_EQ(w.av.refs, 1);
}

/* Timers go on: nobody waits for ever for a peer of whom nothing comes. */
static void time_goes_on(void)
{
	start(UR_QPT_RC);
	hold(0);
	wt_post(&slow, UR_WR_SEND, 0, 8);
	wt_kick(&slow);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	hold(SLOW);
	for (u32 i = 0; i < 600; i++)
		wt_sleep(&w, 10 * WT_MS);
	wt_silence(&w);
	wt_wc(&slow, UR_WC_RETRY_EXC_ERR);
	stop();
}

int main(void)
{
	requests();
	answers();
	datagrams();
	ends(UR_QPT_RC);
	ends(UR_QPT_UD);
	time_goes_on();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * DCQCN: marked packets bring CNPs, but not too many; a CNP halves the rate,
 * packets are then paced, and without further CNPs the rate comes back.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/cc.h"

static struct wt w;
static struct wt_qp q;

#define LINK 10000000000ull

static void start(bool on)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	w.cfg.cc.enable = on;
	w.cfg.cc.link_bps = LINK;
	wt_open(&w);
	a = wt_attr(&w, 0x77, 10, 9);
	a.timeout = 0;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void marked(u32 psn)
{
	w.meta.tos = 3;
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_WRITE_ONLY,
				.dqpn = q.qp->qpn,
				.psn = psn,
				.va = WT_IOVA,
				.rkey = w.key},
		NULL);
	w.meta.tos = 0;
}

static void notify(void)
{
	wt_feed(&w,
		(struct ur_pkt){
			.opcode = UR_OP_CNP, .dqpn = q.qp->qpn, .becn = true},
		NULL);
}

static void notification_point(void)
{
	struct wt_packet *p;

	start(true);
	marked(9);
	p = wt_expect(&w, UR_OP_CNP, 0);
	CHECK_EQ(p->pkt.dqpn, 0x77);
	CHECK_EQ(p->pkt.pkey, 0xffff);
	CHECK(p->pkt.becn && !p->pkt.ackreq);
	CHECK_EQ(p->len, 12 + 16);
	/* One in 50 us. */
	marked(10);
	marked(11);
	wt_silence(&w);
	wt_sleep(&w, 50 * WT_US);
	marked(12);
	wt_expect(&w, UR_OP_CNP, 0);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_np_ecn_marked_roce_packets],
		 4);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_np_cnp_sent], 2);
	stop();
	/* A rate that is not limited is nobody else's reason not to know. */
	start(false);
	marked(9);
	wt_expect(&w, UR_OP_CNP, 0);
	notify();
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_rp_cnp_ignored], 1);
	stop();
}

/* Live, and by service level. */
static void settings(void)
{
	struct ur_cc_config c;

	start(true);
	c = w.cfg.cc;
	c.np_off = 1; /* that of the queue pair is 0 */
	ur_port_set_cc(w.port, &c);
	marked(9);
	wt_silence(&w);
	c.np_off = 2;
	c.cnp_interval_ns = 10 * WT_US;
	ur_port_set_cc(w.port, &c);
	marked(10);
	wt_expect(&w, UR_OP_CNP, 0);
	wt_sleep(&w, 5 * WT_US);
	marked(11);
	wt_silence(&w);
	wt_sleep(&w, 5 * WT_US);
	marked(12);
	wt_expect(&w, UR_OP_CNP, 0);
	CHECK_EQ(q.qp->cc->rate, LINK);
	c.rp_off = 1;
	ur_port_set_cc(w.port, &c);
	notify();
	CHECK_EQ(q.qp->cc->rate, LINK);
	c.rp_off = 0;
	c.min_dec_pct = 75;
	c.keep_target = true;
	ur_port_set_cc(w.port, &c);
	notify();
	CHECK_EQ(q.qp->cc->rate, LINK * 3 / 4);
	CHECK_EQ(q.qp->cc->target, LINK);
	/* Within the period another changes nothing. */
	c.monitor_ns = 30 * WT_US;
	c.min_dec_pct = 0;
	ur_port_set_cc(w.port, &c);
	notify();
	CHECK_EQ(q.qp->cc->rate, LINK * 3 / 4);
	wt_sleep(&w, 30 * WT_US);
	notify();
	CHECK(q.qp->cc->rate < LINK / 2);
	/* No increase between them: the target is the first one's. */
	CHECK_EQ(q.qp->cc->target, LINK);
	c.keep_target = false;
	c.monitor_ns = 0;
	ur_port_set_cc(w.port, &c);
	notify();
	CHECK(q.qp->cc->target < LINK / 2);
	stop();
	start(true);
	/* An increase by time is none where the settings say so. */
	c = w.cfg.cc;
	c.keep_target = true;
	c.keep_time = true;
	ur_port_set_cc(w.port, &c);
	notify();
	wt_sleep(&w, 60 * WT_US);
	CHECK_EQ(q.qp->cc->timer_stage, 1);
	notify();
	CHECK_EQ(q.qp->cc->target, LINK);
	wt_sleep(&w, 60 * WT_US);
	c.keep_time = false;
	ur_port_set_cc(w.port, &c);
	wt_sleep(&w, 60 * WT_US);
	notify();
	CHECK(q.qp->cc->target < LINK);
	stop();
	start(true);
	c = w.cfg.cc;
	c.first_bps = LINK / 10;
	ur_port_set_cc(w.port, &c);
	notify();
	CHECK_EQ(q.qp->cc->rate, LINK / 10);
	stop();
}

/* Bytes that leave within ns; everything is acknowledged at once. */
static u64 sent_in(u64 ns)
{
	ur_time end = w.now + ns;
	u64 bytes = 0;

	while (w.now < end) {
		while (q.ring.send_tail - q.ring.send_head < 8)
			wt_post(&q, UR_WR_WRITE, 0, 256 * 16);
		wt_kick(&q);
		while (w.out_head != w.out_tail) {
			struct wt_packet *p = wt_next(&w);

			bytes += p->len;
			if (p->pkt.ackreq)
				wt_feed(&w,
					(struct ur_pkt){.opcode = UR_OP_RC_ACK,
							.dqpn = q.qp->qpn,
							.psn = p->pkt.psn,
							.syndrome = WT_ACK},
					NULL);
			/* The line itself is not infinitely fast. */
			w.now += p->len * 8000000000ull / LINK / 1;
			q.wc_head = q.wc_tail;
		}
		wt_sleep(&w, 1 * WT_US);
	}
	return bytes;
}

static void reaction_point(void)
{
	u64 full, half, later;

	start(true);
	full = sent_in(WT_MS);
	notify();
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_rp_cnp_handled], 1);
	half = sent_in(50 * WT_US) * 20;
	CHECK(half < full * 7 / 10);
	CHECK(half > full * 3 / 10);
	/* Many of them: down to very little. */
	for (int i = 0; i < 12; i++) {
		notify();
		wt_sleep(&w, 10 * WT_US);
	}
	w.out_head = w.out_tail; /* what went between them */
	CHECK(sent_in(50 * WT_US) * 20 < full / 20);
	/* Recovery, with nothing but time. */
	later = sent_in(400 * WT_MS) / 400;
	CHECK(later > half);
	CHECK(sent_in(WT_MS) > full * 8 / 10);
	stop();
}

/* A packet that left at the least rate holds the next no longer than it would
 * at the rate of now. */
static void paid_at_the_new_rate(void)
{
	const struct ur_cc *cc;

	start(true);
	w.now = WT_MS;
	sent_in(50 * WT_US);
	cc = q.qp->cc;
	while (cc->rate > 1000000 || cc->next_send < w.now + WT_MS) {
		notify();
		sent_in(10 * WT_US);
	}
	while (cc->rate < 20000000)
		wt_sleep(&w, 10 * WT_US);
	CHECK(cc->next_send < w.now + 150 * WT_US);
	stop();
}

/* A rate that the program has set, without DCQCN and below it; it needs no CNP,
 * and no CNP lifts it. */
static void asked_for(bool dcqcn)
{
	struct ur_qp_attr a = {.rate_limit = (u32)(LINK / 10000)}; /* a tenth */
	u64 want = LINK / 10 / 8 * 20 / 1000, burst = LINK / 10 / 8 / 2000, got;

	start(dcqcn);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_RATE_LIMIT), 0);
	got = sent_in(20 * WT_MS);
	CHECK(got > want * 95 / 100);
	CHECK(got < want + burst + 8 * 256 * 17);
	if (dcqcn) {
		for (int i = 0; i < 8; i++)
			notify();
		CHECK(sent_in(WT_MS) < want / 20 * 9 / 10);
	}
	a.rate_limit = 0;
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_RATE_LIMIT), 0);
	if (!dcqcn)
		CHECK(sent_in(WT_MS) > want / 20 * 5);
	stop();
}

/* A READ is answered slowly; a request behind it is refused meanwhile, and the queue pair
 * has failed with it. The READ is answered to its end all the same. */
static void refused_behind_a_read(void)
{
	struct ur_qp_attr a = {.rate_limit = (u32)(LINK / 100000)};
	struct ur_pkt pkt;
	u32 psn = 9, packets = 200;

	start(false);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_RATE_LIMIT), 0);
	pkt = wt_pkt(&q, UR_OP_RC_READ_REQ, psn, 0);
	pkt.va = WT_IOVA;
	pkt.rkey = w.key;
	pkt.dma_bytes = packets * 256;
	wt_feed(&w, pkt, NULL);
	CHECK(w.out_tail - w.out_head < packets);
	pkt = wt_pkt(&q, UR_OP_RC_WRITE_ONLY, psn + packets, 4);
	pkt.va = WT_IOVA;
	pkt.rkey = w.key + 1;
	pkt.dma_bytes = 4;
	wt_feed(&w, pkt, NULL);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	wt_sleep(&w, 20 * WT_MS);
	for (u32 i = 0; i < packets; i++)
		CHECK_EQ(wt_next(&w)->pkt.psn, psn + i);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ACK, psn + packets)->pkt.syndrome,
		 WT_NAK_ACCESS);
	wt_silence(&w);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(notification_point());
	CASE(settings());
	CASE(reaction_point());
	CASE(paid_at_the_new_rate());
	CASE(asked_for(false));
	CASE(asked_for(true));
	CASE(refused_behind_a_read());
	return cases_status();
}

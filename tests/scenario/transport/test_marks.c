// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Marks and the window of a path: CNPs cut it by the share that is marked, a
 * peer that sends none is found out and gets no marks any more, and UC and UD are
 * ECT only where their rates will follow.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/cc.h"
#include "transport/path_impl.h"

#define SHORT_NS (20 * WT_US)
#define LONG_NS	 (500 * WT_US)
#define HOUR_NS	 3600000000000ull
#define PEER	 0x70
#define ECT0	 UR_ECN_ECT0
#define CE	 UR_ECN_CE

static struct wt w;
static struct wt_qp q;
static u32 next;  /* PSN behind the newest seen */
static u32 tests; /* packets that came out marked */
static u8 tos;	  /* of the newest other one */

static void connect(enum ur_qp_type type)
{
	struct ur_qp_attr a = wt_attr(&w, PEER, 10, 9);

	wt_qp_create(&w, &q, type, NULL);
	wt_to_rts(&q, &a);
	next = 10;
	tests = 0;
}

static void start(enum ur_qp_type type)
{
	wt_config(&w, 0);
	w.cfg.aimd = w.cfg.path = w.cfg.short_reads = true;
	w.cfg.cc.windowless = true;
	w.av.ecn = ECT0;
	w.av.traffic_class = type == UR_QPT_UC ? 0 : ECT0;
	wt_open(&w);
	connect(type);
}

static u64 counter(enum ur_counter c)
{
	return ur_port_counters(w.port)[c];
}

static u32 collect(void)
{
	u32 n = 0;

	for (; w.out_head != w.out_tail; n++) {
		const struct wt_packet *p = wt_next(&w);

		if (p->pkt.opcode == UR_OP_CNP)
			continue;
		if (p->tos == CE)
			tests++;
		else
			tos = p->tos;
		next = ur_psn_add(p->pkt.psn, 1);
	}
	return n;
}

static void notify(void)
{
	wt_arrive(&w,
		  (struct ur_pkt){
			  .opcode = UR_OP_CNP, .dqpn = q.qp->qpn, .becn = true},
		  NULL);
}

static void answer(void)
{
	struct ur_pkt pkt = wt_pkt(&q, UR_OP_RC_ACK, ur_psn_add(next, -1), 0);

	pkt.syndrome = WT_ACK;
	if (q.qp->req.una != next)
		wt_arrive(&w, pkt, NULL);
}

/* A round trip; marked: of its packets, some. Returns how many they were. */
static u32 trip(u64 ns, bool marked)
{
	u32 n;

	wt_work(&q);
	wt_run(&w);
	n = collect();
	wt_sleep(&w, ns);
	n += collect();
	if (marked)
		notify();
	answer();
	return n;
}

static void trip_without_work(void)
{
	wt_run(&w);
	collect();
	wt_sleep(&w, SHORT_NS);
	answer();
	q.wc_head = q.wc_tail;
}

/* All are marked at first, for all that is known; later the share decides. */
static void cut_by_share(void)
{
	u32 before, after;

	start(UR_QPT_RC);
	trip(SHORT_NS, false);
	trip(LONG_NS, false);
	before = trip(LONG_NS, true);
	after = trip(LONG_NS, false);
	CHECK(after >= before * 4 / 10 && after <= before * 6 / 10);
	CHECK_EQ(counter(UR_CNT_rp_cnp_handled), 1);
	/* Each one after the other, until it is about two packets. */
	for (int i = 0; i < 40; i++)
		trip(LONG_NS, true);
	CHECK(q.qp->share.held);
	before = 0;
	for (int i = 0; i < 8; i++)
		before += trip(LONG_NS, true);
	CHECK(before <= 20);
	/* It grows again without, and then what is marked is a small part. */
	for (int i = 0; i < 200; i++)
		after = trip(LONG_NS, false);
	CHECK(after >= 16);
	before = trip(LONG_NS, true);
	after = trip(LONG_NS, false);
	CHECK(after >= before * 95 / 100);
	CHECK_EQ(tos, ECT0);
	wt_stop(&w, &q);
}

/* Several in a round trip are one reason. */
static void once_in_a_trip(void)
{
	u32 before, after;

	start(UR_QPT_RC);
	trip(SHORT_NS, false);
	trip(LONG_NS, false);
	before = trip(LONG_NS, true);
	for (int i = 0; i < 5; i++)
		notify();
	after = trip(LONG_NS, true);
	CHECK(after >= before * 4 / 10);
	wt_stop(&w, &q);
}

static u32 gap(void)
{
	return q.qp->share.path->cnp_gap_ns;
}

/* A host that had other work takes two CNPs at once, and the peer sends them no faster for that; it does where many
 * in a row come so fast. */
static void two_at_once(void)
{
	start(UR_QPT_RC);
	for (int i = 0; i < 40; i++) {
		trip(100 * WT_US, true);
		notify();
	}
	CHECK_EQ(gap(), 50 * WT_US);
	wt_work(&q);
	wt_run(&w);
	for (int i = 0; i < 40; i++) {
		wt_sleep(&w, 10 * WT_US);
		notify();
	}
	CHECK_EQ(gap(), 10 * WT_US);
	wt_stop(&w, &q);
}

/* A path that needed no window has one again. */
static void held_again(void)
{
	u32 before;

	start(UR_QPT_RC);
	for (int i = 0; i < 60; i++)
		trip(SHORT_NS, false);
	CHECK(!q.qp->share.held);
	before = trip(SHORT_NS, true);
	CHECK(q.qp->share.held);
	CHECK(trip(SHORT_NS, false) <= before * 7 / 10 + 1);
	wt_stop(&w, &q);
}

/* It says something of what we answer with, not of what we send. */
static void nothing_sent(void)
{
	start(UR_QPT_RC);
	notify();
	CHECK_EQ(counter(UR_CNT_rp_cnp_ignored), 1);
	CHECK_EQ(counter(UR_CNT_rp_cnp_handled), 0);
	CHECK_EQ(trip(SHORT_NS, false), 16);
	wt_stop(&w, &q);
}

/* The answers to a READ are as many as we ask for, so the CNP concerns us. */
static void marked_answer(void)
{
	u32 before;

	start(UR_QPT_RC);
	for (int i = 0; i < 3; i++)
		trip(SHORT_NS, false);
	while (q.qp->req.una != q.qp->req.max_psn ||
	       q.ring.send_tail != q.ring.retired)
		trip_without_work();
	before = q.qp->share.path->window.size;
	wt_post(&q, UR_WR_READ, 0, 256);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, next);
	w.meta.tos = CE;
	wt_feed(&w, wt_pkt(&q, UR_OP_RC_READ_RESP_ONLY, next, 256), NULL);
	w.meta.tos = 0;
	wt_wc(&q, UR_WC_SUCCESS);
	CHECK_EQ(counter(UR_CNT_np_cnp_sent), 1);
	CHECK(q.qp->share.path->window.size < before * 9 / 10);
	wt_stop(&w, &q);
}

/* Until it is known whether the peer answers; a second is enough. */
static void find_out(bool answers)
{
	ur_time began;

	trip(SHORT_NS, false);
	began = w.now;
	while (w.now < began + 1000 * WT_MS) {
		u32 before = tests;

		trip(LONG_NS, false);
		if (answers && tests > before)
			notify();
	}
}

static void again(void)
{
	ur_qp_destroy(q.qp);
	w.av.traffic_class = ECT0; /* as the host makes it */
	connect(UR_QPT_RC);
}

static void silent_peer(void)
{
	start(UR_QPT_RC);
	find_out(false);
	CHECK_EQ(tests, 4);
	CHECK_EQ(tos, 0);
	CHECK_EQ(counter(UR_CNT_ecn_unanswered), 1);
	/* As are those that are connected later. */
	again();
	trip(SHORT_NS, false);
	CHECK_EQ(tos, 0);
	/* For an hour; then it is asked again. */
	ur_qp_destroy(q.qp);
	wt_sleep(&w, HOUR_NS);
	w.av.traffic_class = ECT0;
	connect(UR_QPT_RC);
	find_out(false);
	CHECK_EQ(tests, 4);
	CHECK_EQ(counter(UR_CNT_ecn_unanswered), 2);
	CHECK_EQ(tos, 0);
	wt_stop(&w, &q);
}

static void peer_that_answers(void)
{
	u32 before;

	start(UR_QPT_RC);
	before = trip(SHORT_NS, false);
	find_out(true);
	CHECK_EQ(tests, 1);
	CHECK_EQ(tos, ECT0);
	CHECK_EQ(counter(UR_CNT_ecn_unanswered), 0);
	/* The test was no reason to send less. */
	CHECK(trip(LONG_NS, false) > before);
	wt_stop(&w, &q);
}

/* Short round trips are nobody's loss. */
static void nothing_waits(void)
{
	start(UR_QPT_RC);
	for (int i = 0; i < 500; i++)
		trip(WT_MS, false);
	CHECK_EQ(tests, 0);
	CHECK_EQ(tos, ECT0);
	wt_stop(&w, &q);
}

/* UC has a rate, and is ECT to those who have sent a CNP. */
static void uc(void)
{
	start(UR_QPT_UC);
	wt_work(&q);
	wt_run(&w);
	collect();
	CHECK_EQ(tos, 0);
	notify();
	CHECK_EQ(counter(UR_CNT_rp_cnp_handled), 1);
	CHECK(q.qp->cc->limited);
	ur_qp_destroy(q.qp);
	connect(UR_QPT_UC);
	wt_work(&q);
	wt_run(&w);
	collect();
	CHECK_EQ(tos, ECT0);
	wt_stop(&w, &q);
}

static void send_datagrams(u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct ur_send_wr *wr = wt_post(&q, UR_WR_SEND, 0, 1024);

		wr->av = &w.av;
		wr->dqpn = PEER;
		wr->qkey = 0x11111111;
	}
	wt_kick(&q);
	wt_run(&w);
	q.wc_head = q.wc_tail;
}

/* UD as well; who was sent nothing that is ECT has nothing to say. */
static void ud(void)
{
	start(UR_QPT_UD);
	w.av.traffic_class = 0;
	notify();
	send_datagrams(1);
	notify();
	CHECK_EQ(collect(), 1);
	CHECK_EQ(tos, 0);
	CHECK_EQ(counter(UR_CNT_rp_cnp_ignored), 2);
	CHECK(!q.qp->cc->limited);
	/* A CNP has come for a connection to the same address. */
	ur_marks_answer(w.port, w.av.dgid, q.qp->init.owner);
	send_datagrams(1);
	CHECK_EQ(collect(), 1);
	CHECK_EQ(tos, ECT0);
	w.meta.saddr[15]++;
	notify();
	CHECK_EQ(counter(UR_CNT_rp_cnp_ignored), 3);
	w.meta.saddr[15]--;
	for (int i = 0; i < 20; i++)
		notify();
	CHECK_EQ(counter(UR_CNT_rp_cnp_handled), 20);
	CHECK(q.qp->cc->limited);
	/* 1 Mbit/s is 8 ms for each, but the rate grows. */
	send_datagrams(8);
	CHECK(collect() < 8);
	wt_sleep(&w, 20 * WT_MS);
	collect();
	CHECK_EQ(q.ring.send_tail, q.ring.send_head);
	wt_stop(&w, &q);
}

/* The program says so itself. */
static void ud_asked(void)
{
	start(UR_QPT_UD);
	w.av.traffic_class = w.av.ecn = UR_ECN_ECT1;
	send_datagrams(1);
	collect();
	CHECK_EQ(tos, UR_ECN_ECT1);
	notify();
	CHECK_EQ(counter(UR_CNT_rp_cnp_handled), 1);
	CHECK(q.qp->cc->limited);
	/* The transport leaves an address vector alone that allows no ECN. */
	w.av.ecn = 0;
	w.av.traffic_class = 0;
	send_datagrams(1);
	wt_sleep(&w, WT_MS);
	collect();
	CHECK_EQ(tos, 0);
	wt_stop(&w, &q);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(cut_by_share());
	CASE(once_in_a_trip());
	CASE(two_at_once());
	CASE(held_again());
	CASE(nothing_sent());
	CASE(marked_answer());
	CASE(silent_peer());
	CASE(peer_that_answers());
	CASE(nothing_waits());
	CASE(uc());
	CASE(ud());
	CASE(ud_asked());
	return cases_status();
}

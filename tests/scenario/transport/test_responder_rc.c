// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RC responder, packet by packet: in order, duplicate, in the future,
 * wrong in form; each of it also across the PSN wrap.
 */
#include "tests/scenario/transport/responder.h"

static void in_order(void)
{
	struct wt_packet *p;

	start();
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_RC_SEND_FIRST, 0, 256, false);
	feed(UR_OP_RC_SEND_MIDDLE, 1, 256, false);
	wt_silence(&w);
	feed(UR_OP_RC_SEND_LAST, 2, 3, true);
	p = wt_expect_ack(&w, WT_ACK, P(2));
	CHECK_EQ(p->pkt.msn, 1);
	CHECK_EQ(p->pkt.dqpn, 0x77);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 515);
	for (u32 i = 0; i < 256; i++)
		CHECK_EQ(w.mem[256 + i], wt_pattern(i));
	/* No acknowledge request, no acknowledgement. */
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_RC_SEND_ONLY, 3, 0, false);
	wt_silence(&w);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 0);
	stop();
}

static void again(void)
{
	start();
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(0));
	/* In the middle of a message the state of it survives. */
	feed_dma(UR_OP_RC_WRITE_FIRST, 1, 256, 300);
	wt_next(&w);
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(1));
	feed_dma(UR_OP_RC_WRITE_LAST, 2, 44, 0);
	wt_expect_ack(&w, WT_ACK, P(2));
	CHECK_EQ(state(), UR_QP_RTS);
	stop();
}

static void future(void)
{
	start();
	feed_dma(UR_OP_RC_WRITE_ONLY, 2, 10, 10);
	wt_expect_ack(&w, WT_NAK_SEQ, P(0));
	/* Once for a gap. */
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_silence(&w);
	/* The peer has gone back, and PSN 0 is lost again. */
	wt_sleep(&w, 50 * WT_US);
	feed_dma(UR_OP_RC_WRITE_ONLY, 1, 10, 10);
	wt_expect_ack(&w, WT_NAK_SEQ, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 1, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(1));
	/* A new gap, a new NAK. */
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_expect_ack(&w, WT_NAK_SEQ, P(2));
	stop();
}

/* A network that reorders looks like a peer that goes back all the time: it is
 * asked ever more rarely, and the next gap is a new one. */
static void patience(void)
{
	u32 asked = 0;

	start();
	for (u32 i = 0; i < 200; i++) {
		wt_sleep(&w, 50 * WT_US);
		feed_dma(UR_OP_RC_WRITE_ONLY, 100 - i % 90, 10, 10);
		for (; w.out_head != w.out_tail; asked++)
			wt_expect_ack(&w, WT_NAK_SEQ, P(0));
	}
	CHECK(asked >= 4 && asked <= 9);
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, WT_ACK, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	wt_sleep(&w, 50 * WT_US);
	feed_dma(UR_OP_RC_WRITE_ONLY, 2, 10, 10);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	stop();
}

/* Payload against MTU for first, middle, last, only (C9-92). */
static void lengths(void)
{
	static const struct {
		u8 first, opcode;
		u32 bytes, dma;
		bool good;
	} cases[] = {
		{0xff, UR_OP_RC_WRITE_FIRST, 255, 600, false},
		{0xff, UR_OP_RC_WRITE_FIRST, 256, 600, true},
		{0xff, UR_OP_RC_WRITE_FIRST, 257, 600, false},
		{0xff, UR_OP_RC_WRITE_FIRST, 256, 256, false},
		{UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_MIDDLE, 255, 0, false},
		{UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_MIDDLE, 256, 0, true},
		{UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_LAST, 0, 0, false},
		{UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_LAST, 100, 0, false},
		{UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_LAST, 257, 0, false},
		{0xff, UR_OP_RC_WRITE_ONLY, 257, 257, false},
		{0xff, UR_OP_RC_WRITE_ONLY, 256, 256, true},
		{0xff, UR_OP_RC_WRITE_ONLY, 0, 0, true},
		{0xff, UR_OP_RC_WRITE_ONLY, 10, 11, false},
		{0xff, UR_OP_RC_SEND_FIRST, 255, 0, false},
		{0xff, UR_OP_RC_SEND_FIRST, 0, 0, false},
		{0xff, UR_OP_RC_SEND_ONLY, 257, 0, false},
		{UR_OP_RC_SEND_FIRST, UR_OP_RC_SEND_LAST, 0, 0, false},
		{UR_OP_RC_SEND_FIRST, UR_OP_RC_SEND_LAST, 256, 0, true},
		{UR_OP_RC_SEND_FIRST, UR_OP_RC_SEND_MIDDLE, 4, 0, false},
		{0xff, UR_OP_RC_READ_REQ, 0, 0x80000001, false},
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(cases); i++) {
		bool first = cases[i].first != 0xff;

		start();
		wt_post_recv(&q, 0, 1000);
		if (first) {
			feed_dma(cases[i].first, 0, 256, 600);
			wt_next(&w);
		}
		feed_dma(cases[i].opcode, first, cases[i].bytes, cases[i].dma);
		CHECK_EQ(state() == UR_QP_RTS, cases[i].good);
		if (!cases[i].good) {
			wt_expect_ack(&w, WT_NAK_INV_REQ, P(first));
			CHECK(q.events & (1u << UR_EVENT_QP_REQ_ERR));
			CHECK_EQ(wt_wc(&q, UR_WC_WR_FLUSH_ERR).opcode,
				 UR_WC_RECV);
		}
		stop();
	}
}

/* The opcode must go on where the last packet stopped. */
static void sequence(void)
{
	static const u8 ops[] = {
		UR_OP_RC_SEND_FIRST,  UR_OP_RC_SEND_MIDDLE,
		UR_OP_RC_SEND_LAST,   UR_OP_RC_SEND_ONLY,
		UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_MIDDLE,
		UR_OP_RC_WRITE_LAST,  UR_OP_RC_WRITE_ONLY,
		UR_OP_RC_READ_REQ,    UR_OP_RC_CMP_SWAP,
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(ops); i++)
		for (int m = 0; m < 3; m++) {
			u32 f = ur_opcode_lookup(ops[i])->flags;
			bool good = m == 0   ? f & UR_OPF_START
				    : m == 1 ? (f & UR_OPF_SEND) &&
						       !(f & UR_OPF_START)
					     : (f & UR_OPF_WRITE) &&
						       !(f & UR_OPF_START);
			u32 n = f & UR_OPF_PAYLOAD ? 256 : 0;

			start();
			wt_post_recv(&q, 0, 1000);
			if (m == 1)
				feed(UR_OP_RC_SEND_FIRST, 0, 256, false);
			if (m == 2) {
				struct ur_pkt p =
					pkt(UR_OP_RC_WRITE_FIRST, 0, 256);

				p.dma_bytes = f & UR_OPF_MIDDLE ? 1000 : 512;
				wt_feed(&w, p, NULL);
			}
			feed_dma(ops[i], m != 0, n,
				 f & UR_OPF_FIRST ? 1000 : n);
			CHECK_EQ(state() == UR_QP_RTS, good);
			if (!good)
				wt_expect_ack(&w, WT_NAK_INV_REQ, P(m != 0));
			stop();
		}
}

static void wrong_header(void)
{
	struct ur_pkt p;
	const u64 *c;

	start();
	c = ur_port_counters(w.port);
	p = pkt(UR_OP_RC_WRITE_ONLY, 0, 4);
	p.dma_bytes = 4;
	p.ackreq = true;
	p.pkey = 0x1234;
	wt_feed(&w, p, NULL);
	CHECK_EQ(c[UR_CNT_bad_pkey], 1);
	p.pkey = 0;
	p.dqpn = 0x999;
	wt_feed(&w, p, NULL);
	CHECK_EQ(c[UR_CNT_bad_qpn], 1);
	p.dqpn = q.qp->qpn;
	w.meta.saddr[15] ^= 1;
	wt_feed(&w, p, NULL);
	CHECK_EQ(c[UR_CNT_bad_gid], 1);
	w.meta.saddr[15] ^= 1;
	p.opcode = UR_OP_UC_WRITE_ONLY;
	wt_feed(&w, p, NULL);
	CHECK_EQ(c[UR_CNT_bad_opcode], 1);
	wt_silence(&w);
	CHECK_EQ(state(), UR_QP_RTS);
	stop();
}

static void established(void)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	wt_open(&w);
	a = wt_attr(&w, 0x77, 100, psn0);
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rtr(&q, &a);
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, WT_ACK, P(0));
	CHECK_EQ(q.events, 1u << UR_EVENT_COMM_EST);
	CHECK_EQ(q.event_count, 1);
	stop();
}

/* One of three receives is taken, and four are posted before the acknowledgement leaves. */
static void credits_of(bool loop, u8 code)
{
	struct ur_pkt p;

	wt_config(&w, 0);
	w.cfg.credits = true;
	w.av.loop = loop;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 100, psn0);
	for (u32 i = 0; i < 3; i++)
		wt_post_recv(&q, 0, 100);
	p = pkt(UR_OP_RC_SEND_ONLY, 0, 10);
	p.ackreq = true;
	wt_arrive(&w, p, NULL);
	for (u32 i = 0; i < 4; i++)
		wt_post_recv(&q, 0, 100);
	wt_run(&w);
	wt_expect_ack(&w, UR_AETH_ACK | code, P(0));
	stop();
}

static void credits(void)
{
	credits_of(false, 5); /* six */
	credits_of(true, 2);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, in_order);
	CASE_FROM_EACH(first_psns, &psn0, again);
	CASE_FROM_EACH(first_psns, &psn0, future);
	CASE_FROM_EACH(first_psns, &psn0, patience);
	CASE_FROM_EACH(first_psns, &psn0, lengths);
	CASE_FROM_EACH(first_psns, &psn0, sequence);
	CASE_FROM_EACH(first_psns, &psn0, wrong_header);
	CASE_FROM_EACH(first_psns, &psn0, established);
	CASE_FROM_EACH(first_psns, &psn0, credits);
	return cases_status();
}

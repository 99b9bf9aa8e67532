// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RC responder, packet by packet: in order, duplicate, in the future,
 * wrong in form, wrong in rights; each of it also across the PSN wrap.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0; /* first PSN of the peer */

#define P(n)   ur_psn_add(psn0, n)
#define REMOTE (WT_IOVA + 0x80000)

static void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, 100, psn0);
}

static void stop(void)
{
	CHECK(!ur_qp_check(q.qp));
	ur_qp_destroy(q.qp);
	wt_close(&w);
}

static struct ur_pkt pkt(u8 opcode, u32 n, u32 bytes)
{
	return (struct ur_pkt){.opcode = opcode,
			       .dqpn = q.qp->qpn,
			       .psn = P(n),
			       .payload_bytes = bytes,
			       .va = REMOTE,
			       .rkey = w.key};
}

static void feed(u8 opcode, u32 n, u32 bytes, bool ackreq)
{
	struct ur_pkt p = pkt(opcode, n, bytes);

	p.ackreq = ackreq;
	wt_feed(&w, p, NULL);
}

/* Also with a DMA length. */
static void feed_dma(u8 opcode, u32 n, u32 bytes, u32 dma)
{
	struct ur_pkt p = pkt(opcode, n, bytes);

	p.ackreq = true;
	p.dma_bytes = dma;
	wt_feed(&w, p, NULL);
}

static u32 state(void)
{
	return q.qp->state;
}

static void in_order(void)
{
	struct wt_packet *p;

	start();
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_RC_SEND_FIRST, 0, 256, false);
	feed(UR_OP_RC_SEND_MIDDLE, 1, 256, false);
	wt_silence(&w);
	feed(UR_OP_RC_SEND_LAST, 2, 3, true);
	p = wt_expect_ack(&w, 0x1f, P(2));
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
	wt_expect_ack(&w, 0x1f, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, 0x1f, P(0));
	/* In the middle of a message the state of it survives. */
	feed_dma(UR_OP_RC_WRITE_FIRST, 1, 256, 300);
	wt_next(&w);
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, 0x1f, P(1));
	feed_dma(UR_OP_RC_WRITE_LAST, 2, 44, 0);
	wt_expect_ack(&w, 0x1f, P(2));
	CHECK_EQ(state(), UR_QP_RTS);
	stop();
}

static void future(void)
{
	start();
	feed_dma(UR_OP_RC_WRITE_ONLY, 2, 10, 10);
	wt_expect_ack(&w, 0x60, P(0));
	/* Once for a gap. */
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_silence(&w);
	/* The peer has gone back, and PSN 0 is lost again. */
	wt_sleep(&w, 50 * WT_US);
	feed_dma(UR_OP_RC_WRITE_ONLY, 1, 10, 10);
	wt_expect_ack(&w, 0x60, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, 0x1f, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 1, 10, 10);
	wt_expect_ack(&w, 0x1f, P(1));
	/* A new gap, a new NAK. */
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_expect_ack(&w, 0x60, P(2));
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
			wt_expect_ack(&w, 0x60, P(0));
	}
	CHECK(asked >= 4 && asked <= 9);
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 10, 10);
	wt_expect_ack(&w, 0x1f, P(0));
	feed_dma(UR_OP_RC_WRITE_ONLY, 3, 10, 10);
	wt_expect_ack(&w, 0x60, P(1));
	wt_sleep(&w, 50 * WT_US);
	feed_dma(UR_OP_RC_WRITE_ONLY, 2, 10, 10);
	wt_expect_ack(&w, 0x60, P(1));
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
			wt_expect_ack(&w, 0x61, P(first));
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
				wt_expect_ack(&w, 0x61, P(m != 0));
			stop();
		}
}

static void rights(void)
{
	struct ur_mr_attr attr;
	struct ur_pkt p;

	/* The queue pair's flags come first: invalid request. */
	start();
	q.qp->attr.access = UR_ACCESS_REMOTE_READ;
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, 0x61, P(0));
	stop();
	/* Wrong key, wrong range, wrapping range: remote access. */
	for (int i = 0; i < 5; i++) {
		start();
		p = pkt(UR_OP_RC_WRITE_FIRST, 0, 256);
		p.dma_bytes = 600;
		if (i == 0)
			p.rkey ^= 1;
		if (i == 1)
			p.va = WT_IOVA + WT_MEM_BYTES - 599;
		if (i == 2)
			p.va = WT_IOVA - 1;
		if (i == 3)
			p.va = UINT64_MAX - 10;
		if (i == 4) {
			attr = w.mr->attr;
			attr.access &= ~(u32)UR_ACCESS_REMOTE_WRITE;
			CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
		}
		wt_feed(&w, p, NULL);
		wt_expect_ack(&w, 0x62, P(0));
		CHECK(q.events & (1u << UR_EVENT_QP_ACCESS_ERR));
		/* What follows gets no answer. */
		feed_dma(UR_OP_RC_WRITE_MIDDLE, 1, 256, 0);
		wt_silence(&w);
		stop();
	}
	/* Length zero: the key is not looked at (C9-88). */
	start();
	p = pkt(UR_OP_RC_WRITE_ONLY, 0, 0);
	p.rkey = 0xdead;
	p.ackreq = true;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, 0x1f, P(0));
	p.opcode = UR_OP_RC_READ_REQ;
	p.psn = P(1);
	wt_feed(&w, p, NULL);
	wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(1));
	stop();
	/* The region changes in the middle of a message. */
	start();
	feed_dma(UR_OP_RC_WRITE_FIRST, 0, 256, 600);
	wt_next(&w);
	attr = w.mr->attr;
	attr.length = 0x80000 + 300;
	CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
	feed_dma(UR_OP_RC_WRITE_MIDDLE, 1, 256, 0);
	wt_expect_ack(&w, 0x62, P(1));
	stop();
}

static void receives(void)
{
	/* Longer than the receive: invalid request, length error here. */
	start();
	wt_post_recv(&q, 0, 500);
	wt_post_recv(&q, 0, 500);
	feed(UR_OP_RC_SEND_FIRST, 0, 256, false);
	feed(UR_OP_RC_SEND_LAST, 1, 245, true);
	wt_expect_ack(&w, 0x61, P(1));
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	wt_no_wc(&q);
	stop();
	/* A receive with a bad key: remote operational error. */
	start();
	wt_post_recv(&q, 0, 500);
	q.recv[0].sge[0].lkey ^= 1;
	feed(UR_OP_RC_SEND_ONLY, 0, 5, true);
	wt_expect_ack(&w, 0x63, P(0));
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
	/* Receives posted to a queue pair in error are flushed. */
	start();
	ur_qp_fail(q.qp);
	wt_run(&w);
	CHECK(q.want_kick);
	wt_post_recv(&q, 0, 500);
	wt_run(&w);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	stop();
	/* With immediate, WRITE takes a receive at its last packet. */
	start();
	wt_post_recv(&q, 0, 0);
	feed_dma(UR_OP_RC_WRITE_FIRST, 0, 256, 260);
	wt_next(&w);
	wt_no_wc(&q);
	feed_dma(UR_OP_RC_WRITE_LAST_IMM, 1, 4, 0);
	wt_expect_ack(&w, 0x1f, P(1));
	{
		struct ur_wc wc = wt_wc(&q, 0);

		CHECK_EQ(wc.opcode, UR_WC_RECV_RDMA_WITH_IMM);
		CHECK_EQ(wc.byte_len, 260);
	}
	stop();
}

/* Reads and writes mixed, then repeated: the packets that past
 * implementations answered wrongly. */
static void duplicates_and_reads(void)
{
	struct wt_packet *p;

	/* Read of three, write begins, the read comes again: the message
	 * state is not lost. */
	start();
	feed_dma(UR_OP_RC_READ_REQ, 20 - 20, 0, 600);
	wt_expect(&w, UR_OP_RC_READ_RESP_FIRST, P(0));
	wt_expect(&w, UR_OP_RC_READ_RESP_MIDDLE, P(1));
	p = wt_expect(&w, UR_OP_RC_READ_RESP_LAST, P(2));
	CHECK_EQ(p->pkt.payload_bytes, 88);
	CHECK(memcmp(p->pkt.payload, w.mem + 0x80000 + 512, 88) == 0);
	feed_dma(UR_OP_RC_WRITE_FIRST, 3, 256, 600);
	wt_next(&w);
	feed_dma(UR_OP_RC_READ_REQ, 0, 0, 600);
	wt_expect(&w, UR_OP_RC_READ_RESP_FIRST, P(0));
	wt_expect(&w, UR_OP_RC_READ_RESP_MIDDLE, P(1));
	wt_expect(&w, UR_OP_RC_READ_RESP_LAST, P(2));
	feed_dma(UR_OP_RC_WRITE_MIDDLE, 4, 256, 0);
	wt_expect_ack(&w, 0x1f, P(4));
	feed_dma(UR_OP_RC_WRITE_LAST, 5, 88, 0);
	wt_expect_ack(&w, 0x1f, P(5));
	stop();

	/* Write 0 acknowledged, read 1 answered, write 0 again: the
	 * acknowledgement must not speak for the read. */
	start();
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, 0x1f, P(0));
	feed_dma(UR_OP_RC_READ_REQ, 1, 0, 4);
	wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(1));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, 0x1f, P(0));
	wt_silence(&w);
	stop();

	/* Part of a read again, from its middle. */
	start();
	feed_dma(UR_OP_RC_READ_REQ, 0, 0, 600);
	w.out_head = w.out_tail;
	{
		struct ur_pkt r = pkt(UR_OP_RC_READ_REQ, 1, 0);

		r.va += 256;
		r.dma_bytes = 344;
		wt_feed(&w, r, NULL);
		p = wt_expect(&w, UR_OP_RC_READ_RESP_FIRST, P(1));
		CHECK(memcmp(p->pkt.payload, w.mem + 0x80100, 256) == 0);
		wt_expect(&w, UR_OP_RC_READ_RESP_LAST, P(2));
		/* Only what was asked for before, with the same key. */
		r.rkey ^= 1;
		wt_feed(&w, r, NULL);
		r.rkey ^= 1;
		r.dma_bytes = 345;
		wt_feed(&w, r, NULL);
		r.va++;
		r.dma_bytes = 4;
		wt_feed(&w, r, NULL);
		wt_silence(&w);
	}
	stop();
}

static void atomics(void)
{
	struct ur_pkt p;
	u64 v = 5, got;

	start();
	memcpy(w.mem + 0x80000, &v, 8);
	p = pkt(UR_OP_RC_FETCH_ADD, 0, 0);
	p.swap_add = 10;
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(0))->pkt.atomic_orig, 5);
	/* Again: the saved answer, not a second addition. */
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(0))->pkt.atomic_orig, 5);
	memcpy(&got, w.mem + 0x80000, 8);
	CHECK_EQ(got, 15);
	p = pkt(UR_OP_RC_CMP_SWAP, 1, 0);
	p.compare = 15;
	p.swap_add = 99;
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(1))->pkt.atomic_orig, 15);
	p.psn = P(2);
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(2))->pkt.atomic_orig, 99);
	/* Not aligned: invalid request. */
	p.psn = P(3);
	p.va += 4;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, 0x61, P(3));
	stop();
	/* None allowed. */
	start();
	q.qp->resp.res_count = 0;
	p.psn = P(0);
	p.va -= 4;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, 0x61, P(0));
	stop();
}

static void extensions(void)
{
	struct ur_pkt p;
	u8 value[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	start();
	p = pkt(UR_OP_RC_ATOMIC_WRITE, 0, 8);
	p.dma_bytes = 8;
	p.ackreq = true;
	wt_feed(&w, p, value);
	CHECK_EQ(
		wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(0))->pkt.payload_bytes,
		0);
	CHECK(memcmp(w.mem + 0x80000, value, 8) == 0);
	p = pkt(UR_OP_RC_FLUSH, 1, 0);
	p.dma_bytes = 64;
	p.flush_placement = UR_FETH_GLOBAL;
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(1))->pkt.msn, 2);
	/* A placement type that says nothing. */
	p.psn = P(2);
	p.flush_placement = 0;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, 0x61, P(2));
	stop();
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
	wt_expect_ack(&w, 0x1f, P(0));
	CHECK_EQ(q.events, 1u << UR_EVENT_COMM_EST);
	CHECK_EQ(q.event_count, 1);
	stop();
}

static const u32 first_psns[] = {0,	   5,	     0xffffff, 0xfffffe,
				 0xfffffd, 0x7fffff, 0x800000};

int main(void)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(first_psns); i++) {
		psn0 = first_psns[i];
		in_order();
		again();
		future();
		patience();
		lengths();
		sequence();
		rights();
		receives();
		duplicates_and_reads();
		atomics();
		extensions();
		wrong_header();
		established();
	}
	return 0;
}

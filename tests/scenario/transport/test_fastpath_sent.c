// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The middle of long messages that go out: requests, the same ones again, and
 * READs from both sides.
 */
#include "tests/scenario/transport/fastpath.h"

/* The same packets leave in the same order. */
static void sent(void)
{
	struct ur_send_wr *wr;

	start();
	wr = wt_post(&q, UR_WR_WRITE, 0x1000, 150 * MTU - 1);
	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	for (u32 i = 0; i < 128; i++) { /* the window */
		struct wt_packet *p = wt_expect(
			&w, i ? UR_OP_RC_WRITE_MIDDLE : UR_OP_RC_WRITE_FIRST,
			P(i));

		CHECK_EQ(p->pkt.ackreq, i % 64 == 63);
		CHECK_EQ(p->pkt.payload_bytes, MTU);
		CHECK(!memcmp(p->pkt.payload, w.mem + 0x1000 + i * MTU, MTU));
	}
	wt_silence(&w);
	feed(UR_OP_RC_ACK, 10, 0);
	for (u32 i = 128; i < 139; i++) /* the last that may go asks */
		CHECK_EQ(wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(i))->pkt.ackreq,
			 i == 138);
	wt_silence(&w);
	feed(UR_OP_RC_ACK, 63, 0);
	for (u32 i = 139; i < 149; i++)
		CHECK(!wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(i))->pkt.ackreq);
	CHECK(wt_expect(&w, UR_OP_RC_WRITE_LAST, P(149))->pkt.ackreq);
	feed(UR_OP_RC_ACK, 149, 0);
	wt_wc(&q, 0);
	stop();
}

/* Gone back: some are sent again, and then some for the first time. */
static void sent_again(void)
{
	struct ur_send_wr *wr;

	start();
	wr = wt_post(&q, UR_WR_WRITE, 0x1000, 150 * MTU);
	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	for (u32 i = 0; i < 128; i++)
		wt_next(&w);
	wt_ack(&w, &q, P(10), 0x21); /* RNR NAK, 10 us */
	wt_silence(&w);
	wt_sleep(&w, 10 * WT_US);
	for (u32 i = 10; i < 138; i++) {
		struct wt_packet *p =
			wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(i));

		CHECK_EQ(p->pkt.ackreq, (i - 10) % 64 == 63);
		CHECK(!memcmp(p->pkt.payload, w.mem + 0x1000 + i * MTU, MTU));
	}
	wt_silence(&w);
	CHECK_EQ(q.qp->shown[UR_QP_CNT_resent_pkts], 118);
	CHECK_EQ(q.qp->req.max_psn, P(138));
	stop();
}

static void read_data(void)
{
	struct ur_send_wr *wr;

	start();
	memset(w.mem, 0, 0x4000);
	begin_read(4);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 1, MTU);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 1, MTU); /* again: nothing */
	CHECK_EQ(q.qp->req.una, P(2));
	CHECK(filled(0x1000, 2 * MTU));
	feed(UR_OP_RC_READ_RESP_MIDDLE, 2, MTU);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 3, MTU); /* the last one was due */
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	CHECK(filled(0x1000, 3 * MTU));
	CHECK_EQ(w.mem[0x1000 + 3 * MTU], 0);
	stop();
	start(); /* the end of a request is not that of the message */
	begin_read(140);
	for (u32 i = 1; i < 127; i++)
		feed(UR_OP_RC_READ_RESP_MIDDLE, i, MTU);
	CHECK_EQ(q.qp->req.una, P(127));
	feed(UR_OP_RC_READ_RESP_MIDDLE, 127, MTU);
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	stop();
	start(); /* nothing was to be read */
	memset(w.mem, 0, 0x4000);
	wr = wt_post(&q, UR_WR_WRITE, 0x1000, 4 * MTU);
	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	feed(UR_OP_RC_ACK, 0, 0);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 1, MTU);
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	CHECK_EQ(w.mem[0x1000 + MTU + 1], 0);
	stop();
}

static void answered(void)
{
	struct ur_qp_attr a;
	struct ur_pkt p;

	start();
	ur_qp_destroy(q.qp);
	a = wt_attr(&w, 0x77, PSN0, PSN0);
	a.max_dest_rd_atomic = 1;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	p = pkt(UR_OP_RC_READ_REQ, 0, 0);
	wt_feed(&w, p, NULL);
	for (u32 i = 0; i < 5; i++) {
		struct wt_packet *out =
			wt_expect(&w,
				  i == 0  ? UR_OP_RC_READ_RESP_FIRST
				  : i < 4 ? UR_OP_RC_READ_RESP_MIDDLE
					  : UR_OP_RC_READ_RESP_LAST,
				  P(i));

		CHECK(!memcmp(out->pkt.payload, w.mem + 0x80000 + i * MTU,
			      MTU));
	}
	/* Another with the same resource number, elsewhere. */
	for (u32 n = 0; n < 8; n++) {
		p = pkt(UR_OP_RC_READ_REQ, 5 + 5 * n, 0);
		p.va = WT_IOVA + 0x1000 * n;
		wt_feed(&w, p, NULL);
		for (u32 i = 0; i < 5; i++)
			CHECK(!memcmp(wt_next(&w)->pkt.payload,
				      w.mem + 0x1000 * n + i * MTU, MTU));
	}
	wt_silence(&w);
	stop();
}

/* Memory that is not mapped is read in large pieces: a system call each. A piece
 * of which some cannot be read goes out up to there. */
static void sent_in_pieces(void)
{
	struct ur_send_wr *wr;

	for (int faults = 0; faults < 2; faults++) {
		start();
		w.faults = faults ? MTU + 1 : 0;
		wr = wt_post(&q, UR_WR_WRITE, 0x1000, 128 * MTU);
		wr->raddr = WT_REMOTE;
		wr->rkey = 0xabcd;
		wt_kick(&q);
		for (u32 i = 0; i < 128; i++)
			CHECK(!memcmp(wt_next(&w)->pkt.payload,
				      w.mem + 0x1000 + i * MTU, MTU));
		if (!copied)
			CHECK_EQ(w.reads, 0);
		else if (fast && !faults) /* the first, the last, quanta */
			CHECK(w.reads <= 2 + 3);
		else
			CHECK(w.reads >= 128);
		stop();
	}
	start();
	wt_feed(&w, pkt(UR_OP_RC_READ_REQ, 0, 0), NULL);
	for (u32 i = 0; i < 5; i++)
		CHECK(!memcmp(wt_next(&w)->pkt.payload,
			      w.mem + WT_REMOTE_OFF + i * MTU, MTU));
	CHECK_EQ(w.reads, !copied ? 0 : fast ? 3 : 5);
	stop();
}

/* Memory that is slow to reach is announced once for each message, and all of its packets are read as
 * announced. */
static void fetched_ahead(void)
{
	struct ur_send_wr *wr;

	if (!pieces)
		return;
	ahead = true;
	for (u32 less = 0; less < 8; less += 7) {
		start();
		wr = wt_post(&q, UR_WR_WRITE, 0x1000, 100 * MTU - less);
		wr->raddr = WT_REMOTE;
		wr->rkey = 0xabcd;
		wt_kick(&q);
		for (u32 i = 0; i < 100; i++)
			CHECK(!memcmp(wt_next(&w)->pkt.payload,
				      w.mem + 0x1000 + i * MTU,
				      i < 99 ? MTU : MTU - less));
		CHECK_EQ(w.announced.times, 1);
		CHECK_EQ(w.announced.next, 0x1000 + 100 * MTU - less);
		CHECK_EQ(w.alone, 0);
		stop();
	}
	start();
	wt_feed(&w, pkt(UR_OP_RC_READ_REQ, 0, 0), NULL);
	for (u32 i = 0; i < 5; i++)
		CHECK(!memcmp(wt_next(&w)->pkt.payload,
			      w.mem + WT_REMOTE_OFF + i * MTU, MTU));
	CHECK_EQ(w.announced.times, 1);
	CHECK_EQ(w.alone, 0);
	/* A message of one packet is not. */
	wr = wt_post(&q, UR_WR_WRITE, 0x1000, MTU);
	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	CHECK(!memcmp(wt_next(&w)->pkt.payload, w.mem + 0x1000, MTU));
	CHECK_EQ(w.announced.times, 1);
	stop();
	ahead = false;
}

static void conversations(void)
{
	sent();
	sent_in_pieces();
	fetched_ahead();
	sent_again();
	read_data();
	answered();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(each_way(conversations));
	return cases_status();
}

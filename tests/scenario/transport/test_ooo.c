// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A responder that keeps what follows a gap, and a requester that finds out
 * whether its peer does.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/ooo.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0;

#define P(n) ur_psn_add(psn0, n)

static void start(bool ooo)
{
	wt_config(&w, 0);
	w.cfg.ooo = ooo;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, psn0, psn0);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void feed(u8 opcode, u32 n, u32 bytes, u32 dma, bool ackreq)
{
	struct ur_pkt p = wt_pkt(&q, opcode, P(n), bytes);

	p.dma_bytes = dma;
	p.ackreq = ackreq;
	wt_feed(&w, p, NULL);
}

static void ack(u32 n, u8 syndrome)
{
	wt_ack(&w, &q, P(n), syndrome);
}

static void keeps(void)
{
	start(true);
	memset(w.mem + 0x80000, 0, 2000);
	feed(UR_OP_RC_WRITE_FIRST, 0, 256, 1200, false);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, 256, 0, false);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	feed(UR_OP_RC_WRITE_MIDDLE, 3, 256, 0, false);
	wt_silence(&w);
	/* The same again, by the network, or as the peer has gone back. */
	feed(UR_OP_RC_WRITE_MIDDLE, 3, 256, 0, false);
	wt_silence(&w);
	wt_sleep(&w, 50 * WT_US);
	feed(UR_OP_RC_WRITE_MIDDLE, 3, 256, 0, false);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	/* The gap closes: the jump is acknowledged, though nobody asked. */
	feed(UR_OP_RC_WRITE_MIDDLE, 1, 256, 0, false);
	wt_expect_ack(&w, WT_ACK, P(3));
	feed(UR_OP_RC_WRITE_LAST, 4, 176, 0, true);
	wt_expect_ack(&w, WT_ACK, P(4));
	for (u32 i = 0; i < 176; i++)
		CHECK_EQ(w.mem[0x80400 + i], wt_pattern(i));
	for (u32 i = 0; i < 1024; i++)
		CHECK_EQ(w.mem[0x80000 + i], wt_pattern(i % 256));
	/* Two gaps: the second is reported as soon as the first closes. */
	feed(UR_OP_RC_WRITE_ONLY, 6, 4, 4, true);
	wt_expect_ack(&w, WT_NAK_SEQ, P(5));
	feed(UR_OP_RC_WRITE_ONLY, 8, 4, 4, true);
	wt_silence(&w);
	feed(UR_OP_RC_WRITE_ONLY, 5, 4, 4, true);
	wt_expect_ack(&w, WT_NAK_SEQ, P(7));
	feed(UR_OP_RC_WRITE_ONLY, 7, 4, 4, true);
	wt_expect_ack(&w, WT_ACK, P(8));
	/* A read among what was kept. */
	feed(UR_OP_RC_READ_REQ, 10, 0, 4, true);
	wt_expect_ack(&w, WT_NAK_SEQ, P(9));
	feed(UR_OP_RC_WRITE_ONLY, 9, 4, 4, true);
	wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(10));
	wt_silence(&w);
	/* Too far ahead is not kept. */
	feed(UR_OP_RC_WRITE_ONLY, 11 + UR_OOO_SPAN, 4, 4, true);
	wt_expect_ack(&w, WT_NAK_SEQ, P(11));
	CHECK_EQ(q.qp->resp.ooo->count, 0);
	stop();
}

/* Kept packets end with the connection, and with a refusal among them. */
static void ends(void)
{
	start(true);
	/* The first packet shows the port that the peer's come from. */
	feed(UR_OP_RC_WRITE_ONLY, 0, 4, 4, true);
	wt_expect_ack(&w, WT_ACK, P(0));
	feed(UR_OP_RC_WRITE_ONLY, 2, 4, 4, true);
	feed(UR_OP_RC_WRITE_MIDDLE, 3, 256, 0, true);
	feed(UR_OP_RC_WRITE_ONLY, 4, 4, 4, true);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	feed(UR_OP_RC_WRITE_ONLY, 1, 4, 4, true);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(3));
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK_EQ(q.qp->resp.ooo->count, 0);
	stop();
}

static void post(void)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_WRITE, 0x100, 256 * 40);

	wr->raddr = 0x5000;
	wt_kick(&q);
	CHECK_EQ(w.out_tail - w.out_head, 40);
	w.out_head = w.out_tail;
}

static void requester(void)
{
	/* The peer keeps: one packet, and nothing else again. */
	start(false);
	post();
	ack(10, WT_NAK_SEQ);
	CHECK(wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(10))->pkt.ackreq);
	wt_silence(&w);
	ack(39, WT_ACK);
	wt_wc(&q, 0);
	wt_silence(&w);
	post();
	/* Two gaps. */
	ack(50, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(50));
	ack(55, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(55));
	wt_silence(&w);
	ack(79, WT_ACK);
	wt_wc(&q, 0);
	stop();
	/* The peer drops: it acknowledges just the one, and all comes again;
	 * the next loss does not ask a second time. */
	start(false);
	post();
	ack(10, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(10));
	wt_silence(&w);
	ack(10, WT_ACK);
	for (u32 i = 11; i < 39; i++)
		wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(i));
	wt_expect(&w, UR_OP_RC_WRITE_LAST, P(39));
	ack(20, WT_NAK_SEQ);
	for (u32 i = 20; i < 39; i++)
		wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(i));
	wt_expect(&w, UR_OP_RC_WRITE_LAST, P(39));
	wt_silence(&w);
	ack(39, WT_ACK);
	wt_wc(&q, 0);
	stop();
}

static const u32 first_psns[] = {0, 0xffffff, 0xfffff5, 0x7ffffe};

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, keeps);
	CASE_FROM_EACH(first_psns, &psn0, ends);
	CASE_FROM_EACH(first_psns, &psn0, requester);
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A network that puts packets behind others: those of one message, those of
 * several, and old ones once more in between; to a responder that keeps what
 * comes early and to one that does not. Whatever the order, each message
 * arrives once, whole, and in its turn.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/internal.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0;

#define P(n)	 ur_psn_add(psn0, n)
#define RECV_OFF 0x10000
#define MEM_OFF	 0x80000
#define WORD_OFF 0x90000

/* The peer sends a SEND of five packets, a WRITE of three, a SEND, a FETCH_ADD
 * and a READ. */
enum { SEND_LAST = 4, WRITE = 5, WRITE_LAST = 7, SMALL = 8, ADD = 9, READ };

static const struct {
	u8 opcode;
	u16 bytes;
	u32 dma, off;
	bool ackreq;
} sent[] = {
	{UR_OP_RC_SEND_FIRST, 256, 0, 0, false},
	{UR_OP_RC_SEND_MIDDLE, 256, 0, 0, false},
	{UR_OP_RC_SEND_MIDDLE, 256, 0, 0, false},
	{UR_OP_RC_SEND_MIDDLE, 256, 0, 0, false},
	{UR_OP_RC_SEND_LAST, 100, 0, 0, true},
	{UR_OP_RC_WRITE_FIRST, 256, 612, MEM_OFF, false},
	{UR_OP_RC_WRITE_MIDDLE, 256, 0, 0, false},
	{UR_OP_RC_WRITE_LAST, 100, 0, 0, true},
	{UR_OP_RC_SEND_ONLY, 40, 0, 0, true},
	{UR_OP_RC_FETCH_ADD, 0, 0, WORD_OFF, true},
	{UR_OP_RC_READ_REQ, 0, 612, MEM_OFF, true},
};

static u8 byte_of(u32 n, u32 i)
{
	return (u8)(n * 16 + i + 1);
}

static void feed(u32 n)
{
	u8 payload[256];

	for (u32 i = 0; i < sizeof(payload); i++)
		payload[i] = byte_of(n, i);
	wt_feed(&w,
		(struct ur_pkt){.opcode = sent[n].opcode,
				.dqpn = q.qp->qpn,
				.psn = P(n),
				.payload_bytes = sent[n].bytes,
				.dma_bytes = sent[n].dma,
				.va = WT_IOVA + sent[n].off,
				.rkey = w.key,
				.swap_add = 5,
				.ackreq = sent[n].ackreq},
		payload);
}

/* One packet in, and what comes of it. */
static void quiet(u32 n)
{
	feed(n);
	wt_silence(&w);
}

static void acked(u32 n, u32 psn)
{
	feed(n);
	wt_expect_ack(&w, WT_ACK, P(psn));
	wt_silence(&w);
}

static void missed(u32 n, u32 psn)
{
	feed(n);
	wt_expect_ack(&w, WT_NAK_SEQ, P(psn));
	wt_silence(&w);
}

static void expect_read(void)
{
	wt_expect(&w, UR_OP_RC_READ_RESP_FIRST, P(READ));
	wt_expect(&w, UR_OP_RC_READ_RESP_MIDDLE, P(READ + 1));
	wt_expect(&w, UR_OP_RC_READ_RESP_LAST, P(READ + 2));
}

static void expect_bytes(u32 off, u32 first, u32 last)
{
	for (u32 n = first; n <= last; n++)
		for (u32 i = 0; i < sent[n].bytes; i++)
			CHECK_EQ(w.mem[off + (n - first) * 256 + i],
				 byte_of(n, i));
}

static u64 word(void)
{
	u64 v;

	memcpy(&v, w.mem + WORD_OFF, sizeof(v));
	return v;
}

static void start(bool ooo)
{
	wt_config(&w, 0);
	w.cfg.ooo = ooo;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, psn0, psn0);
	memset(w.mem, 0, WT_MEM_BYTES);
	wt_post_recv(&q, RECV_OFF, 2000);
	wt_post_recv(&q, RECV_OFF + 4096, 2000);
}

static void stop(void)
{
	CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).byte_len, 4 * 256 + 100);
	CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).byte_len, 40);
	wt_no_wc(&q);
	expect_bytes(RECV_OFF, 0, SEND_LAST);
	expect_bytes(MEM_OFF, WRITE, WRITE_LAST);
	expect_bytes(RECV_OFF + 4096, SMALL, SMALL);
	CHECK_EQ(word(), 5);
	CHECK_EQ(w.mem[RECV_OFF + 4 * 256 + 100], 0);
	CHECK_EQ(w.mem[MEM_OFF + 2 * 256 + 100], 0);
	wt_stop(&w, &q);
}

/* All that has come, once more and in any order: each is answered as what it
 * is, and changes nothing. An acknowledgement never speaks for an atomic or a
 * READ, whose answer may be what was lost. */
static void old_ones(void)
{
	acked(SEND_LAST, SMALL);
	feed(ADD);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(ADD))->pkt.atomic_orig,
		 0);
	acked(WRITE_LAST, SMALL);
	feed(READ);
	expect_read();
	acked(SMALL, SMALL);
	feed(ADD);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(ADD))->pkt.atomic_orig,
		 0);
	wt_silence(&w);
}

/* The responder keeps what is early. */
static void kept(void)
{
	start(true);
	/* One message from behind. */
	quiet(0);
	missed(4, 1);
	quiet(3);
	quiet(2);
	wt_no_wc(&q);
	acked(1, 4);
	/* Two messages, their packets among each other, and one twice. */
	missed(SMALL, 5);
	quiet(7);
	quiet(SMALL);
	quiet(7);
	missed(5, 6);
	CHECK_EQ(w.mem[MEM_OFF + 256], 0);
	acked(6, SMALL);
	/* A READ overtakes the atomic before it; old ones in the gap. */
	missed(READ, ADD);
	CHECK_EQ(word(), 0);
	acked(SMALL, SMALL);
	acked(SEND_LAST, SMALL);
	feed(ADD);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(ADD))->pkt.atomic_orig,
		 0);
	expect_read();
	wt_silence(&w);
	old_ones();
	stop();
}

/* The responder drops it, and the peer goes back. */
static void dropped(void)
{
	start(false);
	quiet(0);
	missed(4, 1);
	quiet(3);
	quiet(2);
	quiet(1);
	CHECK_EQ(w.mem[RECV_OFF + 512], 0);
	/* The peer has gone back to 1. */
	feed(1);
	w.out_head = w.out_tail;
	quiet(2);
	quiet(3);
	wt_no_wc(&q);
	acked(4, 4);
	missed(SMALL, 5);
	quiet(7);
	quiet(6);
	quiet(5);
	CHECK_EQ(w.mem[MEM_OFF + 256], 0);
	quiet(6);
	acked(7, 7);
	acked(SMALL, SMALL);
	missed(READ, ADD);
	acked(SMALL, SMALL);
	CHECK_EQ(word(), 0);
	feed(ADD);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_ACK, P(ADD))->pkt.atomic_orig,
		 0);
	wt_silence(&w);
	feed(READ);
	expect_read();
	old_ones();
	stop();
}

static const u32 first_psns[] = {0, 0xffffff, 0xfffffa, 0x7ffffe};

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, kept);
	CASE_FROM_EACH(first_psns, &psn0, dropped);
	return cases_status();
}

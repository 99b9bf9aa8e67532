// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lists of missing packets: who sends them, to whom, and what is sent again for
 * them.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0;

#define P(n)	  ur_psn_add(psn0, n)
#define COUNT	  40 /* packets of the WRITE */
#define READ_N	  9  /* where a READ of so many follows */
#define READ_PKTS 10

static const u8 magic[4] = {'u', 'r', 'o', '1'};

static void start(bool ooo)
{
	wt_config(&w, 0);
	w.cfg.ooo = ooo;
	w.cfg.gaps = true;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, psn0, psn0);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

/* A list that begins with PSN n; without bits: that they are understood. */
static void list(u32 n, const u8 *bits, u32 bytes)
{
	u8 payload[4 + 64];

	memcpy(payload, magic, 4);
	memcpy(payload + 4, bits, bytes);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_GAPS,
				.pkey = UR_PKEY_DEFAULT,
				.dqpn = q.qp->qpn,
				.psn = P(n),
				.payload_bytes = 4 + bytes},
		payload);
}

static void early(u32 n)
{
	struct ur_pkt p = wt_pkt(&q, UR_OP_RC_WRITE_ONLY, P(n), 4);

	p.dma_bytes = 4;
	p.ackreq = true;
	wt_feed(&w, p, NULL);
}

static void expect_list(u32 n, u8 bits)
{
	struct wt_packet *p = wt_expect(&w, UR_OP_GAPS, P(n));
	const u8 rest[3] = {0};

	CHECK_EQ(p->pkt.payload_bytes, 8);
	CHECK(!memcmp(p->pkt.payload, magic, 4));
	CHECK_EQ(p->pkt.payload[4], bits);
	CHECK(!memcmp(p->pkt.payload + 5, rest, 3));
}

static void responder(void)
{
	const u8 none = 0;

	start(true);
	early(0);
	wt_expect_ack(&w, WT_ACK, P(0));
	early(2);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	/* Another gap, but who knows what the peer understands? */
	early(4);
	wt_silence(&w);
	/* Whoever says so does not send what we accept. */
	w.meta.udp_sport ^= 1;
	list(0, &none, 0);
	w.meta.udp_sport ^= 1;
	early(6);
	wt_silence(&w);
	list(0, &none, 0);
	early(8);
	expect_list(1, 0xaa);
	/* No gap before it. */
	early(9);
	wt_silence(&w);
	/* The next one is told as always, with what is known behind it. */
	early(1);
	wt_expect_ack(&w, WT_NAK_SEQ, P(3));
	expect_list(3, 0xac);
	early(3);
	wt_expect_ack(&w, WT_NAK_SEQ, P(5));
	expect_list(5, 0xb0);
	early(5);
	wt_expect_ack(&w, WT_NAK_SEQ, P(7));
	expect_list(7, 0xc0);
	early(7);
	wt_expect_ack(&w, WT_ACK, P(9));
	wt_silence(&w);
	stop();
}

static void post(u8 opcode, u32 packets)
{
	struct ur_send_wr *wr = wt_post(&q, opcode, 0, 256 * packets);

	wr->raddr = 0x5000;
}

static void expect_again(u32 n)
{
	wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(n));
}

/* Until it has seen its peer keep packets. */
static void open_up(void)
{
	post(UR_WR_WRITE, COUNT);
	wt_kick(&q);
	CHECK_EQ(w.out_tail - w.out_head, COUNT);
	w.out_head = w.out_tail;
	wt_ack(&w, &q, P(2), WT_NAK_SEQ);
	expect_again(2);
	wt_silence(&w);
	wt_ack(&w, &q, P(10), WT_NAK_SEQ);
	expect_again(10);
	CHECK_EQ(wt_expect(&w, UR_OP_GAPS, P(10))->pkt.payload_bytes, 4);
	wt_silence(&w);
}

/* More than a round trip. The oldest one is sent again for its timer. */
static void later(void)
{
	wt_sleep(&w, 150 * WT_US);
	expect_again(13);
	wt_silence(&w);
}

static void requester(void)
{
	/* 11, 12, 14, 17 have arrived: 13, 15 and 16 are missing, as 10 is. */
	const u8 bits[4] = {0xd2, 0, 0, 0}, all[64] = {[63] = 1};

	start(false);
	open_up();
	list(10, bits, 4);
	expect_again(13);
	expect_again(15);
	expect_again(16);
	wt_silence(&w);
	/* Nobody can know of these yet. */
	list(10, bits, 4);
	wt_silence(&w);
	wt_ack(&w, &q, P(13), WT_NAK_SEQ);
	wt_silence(&w);
	later();
	list(13, (const u8[4]){0x90}, 4);
	expect_again(15);
	expect_again(16);
	wt_silence(&w);
	/* What was never sent is none of it, nor what is acknowledged. */
	later();
	list(COUNT - 2, all, 64);
	expect_again(COUNT - 2);
	wt_expect(&w, UR_OP_RC_WRITE_LAST, P(COUNT - 1));
	wt_silence(&w);
	list(COUNT, all, 64);
	list(5, bits, 4);
	wt_silence(&w);
	/* From elsewhere. */
	w.meta.udp_sport ^= 1;
	list(13, bits, 4);
	w.meta.udp_sport ^= 1;
	wt_silence(&w);
	wt_ack(&w, &q, P(COUNT - 1), WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	wt_silence(&w);
	stop();
}

/* A READ is not sent again for a list, whatever it says. */
static void beside_read(void)
{
	const u8 last[4] = {0, 0, 0, 0x01}; /* 33 */

	start(false);
	post(UR_WR_WRITE, READ_N);
	post(UR_WR_READ, READ_PKTS);
	post(UR_WR_WRITE, COUNT);
	wt_kick(&q);
	w.out_head = w.out_tail;
	wt_ack(&w, &q, P(0), WT_ACK);
	list(1, last, 4);
	for (u32 n = 1; n < READ_N - 1; n++)
		expect_again(n);
	wt_expect(&w, UR_OP_RC_WRITE_LAST, P(READ_N - 1));
	wt_expect(&w, UR_OP_RC_WRITE_FIRST, P(READ_N + READ_PKTS));
	for (u32 n = READ_N + READ_PKTS + 1; n < 33; n++)
		expect_again(n);
	wt_silence(&w);
	stop();
}

/* The peer does not keep: it hears of none of this. */
static void to_others(void)
{
	start(false);
	post(UR_WR_WRITE, COUNT);
	wt_kick(&q);
	w.out_head = w.out_tail;
	wt_ack(&w, &q, P(2), WT_NAK_SEQ);
	expect_again(2);
	wt_ack(&w, &q, P(2), WT_ACK);
	for (u32 n = 3; n < COUNT - 1; n++)
		expect_again(n);
	wt_expect(&w, UR_OP_RC_WRITE_LAST, P(COUNT - 1));
	wt_silence(&w);
	stop();
}

static const u32 first[] = {0, 0xffffff, 0xfffff5, 0x7ffffe};

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first, &psn0, responder);
	CASE_FROM_EACH(first, &psn0, requester);
	CASE_FROM_EACH(first, &psn0, beside_read);
	CASE_FROM_EACH(first, &psn0, to_others);
	return cases_status();
}

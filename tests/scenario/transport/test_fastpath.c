// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The middle of long messages that come in: what may come in the midst of one,
 * and what it leads to, also where their memory goes away.
 */
#include "tests/scenario/transport/fastpath.h"

static void whole(void)
{
	struct ur_pkt p;

	start();
	memset(w.mem + 0x80000, 0, 8 * MTU);
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	wt_silence(&w);
	CHECK_EQ(q.qp->resp.epsn, P(2));
	p = pkt(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	p.ackreq = true;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, WT_ACK, P(2));
	p = pkt(UR_OP_RC_WRITE_MIDDLE, 3, MTU);
	p.fecn = true; /* a switch may have set it */
	p.migreq = true;
	p.se = true;
	wt_feed(&w, p, NULL);
	feed(UR_OP_RC_WRITE_MIDDLE, 3, MTU); /* again: acknowledged */
	wt_expect_ack(&w, WT_ACK, P(3));
	feed(UR_OP_RC_WRITE_LAST, 4, MTU);
	wt_silence(&w);
	CHECK(filled(0x80000, 5 * MTU));
	CHECK_EQ(w.mem[0x80000 + 5 * MTU], 0);
	CHECK_EQ(q.qp->resp.msn, 1);
	/* The next one goes elsewhere, with the same key. */
	memset(w.mem + 0x80000, 0, 8 * MTU);
	p = pkt(UR_OP_RC_WRITE_FIRST, 5, MTU);
	p.va = WT_IOVA + 0x90000;
	memset(w.mem + 0x90000, 0, 8 * MTU);
	wt_feed(&w, p, NULL);
	feed(UR_OP_RC_WRITE_MIDDLE, 6, MTU);
	CHECK(filled(0x90000, 2 * MTU));
	CHECK_EQ(w.mem[0x80000 + MTU], 0);
	stop();
}

/* Each of these is not the middle packet that is waited for. */
static void refused(void)
{
	struct ur_pkt p;

	start(); /* one too many: nothing would be left for the last */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	for (u32 i = 1; i < 4; i++)
		feed(UR_OP_RC_WRITE_MIDDLE, i, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 4, MTU);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(4));
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	stop();
	start(); /* of another kind of message */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(1));
	stop();
	start(); /* of the message before */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	for (u32 i = 1; i < 4; i++)
		feed(UR_OP_RC_WRITE_MIDDLE, i, MTU);
	feed(UR_OP_RC_WRITE_LAST, 4, MTU);
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 5, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 6, MTU);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(6));
	stop();
	start(); /* after a message, of none */
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	feed(UR_OP_RC_SEND_LAST, 2, 8);
	feed(UR_OP_RC_SEND_MIDDLE, 3, MTU);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(3));
	stop();
	start(); /* too long */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	p = pkt(UR_OP_RC_WRITE_LAST, 2, 3 * MTU);
	p.payload_bytes = MTU;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(2));
	stop();
	start(); /* from another address, for another queue pair, a gap */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	w.meta.saddr[15] ^= 1;
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	w.meta.saddr[15] ^= 1;
	p = pkt(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	p.dqpn++;
	wt_feed(&w, p, NULL);
	wt_silence(&w);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	if (ooo)
		wt_expect_ack(&w, WT_ACK, P(2)); /* it was kept */
	stop();
}

/* The fields of the headers beside the PSN are looked at in the middle too. */
static void headers(void)
{
	struct ur_qp_attr attr = {.state = UR_QP_ERR};
	struct ur_pkt p;

	start();
	memset(w.mem + 0x80000, 0, 8 * MTU);
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	p = pkt(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	p.pkey = 0x8001; /* another partition */
	wt_feed(&w, p, NULL);
	w.meta.daddr[15] ^= 1; /* an address of ours, not of this pair */
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	w.meta.daddr[15] ^= 1;
	wt_silence(&w);
	CHECK_EQ(w.mem[0x80000 + MTU + 1], 0);
	w.meta.tos = 3; /* marked by a switch */
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_np_ecn_marked_roce_packets],
		 1);
	wt_expect(&w, UR_OP_CNP, 0);
	w.meta.tos = 0;
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	CHECK(filled(0x80000, 3 * MTU));
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &attr, UR_QP_ATTR_STATE), 0);
	feed(UR_OP_RC_WRITE_MIDDLE, 3, MTU);
	wt_silence(&w);
	CHECK_EQ(w.mem[0x80000 + 3 * MTU + 1], 0);
	stop();
	start(); /* opcodes of RC are nothing to UC */
	ur_qp_destroy(q.qp);
	wt_rts(&w, &q, UR_QPT_UC, 0x77, PSN0, PSN0);
	memset(w.mem + 0x80000, 0, 8 * MTU);
	feed(UR_OP_UC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	CHECK_EQ(w.mem[0x80000 + MTU + 1], 0);
	feed(UR_OP_UC_WRITE_MIDDLE, 1, MTU);
	CHECK(filled(0x80000, 2 * MTU));
	wt_silence(&w);
	stop();
}

/* The missing packet comes: the next gap is reported at once. */
static void gaps(void)
{
	start();
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_SEQ, P(1));
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	if (ooo)
		wt_expect_ack(&w, WT_ACK, P(2));
	feed(UR_OP_RC_WRITE_MIDDLE, 3, MTU);
	if (!ooo)
		wt_expect_ack(&w, WT_NAK_SEQ, P(2));
	wt_silence(&w);
	stop();
}

/* The region goes away in the middle. */
static void region_gone(void)
{
	struct ur_mr_attr attr;
	struct ur_mr *mr;

	start();
	attr = w.mr->attr;
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	mr = w.mr;
	CHECK_EQ(ur_mr_destroy(mr), 0);
	memset(w.mem + 0x80000, 0, 8 * MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_ACCESS, P(2));
	CHECK_EQ(w.mem[0x80000 + 2 * MTU], 0);
	CHECK_EQ(ur_mr_create(w.port, &attr, &w.mr), 0);
	stop();
	start(); /* or loses a right */
	attr = w.mr->attr;
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	attr.access &= ~UR_ACCESS_REMOTE_WRITE;
	CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_ACCESS, P(2));
	stop();
	start(); /* the receiver's own */
	attr = w.mr->attr;
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	attr.access = UR_ACCESS_REMOTE_READ;
	CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
	feed(UR_OP_RC_SEND_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_OP, P(2));
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
	start(); /* the reader's own */
	attr = w.mr->attr;
	begin_read(4);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 1, MTU);
	attr.access = UR_ACCESS_REMOTE_READ;
	CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
	feed(UR_OP_RC_READ_RESP_MIDDLE, 2, MTU);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
}

/* Or the window does. */
static void window_gone(void)
{
	struct ur_send_wr *wr;
	struct ur_mw *mw;
	struct ur_pkt p;
	u32 key;

	start();
	CHECK_EQ(ur_mw_create(w.port, WT_PD, 1, &mw), 0);
	key = (ur_mw_rkey(mw) & ~0xffu) | 0x5a;
	wr = wt_post(&q, UR_WR_BIND_MW, 0, 0);
	wr->bind_addr = WT_REMOTE;
	wr->bind_length = 8 * MTU;
	wr->bind_mw_rkey = ur_mw_rkey(mw);
	wr->bind_new_rkey = key;
	wr->bind_mr_lkey = w.key;
	wr->bind_access = UR_ACCESS_REMOTE_WRITE;
	wt_kick(&q);
	wt_wc(&q, 0);
	memset(w.mem + 0x80000, 0, 8 * MTU);
	p = pkt(UR_OP_RC_WRITE_FIRST, 0, MTU);
	p.rkey = key;
	wt_feed(&w, p, NULL);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	CHECK(filled(0x80000, 2 * MTU));
	ur_mw_destroy(mw);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_ACCESS, P(2));
	CHECK_EQ(w.mem[0x80000 + 2 * MTU + 1], 0);
	stop();
}

/* A list whose elements end inside packets. */
static void scattered(void)
{
	struct ur_recv_wr *wr;

	start();
	memset(w.mem, 0, 0x4000);
	wt_post_recv(&q, 0x1000, 3 * MTU - 6);
	wr = &q.recv[(q.ring.recv_tail - 1) % WT_RING];
	wr->num_sge = 2;
	wr->sge[1] = (struct ur_sge){WT_IOVA + 0x2000, 4 * MTU, w.key};
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	for (u32 i = 1; i < 5; i++)
		feed(UR_OP_RC_SEND_MIDDLE, i, MTU);
	feed(UR_OP_RC_SEND_LAST, 5, 8);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 5 * MTU + 8);
	CHECK(filled(0x1000, 3 * MTU - 6));
	CHECK_EQ(w.mem[0x1000 + 3 * MTU - 6], 0);
	for (u32 i = 0; i < 2 * MTU + 14; i++)
		CHECK_EQ(w.mem[0x2000 + i],
			 wt_pattern((i + 3 * MTU - 6) % MTU));
	/* One byte too short for the second middle packet. */
	wt_post_recv(&q, 0x1000, 3 * MTU - 1);
	feed(UR_OP_RC_SEND_FIRST, 6, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 7, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 8, MTU);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(8));
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	stop();
}

/* Packets with following PSNs come at once, as the engine hands them in; opcodes: of
 * each. The packet at odd has another PSN, or none has. */
#define STRIDE (UR_BTH_BYTES + 16 + MTU + 4)

static bool apart; /* payloads come apart from their packets */
static bool frail; /* and reading them may fail */

/* The same, of packets that are alike. Mapped memory takes none that are frail. */
static u32 feed_apart(const u8 *bytes, u32 len, u32 n)
{
	static u8 heads[8 * 16], payload[8 * MTU];
	u32 took;

	for (u32 i = 0; i < n; i++) {
		memcpy(heads + 16 * i, bytes + i * STRIDE, UR_BTH_BYTES);
		memcpy(payload + i * MTU, bytes + i * STRIDE + UR_BTH_BYTES,
		       MTU);
	}
	took = ur_port_rx_split(w.port, w.now, &w.meta, heads, 16, payload, len,
				n, frail);
	CHECK(!took || copied || !frail);
	return took;
}

static void feed_burst(const u8 *opcodes, u32 n, u32 first, u32 odd)
{
	static u8 bytes[8 * STRIDE];
	u32 len[8], took;

	CHECK(n <= 8);
	for (u32 i = 0; i < n; i++) {
		struct ur_pkt p = pkt(opcodes[i], first + i + (i == odd), MTU);
		u8 *at = bytes + i * STRIDE;

		p.pkey = UR_PKEY_DEFAULT;
		p.ackreq = i == 2;
		len[i] = (u32)ur_pkt_build(&p, at);
		for (u32 k = 0; k < MTU; k++)
			at[len[i]++] = wt_pattern(k);
	}
	for (u32 i = 0; i < n; i += took) {
		u32 run = 1;

		while (i + run < n && len[i + run] == len[i])
			run++;
		if (apart && len[i] == UR_BTH_BYTES + MTU)
			took = feed_apart(bytes + i * STRIDE, len[i], run);
		else
			took = ur_port_rx_run(w.port, w.now, &w.meta,
					      bytes + i * STRIDE, len[i],
					      STRIDE, run);
		if (took)
			continue;
		took = 1;
		ur_port_rx(w.port, w.now, &w.meta, bytes + i * STRIDE, len[i]);
	}
	wt_run(&w);
}

/* Middle packets that come together are written together where memory is not
 * mapped, and nothing else is different. */
static void bursts(void)
{
	static const u8 write[] = {UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_MIDDLE,
				   UR_OP_RC_WRITE_MIDDLE, UR_OP_RC_WRITE_MIDDLE,
				   UR_OP_RC_WRITE_LAST};
	static const u8 send[] = {UR_OP_RC_SEND_FIRST, UR_OP_RC_SEND_MIDDLE,
				  UR_OP_RC_SEND_MIDDLE, UR_OP_RC_SEND_LAST};
	static const u8 answers[] = {
		UR_OP_RC_READ_RESP_MIDDLE, UR_OP_RC_READ_RESP_MIDDLE,
		UR_OP_RC_READ_RESP_MIDDLE, UR_OP_RC_READ_RESP_LAST};
	static const u8 long_write[] = {
		UR_OP_RC_WRITE_FIRST, UR_OP_RC_WRITE_MIDDLE,
		UR_OP_RC_WRITE_MIDDLE, UR_OP_RC_WRITE_MIDDLE,
		UR_OP_RC_WRITE_MIDDLE};

	start();
	memset(w.mem + 0x80000, 0, 8 * MTU);
	feed_burst(write, 5, 0, 8);
	wt_expect_ack(&w, WT_ACK, P(2));
	CHECK(filled(0x80000, 5 * MTU) && !w.mem[0x80000 + 5 * MTU]);
	CHECK_EQ(w.writes, !copied ? 0 : fast ? 3 : 5);
	CHECK_EQ(q.qp->resp.msn, 1);
	wt_post_recv(&q, 0x1000, 5 * MTU);
	w.writes = 0;
	feed_burst(send, 4, 5, 8);
	wt_wc(&q, 0);
	wt_expect_ack(&w, WT_ACK, P(7));
	CHECK(filled(0x1000, 4 * MTU));
	CHECK_EQ(w.writes, !copied ? 0 : fast ? 3 : 4);
	stop();
	start(); /* one too many: nothing is left for the last */
	feed_burst(long_write, 5, 0, 8);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(4));
	CHECK_EQ(q.qp->resp.epsn, P(4));
	stop();
	start(); /* a gap */
	feed_burst(write, 5, 0, 3);
	CHECK_EQ(q.qp->resp.epsn, P(3));
	wt_expect_ack(&w, WT_NAK_SEQ, P(3)); /* it acknowledges the others */
	stop();
	start();
	begin_read(5);
	w.writes = 0;
	feed_burst(answers, 4, 1, 8);
	wt_wc(&q, 0);
	CHECK(filled(0x1000, 5 * MTU));
	CHECK_EQ(w.writes, !copied ? 0 : fast ? 2 : 4);
	stop();
}

static void conversations(void)
{
	bursts();
	apart = true;
	bursts();
	frail = true;
	bursts();
	frail = false;
	apart = false;
	whole();
	refused();
	headers();
	gaps();
	region_gone();
	window_gone();
	scattered();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(each_way(conversations));
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The middle of long messages, with the short way and without it: what may
 * come in the midst of one, and what it leads to.
 */
#include "tests/scenario/transport/wiretap.h"

#define PSN0 0xfffffeu /* the wrap is in the middle too */
#define P(n) ur_psn_add(PSN0, n)
#define MTU  256u

static struct wt w;
static struct wt_qp q;
static bool fast, ooo;

/* The counters of each conversation without the short way; with it they must
 * be the same. */
static struct {
	u64 port[UR_CNT_COUNT], qp[UR_QP_CNT_COUNT];
} plain[32];
static u32 conversation;

static void start(void)
{
	wt_config(&w, 0);
	w.cfg.fast = fast;
	w.cfg.ooo = ooo;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, PSN0, PSN0);
}

static void compare_counters(void)
{
	const u64 *port = ur_port_counters(w.port);
	u64 *p = plain[conversation].port, *v = plain[conversation].qp;

	CHECK(++conversation < UR_ARRAY_SIZE(plain));
	if (!fast) {
		memcpy(p, port, UR_CNT_COUNT * sizeof(*p));
		memcpy(v, q.qp->counters, UR_QP_CNT_COUNT * sizeof(*v));
		return;
	}
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		CHECK_EQ(port[i], p[i]);
	for (u32 i = 0; i < UR_QP_CNT_COUNT; i++)
		CHECK_EQ(q.qp->counters[i], v[i]);
}

static void stop(void)
{
	CHECK(!ur_qp_check(q.qp));
	compare_counters();
	wt_stop(&w, &q);
}

static struct ur_pkt pkt(u8 opcode, u32 n, u32 bytes)
{
	return (struct ur_pkt){.opcode = opcode,
			       .dqpn = q.qp->qpn,
			       .psn = P(n),
			       .payload_bytes = bytes,
			       .va = WT_REMOTE,
			       .rkey = w.key,
			       .dma_bytes = 5 * MTU,
			       .syndrome = 0x1f,
			       .msn = 1};
}

static void feed(u8 opcode, u32 n, u32 bytes)
{
	wt_feed(&w, pkt(opcode, n, bytes), NULL);
}

/* A READ of so many packets to 0x1000, and the first one's answer. */
static void begin_read(u32 packets)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_READ, 0x1000, packets * MTU);

	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, P(0));
	feed(UR_OP_RC_READ_RESP_FIRST, 0, MTU);
}

/* Bytes of the pattern at off of mem. */
static bool filled(u32 off, u32 len)
{
	for (u32 i = 0; i < len; i++)
		if (w.mem[off + i] != wt_pattern(i % MTU))
			return false;
	return true;
}

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
	wt_expect_ack(&w, 0x1f, P(2));
	p = pkt(UR_OP_RC_WRITE_MIDDLE, 3, MTU);
	p.fecn = true; /* a switch may have set it */
	p.migreq = true;
	p.se = true;
	wt_feed(&w, p, NULL);
	feed(UR_OP_RC_WRITE_MIDDLE, 3, MTU); /* again: acknowledged */
	wt_expect_ack(&w, 0x1f, P(3));
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
	wt_expect_ack(&w, 0x61, P(4));
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	stop();
	start(); /* of another kind of message */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	wt_expect_ack(&w, 0x61, P(1));
	stop();
	start(); /* of the message before */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	for (u32 i = 1; i < 4; i++)
		feed(UR_OP_RC_WRITE_MIDDLE, i, MTU);
	feed(UR_OP_RC_WRITE_LAST, 4, MTU);
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 5, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 6, MTU);
	wt_expect_ack(&w, 0x61, P(6));
	stop();
	start(); /* after a message, of none */
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	feed(UR_OP_RC_SEND_LAST, 2, 8);
	feed(UR_OP_RC_SEND_MIDDLE, 3, MTU);
	wt_expect_ack(&w, 0x61, P(3));
	stop();
	start(); /* too long */
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	p = pkt(UR_OP_RC_WRITE_LAST, 2, 3 * MTU);
	p.payload_bytes = MTU;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, 0x61, P(2));
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
	wt_expect_ack(&w, 0x60, P(1));
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	if (ooo)
		wt_expect_ack(&w, 0x1f, P(2)); /* it was kept */
	stop();
}

/* What the headers say beside the PSN is looked at in the middle too. */
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

/* What was missing comes: the next gap is told at once. */
static void gaps(void)
{
	start();
	feed(UR_OP_RC_WRITE_FIRST, 0, MTU);
	feed(UR_OP_RC_WRITE_MIDDLE, 2, MTU);
	wt_expect_ack(&w, 0x60, P(1));
	feed(UR_OP_RC_WRITE_MIDDLE, 1, MTU);
	if (ooo)
		wt_expect_ack(&w, 0x1f, P(2));
	feed(UR_OP_RC_WRITE_MIDDLE, 3, MTU);
	if (!ooo)
		wt_expect_ack(&w, 0x60, P(2));
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
	wt_expect_ack(&w, 0x62, P(2));
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
	wt_expect_ack(&w, 0x62, P(2));
	stop();
	start(); /* the receiver's own */
	attr = w.mr->attr;
	wt_post_recv(&q, 0x1000, 5 * MTU);
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	attr.access = UR_ACCESS_REMOTE_READ;
	CHECK_EQ(ur_mr_rereg(w.mr, &attr), 0);
	feed(UR_OP_RC_SEND_MIDDLE, 2, MTU);
	wt_expect_ack(&w, 0x63, P(2));
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
	wt_expect_ack(&w, 0x62, P(2));
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
	wr = &q.recv[(q.recv_tail - 1) % WT_RING];
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
	wt_expect_ack(&w, 0x61, P(8));
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
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

/* What goes out: the same packets in the same order. */
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
	CHECK_EQ(q.qp->counters[UR_QP_CNT_resent_pkts], 118);
	CHECK_EQ(q.qp->req.max_psn, P(138));
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

int main(void)
{
	for (int i = 0; i < 4; i++) {
		fast = i & 1;
		ooo = i & 2;
		conversation = 0;
		whole();
		refused();
		headers();
		gaps();
		region_gone();
		window_gone();
		scattered();
		read_data();
		sent();
		sent_again();
		answered();
	}
	return 0;
}

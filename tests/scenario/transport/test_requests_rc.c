// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rights of requests and their effects at the RC responder: access,
 * receives, READs that come again, atomics; each of it also across the PSN
 * wrap.
 */
#include "tests/scenario/transport/responder.h"

static void rights(void)
{
	struct ur_mr_attr attr;
	struct ur_pkt p;

	/* The queue pair's flags come first: invalid request. */
	start();
	q.qp->attr.access = UR_ACCESS_REMOTE_READ;
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(0));
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
		wt_expect_ack(&w, WT_NAK_ACCESS, P(0));
		CHECK(q.events & (1u << UR_EVENT_QP_ACCESS_ERR));
		/* A later packet gets no answer. */
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
	wt_expect_ack(&w, WT_ACK, P(0));
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
	wt_expect_ack(&w, WT_NAK_ACCESS, P(1));
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
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(1));
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	wt_no_wc(&q);
	stop();
	/* A receive with a bad key: remote operational error. */
	start();
	wt_post_recv(&q, 0, 500);
	q.recv[0].sge[0].lkey ^= 1;
	feed(UR_OP_RC_SEND_ONLY, 0, 5, true);
	wt_expect_ack(&w, WT_NAK_OP, P(0));
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
	/* Receives posted to a queue pair in error are flushed. */
	start();
	ur_qp_fail(q.qp);
	wt_run(&w);
	CHECK(q.ring.want_kick);
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
	wt_expect_ack(&w, WT_ACK, P(1));
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
	wt_expect_ack(&w, WT_ACK, P(4));
	feed_dma(UR_OP_RC_WRITE_LAST, 5, 88, 0);
	wt_expect_ack(&w, WT_ACK, P(5));
	stop();

	/* Write 0 acknowledged, read 1 answered, write 0 again: the
	 * acknowledgement must not speak for the read. */
	start();
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, WT_ACK, P(0));
	feed_dma(UR_OP_RC_READ_REQ, 1, 0, 4);
	wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, P(1));
	feed_dma(UR_OP_RC_WRITE_ONLY, 0, 4, 4);
	wt_expect_ack(&w, WT_ACK, P(0));
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
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(3));
	stop();
	/* None allowed. */
	start();
	q.qp->resp.res_count = 0;
	p.psn = P(0);
	p.va -= 4;
	wt_feed(&w, p, NULL);
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(0));
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
	wt_expect_ack(&w, WT_NAK_INV_REQ, P(2));
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, rights);
	CASE_FROM_EACH(first_psns, &psn0, receives);
	CASE_FROM_EACH(first_psns, &psn0, duplicates_and_reads);
	CASE_FROM_EACH(first_psns, &psn0, atomics);
	CASE_FROM_EACH(first_psns, &psn0, extensions);
	return cases_status();
}

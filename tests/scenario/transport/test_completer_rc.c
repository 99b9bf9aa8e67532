// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RC requester: what it sends, and what each answer does, in order,
 * again, from the past, in the future, with loss; also across the PSN wrap.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0;

#define P(n)   ur_psn_add(psn0, n)
#define REMOTE 0x5000ull

static void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, psn0, 9);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void answer(u8 opcode, u32 n, u8 syndrome, u32 bytes)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = opcode,
				.dqpn = q.qp->qpn,
				.psn = P(n),
				.syndrome = syndrome,
				.msn = 1,
				.atomic_orig = 0x42,
				.payload_bytes = bytes},
		NULL);
}

static void ack(u32 n, u8 syndrome)
{
	answer(UR_OP_RC_ACK, n, syndrome, 0);
}

static void post(u8 opcode, u32 len)
{
	struct ur_send_wr *wr = wt_post(&q, opcode, 0x100, len);

	wr->raddr = REMOTE;
	wr->rkey = 0xabcd;
}

static void packets(void)
{
	struct wt_packet *p;

	start();
	post(UR_WR_WRITE, 600);
	wt_kick(&q);
	p = wt_expect(&w, UR_OP_RC_WRITE_FIRST, P(0));
	CHECK_EQ(p->pkt.va, REMOTE);
	CHECK_EQ(p->pkt.rkey, 0xabcd);
	CHECK_EQ(p->pkt.dma_bytes, 600);
	CHECK(!p->pkt.ackreq && !p->pkt.migreq && p->pkt.pkey == 0xffff);
	CHECK(memcmp(p->pkt.payload, w.mem + 0x100, 256) == 0);
	p = wt_expect(&w, UR_OP_RC_WRITE_MIDDLE, P(1));
	CHECK(memcmp(p->pkt.payload, w.mem + 0x200, 256) == 0);
	p = wt_expect(&w, UR_OP_RC_WRITE_LAST, P(2));
	CHECK_EQ(p->pkt.payload_bytes, 88);
	CHECK(p->pkt.ackreq);
	/* Half an acknowledgement completes nothing. */
	ack(1, WT_ACK);
	wt_no_wc(&q);
	ack(2, WT_ACK);
	CHECK_EQ(wt_wc(&q, 0).wr_id, 0x1000);
	CHECK_EQ(q.ring.retired, 1);
	/* Again, and from the past: nothing. */
	ack(2, WT_ACK);
	ack(0, WT_ACK);
	/* Never sent: ignored. */
	ack(3, WT_ACK);
	ack(4, WT_NAK_ACCESS);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	wt_silence(&w);
	stop();
}

/* A long message asks for an acknowledgement at least every 64 packets, and
 * the window stops at 128. */
static void window(void)
{
	u32 since = 0, n = 0;

	start();
	post(UR_WR_WRITE, 256 * 300);
	wt_kick(&q);
	while (w.out_head != w.out_tail) {
		since++;
		if (wt_next(&w)->pkt.ackreq) {
			CHECK(since <= 64);
			since = 0;
		}
		n++;
	}
	CHECK_EQ(n, 128);
	CHECK_EQ(since, 0);
	ack(63, WT_ACK);
	CHECK_EQ(w.out_tail - w.out_head, 64);
	stop();
}

static void naks(void)
{
	static const struct {
		u8 syndrome, status;
	} fatal[] = {{WT_NAK_INV_REQ, UR_WC_REM_INV_REQ_ERR},
		     {WT_NAK_ACCESS, UR_WC_REM_ACCESS_ERR},
		     {WT_NAK_OP, UR_WC_REM_OP_ERR}};

	/* Back to the missing packet, in the middle of the message. */
	start();
	post(UR_WR_SEND, 600);
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	w.out_head = w.out_tail;
	ack(1, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_SEND_MIDDLE, P(1));
	wt_expect(&w, UR_OP_RC_SEND_LAST, P(2));
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(3));
	wt_silence(&w);
	ack(3, WT_ACK);
	wt_wc(&q, 0);
	wt_wc(&q, 0);
	stop();

	for (u32 i = 0; i < UR_ARRAY_SIZE(fatal); i++) {
		start();
		post(UR_WR_SEND, 4);
		post(UR_WR_SEND, 4);
		post(UR_WR_SEND, 4);
		wt_kick(&q);
		/* All before the refused one are acknowledged by it. */
		ack(1, fatal[i].syndrome);
		CHECK_EQ(wt_wc(&q, 0).wr_id, 0x1000);
		CHECK_EQ(wt_wc(&q, fatal[i].status).wr_id, 0x1001);
		CHECK_EQ(wt_wc(&q, UR_WC_WR_FLUSH_ERR).wr_id, 0x1002);
		CHECK_EQ(q.qp->state, UR_QP_ERR);
		stop();
	}
	/* A reserved syndrome says nothing. */
	start();
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	ack(0, 0x40);
	wt_no_wc(&q);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	stop();
}

/* Write 0, read 1, write 2 outstanding; the acknowledgement of 2 arrives: the
 * read is not skipped but asked for again. */
static void read_not_skipped(void)
{
	start();
	post(UR_WR_WRITE, 4);
	post(UR_WR_READ, 4);
	post(UR_WR_WRITE, 4);
	wt_kick(&q);
	w.out_head = w.out_tail;
	ack(2, WT_ACK);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_RDMA_WRITE);
	wt_no_wc(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, P(1));
	wt_expect(&w, UR_OP_RC_WRITE_ONLY, P(2));
	answer(UR_OP_RC_READ_RESP_ONLY, 1, WT_ACK, 4);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_RDMA_READ);
	ack(2, WT_ACK);
	wt_wc(&q, 0);
	stop();
}

static void reads(void)
{
	struct wt_packet *p;

	start();
	post(UR_WR_READ, 700);
	wt_kick(&q);
	p = wt_expect(&w, UR_OP_RC_READ_REQ, P(0));
	CHECK_EQ(p->pkt.dma_bytes, 700);
	CHECK(p->pkt.ackreq);
	answer(UR_OP_RC_READ_RESP_FIRST, 0, WT_ACK, 256);
	/* The second is lost: again from the first missing byte. */
	answer(UR_OP_RC_READ_RESP_LAST, 2, WT_ACK, 188);
	p = wt_expect(&w, UR_OP_RC_READ_REQ, P(1));
	CHECK_EQ(p->pkt.va, REMOTE + 256);
	CHECK_EQ(p->pkt.dma_bytes, 444);
	/* Late ones of the first asking do not count as another loss. */
	answer(UR_OP_RC_READ_RESP_LAST, 2, WT_ACK, 188);
	wt_silence(&w);
	answer(UR_OP_RC_READ_RESP_FIRST, 1, WT_ACK, 256);
	answer(UR_OP_RC_READ_RESP_LAST, 2, WT_ACK, 188);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 700);
	for (u32 i = 0; i < 188; i++)
		CHECK_EQ(w.mem[0x100 + 512 + i], wt_pattern(i));
	stop();

	/* The answer has a wrong length or place. */
	start();
	post(UR_WR_READ, 700);
	wt_kick(&q);
	answer(UR_OP_RC_READ_RESP_FIRST, 0, WT_ACK, 100);
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	stop();
	start();
	post(UR_WR_READ, 700);
	wt_kick(&q);
	answer(UR_OP_RC_READ_RESP_ONLY, 0, WT_ACK, 256);
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	stop();

	/* No more at once than max_rd_atomic. */
	start();
	for (int i = 0; i < 6; i++)
		post(UR_WR_READ, 4);
	wt_kick(&q);
	CHECK_EQ(w.out_tail - w.out_head, 4);
	answer(UR_OP_RC_READ_RESP_ONLY, 0, WT_ACK, 4);
	CHECK_EQ(w.out_tail - w.out_head, 5);
	stop();
}

/* A READ that is refused in its middle, and what came before is lost: its peer says nothing more. A
 * NAK of the next request says nothing about the READ's data. */
static void read_refused(void)
{
	start();
	post(UR_WR_READ, 700);
	post(UR_WR_READ, 4);
	wt_kick(&q);
	w.out_head = w.out_tail;
	answer(UR_OP_RC_READ_RESP_FIRST, 0, WT_ACK, 256);
	ack(3, WT_NAK_ACCESS);
	wt_no_wc(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, P(1));
	wt_expect(&w, UR_OP_RC_READ_REQ, P(3));
	ack(2, WT_NAK_SEQ);
	wt_no_wc(&q);
	ack(2, WT_NAK_ACCESS);
	CHECK_EQ(wt_wc(&q, UR_WC_REM_ACCESS_ERR).wr_id, 0x1000);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	stop();
}

static void atomics(void)
{
	u64 v;

	start();
	post(UR_WR_FETCH_ADD, 8);
	post(UR_WR_CMP_SWAP, 8);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_FETCH_ADD, P(0));
	wt_expect(&w, UR_OP_RC_CMP_SWAP, P(1));
	answer(UR_OP_RC_ATOMIC_ACK, 0, WT_ACK, 0);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_FETCH_ADD);
	memcpy(&v, w.mem + 0x100, 8);
	CHECK_EQ(v, 0x42);
	/* The first answer lost: both again. */
	post(UR_WR_FETCH_ADD, 8);
	wt_kick(&q);
	w.out_head = w.out_tail;
	answer(UR_OP_RC_ATOMIC_ACK, 2, WT_ACK, 0);
	wt_expect(&w, UR_OP_RC_CMP_SWAP, P(1));
	wt_expect(&w, UR_OP_RC_FETCH_ADD, P(2));
	/* The wrong kind of answer. */
	answer(UR_OP_RC_READ_RESP_ONLY, 1, WT_ACK, 8);
	wt_wc(&q, UR_WC_BAD_RESP_ERR);
	stop();
	start();
	post(UR_WR_ATOMIC_WRITE, 8);
	post(UR_WR_FLUSH, 0);
	q.send[1].flush_type = 1;
	q.send[1].flush_length = 50;
	wt_kick(&q);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_ATOMIC_WRITE, P(0))->pkt.payload_bytes,
		 8);
	CHECK_EQ(wt_expect(&w, UR_OP_RC_FLUSH, P(1))->pkt.dma_bytes, 50);
	answer(UR_OP_RC_READ_RESP_ONLY, 0, WT_ACK, 0);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_ATOMIC_WRITE);
	answer(UR_OP_RC_READ_RESP_ONLY, 1, WT_ACK, 0);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_FLUSH);
	stop();
}

static void fence(void)
{
	start();
	post(UR_WR_READ, 4);
	post(UR_WR_WRITE, 4);
	q.send[1].flags |= UR_WR_F_FENCE;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, P(0));
	wt_silence(&w);
	answer(UR_OP_RC_READ_RESP_ONLY, 0, WT_ACK, 4);
	wt_expect(&w, UR_OP_RC_WRITE_ONLY, P(1));
	stop();
}

/* Errors of the request itself: in order, and what follows is flushed. */
static void local_errors(void)
{
	struct ur_send_wr *wr;

	start();
	post(UR_WR_SEND, 4);
	post(UR_WR_SEND, 4);
	post(UR_WR_SEND, 4);
	q.send[1].sge[0].lkey ^= 1;
	q.send[0].flags = q.send[1].flags = q.send[2].flags = 0;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(0));
	wt_silence(&w);
	wt_no_wc(&q);
	ack(0, WT_ACK);
	CHECK_EQ(wt_wc(&q, UR_WC_LOC_PROT_ERR).wr_id, 0x1001);
	CHECK_EQ(wt_wc(&q, UR_WC_WR_FLUSH_ERR).wr_id, 0x1002);
	wt_no_wc(&q);
	/* And what is posted later. */
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	stop();
	/* Beyond the region; READ into memory that may not be written. */
	start();
	wr = wt_post(&q, UR_WR_SEND, WT_MEM_BYTES - 3, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
	start();
	w.mr->attr.access = 0;
	post(UR_WR_READ, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	stop();
	/* No such operation; too many elements; too long. */
	start();
	wr = wt_post(&q, UR_WR_OPCODES, 0, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_QP_OP_ERR);
	stop();
	start();
	wr = wt_post(&q, UR_WR_SEND, 0, 4);
	wr->num_sge = 5;
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_QP_OP_ERR);
	stop();
	start();
	wr = wt_post(&q, UR_WR_SEND, 0, 4);
	wr->num_sge = 2;
	wr->sge[0].length = 0x80000000;
	wr->sge[1].length = 1;
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	stop();
	/* A corrupt ring. */
	start();
	q.ring.corrupt = true;
	wt_kick(&q);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK(q.events & (1u << UR_EVENT_QP_FATAL));
	stop();
	/* No room for a completion. */
	start();
	q.cq_room = 0;
	post(UR_WR_SEND, 4);
	wt_kick(&q);
	ack(0, WT_ACK);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK(q.events & (1u << UR_EVENT_QP_FATAL));
	stop();
}

static void gather(void)
{
	struct ur_send_wr *wr;
	struct wt_packet *p;
	u8 inl[300];

	start();
	wr = wt_post(&q, UR_WR_SEND, 0, 3);
	wr->num_sge = 4;
	wr->sge[1] = (struct ur_sge){WT_IOVA + 1000, 0, 0xbad};
	wr->sge[2] = (struct ur_sge){WT_IOVA + 2000, 300, w.key};
	wr->sge[3] = (struct ur_sge){WT_IOVA + 5, 2, w.key};
	wt_kick(&q);
	p = wt_expect(&w, UR_OP_RC_SEND_FIRST, P(0));
	CHECK(memcmp(p->pkt.payload, w.mem, 3) == 0);
	CHECK(memcmp(p->pkt.payload + 3, w.mem + 2000, 253) == 0);
	p = wt_expect(&w, UR_OP_RC_SEND_LAST, P(1));
	CHECK(memcmp(p->pkt.payload, w.mem + 2253, 47) == 0);
	CHECK(memcmp(p->pkt.payload + 47, w.mem + 5, 2) == 0);
	CHECK_EQ(p->pkt.payload_bytes, 49);
	/* Inline, in two pieces of the ring. */
	for (u32 i = 0; i < sizeof(inl); i++)
		inl[i] = (u8)(i * 3);
	wr = wt_post(&q, UR_WR_SEND, 0, 0);
	wr->flags |= UR_WR_F_INLINE;
	wr->inl[0] = inl;
	wr->inl_len[0] = 250;
	wr->inl[1] = inl + 250;
	wr->inl_len[1] = 50;
	wt_kick(&q);
	p = wt_expect(&w, UR_OP_RC_SEND_FIRST, P(2));
	CHECK(memcmp(p->pkt.payload, inl, 256) == 0);
	p = wt_expect(&w, UR_OP_RC_SEND_LAST, P(3));
	CHECK(memcmp(p->pkt.payload, inl + 256, 44) == 0);
	stop();
}

static void credits(void)
{
	start();
	for (int i = 0; i < 6; i++)
		post(UR_WR_SEND, 4);
	q.ring.send_tail = 1;
	wt_kick(&q);
	/* MSN 1 and two credits: requests 2 and 3 may go. */
	ack(0, 2);
	q.ring.send_tail = 6;
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(0));
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(1));
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(2));
	wt_silence(&w);
	/* No more credits, but all answered: one goes as a probe. */
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_ACK,
				.dqpn = q.qp->qpn,
				.psn = P(2),
				.syndrome = 0,
				.msn = 3},
		NULL);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(3));
	wt_silence(&w);
	/* Unlimited. */
	ack(3, WT_ACK);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(4));
	wt_expect(&w, UR_OP_RC_SEND_ONLY, P(5));
	stop();
}

static const u32 first_psns[] = {0, 7, 0xffffff, 0xfffffe, 0xfffffc, 0x7ffffe};

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, packets);
	CASE_FROM_EACH(first_psns, &psn0, window);
	CASE_FROM_EACH(first_psns, &psn0, naks);
	CASE_FROM_EACH(first_psns, &psn0, read_not_skipped);
	CASE_FROM_EACH(first_psns, &psn0, reads);
	CASE_FROM_EACH(first_psns, &psn0, read_refused);
	CASE_FROM_EACH(first_psns, &psn0, atomics);
	CASE_FROM_EACH(first_psns, &psn0, fence);
	CASE_FROM_EACH(first_psns, &psn0, local_errors);
	CASE_FROM_EACH(first_psns, &psn0, gather);
	CASE_FROM_EACH(first_psns, &psn0, credits);
	return cases_status();
}

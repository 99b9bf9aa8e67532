// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * UC: no answers; a message with a gap is dropped whole and its receive
 * serves the next one.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 psn0;

#define P(n) ur_psn_add(psn0, n)

static void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_UC, 0x77, psn0, psn0);
}

static void stop(void)
{
	CHECK_EQ(q.qp->resp.ack_due, 0);
	wt_silence(&w);
	wt_stop(&w, &q);
}

static void feed(u8 opcode, u32 n, u32 bytes, u32 dma)
{
	struct ur_pkt p = wt_pkt(&q, opcode, P(n), bytes);

	p.dma_bytes = dma;
	wt_feed(&w, p, NULL);
}

static void sends(void)
{
	start();
	wt_post_recv(&q, 0, 1000);
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_UC_SEND_FIRST, 0, 256, 0);
	feed(UR_OP_UC_SEND_LAST, 1, 10, 0);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 266);
	/* The middle is lost: nothing of the message, and the next one uses
	 * the same receive. */
	feed(UR_OP_UC_SEND_FIRST, 2, 256, 0);
	feed(UR_OP_UC_SEND_LAST, 4, 10, 0);
	wt_no_wc(&q);
	feed(UR_OP_UC_SEND_ONLY, 5, 20, 0);
	CHECK_EQ(wt_wc(&q, 0).wr_id, 0x2001);
	/* The first is lost: what follows of it is dropped. */
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_UC_SEND_LAST, 7, 10, 0);
	wt_no_wc(&q);
	/* A message cut off by the next one. */
	feed(UR_OP_UC_SEND_FIRST, 8, 256, 0);
	feed(UR_OP_UC_SEND_ONLY, 9, 30, 0);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 30);
	/* Without a receive. */
	feed(UR_OP_UC_SEND_ONLY, 10, 30, 0);
	wt_no_wc(&q);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	/* Wrong lengths. */
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_UC_SEND_FIRST, 11, 255, 0);
	feed(UR_OP_UC_SEND_LAST, 12, 10, 0);
	wt_no_wc(&q);
	/* Longer than the receive. */
	wt_post_recv(&q, 0, 10);
	feed(UR_OP_UC_SEND_ONLY, 13, 20, 0);
	wt_wc(&q, 0);
	feed(UR_OP_UC_SEND_ONLY, 14, 20, 0);
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	stop();
}

static void writes(void)
{
	start();
	memset(w.mem + 0x80000, 0, 1000);
	feed(UR_OP_UC_WRITE_FIRST, 0, 256, 300);
	feed(UR_OP_UC_WRITE_LAST, 1, 44, 0);
	for (u32 i = 0; i < 44; i++)
		CHECK_EQ(w.mem[0x80100 + i], wt_pattern(i));
	wt_no_wc(&q);
	wt_post_recv(&q, 0, 0);
	feed(UR_OP_UC_WRITE_ONLY_IMM, 2, 4, 4);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_RECV_RDMA_WITH_IMM);
	/* A bad key is silence, and the connection goes on. */
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_UC_WRITE_ONLY,
				.dqpn = q.qp->qpn,
				.psn = P(3),
				.payload_bytes = 4,
				.dma_bytes = 4,
				.va = WT_REMOTE,
				.rkey = w.key ^ 1},
		NULL);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	feed(UR_OP_UC_WRITE_ONLY, 4, 4, 5);
	feed(UR_OP_UC_WRITE_ONLY, 5, 4, 4);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	stop();
}

static void requester(void)
{
	start();
	wt_post(&q, UR_WR_SEND, 0, 300);
	wt_post(&q, UR_WR_WRITE, 0, 4);
	wt_kick(&q);
	CHECK(!wt_expect(&w, UR_OP_UC_SEND_FIRST, P(0))->pkt.ackreq);
	CHECK(!wt_expect(&w, UR_OP_UC_SEND_LAST, P(1))->pkt.ackreq);
	wt_expect(&w, UR_OP_UC_WRITE_ONLY, P(2));
	wt_wc(&q, 0);
	wt_wc(&q, 0);
	CHECK_EQ(ur_port_deadline(w.port), UR_NEVER);
	/* No reads on UC; the send queue fails, receiving goes on. */
	wt_post(&q, UR_WR_READ, 0, 4);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_QP_OP_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	CHECK_EQ(q.qp->state, UR_QP_SQE);
	wt_post_recv(&q, 0, 1000);
	feed(UR_OP_UC_SEND_ONLY, 0, 20, 0);
	wt_wc(&q, 0);
	stop();
}

static const u32 first_psns[] = {0, 0xffffff, 0xfffffe, 0x7fffff};

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE_FROM_EACH(first_psns, &psn0, sends);
	CASE_FROM_EACH(first_psns, &psn0, writes);
	CASE_FROM_EACH(first_psns, &psn0, requester);
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A completed receive: its status where the request that took it was
 * refused (IBTA 11.6.2), and whether there is a GRH in front of the message. By
 * packets and inside the port alike.
 */
#include "tests/scenario/transport/wiretap.h"

#define MTU 256u
#define PSN 9

static struct wt w;
static struct wt_qp q, r;

static void start(bool loop, enum ur_qp_type type)
{
	wt_config(&w, 0);
	if (loop)
		wt_loop(&w);
	wt_open(&w);
	wt_pair(&w, &q, &r, type, PSN);
	wt_post_recv(&r, 0x2000, 4 * MTU);
}

static void stop(void)
{
	ur_qp_destroy(q.qp);
	ur_qp_destroy(r.qp);
	wt_close(&w);
}

static void feed_write(u8 opcode, u32 n, u32 bytes, u32 dma, u32 key)
{
	struct ur_pkt pkt = wt_pkt(&r, opcode, PSN + n, bytes);

	pkt.dma_bytes = dma;
	pkt.rkey = key;
	wt_feed(&w, pkt, NULL);
}

/* A WRITE with immediate of q, by the port alone. */
static void write_imm(u32 bytes, u32 key)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_WRITE_IMM, 0x1000, bytes);

	wr->raddr = WT_REMOTE;
	wr->rkey = key;
	wt_kick(&q);
	wt_silence(&w);
}

static u64 refusals(void)
{
	return ur_port_counters(w.port)[UR_CNT_resp_remote_access_errors];
}

/* The packet that has the immediate is refused: it ends the receive. */
static void refused_write(void)
{
	start(false, UR_QPT_RC);
	feed_write(UR_SVC_RC | UR_OPC_WRITE_ONLY_IMM, 0, 8, 8, w.key ^ 1);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN);
	CHECK_EQ(wt_wc(&r, UR_WC_LOC_ACCESS_ERR).wr_id, 0x2000);
	CHECK_EQ(refusals(), 1);
	stop();
	/* The last one, when the memory has gone. */
	start(false, UR_QPT_RC);
	feed_write(UR_OP_RC_WRITE_FIRST, 0, MTU, 2 * MTU, w.key);
	w.mr->attr.access &= ~(u32)UR_ACCESS_REMOTE_WRITE;
	feed_write(UR_SVC_RC | UR_OPC_WRITE_LAST_IMM, 1, MTU, 0, 0);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN + 1);
	wt_wc(&r, UR_WC_LOC_ACCESS_ERR);
	stop();
	/* The first one of several has none: the receive is flushed. */
	start(false, UR_QPT_RC);
	feed_write(UR_OP_RC_WRITE_FIRST, 0, MTU, 2 * MTU, w.key ^ 1);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN);
	wt_wc(&r, UR_WC_WR_FLUSH_ERR);
	CHECK(r.events & 1u << UR_EVENT_QP_ACCESS_ERR);
	stop();
	/* Nor does one without an immediate. */
	start(false, UR_QPT_RC);
	feed_write(UR_OP_RC_WRITE_ONLY, 0, 8, 8, w.key ^ 1);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN);
	wt_wc(&r, UR_WC_WR_FLUSH_ERR);
	stop();
}

static void without_receive(void)
{
	start(false, UR_QPT_RC);
	r.ring.recv_tail = 0;
	feed_write(UR_SVC_RC | UR_OPC_WRITE_ONLY_IMM, 0, 8, 8, w.key ^ 1);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN);
	wt_no_wc(&r);
	CHECK(r.events & 1u << UR_EVENT_QP_ACCESS_ERR);
	CHECK_EQ(refusals(), 1);
	stop();
}

static void refused_write_here(void)
{
	start(true, UR_QPT_RC);
	write_imm(MTU, w.key ^ 1);
	wt_wc(&q, UR_WC_REM_ACCESS_ERR);
	wt_wc(&r, UR_WC_LOC_ACCESS_ERR);
	stop();
	start(true, UR_QPT_RC);
	write_imm(MTU + 1, w.key ^ 1);
	wt_wc(&q, UR_WC_REM_ACCESS_ERR);
	wt_wc(&r, UR_WC_WR_FLUSH_ERR);
	stop();
	/* Nobody learns of it with UC, and the receive stays for the next. */
	start(true, UR_QPT_UC);
	write_imm(MTU, w.key ^ 1);
	wt_wc(&q, 0);
	wt_no_wc(&r);
	write_imm(MTU, w.key);
	wt_wc(&q, 0);
	wt_wc(&r, 0);
	stop();
}

/* The requester waits for an answer that does not come. */
static void class_j_here(void)
{
	start(true, UR_QPT_RC);
	q.qp->attr.timeout = 8;
	q.qp->ack_ns = ur_ack_timeout_ns(8);
	q.qp->attr.retry_cnt = 1;
	wt_post(&q, UR_WR_SEND_INV, 0x1000, 8)->imm_inv = w.key;
	wt_kick(&q);
	wt_wc(&r, UR_WC_MW_BIND_ERR);
	CHECK_EQ(r.qp->state, UR_QP_ERR);
	wt_no_wc(&q);
	for (u32 i = 0; i < 100 && q.qp->state != UR_QP_ERR; i++)
		wt_sleep(&w, WT_MS);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	stop();
}

/* Only a datagram has one. */
static void grh(void)
{
	struct ur_pkt pkt;

	for (u32 uc = 0; uc < 2; uc++) {
		start(false, uc ? UR_QPT_UC : UR_QPT_RC);
		pkt = wt_pkt(&r,
			     (uc ? UR_SVC_UC : UR_SVC_RC) | UR_OPC_SEND_ONLY,
			     PSN, 8);
		wt_feed(&w, pkt, NULL);
		CHECK_EQ(wt_wc(&r, 0).wc_flags, 0);
		stop();
		start(true, uc ? UR_QPT_UC : UR_QPT_RC);
		write_imm(8, w.key);
		CHECK_EQ(wt_wc(&r, 0).wc_flags, UR_WC_F_IMM);
		stop();
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(refused_write());
	CASE(without_receive());
	CASE(refused_write_here());
	CASE(class_j_here());
	CASE(grh());
	return cases_status();
}

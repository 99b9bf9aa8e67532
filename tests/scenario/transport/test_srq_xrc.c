// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared receive queues: order, limit event, last-WQE event; XRC: the packet
 * names the SRQ, which must be of the target's domain.
 */
#include <errno.h>
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q, q2, pool; /* pool: the ring of the SRQ */
static struct ur_srq *srq;

static void with_srq(struct ur_qp_init *init)
{
	init->srq = srq;
	init->xrcd = 3;
	init->rq_ctx = NULL;
}

static void make_srq(bool xrc, u32 limit)
{
	struct ur_srq_attr attr = {
		.pd = WT_PD,
		.limit = limit,
		.xrc = xrc,
		.xrcd = 3,
		.cq_ctx = &pool,
		.rq_ctx = &pool,
		.ctx = &pool,
	};

	wt_config(&w, 0);
	wt_open(&w);
	pool = (struct wt_qp){.wt = &w, .cq_room = WT_RING};
	CHECK_EQ(ur_srq_create(w.port, &attr, &srq), 0);
}

static void feed(struct wt_qp *to, u8 opcode, u32 psn, u32 bytes, u32 srqn)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = opcode,
				.dqpn = to->qp->qpn,
				.psn = psn,
				.xrc_srqn = srqn,
				.ackreq = true,
				.payload_bytes = bytes},
		NULL);
}

static void shared(void)
{
	struct ur_qp_attr a;

	make_srq(false, 2);
	a = wt_attr(&w, 0x77, 10, 9);
	wt_qp_create(&w, &q, UR_QPT_RC, with_srq);
	wt_to_rts(&q, &a);
	wt_qp_create(&w, &q2, UR_QPT_RC, with_srq);
	wt_to_rts(&q2, &a);
	CHECK(ur_srq_destroy(srq) < 0);
	feed(&q, UR_OP_RC_SEND_ONLY, 9, 4, 0);
	wt_expect_ack(&w, WT_RNR(12), 9);
	for (int i = 0; i < 4; i++)
		wt_post_recv(&pool, 0x1000, 600);
	feed(&q, UR_OP_RC_SEND_FIRST, 9, 256, 0);
	feed(&q2, UR_OP_RC_SEND_ONLY, 9, 4, 0);
	CHECK_EQ(pool.events, 0);
	CHECK_EQ(wt_wc(&q2, 0).wr_id, 0x2001);
	feed(&q, UR_OP_RC_SEND_LAST, 10, 4, 0);
	CHECK_EQ(wt_wc(&q, 0).wr_id, 0x2000);
	/* Fewer than two are left: once. */
	feed(&q2, UR_OP_RC_SEND_ONLY, 10, 4, 0);
	CHECK_EQ(pool.events, 1u << UR_EVENT_SRQ_LIMIT_REACHED);
	feed(&q2, UR_OP_RC_SEND_FIRST, 11, 256, 0);
	CHECK_EQ(pool.event_count, 1);
	CHECK_EQ(ur_srq_limit(srq), 0);
	wt_wc(&q2, 0);
	/* Its own receive is flushed, not those of the others. */
	wt_post_recv(&pool, 0x1000, 600);
	ur_qp_fail(q2.qp);
	wt_run(&w);
	CHECK_EQ(wt_wc(&q2, UR_WC_WR_FLUSH_ERR).wr_id, 0x2003);
	CHECK(q2.events & (1u << UR_EVENT_QP_LAST_WQE_REACHED));
	CHECK_EQ(pool.ring.recv_tail - pool.ring.recv_head, 1);
	ur_qp_destroy(q.qp);
	ur_qp_destroy(q2.qp);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	wt_close(&w);
}

static void plain_xrcd(struct ur_qp_init *init)
{
	init->xrcd = 3;
	init->rq_ctx = NULL;
}

static void xrc(void)
{
	struct ur_qp_attr a;
	struct wt_packet *p;

	make_srq(true, 0);
	a = wt_attr(&w, 0x77, 10, 9);
	wt_qp_create(&w, &q, UR_QPT_XRC_TGT, plain_xrcd);
	wt_to_rts(&q, &a);
	wt_post_recv(&pool, 0x1000, 600);
	wt_post_recv(&pool, 0x1000, 600);
	feed(&q, UR_SVC_XRC | UR_OPC_SEND_ONLY, 9, 4, ur_srq_number(srq));
	p = wt_expect(&w, UR_SVC_XRC | UR_OPC_ACK, 9);
	CHECK_EQ(p->pkt.syndrome, WT_ACK);
	{
		struct ur_wc wc = wt_wc(&pool, 0);

		CHECK_EQ(wc.srqn, ur_srq_number(srq));
		CHECK_EQ(wc.qpn, q.qp->qpn);
	}
	/* No such SRQ. */
	feed(&q, UR_SVC_XRC | UR_OPC_SEND_ONLY, 10, 4, ur_srq_number(srq) + 1);
	p = wt_expect(&w, UR_SVC_XRC | UR_OPC_ACK, 10);
	CHECK_EQ(p->pkt.syndrome, WT_NAK_INV_REQ);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	ur_qp_destroy(q.qp);

	/* The initiator names the SRQ, and takes no requests. */
	wt_qp_create(&w, &q, UR_QPT_XRC_INI, plain_xrcd);
	wt_to_rts(&q, &a);
	wt_post(&q, UR_WR_SEND, 0, 300)->xrc_srqn = 0x1234;
	wt_kick(&q);
	p = wt_expect(&w, UR_SVC_XRC | UR_OPC_SEND_FIRST, 10);
	CHECK_EQ(p->pkt.xrc_srqn, 0x1234);
	p = wt_expect(&w, UR_SVC_XRC | UR_OPC_SEND_LAST, 11);
	CHECK_EQ(p->pkt.xrc_srqn, 0x1234);
	feed(&q, UR_SVC_XRC | UR_OPC_SEND_ONLY, 9, 4, 1);
	wt_silence(&w);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_SVC_XRC | UR_OPC_ACK,
				.dqpn = q.qp->qpn,
				.psn = 11,
				.syndrome = WT_ACK},
		NULL);
	wt_wc(&q, 0);
	ur_qp_destroy(q.qp);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	wt_close(&w);
}

static u32 build(u8 *bytes, u8 op, u32 psn, u32 payload)
{
	struct ur_pkt pkt = {.opcode = UR_SVC_XRC | op,
			     .dqpn = q.qp->qpn,
			     .psn = psn,
			     .pkey = UR_PKEY_DEFAULT,
			     .ackreq = true,
			     .xrc_srqn = ur_srq_number(srq),
			     .payload_bytes = payload};
	u32 len = (u32)ur_pkt_build(&pkt, bytes);

	memset(bytes + len, 0x5a, payload);
	return len + payload;
}

/* A hostile card places the end of a message first, in a receive of the SRQ that the packet names. */
static void end_first(void)
{
	u8 first[512], last[512];
	u32 first_len, last_len;
	struct ur_qp_attr a;

	make_srq(true, 0);
	a = wt_attr(&w, 0x77, 10, 9);
	wt_qp_create(&w, &q, UR_QPT_XRC_TGT, plain_xrcd);
	wt_to_rts(&q, &a);
	wt_post_recv(&pool, 0x1000, 600);
	first_len = build(first, UR_OPC_SEND_FIRST, 9, 256);
	last_len = build(last, UR_OPC_SEND_LAST, 10, 16);
	memset(w.mem + 0x1000, 0, 600);
	CHECK(ur_port_place_ahead(w.port, w.now, &w.meta, first, first_len,
				  last, last_len));
	for (u32 i = 0; i < 600; i++)
		CHECK_EQ(w.mem[0x1000 + i], i >= 256 && i < 272 ? 0x5a : 0);
	ur_port_rx(w.port, w.now, &w.meta, first, first_len);
	ur_port_rx(w.port, w.now, &w.meta, last, last_len);
	wt_run(&w);
	CHECK_EQ(wt_wc(&pool, 0).byte_len, 272);
	CHECK_EQ(w.mem[0x1000], 0x5a);
	/* No packet of another service is one of these. */
	last[0] = UR_OP_RC_SEND_LAST;
	wt_post_recv(&pool, 0x1000, 600);
	first_len = build(first, UR_OPC_SEND_FIRST, 11, 256);
	CHECK(!ur_port_place_ahead(w.port, w.now, &w.meta, first, first_len,
				   last, last_len));
	ur_qp_destroy(q.qp);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	wt_close(&w);
}

/* Both ends on one device, without packets. */
static void xrc_here(void)
{
	struct ur_qp_attr a;

	make_srq(true, 0);
	w.port->cfg.loop = true;
	w.av.loop = true;
	memcpy(w.av.dgid, w.av.sgid, 16);
	wt_qp_create(&w, &q, UR_QPT_XRC_INI, plain_xrcd);
	wt_qp_create(&w, &q2, UR_QPT_XRC_TGT, plain_xrcd);
	a = wt_attr(&w, q2.qp->qpn, 10, 9);
	wt_to_rts(&q, &a);
	a = wt_attr(&w, q.qp->qpn, 9, 10);
	wt_to_rts(&q2, &a);
	wt_post_recv(&pool, 0x1000, 600);
	wt_post(&q, UR_WR_SEND, 0, 300)->xrc_srqn = ur_srq_number(srq);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, 0);
	CHECK_EQ(wt_wc(&pool, 0).byte_len, 300);
	CHECK(memcmp(w.mem, w.mem + 0x1000, 300) == 0);
	ur_qp_destroy(q.qp);
	ur_qp_destroy(q2.qp);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	wt_close(&w);
}

/* Two cannot have the number that another table gave. */
static void given(void)
{
	struct ur_srq_attr attr = {.pd = WT_PD,
				   .xrc = true,
				   .xrcd = 3,
				   .srqn = 0x123456,
				   .cq_ctx = &pool,
				   .rq_ctx = &pool,
				   .ctx = &pool};
	struct ur_srq *two;

	make_srq(true, 0);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	CHECK_EQ(ur_srq_create(w.port, &attr, &srq), 0);
	CHECK_EQ(ur_srq_number(srq), 0x123456);
	CHECK_EQ(ur_srq_create(w.port, &attr, &two), -EEXIST);
	attr.srqn = 0;
	CHECK_EQ(ur_srq_create(w.port, &attr, &two), 0);
	CHECK(ur_srq_number(two) != 0x123456);
	CHECK_EQ(ur_srq_destroy(srq), 0);
	CHECK_EQ(ur_srq_destroy(two), 0);
	wt_close(&w);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(shared());
	CASE(xrc());
	CASE(end_first());
	CASE(xrc_here());
	CASE(given());
	return cases_status();
}

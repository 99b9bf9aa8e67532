// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains where two meet: the keys of a shared receive queue's
 * receives are of its domain, not of the queue pair's (IBTA 10.2.9), whichever
 * way the message comes.
 */
#include "tests/scenario/transport/wiretap.h"

#define MTU	 256u
#define PSN	 9
#define OTHER_PD (WT_PD + 1)
#define OTHER	 0x70000000ull /* where its region is */
#define BYTES	 8192u

static struct wt w;
static struct wt_qp q, s, pool; /* pool: the ring of the SRQ */
static struct ur_srq *srq;
static struct ur_mr *mr; /* of the SRQ's domain */
static u8 mem[BYTES];

static void with_srq(struct ur_qp_init *init)
{
	init->srq = srq;
	init->rq_ctx = NULL;
}

static void open_port(bool fast, bool loop)
{
	const struct ur_mr_attr attr = {.pd = OTHER_PD,
					.access = UR_ACCESS_LOCAL_WRITE,
					.iova = OTHER,
					.length = BYTES,
					.direct = mem};

	wt_config(&w, 0);
	w.cfg.fast = fast;
	if (loop)
		wt_loop(&w);
	wt_open(&w);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	memset(mem, 0, BYTES);
	memset(w.mem, 0, BYTES);
	pool = (struct wt_qp){.wt = &w, .cq_room = WT_RING};
}

static void make_srq(u32 pd, bool xrc, struct ur_srq **ret)
{
	const struct ur_srq_attr attr = {.pd = pd,
					 .xrc = xrc,
					 .xrcd = 3,
					 .cq_ctx = &pool,
					 .rq_ctx = &pool,
					 .ctx = &pool};

	CHECK(!ur_srq_create(w.port, &attr, ret));
}

static void start(enum ur_qp_type type, bool fast)
{
	struct ur_qp_attr a;

	open_port(fast, false);
	make_srq(OTHER_PD, false, &srq);
	wt_qp_create(&w, &q, type, with_srq);
	a = wt_attr(&w, 0x77, 10, PSN);
	wt_to_rts(&q, &a);
}

static void stop(void)
{
	ur_qp_destroy(q.qp);
	CHECK(!ur_srq_destroy(srq));
	CHECK(!ur_mr_destroy(mr));
	wt_close(&w);
}

/* A receive of the whole region: the SRQ's, or the queue pair's. */
static void receive(bool good)
{
	wt_post_recv(&pool, 0, BYTES);
	if (good)
		pool.recv[(pool.ring.recv_tail - 1) % WT_RING].sge[0] =
			(struct ur_sge){OTHER, BYTES, ur_mr_key(mr)};
}

static void feed(u8 opcode, u32 n, u32 bytes)
{
	struct ur_pkt pkt = wt_pkt(&q, opcode, PSN + n, bytes);

	pkt.ackreq = n == 3;
	pkt.qkey = 0x11111111;
	wt_feed(&w, pkt, NULL);
}

static bool filled(const u8 *at, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		if (at[i] != wt_pattern(i % MTU))
			return false;
	return true;
}

/* Four packets of a SEND, with and without the short way of the middle. */
static void connected(enum ur_qp_type type, bool fast)
{
	u8 svc = type == UR_QPT_UC ? UR_SVC_UC : UR_SVC_RC;

	start(type, fast);
	receive(true);
	feed(svc | UR_OPC_SEND_FIRST, 0, MTU);
	feed(svc | UR_OPC_SEND_MIDDLE, 1, MTU);
	feed(svc | UR_OPC_SEND_MIDDLE, 2, MTU);
	feed(svc | UR_OPC_SEND_LAST, 3, MTU);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 4 * MTU);
	CHECK(filled(mem, 4 * MTU));
	stop();
	start(type, fast);
	receive(false);
	feed(svc | UR_OPC_SEND_FIRST, 0, MTU);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK(!w.mem[0]);
	if (type == UR_QPT_RC)
		wt_expect_ack(&w, WT_NAK_OP, PSN);
	stop();
}

/* The region changes its domain in the midst of the message. */
static void changed(bool fast)
{
	struct ur_mr_attr attr;

	start(UR_QPT_RC, fast);
	receive(true);
	feed(UR_OP_RC_SEND_FIRST, 0, MTU);
	feed(UR_OP_RC_SEND_MIDDLE, 1, MTU);
	attr = mr->attr;
	attr.pd = WT_PD;
	CHECK(!ur_mr_rereg(mr, &attr));
	feed(UR_OP_RC_SEND_MIDDLE, 2, MTU);
	wt_expect_ack(&w, WT_NAK_OP, PSN + 2);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	CHECK(!mem[2 * MTU]);
	stop();
}

static void datagram(void)
{
	start(UR_QPT_UD, false);
	receive(true);
	feed(UR_SVC_UD | UR_OPC_SEND_ONLY, 0, MTU);
	CHECK_EQ(wt_wc(&q, 0).byte_len, MTU + UR_GRH_BYTES);
	CHECK(filled(mem + UR_GRH_BYTES, MTU));
	receive(false);
	feed(UR_SVC_UD | UR_OPC_SEND_ONLY, 0, MTU);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	CHECK(!w.mem[UR_GRH_BYTES]);
	stop();
}

/* The peer is in the same port. */
static void here(bool good)
{
	struct ur_qp_attr a;

	open_port(false, true);
	make_srq(OTHER_PD, false, &srq);
	wt_qp_create(&w, &s, UR_QPT_RC, NULL);
	wt_qp_create(&w, &q, UR_QPT_RC, with_srq);
	a = wt_attr(&w, q.qp->qpn, 10, PSN);
	wt_to_rts(&s, &a);
	a = wt_attr(&w, s.qp->qpn, PSN, 10);
	wt_to_rts(&q, &a);
	receive(good);
	memset(w.mem + 0x40000, 7, 600);
	wt_post(&s, UR_WR_SEND, 0x40000, 600);
	wt_kick(&s);
	wt_silence(&w);
	wt_wc(&s, good ? 0 : UR_WC_REM_OP_ERR);
	wt_wc(&q, good ? 0 : UR_WC_LOC_PROT_ERR);
	CHECK_EQ(mem[599], good ? 7 : 0);
	CHECK_EQ(w.mem[0], 0);
	ur_qp_destroy(s.qp);
	stop();
}

/* The memory that a WRITE names is of the queue pair's domain, its receive of the SRQ's. */
static void immediate(void)
{
	struct ur_pkt pkt;

	start(UR_QPT_RC, false);
	receive(true);
	pkt = wt_pkt(&q, UR_SVC_RC | UR_OPC_WRITE_ONLY_IMM, PSN, 8);
	pkt.dma_bytes = 8;
	wt_feed(&w, pkt, NULL);
	CHECK_EQ(wt_wc(&q, 0).opcode, UR_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(w.mem[WT_REMOTE_OFF + 7], wt_pattern(7));
	receive(true);
	pkt.psn++;
	pkt.rkey = ur_mr_key(mr);
	pkt.va = OTHER;
	wt_feed(&w, pkt, NULL);
	wt_expect_ack(&w, WT_NAK_ACCESS, PSN + 1);
	CHECK(!mem[0]);
	stop();
}

static void plain_xrcd(struct ur_qp_init *init)
{
	init->xrcd = 3;
	init->rq_ctx = NULL;
}

/* Packets of one message name two SRQs: its receive stays the first one's. */
static void two_srqs(void)
{
	struct ur_srq *first, *second;
	struct ur_qp_attr a;
	struct ur_pkt pkt;

	for (u32 good = 0; good < 2; good++) {
		open_port(false, false);
		make_srq(OTHER_PD, true, &first);
		make_srq(WT_PD, true, &second);
		wt_qp_create(&w, &q, UR_QPT_XRC_TGT, plain_xrcd);
		a = wt_attr(&w, 0x77, 10, PSN);
		wt_to_rts(&q, &a);
		receive(true);
		if (!good) /* beyond the first packet another domain's */
			pool.recv[0] = (struct ur_recv_wr){
				.num_sge = 2,
				.sge = {{OTHER, MTU, ur_mr_key(mr)},
					{WT_IOVA, MTU, w.key}}};
		pkt = wt_pkt(&q, UR_SVC_XRC | UR_OPC_SEND_FIRST, PSN, MTU);
		pkt.xrc_srqn = ur_srq_number(first);
		wt_feed(&w, pkt, NULL);
		pkt = wt_pkt(&q, UR_SVC_XRC | UR_OPC_SEND_LAST, PSN + 1, MTU);
		pkt.xrc_srqn = ur_srq_number(second);
		wt_feed(&w, pkt, NULL);
		wt_wc(&pool, good ? 0 : UR_WC_LOC_PROT_ERR);
		CHECK_EQ(w.mem[0], 0);
		CHECK_EQ(mem[MTU], good ? wt_pattern(0) : 0);
		ur_qp_destroy(q.qp);
		CHECK(!ur_srq_destroy(first));
		CHECK(!ur_srq_destroy(second));
		CHECK(!ur_mr_destroy(mr));
		wt_close(&w);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	for (u32 fast = 0; fast < 2; fast++) {
		CASE(connected(UR_QPT_RC, fast));
		CASE(connected(UR_QPT_UC, fast));
		CASE(changed(fast));
	}
	CASE(datagram());
	CASE(here(true));
	CASE(here(false));
	CASE(immediate());
	CASE(two_srqs());
	return cases_status();
}

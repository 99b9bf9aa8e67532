// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * UD: addressing by each request, Q_Keys, the 40 bytes before the payload, what
 * is too long, multicast.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q, r;

static void start(bool loop)
{
	wt_config(&w, 0);
	w.cfg.loop = loop;
	w.av.loop = loop;
	if (loop)
		memcpy(w.av.dgid, w.av.sgid, 16);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_UD, 0, 50, 0);
	wt_rts(&w, &r, UR_QPT_UD, 0, 60, 0);
}

static void stop(void)
{
	ur_qp_destroy(q.qp);
	ur_qp_destroy(r.qp);
	wt_run(&w);
	CHECK_EQ(w.av.refs, 1);
	wt_close(&w);
}

static struct ur_send_wr *post(u32 len, u32 dqpn)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_SEND_IMM, 0x100, len);

	wr->av = &w.av;
	wr->dqpn = dqpn;
	wr->qkey = 0x11111111;
	wr->imm_inv = 0x44332211;
	return wr;
}

static void send(void)
{
	struct wt_packet *p;

	start(false);
	post(101, 0x55);
	wt_kick(&q);
	p = wt_expect(&w, UR_OP_UD_SEND_ONLY_IMM, 50);
	CHECK_EQ(p->pkt.dqpn, 0x55);
	CHECK_EQ(p->pkt.sqpn, q.qp->qpn);
	CHECK_EQ(p->pkt.qkey, 0x11111111);
	CHECK_EQ(p->pkt.imm, 0x11223344);
	CHECK_EQ(p->pkt.payload_bytes, 101);
	CHECK(!p->pkt.ackreq);
	wt_wc(&q, 0);
	/* A controlled Q_Key stands for the queue pair's own. */
	post(1, 0x55)->qkey = 0x80000000;
	wt_kick(&q);
	CHECK_EQ(wt_expect(&w, UR_OP_UD_SEND_ONLY_IMM, 51)->pkt.qkey,
		 0x11111111);
	wt_wc(&q, 0);
	/* Longer than the MTU: not sent, not an error. */
	post(4097, 0x55);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, 0);
	stop();
}

static void feed(u32 bytes, u32 qkey)
{
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_UD_SEND_ONLY_IMM,
				.dqpn = q.qp->qpn,
				.sqpn = 0x99,
				.qkey = qkey,
				.imm = 0x11223344,
				.psn = 1234,
				.payload_bytes = bytes},
		NULL);
}

static void receive(void)
{
	const u64 *c;
	struct ur_wc wc;
	u8 *grh;

	start(false);
	c = ur_port_counters(w.port);
	feed(10, 0x11111111);
	CHECK_EQ(c[UR_CNT_out_of_buffer], 1);
	wt_post_recv(&q, 0x1000, 50);
	feed(10, 0x11111112);
	CHECK_EQ(c[UR_CNT_bad_qkey], 1);
	/* Payload and 40 bytes must fit; the receive stays. */
	feed(11, 0x11111111);
	wt_no_wc(&q);
	feed(10, 0x11111111);
	wc = wt_wc(&q, 0);
	CHECK_EQ(wc.byte_len, 50);
	CHECK_EQ(wc.src_qp, 0x99);
	CHECK_EQ(wc.wc_flags, UR_WC_F_GRH | UR_WC_F_IMM);
	CHECK_EQ(wc.imm_inv, 0x44332211);
	CHECK_EQ(wc.sl, UR_WC_SL_ROCE_V2_IPV4);
	/* IPv4: 20 zero bytes, then a header with a right checksum. */
	grh = w.mem + 0x1000;
	for (u32 i = 0; i < 20; i++)
		CHECK_EQ(grh[i], 0);
	CHECK_EQ(grh[20], 0x45);
	CHECK_EQ(ur_get_be16(grh + 22), 20 + 8 + 24 + 10 + 2 + 4);
	CHECK_EQ(grh[32 + 3], 2);
	CHECK_EQ(grh[36 + 3], 1);
	{
		u32 sum = 0;

		for (u32 i = 20; i < 40; i += 2)
			sum += ur_get_be16(grh + i);
		CHECK_EQ((sum & 0xffff) + (sum >> 16), 0xffff);
	}
	for (u32 i = 0; i < 10; i++)
		CHECK_EQ(grh[40 + i], wt_pattern(i));
	/* IPv6: the header itself. */
	w.meta.v4 = false;
	w.meta.flow_label = 0x12345;
	w.meta.tos = 0x28;
	wt_post_recv(&q, 0x1000, 50);
	feed(10, 0x11111111);
	CHECK_EQ(wt_wc(&q, 0).sl, UR_WC_SL_ROCE_V2_IPV6);
	CHECK_EQ(ur_get_be32(grh), 0x62812345);
	CHECK(memcmp(grh + 8, w.meta.saddr, 16) == 0);
	CHECK(memcmp(grh + 24, w.meta.daddr, 16) == 0);
	/* A bad receive fails the queue pair, and only that. */
	wt_post_recv(&q, 0x1000, 50);
	q.recv[2].sge[0].lkey ^= 1;
	feed(10, 0x11111111);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK_EQ(r.qp->state, UR_QP_RTS);
	stop();
}

/* A send that fails leaves the queue pair in SQE, which still receives. */
static void send_error(void)
{
	struct ur_qp_attr a = {.state = UR_QP_RTS};

	start(false);
	post(10, 0x55)->sge[0].lkey ^= 1;
	post(10, 0x55);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, UR_WC_LOC_PROT_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	CHECK_EQ(q.qp->state, UR_QP_SQE);
	wt_post_recv(&q, 0x1000, 50);
	feed(10, 0x11111111);
	wt_wc(&q, 0);
	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_STATE), 0);
	post(10, 0x55);
	wt_kick(&q);
	wt_next(&w);
	wt_wc(&q, 0);
	/* No such operation on UD. */
	wt_post(&q, UR_WR_WRITE, 0, 4)->av = &w.av;
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_QP_OP_ERR);
	stop();
}

static void same_device(void)
{
	start(true);
	wt_post_recv(&r, 0x2000, 200);
	post(100, r.qp->qpn);
	wt_kick(&q);
	wt_silence(&w);
	wt_wc(&q, 0);
	CHECK_EQ(wt_wc(&r, 0).byte_len, 140);
	CHECK(memcmp(w.mem + 0x2028, w.mem + 0x100, 100) == 0);
	/* To itself. */
	wt_post_recv(&q, 0x2000, 200);
	post(7, q.qp->qpn);
	wt_kick(&q);
	CHECK_EQ(wt_wc(&q, 0).byte_len, 47);
	wt_wc(&q, 0);
	stop();
}

static void multicast(void)
{
	static const u8 v4[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
	static const u8 v6[16] = {0xff, 0x0e, [15] = 7};
	static const u8 unicast[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};
	struct ur_pkt p;

	start(false);
	CHECK(ur_mcast_attach(q.qp, unicast) < 0);
	CHECK_EQ(ur_mcast_attach(q.qp, v4), 0);
	CHECK_EQ(ur_mcast_attach(q.qp, v4), 0);
	CHECK_EQ(ur_mcast_attach(q.qp, v6), 0);
	CHECK_EQ(ur_mcast_attach(r.qp, v4), 0);
	CHECK_EQ(ur_qp_attached(q.qp), 2);
	memcpy(w.meta.daddr, v4, 16);
	p = (struct ur_pkt){.opcode = UR_OP_UD_SEND_ONLY,
			    .dqpn = UR_QPN_MULTICAST,
			    .sqpn = 0x99,
			    .qkey = 0x11111111,
			    .payload_bytes = 4};
	wt_post_recv(&q, 0x2000, 50);
	wt_post_recv(&r, 0x3000, 50);
	wt_feed(&w, p, NULL);
	wt_wc(&q, 0);
	wt_wc(&r, 0);
	/* A request to a group goes out, and to the members here. */
	w.av.mcast = true;
	memcpy(w.av.dgid, v4, 16);
	wt_post_recv(&r, 0x3000, 50);
	post(4, UR_QPN_MULTICAST);
	wt_kick(&q);
	CHECK_EQ(wt_expect(&w, UR_OP_UD_SEND_ONLY_IMM, 50)->pkt.dqpn,
		 UR_QPN_MULTICAST);
	wt_wc(&q, 0);
	wt_wc(&r, 0);
	CHECK_EQ(ur_mcast_detach(q.qp, v4), 0);
	CHECK(ur_mcast_detach(q.qp, v4) < 0);
	CHECK_EQ(ur_mcast_detach(q.qp, v6), 0);
	CHECK_EQ(ur_mcast_detach(r.qp, v4), 0);
	wt_feed(&w, p, NULL);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_bad_gid], 1);
	stop();
}

/* A switch on the way has marked them: counted, and who sent them gets a CNP. */
static void marked(void)
{
	struct wt_packet *cnp;
	struct ur_pkt p;

	start(false);
	w.meta.tos = 3;
	p = (struct ur_pkt){.opcode = UR_OP_UD_SEND_ONLY,
			    .dqpn = q.qp->qpn,
			    .sqpn = 0x99,
			    .qkey = 0x11111111,
			    .payload_bytes = 4};
	wt_post_recv(&q, 0x2000, 50);
	wt_feed(&w, p, NULL);
	wt_wc(&q, 0);
	cnp = wt_expect(&w, UR_OP_CNP, 0);
	CHECK_EQ(cnp->pkt.dqpn, 0x99);
	CHECK(cnp->pkt.becn && !cnp->pkt.ackreq);
	CHECK_EQ(cnp->tos, 2);
	CHECK(!memcmp(q.qp->cnp_av->dgid, w.meta.saddr, 16));
	CHECK(!memcmp(q.qp->cnp_av->sgid, w.meta.daddr, 16));
	/* One in 50 us, and none for who has not the Q_Key. */
	wt_feed(&w, p, NULL);
	wt_sleep(&w, 50 * WT_US);
	p.qkey++;
	wt_feed(&w, p, NULL);
	wt_silence(&w);
	p.qkey--;
	/* It needs no receive. */
	wt_feed(&w, p, NULL);
	wt_expect(&w, UR_OP_CNP, 0);
	w.meta.tos = 2;
	wt_post_recv(&q, 0x2000, 50);
	wt_feed(&w, p, NULL);
	wt_wc(&q, 0);
	wt_silence(&w);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_np_ecn_marked_roce_packets],
		 4);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_np_cnp_sent], 2);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(send());
	CASE(receive());
	CASE(send_error());
	CASE(same_device());
	CASE(multicast());
	CASE(marked());
	return cases_status();
}

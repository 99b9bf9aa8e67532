// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Attributes that few programs set: rates, and what a group sends back; and the
 * event of an access that a key does not allow. */
#include <stdlib.h>

#include "bench.h"

static uint64_t now_us(void)
{
	struct timespec ts;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &ts));
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* Microseconds that n writes of all the buffer take. */
static uint64_t write_all(struct bench *t, int n)
{
	uint64_t begin = now_us();

	for (int i = 0; i < n; i++) {
		CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE,
				   (uintptr_t)t->b.buf, t->b.mr->rkey,
				   BUF_BYTES),
			 0);
		expect_wc(t->a.cq, IBV_WC_SUCCESS);
	}
	CHECK(!memcmp(t->a.buf, t->b.buf, BUF_BYTES));
	return now_us() - begin;
}

static int set_rate(struct ibv_qp *qp, uint32_t kbps)
{
	struct ibv_qp_attr attr = {.rate_limit = kbps};

	return ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT);
}

/* No faster than that, less the burst that a pause saves up. A rate taken back
 * is none. */
static void rate_limit(void)
{
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 80000};
	struct ibv_device_attr_ex dev;
	struct bench t;

	bench_open(&t, 64);
	for (int i = 0; i < BUF_BYTES; i++)
		t.a.buf[i] = (uint8_t)(i * 7);
	CHECK_EQ(ibv_query_device_ex(t.ctx, NULL, &dev), 0);
	CHECK_EQ(dev.packet_pacing_caps.qp_rate_limit_min, 1);
	CHECK(dev.packet_pacing_caps.qp_rate_limit_max >= 100000000);
	CHECK(dev.packet_pacing_caps.supported_qpts & 1 << IBV_QPT_RC);
	/* 4 * 2^21 bits at 80 Mbit/s are 104 ms. */
	CHECK_EQ(set_rate(t.a.qp, 80000), 0);
	CHECK(write_all(&t, 4) > 100000);
	rate.rate_limit = 160000;
	CHECK_EQ(ibv_modify_qp_rate_limit(t.a.qp, &rate), 0);
	CHECK(write_all(&t, 8) > 100000);
	CHECK_EQ(set_rate(t.a.qp, UINT32_MAX), EINVAL);
	CHECK_EQ(set_rate(t.a.qp, 0), 0);
	write_all(&t, 8);
	rate.max_burst_sz = 1;
	CHECK_EQ(ibv_modify_qp_rate_limit(t.a.qp, &rate), EOPNOTSUPP);
	rate.max_burst_sz = 0;
	rate.comp_mask = 1;
	CHECK_EQ(ibv_modify_qp_rate_limit(t.a.qp, &rate), EOPNOTSUPP);
	/* A new life begins without. */
	CHECK_EQ(set_rate(t.a.qp, 1), 0);
	to_state(t.a.qp, IBV_QPS_RESET);
	CHECK_EQ(set_rate(t.a.qp, 1), EINVAL);
	to_state(t.b.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, t.b.qp->qp_num);
	connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	write_all(&t, 1);
	bench_close(&t);
}

static int set_static_rate(struct bench *t, enum ibv_rate rate)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	int err;

	to_state(t->a.qp, IBV_QPS_SQD);
	CHECK_EQ(ibv_query_qp(t->a.qp, &attr, IBV_QP_AV, &init), 0);
	attr.ah_attr.static_rate = (uint8_t)rate;
	err = ibv_modify_qp(t->a.qp, &attr, IBV_QP_AV);
	to_state(t->a.qp, IBV_QPS_RTS);
	return err;
}

/* A path's: of the numbers that verbs have for rates. */
static void static_rate(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(set_static_rate(&t, IBV_RATE_2_5_GBPS), 0);
	CHECK_EQ(ibv_query_qp(t.a.qp, &attr, IBV_QP_AV, &init), 0);
	CHECK_EQ(attr.ah_attr.static_rate, IBV_RATE_2_5_GBPS);
	/* 128 * 2^21 bits at 2.5 Gbit/s are 107 ms. */
	CHECK(write_all(&t, 128) > 100000);
	/* The lower one of the two holds. */
	CHECK_EQ(set_rate(t.a.qp, 80000), 0);
	CHECK(write_all(&t, 2) > 50000);
	CHECK_EQ(set_static_rate(&t, 1), EINVAL);
	CHECK_EQ(set_static_rate(&t, 200), EINVAL);
	CHECK_EQ(set_static_rate(&t, IBV_RATE_MAX), 0);
	bench_close(&t);
}

static void send_ud(struct end *e, struct ibv_ah *ah, uint32_t dqpn,
		    uint32_t len)
{
	struct ibv_sge sge = sge_of(e, 0, len);
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .wr.ud = {.ah = ah,
						 .remote_qpn = dqpn,
						 .remote_qkey = 0x1234}};

	CHECK_EQ(ibv_post_send(e->qp, &wr, &bad), 0);
	expect_wc(e->cq, IBV_WC_SUCCESS);
}

static void rate_of_datagrams(void)
{
	struct ibv_ah_attr aattr = {
		.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64}};
	struct ibv_ah *ah;
	struct bench t;
	uint64_t begin;

	bench_open(&t, 64);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	t.a.qp = make_qp(&t, t.a.cq, NULL, IBV_QPT_UD, 16, NULL);
	to_rts_ud(t.a.qp);
	aattr.grh.dgid = t.gid;
	ah = ibv_create_ah(t.pd, &aattr);
	CHECK(ah);
	CHECK_EQ(set_rate(t.a.qp, 16000), 0);
	/* 200 * 8000 bits at 16 Mbit/s are 100 ms; nobody receives them. */
	begin = now_us();
	for (int i = 0; i < 201; i++)
		send_ud(&t.a, ah, t.a.qp->qp_num, 1000);
	CHECK(now_us() - begin > 95000);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	bench_close(&t);
}

/* A datagram to a group that it is in itself comes to the others only. */
static void self_multicast(void)
{
	union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 9}};
	struct ibv_ah_attr aattr = {.is_global = 1,
				    .port_num = 1,
				    .dlid = 0xc000,
				    .grh = {.dgid = group, .hop_limit = 1}};
	struct ibv_qp_init_attr_ex init = {
		.cap = {16, 16, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS};
	struct ibv_ah *ah;
	struct bench t;

	bench_open(&t, 64);
	ah = ibv_create_ah(t.pd, &aattr);
	CHECK(ah);
	CHECK_EQ(ibv_destroy_qp(t.a.qp) | ibv_destroy_qp(t.b.qp), 0);
	t.b.qp = make_qp(&t, t.b.cq, NULL, IBV_QPT_UD, 16, NULL);
	to_rts_ud(t.b.qp);
	CHECK_EQ(ibv_attach_mcast(t.b.qp, &group, 0xc000), 0);
	for (int block = 0; block < 2; block++) {
		init.pd = t.pd;
		init.send_cq = init.recv_cq = t.a.cq;
		init.create_flags =
			block ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
		t.a.qp = ibv_create_qp_ex(t.ctx, &init);
		CHECK(t.a.qp);
		to_rts_ud(t.a.qp);
		CHECK_EQ(ibv_attach_mcast(t.a.qp, &group, 0xc000), 0);
		CHECK_EQ(post_recv(&t.a, 5, 64, 40 + 16), 0);
		CHECK_EQ(post_recv(&t.b, 5, 64, 40 + 16), 0);
		if (block) {
			send_ud(&t.a, ah, 0xffffff, 16);
			expect_wc(t.b.cq, IBV_WC_SUCCESS);
			expect_none(t.a.cq);
			/* It gets that of another one. */
			CHECK_EQ(post_recv(&t.b, 5, 64, 40 + 16), 0);
			send_ud(&t.b, ah, 0xffffff, 16);
			expect_wc(t.a.cq, IBV_WC_SUCCESS);
		} else {
			struct ibv_sge sge = sge_of(&t.a, 0, 16);
			struct ibv_send_wr *bad,
				wr = {.opcode = IBV_WR_SEND,
				      .sg_list = &sge,
				      .num_sge = 1,
				      .wr.ud = {ah, 0xffffff, 0x1234}};

			/* Each member gets one, and not two. */
			CHECK_EQ(post_recv(&t.b, 6, 64, 40 + 16), 0);
			CHECK_EQ(ibv_post_send(t.a.qp, &wr, &bad), 0);
			expect_wc(t.a.cq, IBV_WC_SUCCESS);
			expect_wc(t.b.cq, IBV_WC_SUCCESS);
			expect_none(t.b.cq);
		}
		CHECK_EQ(ibv_detach_mcast(t.a.qp, &group, 0xc000), 0);
		if (!block)
			CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	}
	CHECK_EQ(ibv_detach_mcast(t.b.qp, &group, 0xc000), 0);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	bench_close(&t);
}

/* IBTA 11.6.3.3: the responder gets an event when a key did not allow the
 * access that its peer asked for. */
static void access_event(void)
{
	struct ibv_async_event ev;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   t.b.mr->rkey ^ 0x5500, 8),
		 0);
	expect_wc(t.a.cq, IBV_WC_REM_ACCESS_ERR);
	do {
		CHECK(next_event(t.ctx, 5000, &ev));
		CHECK(ev.element.qp == t.b.qp);
	} while (ev.event_type == IBV_EVENT_COMM_EST);
	CHECK_EQ(ev.event_type, IBV_EVENT_QP_ACCESS_ERR);
	bench_close(&t);
}

/* Requests that a parent domain refuses. */
static void unknown_domain(void)
{
	struct ibv_parent_domain_init_attr attr = {.comp_mask = 1u << 20};
	struct bench t;

	bench_open(&t, 64);
	attr.pd = t.pd;
	CHECK(!ibv_alloc_parent_domain(t.ctx, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
	bench_close(&t);
}

const struct verbs_test attribute_tests[] = {
	{"rate_limit", rate_limit},
	{"static_rate", static_rate},
	{"rate_of_datagrams", rate_of_datagrams},
	{"self_multicast", self_multicast},
	{"access_event", access_event},
	{"unknown_domain", unknown_domain},
	{0},
};

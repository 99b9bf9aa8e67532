// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The report of a failure to the host: the request, and what was wrong with it,
 * with the numbers. By packets and inside the port alike.
 */
#include "tests/scenario/transport/wiretap.h"

#define PSN 9

static struct wt w;
static struct wt_qp q, r;
static struct ur_host_ops ops;
static struct ur_failure own, peers;
static u32 told;

static void failed(void *qp_ctx, const struct ur_failure *f)
{
	told++;
	*(f->peers ? &peers : &own) = *f;
	CHECK(qp_ctx == (f->peers ? &r : &q));
	/* It is reported before it happens. */
	CHECK(((struct wt_qp *)qp_ctx)->qp->state != UR_QP_ERR);
}

static void start(bool loop)
{
	wt_config(&w, 0);
	if (loop)
		wt_loop(&w);
	ops = *w.cfg.ops;
	ops.qp_failed = failed;
	w.cfg.ops = &ops;
	wt_open(&w);
	wt_pair(&w, &q, &r, UR_QPT_RC, PSN);
	own = peers = (struct ur_failure){0};
	told = 0;
}

static void stop(void)
{
	ur_qp_destroy(q.qp);
	ur_qp_destroy(r.qp);
	wt_close(&w);
}

/* A WRITE of 8 bytes of q to r, for that key and address. */
static void ask(bool loop, u32 key, u64 addr)
{
	struct ur_pkt pkt = wt_pkt(&r, UR_OP_RC_WRITE_ONLY, PSN, 8);
	struct ur_send_wr *wr;

	if (loop) {
		wr = wt_post(&q, UR_WR_WRITE, 0x1000, 8);
		wr->raddr = addr;
		wr->rkey = key;
		wt_kick(&q);
		wt_run(&w);
		CHECK_EQ(own.reason, UR_REASON_NAK);
		CHECK_EQ(own.status, UR_WC_REM_ACCESS_ERR);
		CHECK_EQ(own.addr, addr);
		CHECK_EQ(own.rkey, key);
		CHECK_EQ(own.psn, PSN);
		CHECK_EQ(own.length, 8);
		CHECK_EQ(told, 2);
	} else {
		pkt.rkey = key;
		pkt.va = addr;
		pkt.dma_bytes = 8;
		wt_feed(&w, pkt, NULL);
		CHECK_EQ(told, 1);
	}
	CHECK_EQ(peers.reason, UR_REASON_MEMORY);
	CHECK_EQ(peers.opcode, UR_WR_WRITE);
	CHECK_EQ(peers.psn, PSN);
	CHECK_EQ(peers.denied.key, key);
	CHECK_EQ(peers.denied.addr, addr);
	CHECK_EQ(peers.denied.length, 8);
	CHECK_EQ(peers.denied.need, UR_ACCESS_REMOTE_WRITE);
}

static void refused(bool loop)
{
	const u64 end = WT_IOVA + WT_MEM_BYTES;
	const struct {
		u32 flip; /* of the key */
		u64 addr;
		u8 why, meant;
	} cases[] = {
		{0, end - 7, UR_DENIED_RANGE, UR_MEANT_NOTHING},
		{0, WT_IOVA - 1, UR_DENIED_RANGE, UR_MEANT_NOTHING},
		{0, __builtin_bswap64(WT_IOVA), UR_DENIED_RANGE,
		 UR_MEANT_SWAPPED},
		{0, 64, UR_DENIED_RANGE, UR_MEANT_OFFSET},
		{1, WT_IOVA, UR_DENIED_KEY, UR_MEANT_NOTHING},
		{0x80000000, WT_IOVA, UR_DENIED_KEY, UR_MEANT_NOTHING},
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(cases); i++) {
		start(loop);
		ask(loop, w.key ^ cases[i].flip, cases[i].addr);
		CHECK_EQ(peers.denied.why, cases[i].why);
		CHECK_EQ(peers.denied.meant, cases[i].meant);
		if (cases[i].why == UR_DENIED_RANGE) {
			CHECK_EQ(peers.denied.first, WT_IOVA);
			CHECK_EQ(peers.denied.size, WT_MEM_BYTES);
		}
		stop();
	}
	start(loop);
	ask(loop, __builtin_bswap32(w.key), WT_IOVA);
	CHECK_EQ(peers.denied.why, UR_DENIED_KEY);
	CHECK_EQ(peers.denied.meant, UR_MEANT_SWAPPED_KEY);
	CHECK_EQ(peers.denied.first, WT_IOVA);
	stop();
}

/* A region high above 4 GiB, read-only, and one of another domain. */
static void regions(bool loop)
{
	static u8 bytes[4096];
	struct ur_mr_attr attr = {.pd = WT_PD,
				  .access = UR_ACCESS_REMOTE_READ,
				  .iova = 0x7f0012340000,
				  .length = sizeof(bytes),
				  .direct = bytes};
	struct ur_mr *mr;

	start(loop);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	ask(loop, ur_mr_key(mr), attr.iova);
	CHECK_EQ(peers.denied.why, UR_DENIED_RIGHTS);
	CHECK_EQ(peers.denied.have, UR_ACCESS_REMOTE_READ);
	CHECK(!ur_mr_destroy(mr));
	stop();

	start(loop);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	ask(loop, ur_mr_key(mr), (u32)attr.iova);
	CHECK_EQ(peers.denied.why, UR_DENIED_RANGE);
	CHECK_EQ(peers.denied.meant, UR_MEANT_CUT);
	CHECK(!ur_mr_destroy(mr));
	stop();

	start(loop);
	attr.pd = WT_PD + 1;
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	ask(loop, ur_mr_key(mr), attr.iova);
	CHECK_EQ(peers.denied.why, UR_DENIED_DOMAIN);
	CHECK(!ur_mr_destroy(mr));
	stop();
}

static void in_packets(void)
{
	refused(false);
	regions(false);
}

static void in_device(void)
{
	refused(true);
	regions(true);
}

static void short_receive(void)
{
	start(false);
	wt_post_recv(&r, 0x2000, 8);
	wt_feed(&w, wt_pkt(&r, UR_OP_RC_SEND_ONLY, PSN, 64), NULL);
	CHECK_EQ(peers.reason, UR_REASON_RECV_SHORT);
	CHECK_EQ(peers.room, 8);
	CHECK_EQ(peers.got, 64);
	stop();
}

static void packet_length(void)
{
	start(false);
	wt_post_recv(&r, 0x2000, 4096);
	wt_feed(&w, wt_pkt(&r, UR_OP_RC_SEND_ONLY, PSN, 1024), NULL);
	CHECK_EQ(peers.reason, UR_REASON_PACKET);
	CHECK_EQ(peers.got, 1024);
	CHECK_EQ(peers.room, 256);
	stop();
}

static void silence(void)
{
	start(false);
	q.qp->attr.timeout = 12; /* 16.8 ms */
	q.qp->ack_ns = ur_ack_timeout_ns(12);
	q.qp->attr.retry_cnt = 3;
	wt_post(&q, UR_WR_SEND, 0x1000, 8)->wr_id = 77;
	wt_kick(&q);
	/* Somebody answers about what was never sent. */
	wt_run(&w);
	wt_sleep(&w, 2 * WT_MS);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_ACK,
				.dqpn = q.qp->qpn,
				.psn = 4711,
				.syndrome = WT_NAK_SEQ},
		NULL);
	for (u32 i = 0; i < 10 && !told; i++)
		wt_sleep(&w, 16 * WT_MS);
	CHECK_EQ(told, 1);
	CHECK_EQ(own.reason, UR_REASON_SILENCE);
	CHECK_EQ(own.wr_id, 77);
	CHECK_EQ(own.retries, 3);
	CHECK_EQ(own.retry_cnt, 3);
	CHECK(!own.answered && !own.by_nak && own.stray);
	CHECK_EQ(own.stray_psn, 4711);
	CHECK(own.waited_ns >= 64 * WT_MS && own.waited_ns <= 160 * WT_MS);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	stop();
}

static void not_ready(void)
{
	start(false);
	q.qp->attr.rnr_retry = 1;
	wt_post(&q, UR_WR_SEND, 0x1000, 8);
	wt_kick(&q);
	wt_run(&w);
	wt_ack(&w, &q, PSN, WT_RNR(12));
	wt_sleep(&w, 2 * WT_MS);
	wt_ack(&w, &q, PSN, WT_RNR(12));
	CHECK_EQ(told, 1);
	CHECK_EQ(own.reason, UR_REASON_RNR);
	CHECK_EQ(own.rnr_retries, 1);
	CHECK_EQ(own.waited_ns, 2 * WT_MS);
	stop();
}

static void never_tried_again(void)
{
	start(false);
	wt_sleep(&w, 5 * WT_MS);
	q.qp->attr.rnr_retry = 0;
	wt_post(&q, UR_WR_SEND, 0x1000, 8);
	wt_kick(&q);
	wt_run(&w);
	wt_ack(&w, &q, PSN, WT_RNR(12));
	CHECK_EQ(told, 1);
	CHECK_EQ(own.reason, UR_REASON_RNR);
	CHECK_EQ(own.rnr_retries, 0);
	CHECK_EQ(own.waited_ns, 0);
	stop();
}

static void own_memory(void)
{
	struct ur_send_wr *wr;

	start(false);
	wr = wt_post(&q, UR_WR_SEND, 0x1000, 8);
	wr->sge[0].addr = WT_IOVA + WT_MEM_BYTES - 4;
	wt_kick(&q);
	wt_run(&w);
	CHECK_EQ(own.reason, UR_REASON_SOURCE);
	CHECK_EQ(own.status, UR_WC_LOC_PROT_ERR);
	CHECK_EQ(own.denied.why, UR_DENIED_RANGE);
	CHECK_EQ(own.denied.key, w.key);
	stop();
}

static void broken_ring(void)
{
	start(false);
	q.ring.corrupt = true;
	wt_kick(&q);
	wt_run(&w);
	CHECK_EQ(own.reason, UR_REASON_RING);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(in_packets());
	CASE(in_device());
	CASE(short_receive());
	CASE(packet_length());
	CASE(silence());
	CASE(not_ready());
	CASE(never_tried_again());
	CASE(own_memory());
	CASE(broken_ring());
	return cases_status();
}

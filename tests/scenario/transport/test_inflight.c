// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How much is in flight: more and more while all goes well, what deployed
 * peers use after a loss, and then with more patience; less where the path is
 * congested.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt w;
static struct wt_qp q;
static u32 mtu, psn;

static void start(u32 path_mtu)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	w.cfg.mtu_bytes = 4096;
	w.cfg.aimd = true;
	wt_open(&w);
	mtu = path_mtu;
	a = wt_attr(&w, 0x77, 10, 9);
	a.path_mtu = mtu;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	psn = 10;
}

static void stop(void)
{
	wt_stop(&w, &q);
}

/* Never out of work: one more of 256 packets. */
static void post(void)
{
	struct ur_send_wr *wr = wt_post(&q, UR_WR_WRITE, 0,
					ur_min_u32(256 * mtu, WT_MEM_BYTES));

	wr->raddr = WT_IOVA;
	wr->rkey = 0xabcd;
}

/* Packets that come out before an answer is needed. */
static u32 burst(void)
{
	u32 n = 0;

	while (q.ring.send_tail - q.ring.send_head < 8)
		post();
	wt_kick(&q);
	for (; w.out_head != w.out_tail; n++)
		psn = ur_psn_add(wt_next(&w)->pkt.psn, 1);
	return n;
}

static void answer(void)
{
	wt_ack(&w, &q, ur_psn_add(psn, -1), WT_ACK);
	q.wc_head = q.wc_tail;
}

static void rounds(u32 count, u32 packets)
{
	for (u32 i = 0; i < count; i++) {
		CHECK_EQ(burst(), packets);
		answer();
	}
}

/* The second comes before anything could be sent again. */
static void ask_twice(u32 missing)
{
	struct ur_pkt pkt = {.opcode = UR_OP_RC_ACK,
			     .pkey = UR_PKEY_DEFAULT,
			     .dqpn = q.qp->qpn,
			     .psn = missing,
			     .syndrome = WT_NAK_SEQ};
	u8 bytes[UR_HEADERS_MAX_BYTES];
	u32 len = (u32)ur_pkt_build(&pkt, bytes);

	for (int i = 0; i < 2; i++)
		ur_port_rx(w.port, w.now, &w.meta, bytes, len);
	wt_run(&w);
}

/* A window that is answered after so long, and of it so many lost first. */
static void trip(u64 ns, u32 losses)
{
	u32 n = burst();

	wt_sleep(&w, ns);
	for (u32 i = 0; i < losses && i < n; i++)
		ask_twice(ur_psn_add(psn, (int)(i * n / losses - n)));
	while (w.out_head != w.out_tail)
		wt_next(&w);
	answer();
}

/* Losses where packets wait say that there are too many of them. */
static void congested(void)
{
	start(256);
	for (int i = 0; i < 4; i++)
		trip(WT_MS / 100, 0);
	trip(WT_MS / 100, 5);
	CHECK_EQ(q.qp->req.window, 128); /* nothing waits anywhere */
	for (int i = 0; i < 12; i++)
		trip(WT_MS / 3, 0);
	trip(WT_MS / 3, 1);
	/* A quarter less, and one for each 32 answered since. */
	CHECK(q.qp->req.window >= 96 && q.qp->req.window <= 100);
	trip(WT_MS / 3, 3); /* of the same window: once */
	CHECK(q.qp->req.window >= 72 && q.qp->req.window <= 80);
	for (int i = 0; i < 200; i++)
		trip(WT_MS / 100, 0);
	CHECK(q.qp->req.window >= 128);
	stop();

	/* A path that is long, or was full before we came: one loss is none of
	 * congestion, many are. */
	start(256);
	for (int i = 0; i < 4; i++)
		trip(WT_MS, 0);
	trip(WT_MS, 1);
	CHECK_EQ(q.qp->req.window, 128);
	for (int i = 0; i < 8; i++)
		trip(WT_MS, 0);
	trip(WT_MS, 5);
	CHECK(q.qp->req.window >= 64 && q.qp->req.window <= 70);
	trip(WT_MS, 0);
	stop();
}

int main(void)
{
	start(256);
	rounds(16, 128);
	rounds(16, 256);
	rounds(40, 512);
	/* One of them is lost: it comes again, and new ones up to 128. */
	CHECK_EQ(burst(), 512);
	ask_twice(ur_psn_add(psn, -100));
	CHECK_EQ(burst(), 1 + 28);
	answer();
	rounds(31, 128); /* twice as long as at first */
	rounds(32, 256);
	rounds(1, 512);
	/* A timeout says the same. */
	CHECK_EQ(burst(), 512);
	wt_sleep(&w, 200 * WT_MS);
	CHECK_EQ(q.qp->req.window, 128);
	stop();
	start(4096); /* no more than 1 MiB */
	rounds(16, 128);
	rounds(80, 256);
	stop();
	congested();
	return 0;
}

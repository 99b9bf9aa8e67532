// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bursts: who is cut short in the middle of a long message stops where a burst
 * ends, and never waits for an answer that nobody was asked for.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/internal.h"

#define PSN0   0xfffff8u
#define P(n)   ur_psn_add(PSN0, n)
#define MTU    256u
#define MIDDLE (UR_BTH_BYTES + MTU + UR_ICRC_BYTES)
#define BURST  8u
#define WINDOW 20u

static struct wt w;
static struct wt_qp q;
static u8 buf[65536];
static struct ur_tx_desc desc[256];
static struct ur_tx tx = {.buf = buf, .desc = desc, .max_desc = 256};

static void prepare(u32 burst)
{
	wt_config(&w, 0);
	w.cfg.burst_pkts = burst;
	w.cfg.burst_bytes = 65000;
	w.cfg.window_pkts = WINDOW;
}

static void open_all(void)
{
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, PSN0, PSN0);
	tx.cap = sizeof(buf);
}

static void start(u32 burst)
{
	prepare(burst);
	open_all();
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void post(u8 opcode, u32 packets)
{
	struct ur_send_wr *wr = wt_post(&q, opcode, 0, packets * MTU);

	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	ur_qp_kick(q.qp);
}

/* One call; how many packets came. */
static u32 send_some(void)
{
	tx.n_desc = tx.used = 0;
	ur_port_tx(w.port, w.now, &tx);
	return tx.n_desc;
}

/* As wt_feed(), but what it leads to is left for send_some(). */
static void hear(struct ur_pkt p)
{
	u8 bytes[UR_HEADERS_MAX_BYTES];

	p.dqpn = q.qp->qpn;
	p.pkey = UR_PKEY_DEFAULT;
	ur_port_rx(w.port, w.now, &w.meta, bytes, (u32)ur_pkt_build(&p, bytes));
}

static void acked(u32 psn, u8 syndrome)
{
	hear((struct ur_pkt){
		.opcode = UR_OP_RC_ACK, .psn = psn, .syndrome = syndrome});
}

static bool asks(u32 i)
{
	return buf[desc[i].off + 8] & UR_BTH_ACKREQ;
}

static void window(u8 opcode, u32 head)
{
	start(BURST);
	post(opcode, 100);
	/* A WRITE's first packet is longer, so its second ends a burst. */
	CHECK_EQ(send_some(), head + 2 * BURST);
	CHECK(asks(tx.n_desc - 1));
	CHECK_EQ(send_some(), 0);
	/* Room for less than a burst, and an answer is still to come. */
	acked(P(2), WT_ACK);
	CHECK_EQ(send_some(), 0);
	acked(P(8), WT_ACK);
	CHECK_EQ(send_some(), BURST);
	CHECK(asks(BURST - 1));
	acked(P(head + 3 * BURST - 1), WT_ACK);
	CHECK_EQ(send_some(), 2 * BURST);
	stop();
}

static void without(void)
{
	start(0);
	post(UR_WR_WRITE, 100);
	CHECK_EQ(send_some(), WINDOW);
	acked(P(0), WT_ACK);
	CHECK_EQ(send_some(), 1);
	stop();
}

/* A window smaller than a burst is used all the same. */
static void longer_than_window(void)
{
	start(64);
	post(UR_WR_WRITE, 100);
	CHECK_EQ(send_some(), WINDOW);
	CHECK(asks(WINDOW - 1));
	acked(P(9), WT_ACK);
	CHECK_EQ(send_some(), 10);
	stop();
}

/* Packets that are sent again go as they went, and the last one asks. */
static void again(void)
{
	start(BURST);
	post(UR_WR_WRITE, 100);
	CHECK_EQ(send_some(), 2 + 2 * BURST);
	q.qp->req.holdoff_left = 1; /* a peer that keeps nothing */
	w.now += WT_MS;
	acked(P(3), UR_AETH_NAK | UR_NAK_PSN_SEQ);
	CHECK_EQ(send_some(), 2 * BURST);
	CHECK_EQ(q.qp->req.una, P(3));
	CHECK_EQ(q.qp->req.max_psn, P(19));
	CHECK(asks(tx.n_desc - 1));
	stop();
}

static void room(void)
{
	start(BURST);
	tx.cap = 15 * MIDDLE;
	post(UR_WR_SEND, 100);
	CHECK_EQ(send_some(), BURST);
	CHECK_EQ(send_some(), BURST);
	/* A quarter of a burst's room is all there is: used as it is. */
	acked(P(2 * BURST - 1), WT_ACK);
	tx.cap = 3 * MIDDLE;
	CHECK_EQ(send_some(), 3);
	stop();
}

static void reads(void)
{
	struct ur_pkt p = {.opcode = UR_OP_RC_READ_REQ,
			   .psn = PSN0,
			   .va = WT_REMOTE,
			   .dma_bytes = 131 * MTU,
			   .ackreq = true};

	start(BURST);
	post(UR_WR_READ, 300);
	CHECK_EQ(send_some(), 1);
	CHECK_EQ(ur_get_be32(buf + desc[0].off + 24), 131 * MTU);
	/* The answer to such a one: first and second, bursts, the last. */
	p.rkey = w.key;
	tx.cap = 43 * MIDDLE;
	hear(p);
	CHECK_EQ(send_some(), 2 + 5 * BURST);
	CHECK_EQ(send_some(), 5 * BURST);
	CHECK_EQ(send_some(), 5 * BURST);
	CHECK_EQ(send_some(), BURST + 1);
	stop();
	start(0);
	post(UR_WR_READ, 300);
	CHECK_EQ(send_some(), 1);
	CHECK_EQ(ur_get_be32(buf + desc[0].off + 24), UR_READ_PKTS * MTU);
	stop();
}

/* Where nothing is lost a READ is asked for in few pieces, which keep their ends. */
static void long_reads(void)
{
	struct ur_swqe *e;

	start(BURST);
	post(UR_WR_READ, 3000);
	CHECK_EQ(send_some(), 1);
	e = ur_sq_entry(q.qp, 0);
	q.qp->req.una = q.qp->req.max_psn; /* answered */
	w.port->now = q.qp->req.lost_at + UR_CALM_NS - 1;
	CHECK(ur_burst_fit_read(q.qp, e, UINT32_MAX));
	CHECK_EQ(q.qp->read_pkts, 131);
	w.port->now++;
	CHECK(ur_burst_fit_read(q.qp, e, UINT32_MAX));
	CHECK_EQ(q.qp->read_pkts, 1091);
	ur_qp_kick(q.qp);
	CHECK_EQ(send_some(), 1);
	CHECK_EQ(ur_get_be32(buf + desc[0].off + 24), (1091 - 131) * MTU);
	ur_inflight_lost(q.qp);
	CHECK(!ur_burst_fit_read(q.qp, e, UINT32_MAX));
	CHECK_EQ(q.qp->read_pkts, 1091);
	q.qp->req.una = q.qp->req.max_psn;
	CHECK(ur_burst_fit_read(q.qp, e, UINT32_MAX));
	CHECK_EQ(q.qp->read_pkts, 131);
	stop();
}

/* Within a host, too, where there is no path. */
static void near_reads(bool near, u32 packets)
{
	start(BURST);
	w.port->cfg.short_reads = true;
	q.qp->attr.av->loop = near;
	w.port->now = q.qp->req.lost_at + UR_CALM_NS;
	post(UR_WR_READ, 3000);
	CHECK(send_some() >= 1);
	CHECK_EQ(ur_get_be32(buf + desc[0].off + 24), packets * MTU);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(window(UR_WR_WRITE, 2));
	CASE(window(UR_WR_SEND, 0));
	CASE(without());
	CASE(longer_than_window());
	CASE(again());
	CASE(room());
	CASE(reads());
	CASE(long_reads());
	CASE(near_reads(true, 1091));
	CASE(near_reads(false, 131));
	return cases_status();
}

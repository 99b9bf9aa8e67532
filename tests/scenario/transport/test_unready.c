// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets that come while their queue pair is in INIT: they come in when it is in RTR, and
 * are forgotten where that is late, or not to be.
 */
#include "tests/qp_walk.h"
#include "tests/scenario/transport/wiretap.h"
#include "transport/port.h"
#include "transport/unready.h"

static struct wt w;
static struct wt_qp q;
static struct ur_qp_attr attr;

static void to_init(enum ur_qp_type type)
{
	wt_qp_create(&w, &q, type, NULL);
	attr = wt_attr(&w, 0x77, 100, 9);
	CHECK_EQ(qp_walk_to(q.qp, w.now, &attr, UR_QP_INIT), 0);
}

static void start(bool ooo, enum ur_qp_type type)
{
	wt_config(&w, 0);
	w.cfg.ooo = ooo;
	wt_open(&w);
	to_init(type);
}

static void stop(void)
{
	CHECK_EQ(w.port->unready, q.qp->unready.count);
	wt_stop(&w, &q);
}

static void feed(u8 opcode, u32 psn, u32 bytes)
{
	struct ur_pkt p = wt_pkt(&q, opcode, psn, bytes);

	p.ackreq = true;
	p.dma_bytes = bytes;
	wt_feed(&w, p, NULL);
}

static u64 bad_state(void)
{
	return ur_port_counters(w.port)[UR_CNT_bad_state];
}

static void to(enum ur_qp_state state)
{
	struct ur_qp_attr a = {.state = state};

	CHECK_EQ(ur_qp_modify(q.qp, w.now, &a, UR_QP_ATTR_STATE), 0);
}

static void due(void)
{
	wt_sleep(&w, 0);
}

static void comes_in(void)
{
	start(true, UR_QPT_RC);
	memset(w.mem, 0, 1024);
	wt_post_recv(&q, 0, 1024);
	feed(UR_OP_RC_SEND_FIRST, 9, 256);
	feed(UR_OP_RC_SEND_LAST, 10, 100);
	wt_silence(&w);
	wt_to_rtr(&q, &attr);
	wt_no_wc(&q);
	due();
	CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).byte_len, 356);
	wt_expect_ack(&w, WT_ACK, 10);
	for (u32 i = 0; i < 356; i++)
		CHECK_EQ(w.mem[i], wt_pattern(i % 256));
	CHECK_EQ(bad_state(), 0);
	/* Sent again by who could not know. */
	feed(UR_OP_RC_SEND_FIRST, 9, 256);
	feed(UR_OP_RC_SEND_LAST, 10, 100);
	wt_expect_ack(&w, WT_ACK, 10);
	wt_no_wc(&q);
	stop();
}

/* Before what comes now, and before the queue pair's next change. */
static void keeps_the_order(void)
{
	start(true, UR_QPT_RC);
	for (u32 i = 0; i < 3; i++)
		wt_post_recv(&q, 0, 1024);
	feed(UR_OP_RC_SEND_ONLY, 9, 1);
	feed(UR_OP_RC_SEND_ONLY, 10, 2);
	wt_to_rtr(&q, &attr);
	feed(UR_OP_RC_SEND_ONLY, 11, 3);
	for (u32 i = 1; i <= 3; i++)
		CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).byte_len, i);
	stop();

	start(true, UR_QPT_RC);
	wt_post_recv(&q, 0, 1024);
	feed(UR_OP_RC_SEND_ONLY, 9, 1);
	wt_to_rts(&q, &attr);
	due();
	wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

static void is_unreliable(void)
{
	start(true, UR_QPT_UC);
	wt_post_recv(&q, 0, 1024);
	feed(UR_OP_UC_SEND_ONLY, 9, 4);
	wt_to_rtr(&q, &attr);
	due();
	wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

/* All checks are made when it comes in: of its address, of its PSN. */
static void is_checked(void)
{
	struct ur_rx_meta peer;

	start(true, UR_QPT_RC);
	peer = w.meta;
	wt_post_recv(&q, 0, 1024);
	w.meta.saddr[15] ^= 1;
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	w.meta = peer;
	wt_to_rtr(&q, &attr);
	due();
	wt_no_wc(&q);
	wt_silence(&w);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_bad_gid], 1);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

static void is_too_old(void)
{
	start(true, UR_QPT_RC);
	wt_post_recv(&q, 0, 1024);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	wt_sleep(&w, UR_UNREADY_NS / 2);
	feed(UR_OP_RC_SEND_ONLY, 9, 5);
	wt_sleep(&w, UR_UNREADY_NS / 2 + 1);
	wt_to_rtr(&q, &attr);
	due();
	CHECK_EQ(bad_state(), 1);
	CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).byte_len, 5);
	stop();
}

/* Not in RESET, where what comes may be of the connection before; and a reset forgets. */
static void is_reset(void)
{
	start(true, UR_QPT_RC);
	wt_post_recv(&q, 0, 1024);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	to(UR_QP_RESET);
	CHECK_EQ(bad_state(), 1);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	CHECK_EQ(bad_state(), 2);
	wt_to_rtr(&q, &attr);
	due();
	wt_no_wc(&q);
	stop();
}

static void ends_in_error(void)
{
	start(true, UR_QPT_RC);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	to(UR_QP_ERR);
	CHECK_EQ(bad_state(), 1);
	stop();
}

/* One that the responder refuses ends the queue pair, and drops the others. */
static void is_refused(void)
{
	start(true, UR_QPT_RC);
	feed(UR_OP_RC_SEND_MIDDLE, 9, 256);
	feed(UR_OP_RC_SEND_ONLY, 10, 4);
	wt_to_rtr(&q, &attr);
	due();
	wt_expect_ack(&w, WT_NAK_INV_REQ, 9);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK_EQ(bad_state(), 1);
	stop();

	/* By one that comes behind it. */
	start(true, UR_QPT_RC);
	feed(UR_OP_RC_SEND_MIDDLE, 9, 256);
	wt_to_rtr(&q, &attr);
	feed(UR_OP_RC_SEND_ONLY, 10, 4);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	CHECK_EQ(bad_state(), 1);
	stop();
}

/* So many of a queue pair, so many of a port, no answers, and none without the option. */
static void is_bounded(void)
{
	static struct wt_qp more[UR_UNREADY_PORT / UR_UNREADY_QP + 1];
	u32 count = UR_ARRAY_SIZE(more);

	start(true, UR_QPT_RC);
	feed(UR_OP_RC_ACK, 9, 0);
	CHECK_EQ(bad_state(), 1);
	for (u32 i = 0; i < UR_UNREADY_QP + 3; i++)
		feed(UR_OP_RC_SEND_ONLY, 9 + i, 4);
	CHECK_EQ(bad_state(), 4);
	CHECK_EQ(q.qp->unready.count, UR_UNREADY_QP);
	for (u32 k = 0; k < count; k++) {
		wt_qp_create(&w, &more[k], UR_QPT_RC, NULL);
		CHECK_EQ(qp_walk_to(more[k].qp, w.now, &attr, UR_QP_INIT), 0);
		for (u32 i = 0; i < UR_UNREADY_QP; i++)
			wt_feed(&w, wt_pkt(&more[k], UR_OP_RC_SEND_ONLY, i, 4),
				NULL);
	}
	CHECK_EQ(w.port->unready, UR_UNREADY_PORT);
	CHECK_EQ(more[count - 1].qp->unready.count, 0);
	/* Those that are too old make room. */
	wt_sleep(&w, UR_UNREADY_NS + 1);
	wt_feed(&w, wt_pkt(&more[0], UR_OP_RC_SEND_ONLY, 1, 4), NULL);
	CHECK_EQ(more[0].qp->unready.count, 1);
	for (u32 k = 0; k < count; k++)
		ur_qp_destroy(more[k].qp);
	CHECK_EQ(w.port->unready, UR_UNREADY_QP);
	stop();

	start(false, UR_QPT_RC);
	feed(UR_OP_RC_SEND_ONLY, 9, 4);
	CHECK_EQ(bad_state(), 1);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(comes_in());
	CASE(keeps_the_order());
	CASE(is_unreliable());
	CASE(is_checked());
	CASE(is_too_old());
	CASE(is_reset());
	CASE(ends_in_error());
	CASE(is_refused());
	CASE(is_bounded());
	return cases_status();
}

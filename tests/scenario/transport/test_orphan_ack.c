// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue pair is taken away before the wire had room for what it owes: the
 * acknowledgement leaves all the same, or the peer would take for lost what
 * has arrived.
 */
#include "tests/scenario/transport/wiretap.h"

#include "transport/port.h"

#define DQPN 0x55
#define PSN  70

static struct wt w;
static struct wt_qp q;

/* The message is there and the wire is full. */
static void receive(struct wt_qp *p, u32 psn)
{
	struct ur_pkt pkt;

	wt_rts(&w, p, UR_QPT_RC, DQPN, 9, psn);
	wt_post_recv(p, 0x2000, 700);
	pkt = wt_pkt(p, UR_OP_RC_SEND_ONLY, psn, 64);
	pkt.ackreq = true;
	wt_arrive(&w, pkt, NULL);
	CHECK_EQ(wt_wc(p, UR_WC_SUCCESS).byte_len, 64);
}

static void destroyed(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	receive(&q, PSN);
	ur_qp_destroy(q.qp);
	wt_run(&w);
	CHECK_EQ(wt_expect_ack(&w, UR_AETH_CREDIT_NONE, PSN)->pkt.msn, 1);
	wt_silence(&w);
	wt_close(&w);
}

static void reset(void)
{
	struct ur_qp_attr attr = {.state = UR_QP_RESET};

	wt_config(&w, 0);
	wt_open(&w);
	receive(&q, PSN);
	CHECK(!ur_qp_modify(q.qp, w.now, &attr, UR_QP_ATTR_STATE));
	wt_run(&w);
	CHECK_EQ(wt_expect_ack(&w, UR_AETH_CREDIT_NONE, PSN)->pkt.dqpn, DQPN);
	wt_silence(&w);
	wt_stop(&w, &q);
}

/* A refusal is owed as well. */
static void refused(void)
{
	struct ur_pkt pkt;

	wt_config(&w, 0);
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, DQPN, 9, PSN);
	pkt = wt_pkt(&q, UR_OP_RC_WRITE_ONLY, PSN, 64);
	pkt.dma_bytes = 64;
	pkt.rkey ^= 1;
	wt_arrive(&w, pkt, NULL);
	CHECK_EQ(q.qp->state, UR_QP_ERR);
	ur_qp_destroy(q.qp);
	wt_run(&w);
	wt_expect_ack(&w, UR_AETH_NAK | UR_NAK_REM_ACCESS, PSN);
	wt_silence(&w);
	wt_close(&w);
}

/* One that owes nothing says nothing. */
static void nothing_owed(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	receive(&q, PSN);
	wt_run(&w);
	wt_expect_ack(&w, UR_AETH_CREDIT_NONE, PSN);
	ur_qp_destroy(q.qp);
	wt_run(&w);
	wt_silence(&w);
	wt_close(&w);
}

/* As many as are kept, in their order; the rest is lost, and the port goes
 * down with some of them. */
static void many(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	for (u32 i = 0; i < UR_ORPHAN_ACKS + 3; i++) {
		memset(&q, 0, sizeof(q));
		receive(&q, PSN + i);
		ur_qp_destroy(q.qp);
	}
	wt_run(&w);
	for (u32 i = 0; i < UR_ORPHAN_ACKS; i++)
		wt_expect_ack(&w, UR_AETH_CREDIT_NONE, PSN + i);
	wt_silence(&w);
	memset(&q, 0, sizeof(q));
	receive(&q, PSN);
	ur_qp_destroy(q.qp);
	wt_close(&w);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(destroyed());
	CASE(reset());
	CASE(refused());
	CASE(nothing_owed());
	CASE(many());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One completion queue for both kinds of queue pairs. */
#include <stdlib.h>

#include "beside.h"

#define DEPTH 8

static void traffic(void)
{
	struct beside b;

	beside_open_both(&b, 64);
	for (uint64_t i = 0; i < 300; i++) {
		beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
		beside_expect_both(&b, i);
	}
	beside_close_both(&b);
}

/* One of two engines that has always completed something is not in the other's way, and a
 * poll for many finds those of both. */
static void fairness(void)
{
	const char *place = getenv("UROCE_ENGINE");
	struct ibv_wc wc[4 * DEPTH];
	bool rc = false, xrc = false;
	struct beside b;
	int n = 0;

	beside_open_both(&b, 64);
	for (uint64_t i = 0; i < DEPTH; i++) {
		beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
	}
	sleep(1);
	for (int i = 0; i < 3; i++) {
		struct ibv_wc one = expect_wc(b.cq, IBV_WC_SUCCESS);

		xrc |= beside_is_xrc(&b, one.qp_num);
		rc |= !beside_is_xrc(&b, one.qp_num);
	}
	CHECK((rc && xrc) || (place && !strcmp(place, "device")));
	n = ibv_poll_cq(b.cq, 4 * DEPTH, wc);
	CHECK_EQ(n, 4 * DEPTH - 3);
	expect_none(b.cq);
	beside_close_both(&b);
}

static void extended(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_BYTE_LEN,
	};
	struct ibv_poll_cq_attr none = {0};
	time_t end = time(NULL) + 20;
	struct ibv_cq_ex *ex;
	uint64_t got = 0;
	struct beside b;

	beside_open_bare(&b, 8);
	CHECK_EQ(ibv_destroy_cq(b.cq), 0);
	ex = ibv_create_cq_ex(b.t.ctx, &attr);
	CHECK(ex);
	b.cq = ibv_cq_ex_to_cq(ex);
	beside_make_rc(&b);
	CHECK_EQ(ibv_start_poll(ex, &none), ENOENT);
	beside_make_xrc(&b);
	for (uint64_t i = 0; i < 100; i++) {
		unsigned int found = 0, turns = 0;

		beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
		while (found < 4) {
			CHECK(time(NULL) < end);
			if (ibv_start_poll(ex, &none))
				continue;
			/* Some are left where they are. */
			do {
				CHECK_EQ(ex->status, IBV_WC_SUCCESS);
				CHECK_EQ(ex->wr_id, i);
				if (ibv_wc_read_opcode(ex) & IBV_WC_RECV)
					CHECK_EQ(ibv_wc_read_byte_len(ex), 64);
				got += beside_is_xrc(&b,
						     ibv_wc_read_qp_num(ex));
				found++;
			} while (++turns % 3 && !ibv_next_poll(ex));
			ibv_end_poll(ex);
		}
		CHECK_EQ(found, 4);
	}
	CHECK_EQ(got, 200);
	CHECK_EQ(ibv_start_poll(ex, &none), ENOENT);
	beside_close_both(&b);
}

static void wait_event(struct beside *b, struct ibv_cq *cq)
{
	struct pollfd p = {.fd = b->ch->fd, .events = POLLIN};
	struct ibv_cq *which;
	void *context;

	CHECK_EQ(poll(&p, 1, 20000), 1);
	CHECK_EQ(ibv_get_cq_event(b->ch, &which, &context), 0);
	CHECK(which == cq);
}

/* Either wakes who has asked, also before there was a queue pair of the kind; both
 * count when the queue is destroyed. */
static void events(void)
{
	struct beside b;

	beside_open_bare(&b, 64);
	CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
	beside_make_rc(&b);
	beside_make_xrc(&b);
	beside_send_xrc(&b, 0, IBV_SEND_SIGNALED);
	wait_event(&b, b.cq);
	ibv_ack_cq_events(b.cq, 1);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 0);
	for (uint64_t i = 1; i < 20; i++) {
		CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
		if (i & 1)
			beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
		else
			beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		wait_event(&b, b.cq);
		ibv_ack_cq_events(b.cq, 1);
		for (int k = 0; k < 2; k++)
			CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	beside_close_both(&b);
}

/* Unread events of a queue that is destroyed are taken back, whoever sent them, and
 * those of another queue stay. */
static void unread_events(void)
{
	struct ibv_cq *other;
	struct ibv_qp *qp;
	struct beside b;

	for (int round = 0; round < 10; round++) {
		struct pollfd p = {.events = POLLIN};
		struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

		beside_open_both(&b, 64);
		p.fd = b.ch->fd;
		other = ibv_create_cq(b.t.ctx, 4, NULL, b.ch, 0);
		CHECK(other);
		CHECK_EQ(ibv_req_notify_cq(other, 0), 0);
		qp = make_qp(&b.t, other, NULL, IBV_QPT_RC, 4, NULL);
		for (uint64_t i = 0; i < 3; i++) {
			CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
			beside_send_rc(&b, i, IBV_SEND_SIGNALED);
			beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
			beside_expect_both(&b, i);
			if (i == 1) {
				connect_qp(&b.t, qp, qp->qp_num);
				CHECK_EQ(ibv_post_recv(qp, &wr, &bad), 0);
				to_state(qp, IBV_QPS_ERR);
			}
		}
		wait_event(&b, b.cq);
		ibv_ack_cq_events(b.cq, 1);
		beside_end_xrc(&b);
		beside_end_rc(&b);
		CHECK_EQ(ibv_destroy_cq(b.cq), 0);
		wait_event(&b, other);
		ibv_ack_cq_events(other, 1);
		CHECK_EQ(poll(&p, 1, 0), 0);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
		b.cq = other;
		beside_close_bare(&b);
	}
}

static void resize(void)
{
	struct beside b;
	uint64_t id = 0;

	beside_open_both(&b, 8);
	for (int size = 20; size < 600; size = size * 3 / 2) {
		for (int i = 0; i < 2; i++, id++) {
			beside_send_rc(&b, id, IBV_SEND_SIGNALED);
			beside_send_xrc(&b, id, IBV_SEND_SIGNALED);
			if (i)
				CHECK_EQ(ibv_resize_cq(b.cq, size), 0);
			beside_expect_both(&b, id);
		}
		CHECK(b.cq->cqe >= size);
	}
	/* Not below what waits, wherever that is. */
	for (int kind = 0; kind < 2; kind++) {
		for (uint64_t i = 0; i < 16; i++)
			if (kind)
				beside_send_xrc(
					&b, i, i == 15 ? IBV_SEND_SIGNALED : 0);
			else
				beside_send_rc(&b, i,
					       i == 15 ? IBV_SEND_SIGNALED : 0);
		sleep(1);
		CHECK_EQ(ibv_resize_cq(b.cq, 8), EINVAL);
		for (int i = 0; i < 17; i++)
			expect_wc(b.cq, IBV_WC_SUCCESS);
		expect_none(b.cq);
	}
	CHECK_EQ(ibv_resize_cq(b.cq, 8), 0);
	beside_send_rc(&b, 200, IBV_SEND_SIGNALED);
	beside_send_xrc(&b, 200, IBV_SEND_SIGNALED);
	beside_expect_both(&b, 200);
	beside_close_both(&b);
}

/* Nothing goes while something uses it, and what was refused works as before. */
static void wrong_order(void)
{
	struct beside b;

	beside_open_both(&b, 64);
	CHECK_EQ(ibv_destroy_cq(b.cq), EBUSY);
	CHECK_EQ(ibv_destroy_srq(b.srq), 0); /* its domain's target stays */
	b.srq = NULL;
	CHECK_EQ(ibv_destroy_qp(b.target), 0);
	CHECK_EQ(ibv_close_xrcd(b.domain), 0);
	beside_send_rc(&b, 7, IBV_SEND_SIGNALED);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 7);
	beside_end_rc(&b);
	CHECK_EQ(ibv_destroy_cq(b.cq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(b.xrc.qp), 0);
	CHECK_EQ(ibv_dereg_mr(b.xrc.mr), 0);
	free(b.xrc.buf);
	beside_close_bare(&b);
}

/* Completions of a queue pair that is gone are gone too; receives of an XRC target are
 * its shared receive queue's. */
static void destroyed(void)
{
	struct beside b;
	uint32_t gone;

	beside_open_both(&b, 64);
	for (uint64_t i = 0; i < DEPTH; i++) {
		beside_send_rc(&b, i, IBV_SEND_SIGNALED);
		beside_send_xrc(&b, i, IBV_SEND_SIGNALED);
	}
	sleep(1);
	gone = b.xrc.qp->qp_num;
	beside_end_xrc(&b);
	for (uint64_t i = 0; i < 3 * DEPTH; i++)
		CHECK(expect_wc(b.cq, IBV_WC_SUCCESS).qp_num != gone);
	expect_none(b.cq);
	beside_make_xrc(&b);
	beside_send_xrc(&b, 99, IBV_SEND_SIGNALED);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(expect_wc(b.cq, IBV_WC_SUCCESS).wr_id, 99);
	beside_close_both(&b);
}

const struct verbs_test beside_tests[] = {
	{"beside_traffic", traffic},
	{"beside_fairness", fairness},
	{"beside_extended", extended},
	{"beside_events", events},
	{"beside_unread_events", unread_events},
	{"beside_resize", resize},
	{"beside_wrong_order", wrong_order},
	{"beside_destroyed", destroyed},
	{0},
};

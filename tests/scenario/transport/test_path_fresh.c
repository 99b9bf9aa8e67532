// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A short message beside bulk to the same address: it does not wait for those that
 * always have something to send, and many short ones leave the others their part.
 */
#include "tests/scenario/transport/wiretap.h"

#define TRIP_NS	 (300 * WT_US)
#define MAX_QPS	 8
#define FIRST_QP 0x70
#define PSN	 10

static struct wt w;
static struct wt_qp q[MAX_QPS];
static u32 next[MAX_QPS], got[MAX_QPS];
static u32 count;

static void start(u32 n)
{
	wt_config(&w, 0);
	w.cfg.aimd = true;
	w.cfg.path = w.cfg.short_reads = true;
	wt_open(&w);
	count = n;
	for (u32 i = 0; i < n; i++) {
		struct ur_qp_attr a = wt_attr(&w, FIRST_QP + i, PSN, 9);

		wt_qp_create(&w, &q[i], UR_QPT_RC, NULL);
		a.av = &w.av;
		wt_to_rts(&q[i], &a);
		next[i] = PSN;
		got[i] = 0;
	}
}

static void stop(void)
{
	for (u32 i = 0; i < count; i++)
		ur_qp_destroy(q[i].qp);
	wt_close(&w);
}

static void collect(void)
{
	while (w.out_head != w.out_tail) {
		const struct ur_pkt *pkt = &wt_next(&w)->pkt;
		u32 i = pkt->dqpn - FIRST_QP;

		CHECK(i < count);
		got[i]++;
		next[i] = ur_psn_add(pkt->psn, 1);
	}
}

static void answer_to(u32 i, u32 psn)
{
	struct ur_pkt pkt = wt_pkt(&q[i], UR_OP_RC_ACK, ur_psn_add(psn, -1), 0);

	if (q[i].qp->req.una == next[i])
		return;
	pkt.syndrome = WT_ACK;
	memcpy(w.meta.saddr, w.av.dgid, 16);
	wt_arrive(&w, pkt, NULL);
}

static void answer(u32 i)
{
	answer_to(i, next[i]);
}

/* A message of one packet. */
static void post_bytes(u32 i, u32 bytes)
{
	struct ur_send_wr *wr = wt_post(&q[i], UR_WR_WRITE, 0, bytes);

	wr->raddr = WT_IOVA;
	wr->rkey = 0xabcd;
	ur_qp_kick(q[i].qp);
	q[i].wc_head = q[i].wc_tail;
}

static void post_short(u32 i)
{
	post_bytes(i, 64);
}

/* The window is full of what others have sent, with nothing answered. */
static void goes_at_once(void)
{
	u32 full;

	start(3);
	wt_work(&q[1]);
	wt_work(&q[2]);
	wt_run(&w);
	collect();
	full = got[1] + got[2];
	CHECK_EQ(full, 16);
	post_short(0);
	wt_run(&w);
	collect();
	CHECK_EQ(got[0], 1);
	CHECK_EQ(got[1] + got[2], full);
	stop();
}

/* Its next one, too, once the others have sent as many bytes each: not a whole round
 * trip of the window later, and not before. The window's growth lets one packet of theirs
 * out. */
static void goes_again(u32 bytes, bool soon)
{
	start(3);
	wt_work(&q[1]);
	wt_work(&q[2]);
	wt_run(&w);
	post_bytes(0, bytes);
	wt_run(&w);
	collect();
	answer(0);
	wt_run(&w);
	collect();
	/* The place of the answered one is not given twice. */
	post_bytes(0, bytes);
	wt_run(&w);
	collect();
	CHECK_EQ(got[0], soon ? 2 : 1);
	answer(1);
	wt_run(&w);
	collect();
	CHECK_EQ(got[0], 2);
	stop();
}

/* Packets of all but the first. */
static u32 bulk(void)
{
	u32 n = 0;

	for (u32 i = 1; i < count; i++)
		n += got[i];
	return n;
}

/* It comes back before the others have sent as much: then it goes when they have, and
 * not after a turn of each of them. */
static void goes_soon(void)
{
	u32 window = 0;

	start(8);
	for (u32 t = 0; t < 200 && window < 128; t++) {
		window = bulk();
		for (u32 i = 1; i < 8; i++)
			wt_work(&q[i]);
		wt_run(&w);
		collect();
		wt_sleep(&w, TRIP_NS);
		collect();
		window = bulk() - window;
		for (u32 i = 1; i < 8; i++)
			answer(i);
	}
	CHECK(window >= 128); /* turns of 16 packets, or soon of 64 */
	wt_run(&w);
	collect();
	for (u32 t = 0; t < 20; t++) {
		u32 before = bulk(), n = got[0];

		post_short(0);
		wt_run(&w);
		collect();
		for (u32 i = 1; got[0] == n; i = i % 7 + 1) {
			wt_work(&q[i]);
			answer_to(i, ur_psn_add(q[i].qp->req.una, 1));
			wt_run(&w);
			collect();
		}
		CHECK(bulk() - before <= 64 + 8);
		answer(0);
	}
	stop();
}

/* Six that begin again whenever they are answered, and two that never end. */
static void leaves_their_part(void)
{
	u32 least = UINT32_MAX, most = 0;

	start(8);
	for (u32 t = 0; t < 400; t++) {
		wt_work(&q[6]);
		wt_work(&q[7]);
		for (u32 i = 0; i < 6; i++)
			if (q[i].qp->req.head == q[i].qp->req.tail &&
			    q[i].qp->req.una == next[i])
				post_short(i);
		wt_run(&w);
		collect();
		wt_sleep(&w, TRIP_NS);
		collect();
		for (u32 i = 0; i < count; i++)
			answer(i);
	}
	for (u32 i = 0; i < 6; i++)
		most = got[i] > most ? got[i] : most;
	least = got[6] < got[7] ? got[6] : got[7];
	CHECK(most >= 200); /* nearly each round trip, */
	CHECK(least >= most);
	stop();
}

int main(void)
{
	goes_at_once();
	goes_again(256, false);
	goes_again(64, true);
	goes_soon();
	leaves_their_part();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One window for all that is sent to one address: how it grows, when it is cut,
 * and that nobody who shares it, and no peer, can hold up the others for ever.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/path_impl.h"
#include "tests/qp_walk.h"
#include "util/rng.h"

#define SHORT_NS (20 * WT_US)
#define LONG_NS	 (300 * WT_US)
#define MAX_QPS	 8
#define FIRST_QP 0x70

static struct wt w;
static struct wt_qp q[MAX_QPS];
static struct ur_av other; /* another address */
static u32 next[MAX_QPS];  /* PSN behind the newest seen */
static u32 got[MAX_QPS];   /* packets that came out */
static u32 count;
static u32 first_psn = 10;

static void connect(u32 i, struct ur_av *av)
{
	struct ur_qp_attr a = wt_attr(&w, FIRST_QP + i, first_psn, 9);

	a.av = av;
	wt_to_rts(&q[i], &a);
	next[i] = first_psn;
	got[i] = 0;
}

/* The first half, or all, to one address and the rest to another. */
static void start(u32 n, bool two)
{
	wt_config(&w, 0);
	w.cfg.aimd = true;
	w.cfg.path = w.cfg.short_reads = true;
	wt_open(&w);
	other = w.av;
	other.dgid[15] = 99;
	count = n;
	for (u32 i = 0; i < n; i++) {
		wt_qp_create(&w, &q[i], UR_QPT_RC, NULL);
		connect(i, two && i >= n / 2 ? &other : &w.av);
	}
}

static void stop(void)
{
	for (u32 i = 0; i < count; i++)
		if (q[i].qp)
			ur_qp_destroy(q[i].qp);
	wt_close(&w);
}

static void destroy(u32 i)
{
	ur_qp_destroy(q[i].qp);
	q[i].qp = NULL;
}

/* Takes what came out. Returns the packets, those of reads not answered. */
static u32 collect(void)
{
	u32 n = 0;

	for (; w.out_head != w.out_tail; n++) {
		const struct ur_pkt *pkt = &wt_next(&w)->pkt;
		u32 i = pkt->dqpn - FIRST_QP;

		CHECK(i < count);
		got[i]++;
		if (ur_psn_diff(ur_psn_add(pkt->psn, 1), next[i]) > 0)
			next[i] = ur_psn_add(pkt->psn, 1);
	}
	return n;
}

/* Nobody is out of work: messages of 256 packets. */
static void work(u32 i)
{
	if (!q[i].qp || q[i].qp->state != UR_QP_RTS)
		return;
	wt_work(&q[i]);
}

static u32 burst(void)
{
	for (u32 i = 0; i < count; i++)
		work(i);
	wt_run(&w);
	return collect();
}

static void say(u32 i, u32 psn, u8 syndrome)
{
	struct ur_pkt pkt = wt_pkt(&q[i], UR_OP_RC_ACK, psn, 0);

	pkt.syndrome = syndrome;
	memcpy(w.meta.saddr, q[i].qp->attr.av->dgid, 16);
	wt_arrive(&w, pkt, NULL);
}

static void answer(u32 i)
{
	if (q[i].qp && q[i].qp->state == UR_QP_RTS &&
	    q[i].qp->req.una != next[i])
		say(i, ur_psn_add(next[i], -1), WT_ACK);
}

static void answer_all(void)
{
	for (u32 i = 0; i < count; i++)
		answer(i);
}

/* A round trip. Returns the packets of it. */
static u32 trip(u64 ns)
{
	u32 n = burst();

	wt_sleep(&w, ns);
	n += collect();
	answer_all();
	return n;
}

/* The same; the oldest packet is lost, and comes when it is sent again. */
static u32 lossy_trip(u32 i, u64 ns)
{
	u32 n = burst();

	wt_sleep(&w, ns);
	say(i, q[i].qp->req.una, WT_NAK_SEQ);
	wt_run(&w);
	wt_sleep(&w, ns);
	collect();
	answer_all();
	return n;
}

static void grows(void)
{
	start(1, false);
	CHECK_EQ(trip(SHORT_NS), 16);
	CHECK_EQ(trip(SHORT_NS), 32);
	CHECK_EQ(trip(SHORT_NS), 64);
	CHECK_EQ(trip(SHORT_NS), 128); /* that of the queue pair */
	for (int i = 0; i < 40; i++)
		trip(SHORT_NS);
	CHECK(!q[0].qp->share.held);
	stop();
}

/* Three packets find room in the window of 16: only the last one asks for an
 * acknowledgement, as without one. Where the window ends, its last one does. */
static void asks_where_it_ends(void)
{
	start(1, false);
	ur_port_set_shortcuts(w.port, false, false);
	wt_post(&q[0], UR_WR_SEND, 0, 3 * 256);
	wt_kick(&q[0]);
	CHECK(!wt_expect(&w, UR_OP_RC_SEND_FIRST, 10)->pkt.ackreq);
	CHECK(!wt_expect(&w, UR_OP_RC_SEND_MIDDLE, 11)->pkt.ackreq);
	CHECK(wt_expect(&w, UR_OP_RC_SEND_LAST, 12)->pkt.ackreq);
	next[0] = 13;
	answer(0);
	wt_post(&q[0], UR_WR_SEND, 0, 40 * 256);
	wt_kick(&q[0]);
	CHECK(w.out_tail - w.out_head >= 16);
	CHECK(w.out[(w.out_tail - 1) % WT_OUT].pkt.ackreq);
	stop();
}

/* Returns the growth of the window of these round trips in ten more. */
static u32 growth(u64 ns)
{
	u32 before = trip(ns);

	for (int i = 0; i < 9; i++)
		trip(ns);
	return trip(ns) - before;
}

/* A loss while packets wait: once in a round trip, and then slowly: a packet in
 * each, and no more than one in a millisecond. */
static void cut(void)
{
	u32 before, after, n;

	start(1, false);
	trip(SHORT_NS);
	trip(LONG_NS);
	trip(LONG_NS);
	before = trip(LONG_NS);
	CHECK(before >= 32 && before < 70);
	lossy_trip(0, LONG_NS);
	after = trip(LONG_NS);
	CHECK(after >= before * 6 / 10 && after <= before * 8 / 10);
	/* So much less is answered now: it was no queue of ours alone. */
	for (int i = 0; i < 16 && q[0].qp->share.path->window.alone.state; i++)
		CHECK_EQ(trip(LONG_NS), after);
	CHECK(!q[0].qp->share.path->window.alone.state);
	n = growth(LONG_NS);
	CHECK(n >= 2 && n <= 5);
	/* No timer takes longer ones for a loss. */
	growth(500 * WT_US);
	growth(700 * WT_US);
	growth(1000 * WT_US);
	n = growth(1000 * WT_US);
	CHECK(n >= 8 && n <= 12);
	stop();
}

/* Its first PSN is chosen after it has its address, and may be any. */
static void cut_from_high_psn(void)
{
	first_psn = 0xc00000;
	cut();
	first_psn = 10;
}

/* One after the other, so many packets of a window. */
static void lose_some(u32 n, u64 ns)
{
	burst();
	wt_sleep(&w, ns);
	for (u32 k = 0; k < n; k++) {
		say(0, ur_psn_add(q[0].qp->req.una, k ? 8 : 0), WT_NAK_SEQ);
		wt_run(&w);
		wt_sleep(&w, ns);
	}
	collect();
	answer_all();
}

/* Hosts let packets wait, and links lose: where trips are short, only many
 * losses say that a queue ended. */
static void short_trips(void)
{
	u32 before, room, n = 0, least = UINT32_MAX;

	start(1, false);
	trip(SHORT_NS);
	for (int i = 0; i < 4; i++)
		trip(5 * SHORT_NS);
	before = trip(5 * SHORT_NS);
	for (int i = 0; i < 4; i++) {
		lossy_trip(0, 5 * SHORT_NS);
		CHECK(trip(5 * SHORT_NS) >= before);
	}
	/* From so many on they are lost. */
	room = trip(5 * SHORT_NS);
	for (int i = 0; i < 200; i++) {
		n = trip(5 * SHORT_NS);
		least = n < least ? n : least;
		if (n > room)
			lose_some(16, 5 * SHORT_NS);
	}
	CHECK(least < room);
	CHECK(n < room * 3 / 2);
	stop();
}

/* Losses that do not depend on the window cut it once, and it is then given
 * back. */
static void chance(u64 ns, u32 least)
{
	u32 few = UINT32_MAX;

	start(1, false);
	for (int i = 0; i < 4; i++)
		trip(SHORT_NS);
	for (int i = 0; i < 400; i++) {
		u32 n = trip(ns);

		lose_some(n / 20 + 1, ns);
		few = i >= 40 && n < few ? n : few;
	}
	CHECK(few >= least);
	CHECK_EQ(q[0].qp->state, UR_QP_RTS);
	stop();
}

/* Where each window loses, nothing but what is sent again can be timed. */
static void loses_always(void)
{
	u32 n = 0;

	start(1, false);
	for (int i = 0; i < 4; i++)
		trip(SHORT_NS);
	for (int i = 0; i < 12; i++)
		n = lossy_trip(0, LONG_NS);
	CHECK(n < 32);
	CHECK(q[0].qp->share.held);
	stop();
}

/* No window for long, and again one when losses come while packets wait. */
static void held_again(void)
{
	u32 n = 0;

	start(2, false);
	for (int i = 0; i < 60; i++)
		trip(SHORT_NS);
	CHECK(!q[0].qp->share.held && !q[1].qp->share.held);
	for (int i = 0; i < 20; i++)
		n = trip(LONG_NS);
	CHECK(!q[0].qp->share.held);
	lossy_trip(0, LONG_NS);
	CHECK(q[0].qp->share.held && q[1].qp->share.held);
	CHECK(trip(LONG_NS) <= n * 7 / 10 + 1);
	stop();
}

/* In lockstep, where the first one asks first in each round trip. */
static void equal_turns(void)
{
	u32 mean = 0;

	start(MAX_QPS, false);
	trip(SHORT_NS);
	lossy_trip(0, LONG_NS);
	for (int i = 0; i < 200; i++)
		trip(LONG_NS);
	for (u32 i = 0; i < count; i++)
		mean += got[i] / count;
	for (u32 i = 0; i < count; i++) {
		CHECK(got[i] > mean * 8 / 10);
		CHECK(got[i] < mean * 3 / 2);
	}
	stop();
}

/* How much the others get in so many round trips. */
static u32 others_get(u32 without, u32 trips)
{
	u32 n = 0;

	for (u32 i = 0; i < count; i++)
		got[i] = 0;
	while (trips--)
		trip(LONG_NS);
	for (u32 i = 0; i < count; i++)
		n += i == without ? 0 : got[i];
	return n;
}

/* Queue pair 0 holds all of the window, with nothing answered, when it goes. */
static void goes(void (*how)(void))
{
	u32 n;

	start(3, false);
	trip(SHORT_NS);
	trip(LONG_NS);
	lossy_trip(0, LONG_NS);
	for (u32 i = 1; i < count; i++)
		work(i);
	burst();
	how();
	n = others_get(0, 20);
	CHECK(n > 20 * 10);
	CHECK(got[1] && got[2]);
	stop();
}

static void by_destroy(void)
{
	destroy(0);
}

static void by_error(void)
{
	ur_qp_fail(q[0].qp);
	wt_run(&w);
}

static void by_reset(void)
{
	struct ur_qp_attr a = {.state = UR_QP_RESET};

	CHECK_EQ(ur_qp_modify(q[0].qp, w.now, &a, UR_QP_ATTR_STATE), 0);
	CHECK(!q[0].qp->share.path);
}

/* One that waits for its turn goes; its place in the row is nobody's. */
static void waiting_goes(void)
{
	start(3, false);
	burst(); /* the first has all 16 */
	CHECK(!ur_list_empty(&q[1].qp->share.wait));
	CHECK(!ur_list_empty(&q[2].qp->share.wait));
	destroy(1);
	answer_all();
	CHECK(trip(SHORT_NS) > 8);
	trip(SHORT_NS);
	CHECK(got[2]);
	stop();
}

/* A peer that never answers, and one that answers anything, are felt by nobody
 * who sends elsewhere. */
static void silent_peer(void)
{
	u32 n = 0, before;

	start(2, true);
	for (int i = 0; i < 4; i++)
		trip(SHORT_NS);
	before = got[1];
	for (int i = 0; i < 2000 && q[0].qp->state == UR_QP_RTS; i++) {
		burst();
		wt_sleep(&w, WT_MS);
		collect();
		answer(1);
		n++;
	}
	CHECK_EQ(q[0].qp->state, UR_QP_ERR); /* after its retries */
	CHECK_EQ(q[1].qp->state, UR_QP_RTS);
	CHECK((got[1] - before) / n >= 100);
	stop();
}

static void lying_peer(void)
{
	static const u8 syndromes[] = {WT_ACK, WT_NAK_SEQ, WT_RNR(1), 0xff};
	struct ur_rng rng = {.state = 7};
	u32 n;

	start(4, true);
	for (int i = 0; i < 3000; i++) {
		burst();
		wt_sleep(&w, SHORT_NS);
		collect();
		for (u32 k = 0; k < 2; k++) {
			u32 una = q[k].qp->req.una;

			if (q[k].qp->state == UR_QP_RTS)
				say(k,
				    ur_psn_add(una,
					       (int)ur_rng_below(&rng, 40)),
				    syndromes[ur_rng_below(&rng, 4)]);
		}
		wt_run(&w);
		collect();
		answer(2);
		answer(3);
	}
	got[2] = got[3] = 0;
	n = burst();
	wt_sleep(&w, SHORT_NS);
	collect();
	CHECK(n && got[2] + got[3] >= 200);
	stop();
}

/* Below one packet it is a rate, and nobody waits for ever. */
static void less_than_one(void)
{
	start(4, false);
	trip(SHORT_NS);
	for (int i = 0; i < 60; i++)
		for (u32 k = 0; k < count; k++)
			lossy_trip(k, LONG_NS);
	for (u32 i = 0; i < count; i++) {
		CHECK_EQ(q[i].qp->state, UR_QP_RTS);
		got[i] = 0;
	}
	for (int i = 0; i < 4000; i++)
		trip(LONG_NS);
	for (u32 i = 0; i < count; i++)
		CHECK(got[i] > 100);
	stop();
}

/* Nothing has come for long, and the oldest packet is sent again. Returns the window's cuts. */
static u32 late(void)
{
	start(1, false);
	trip(SHORT_NS);
	for (int i = 0; i < 6; i++)
		trip(LONG_NS);
	CHECK(burst() >= 16);
	wt_sleep(&w, 3 * LONG_NS);
	CHECK(w.out_head != w.out_tail);
	CHECK_EQ(wt_next(&w)->pkt.psn, q[0].qp->req.una);
	return q[0].qp->share.path->window.cuts;
}

/* One answer to all of them: nothing was lost, it was late. */
static void late_answers(void)
{
	u32 cuts = late();

	answer(0);
	CHECK_EQ(q[0].qp->share.path->window.cuts, cuts);
	stop();
}

/* One to the oldest packet alone, or none: that packet was lost, or all were. */
static void late_losses(void)
{
	u32 cuts = late();

	say(0, q[0].qp->req.una, WT_ACK);
	CHECK_EQ(q[0].qp->share.path->window.cuts, cuts + 1);
	stop();
	cuts = late();
	wt_sleep(&w, 20 * LONG_NS);
	CHECK(q[0].qp->share.path->window.cuts > cuts);
	stop();
}

/* A turn of a large window is as much as leaves by one system call, and nobody gets a part
 * of one. */
static void whole_turns(void)
{
	start(MAX_QPS, false);
	q[0].qp->share.path->window.size = 300 * UR_PATH_ONE;
	CHECK_EQ(burst(), 256);
	for (u32 i = 0; i < count; i++)
		CHECK_EQ(got[i] % 64, 0);
	stop();
}

/* The answers of a READ request, of which the last one may be lost. */
static void answer_read(u32 first, u32 packets, u32 lost)
{
	for (u32 k = 0; k < packets - lost; k++) {
		struct ur_pkt pkt =
			wt_pkt(&q[0],
			       packets == 1	  ? UR_OP_RC_READ_RESP_ONLY
			       : !k		  ? UR_OP_RC_READ_RESP_FIRST
			       : k + 1 == packets ? UR_OP_RC_READ_RESP_LAST
						  : UR_OP_RC_READ_RESP_MIDDLE,
			       first + k, 256);

		pkt.syndrome = WT_ACK;
		wt_arrive(&w, pkt, NULL);
	}
}

/* READ requests are about half a window, and longer as it grows; what is asked
 * for again ends where it did, however the window is by now. */
static void reads(void)
{
	u32 longest = 0, lost = 0, losses = 0;

	start(1, false);
	for (int i = 0; i < 2000; i++) {
		const struct ur_pkt *pkt;
		u32 n;

		while (q[0].ring.send_tail - q[0].ring.retired < 8) {
			struct ur_send_wr *wr =
				wt_post(&q[0], UR_WR_READ, 0, 600 * 256);

			wr->raddr = WT_IOVA;
			wr->rkey = 0xabcd;
		}
		q[0].wc_head = q[0].wc_tail;
		wt_kick(&q[0]);
		wt_sleep(&w, w.out_head == w.out_tail ? WT_MS : SHORT_NS);
		if (w.out_head == w.out_tail)
			continue;
		pkt = &wt_next(&w)->pkt;
		n = pkt->dma_bytes / 256;
		CHECK(longest || n == 8);
		longest = n > longest ? n : longest;
		if (pkt->psn != q[0].qp->req.una)
			continue; /* it will be asked for again */
		CHECK(pkt->psn != lost || n == 1);
		if (pkt->psn != lost && i % 16 == 0 && n > 1) {
			lost = ur_psn_add(pkt->psn, (int)n - 1);
			losses++;
			answer_read(pkt->psn, n, 1);
		} else {
			answer_read(pkt->psn, n, 0);
		}
	}
	CHECK(longest > 16);
	CHECK(losses > 20);
	CHECK_EQ(q[0].qp->state, UR_QP_RTS);
	stop();
}

int main(void)
{
	grows();
	asks_where_it_ends();
	cut();
	cut_from_high_psn();
	short_trips();
	chance(SHORT_NS, 64);
	chance(5 * SHORT_NS, 32);
	chance(LONG_NS, 8);
	loses_always();
	held_again();
	equal_turns();
	goes(by_destroy);
	goes(by_error);
	goes(by_reset);
	waiting_goes();
	silent_peer();
	lying_peer();
	less_than_one();
	late_answers();
	late_losses();
	whole_turns();
	reads();
	return 0;
}

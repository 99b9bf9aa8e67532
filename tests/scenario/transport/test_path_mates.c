// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sharers of a window, and the effect of a peer's answers on the others: other
 * owners have windows of their own, and answers that say nothing new hold nobody
 * up for long. And no path has too many members, nor is one of many searched
 * for.
 */
#include "tests/scenario/transport/wiretap.h"

#define MATES	 24
#define FIRST_QP 0x70

static struct wt w;
static struct wt_qp q[1 + MATES]; /* the first one is the honest one */
static u32 next[1 + MATES], got[1 + MATES];
static u32 owner;

static void own(struct ur_qp_init *init)
{
	init->owner = owner;
}

/* The others never time out, so no retries end what they do. */
static void connect(u32 i)
{
	struct ur_qp_attr a = wt_attr(&w, FIRST_QP + i, 10, 9);

	a.timeout = i ? 0 : 14;
	wt_to_rts(&q[i], &a);
	next[i] = 10;
}

static void start(void)
{
	wt_config(&w, 0);
	w.cfg.path = w.cfg.short_reads = true;
	wt_open(&w);
	owner = 7;
	for (u32 i = 0; i <= MATES; i++) {
		wt_qp_create(&w, &q[i], UR_QPT_RC, own);
		connect(i);
		got[i] = 0;
	}
}

static void stop(void)
{
	for (u32 i = 0; i <= MATES; i++)
		ur_qp_destroy(q[i].qp);
	wt_close(&w);
}

static void collect(void)
{
	while (w.out_head != w.out_tail) {
		const struct ur_pkt *pkt = &wt_next(&w)->pkt;
		u32 i = pkt->dqpn - FIRST_QP, psn = ur_psn_add(pkt->psn, 1);

		CHECK(i <= MATES);
		got[i]++;
		next[i] = ur_psn_diff(psn, next[i]) > 0 ? psn : next[i];
	}
}

static void say(u32 i, u32 psn, u8 syndrome)
{
	struct ur_pkt pkt = wt_pkt(&q[i], UR_OP_RC_ACK, psn, 0);

	pkt.syndrome = syndrome;
	wt_arrive(&w, pkt, NULL);
}

static void answer(u32 i)
{
	if (q[i].qp->req.una != next[i])
		say(i, ur_psn_add(next[i], -1), WT_ACK);
}

static void miss(u32 i)
{
	if (q[i].qp->req.una != next[i])
		say(i, q[i].qp->req.una, WT_NAK_SEQ);
}

/* The peer of the others says without end that it misses the first packet. */
static void naks_without_end(void)
{
	u32 since = 0;

	start();
	for (u32 i = 0; i < 8000; i++) {
		u32 before = got[0];

		for (u32 k = 0; k <= MATES; k++)
			if (q[k].qp->state == UR_QP_RTS)
				wt_work(&q[k]);
		wt_run(&w);
		wt_sleep(&w, 50 * WT_US);
		collect();
		answer(0);
		for (u32 k = 1; k <= MATES; k++)
			if (q[k].qp->state == UR_QP_RTS)
				miss(k);
		wt_run(&w);
		collect();
		since = got[0] == before ? since + 1 : 0;
		CHECK(since < 80 * 20); /* 80 ms */
	}
	CHECK_EQ(q[0].qp->state, UR_QP_RTS);
	stop();
}

/* Other owners of the same address. */
static void other_owners(void)
{
	struct wt_qp other;
	struct ur_qp_attr a;

	start();
	owner = 8;
	wt_qp_create(&w, &other, UR_QPT_RC, own);
	a = wt_attr(&w, 0x60, 10, 9);
	wt_to_rts(&other, &a);
	CHECK(q[0].qp->share.path == q[MATES].qp->share.path);
	CHECK(other.qp->share.path != q[0].qp->share.path);
	/* All of the window is out, and nobody answers. */
	for (u32 k = 0; k <= MATES; k++)
		wt_work(&q[k]);
	wt_run(&w);
	collect();
	wt_work(&q[1]);
	wt_silence(&w);
	wt_post(&other, UR_WR_SEND, 0, 8);
	wt_kick(&other);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	ur_qp_destroy(other.qp);
	stop();
}

enum { MANY = 2500 };
static struct ur_qp *many[MANY];

static void connect_nth(u32 i, struct ur_av *av)
{
	struct ur_qp_attr a = {.state = UR_QP_RESET};

	q[0].qp = many[i];
	CHECK_EQ(ur_qp_modify(many[i], w.now, &a, UR_QP_ATTR_STATE), 0);
	a = wt_attr(&w, FIRST_QP, 10, 9);
	a.av = av;
	wt_to_rts(&q[0], &a);
}

/* In use, of the lists that the port has for its paths. */
static u32 lists(void)
{
	u32 n = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(w.port->paths); i++)
		n += w.port->paths[i] != NULL;
	return n;
}

/* Members of one address beyond MEMBERS_MAX are those of another path; each of
 * many addresses is found soon. */
static void many_paths(void)
{
	static struct ur_av av[MANY];

	wt_config(&w, 0);
	w.cfg.path = true;
	w.cfg.max_qp = MANY;
	wt_open(&w);
	for (u32 i = 0; i < MANY; i++) {
		wt_qp_create(&w, &q[0], UR_QPT_RC, NULL);
		many[i] = q[0].qp;
		connect_nth(i, &w.av);
		CHECK(many[i]->share.path == many[i / 1024 * 1024]->share.path);
	}
	CHECK_EQ(lists(), 1);
	for (u32 i = 0; i < MANY; i++) {
		av[i] = w.av;
		av[i].dgid[14] = (u8)(i >> 8);
		av[i].dgid[15] = (u8)i;
		connect_nth(i, &av[i]);
	}
	CHECK(lists() > MANY * 2 / 3);
	for (u32 i = 0; i < MANY; i++)
		ur_qp_destroy(many[i]);
	CHECK_EQ(lists(), 0);
	wt_close(&w);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(naks_without_end());
	CASE(other_owners());
	CASE(many_paths());
	return cases_status();
}

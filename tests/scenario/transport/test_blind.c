// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Somebody sends under the peer's address without seeing its packets: how many
 * packets does it take him to do anything to a connection? For each kind all
 * sequence numbers are tried, which leaves no chance to chance: those that had
 * an effect, of 2^24, are what a packet with a random number has in odds.
 *
 * usage: test_blind [STRIDE]: of the numbers far from those in use each so many
 */
#include <stdlib.h>

#include "tests/scenario/transport/wiretap.h"
#include "transport/ooo.h"

#define PORT_OF_PEER 0xc111
#define PORT_OF_HIM  0xf00d
#define NEAR	     4096u
#define SPACE	     (1u << 24)

static struct wt w;
static struct wt_qp q;
static const u32 psn0 = 0xfffff0; /* wraps */
static u32 stride = 997;

#define P(n) ur_psn_add(psn0, n)

static void feed_from(u16 sport, struct ur_pkt p)
{
	w.meta.udp_sport = sport;
	wt_arrive(&w, p, NULL);
	w.meta.udp_sport = PORT_OF_PEER;
}

/* A good request of the peer's. */
static struct ur_pkt write_of_peer(u32 n)
{
	struct ur_pkt p = wt_pkt(&q, UR_OP_RC_WRITE_ONLY, P(n), 16);

	p.dma_bytes = 16;
	return p;
}

/* A connection that has taken a request of its peer's, and, with open, has so
 * many requests of its own in flight, of which one was answered. */
static void start(u32 open)
{
	wt_config(&w, 0);
	w.cfg.ooo = true;
	w.meta.udp_sport = PORT_OF_PEER;
	wt_open(&w);
	wt_rts(&w, &q, UR_QPT_RC, 0x77, psn0, psn0);
	wt_post_recv(&q, 0, 64);
	wt_feed(&w, write_of_peer(0), NULL);
	if (open) {
		wt_post(&q, UR_WR_WRITE, 0x100, 256 * (open + 1))->raddr =
			WT_REMOTE;
		wt_kick(&q);
		wt_ack(&w, &q, P(0), WT_ACK);
		CHECK_EQ(ur_psn_sub(q.qp->req.max_psn, q.qp->req.una), open);
	}
	w.out_head = w.out_tail;
}

static bool touched(void)
{
	const struct ur_qp *qp = q.qp;

	return qp->state != UR_QP_RTS || qp->resp.epsn != P(1) ||
	       qp->resp.ooo->count || q.wc_head != q.wc_tail ||
	       (qp->req.una != qp->req.max_psn && qp->req.una != P(1)) ||
	       qp->req.tx_psn != qp->req.max_psn || qp->req.credit_limited ||
	       qp->req.rnr_until || qp->req.hole_due;
}

/* How many PSNs have an effect in a packet like that. */
static u32 effective(u32 open, u16 sport, struct ur_pkt p)
{
	u32 n = 0, tried = 0;

	start(open);
	for (u32 i = 0; i < SPACE; i++) {
		if (i > NEAR && i < SPACE - NEAR && i % stride)
			continue;
		tried++;
		p.psn = P(i);
		feed_from(sport, p);
		if (!touched())
			continue;
		n++;
		wt_stop(&w, &q);
		start(open);
	}
	CHECK(tried > 2 * NEAR);
	wt_stop(&w, &q);
	return n;
}

static struct ur_pkt ack(u8 syndrome)
{
	struct ur_pkt p = {.opcode = UR_OP_RC_ACK,
			   .pkey = UR_PKEY_DEFAULT,
			   .syndrome = syndrome,
			   .msn = 0x800};

	return p;
}

static struct ur_pkt request(u8 opcode, u32 bytes)
{
	struct ur_pkt p;

	start(0);
	p = wt_pkt(&q, opcode, 0, bytes);
	p.rkey = 0x12345678; /* a guess */
	p.dma_bytes = 16;
	wt_stop(&w, &q);
	return p;
}

/* An attack: what it takes. guesses: other things than the PSN that must be
 * right as well. */
static void expect(const char *what, u32 open, u16 sport, struct ur_pkt p,
		   u32 want, u32 guesses)
{
	u32 n;

	start(0);
	p.dqpn = q.qp->qpn;
	wt_stop(&w, &q);
	n = effective(open, sport, p);
	printf("%-26s %-12s %4u of 2^24 PSNs", what,
	       sport == PORT_OF_PEER ? "right port" : "another port", n);
	if (n)
		printf(": one packet in %llu%s",
		       (unsigned long long)SPACE / n * guesses,
		       guesses > 1 ? ", with the port" : "");
	putchar('\n');
	CHECK_EQ(n, want);
}

/* One request in 2^24 is the expected one. The early ones ask for the port, of
 * 2^14, as well. */
static void test_requests(void)
{
	static const struct {
		const char *what;
		u8 opcode;
		u32 bytes;
	} kinds[] = {
		{"READ", UR_OP_RC_READ_REQ, 0},
		{"FETCH_ADD", UR_OP_RC_FETCH_ADD, 0},
		{"SEND", UR_OP_RC_SEND_ONLY, 16},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ur_pkt p = request(kinds[i].opcode, kinds[i].bytes);

		expect(kinds[i].what, 0, PORT_OF_HIM, p, 1, 1);
		expect(kinds[i].what, 0, PORT_OF_PEER, p, UR_OOO_SPAN,
		       1u << 14);
	}
}

/* Answers hit any packet in flight, and need the port for it. */
static void test_answers(void)
{
	static const struct {
		const char *what;
		u8 syndrome;
	} kinds[] = {
		{"ACK", WT_ACK},
		{"NAK, remote access error", WT_NAK_ACCESS},
		{"NAK, sequence error", WT_NAK_SEQ},
		{"RNR NAK", 0x21},
	};
	const u32 open = 40;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ur_pkt p = ack(kinds[i].syndrome);

		expect(kinds[i].what, open, PORT_OF_HIM, p, 0, 1);
		expect(kinds[i].what, open, PORT_OF_PEER, p, open, 1u << 14);
	}
}

/* A peer whose path has changed is accepted again: its requests at once, its
 * answers when a packet was repeated. */
static void test_path_change(void)
{
	struct ur_pkt p;

	start(8);
	w.meta.udp_sport = PORT_OF_HIM;
	wt_feed(&w, write_of_peer(1), NULL);
	CHECK_EQ(q.qp->resp.epsn, P(2));
	/* and what is early is kept again */
	wt_feed(&w, write_of_peer(3), NULL);
	CHECK_EQ(q.qp->resp.ooo->count, 1);
	w.out_head = w.out_tail;
	p = ack(WT_ACK);
	p.dqpn = q.qp->qpn;
	p.psn = P(8);
	wt_feed(&w, p, NULL);
	wt_no_wc(&q);
	for (int i = 0; i < 1000 && w.out_head == w.out_tail; i++)
		wt_sleep(&w, WT_MS);
	CHECK(w.out_head != w.out_tail);
	wt_feed(&w, p, NULL);
	CHECK_EQ(wt_wc(&q, UR_WC_SUCCESS).status, UR_WC_SUCCESS);
	wt_stop(&w, &q);
}

/* Two that claim one PSN: neither is believed, until one comes in its turn. */
static void test_two_claims(void)
{
	struct ur_pkt p;

	start(0);
	p = write_of_peer(2);
	wt_feed(&w, p, NULL);
	wt_feed(&w, p, NULL);
	p.ackreq = !p.ackreq; /* that is no other packet */
	wt_feed(&w, p, NULL);
	CHECK_EQ(q.qp->resp.ooo->count, 1);
	p.va += 8;
	wt_feed(&w, p, NULL);
	CHECK_EQ(q.qp->resp.ooo->count, 0);
	wt_feed(&w, write_of_peer(1), NULL);
	CHECK_EQ(q.qp->resp.epsn, P(2));
	wt_stop(&w, &q);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (argc > 1)
		stride = (u32)atoi(argv[1]);
	CASE(test_requests());
	CASE(test_answers());
	CASE(test_path_change());
	CASE(test_two_claims());
	return cases_status();
}

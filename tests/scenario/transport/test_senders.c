// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The host sends a fill while it makes others: no packet of a queue pair is in a second fill before
 * the first one has been sent, whatever happens to the queue pair meanwhile.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/internal.h"

#define PSN0  100u
#define MTU   256u
#define FILLS 2u

static struct wt w;
static struct wt_qp q[2];
static u8 buf[FILLS][65536];
static struct ur_tx_desc desc[FILLS][256];
static struct ur_list senders[FILLS];

static void start(void)
{
	wt_config(&w, 0);
	wt_open(&w);
	for (u32 i = 0; i < 2; i++) {
		wt_rts(&w, &q[i], UR_QPT_RC, 0x77 + i, PSN0, PSN0);
		ur_list_init(&senders[i]);
	}
}

static void post(u32 i, u32 packets)
{
	struct ur_send_wr *wr = wt_post(&q[i], UR_WR_WRITE, 0, packets * MTU);

	wr->raddr = WT_REMOTE;
	wr->rkey = 0xabcd;
	ur_qp_kick(q[i].qp);
}

/* Returns the packets of fill f, which are of one queue pair; *dqpn: its peer. */
static u32 fill(u32 f, u32 *dqpn)
{
	struct ur_tx tx = {.buf = buf[f],
			   .cap = sizeof(buf[f]),
			   .desc = desc[f],
			   .max_desc = 256,
			   .senders = &senders[f]};

	ur_port_tx(w.port, w.now, &tx);
	for (u32 i = 0; i < tx.n_desc; i++) {
		*dqpn = ur_bth_dqpn(buf[f] + desc[f][i].off);
		CHECK_EQ(*dqpn, ur_bth_dqpn(buf[f] + desc[f][0].off));
	}
	return tx.n_desc;
}

static u32 first_psn(u32 f)
{
	return ur_bth_psn(buf[f] + desc[f][0].off);
}

static void stop(void)
{
	for (u32 i = 0; i < 2; i++)
		ur_qp_destroy(q[i].qp);
	wt_close(&w);
}

/* Each queue pair is in one fill, and goes on where that ended. */
static void test_two(void)
{
	u32 dqpn[FILLS], again, n;

	start();
	post(0, 40);
	post(1, 40);
	n = fill(0, &dqpn[0]);
	CHECK(n && n <= 40);
	CHECK(fill(1, &dqpn[1]));
	CHECK(dqpn[0] != dqpn[1]);
	ur_port_go_on(w.port, &senders[1]);
	post(dqpn[0] == 0x77 ? 0 : 1, 1);
	ur_port_go_on(w.port, &senders[0]);
	CHECK(ur_list_empty(&senders[0]));
	while (fill(1, &again) && again != dqpn[0])
		ur_port_go_on(w.port, &senders[1]);
	CHECK_EQ(again, dqpn[0]);
	CHECK_EQ(first_psn(1), PSN0 + n);
	ur_port_go_on(w.port, &senders[1]);
	stop();
}

/* Neither a post, nor an answer, nor a timeout makes a sender active. */
static void test_meanwhile(void)
{
	u8 bytes[UR_HEADERS_MAX_BYTES];
	struct ur_pkt nak = {.opcode = UR_OP_RC_ACK,
			     .pkey = UR_PKEY_DEFAULT,
			     .psn = PSN0 + 1,
			     .syndrome = UR_AETH_NAK};
	u32 dqpn, n;

	start();
	post(0, 20);
	n = fill(0, &dqpn);
	CHECK_EQ(n, 20);
	post(0, 5);
	nak.dqpn = q[0].qp->qpn;
	ur_port_rx(w.port, w.now, &w.meta, bytes,
		   (u32)ur_pkt_build(&nak, bytes));
	CHECK_EQ(fill(1, &dqpn), 0);
	w.now += 60000000000ull;
	ur_port_expire(w.port, w.now);
	CHECK_EQ(fill(1, &dqpn), 0);
	ur_port_go_on(w.port, &senders[0]);
	CHECK(fill(1, &dqpn));
	CHECK_EQ(first_psn(1), PSN0 + 1);
	ur_port_go_on(w.port, &senders[1]);
	stop();
}

/* A queue pair that ends is of no list. */
static void test_ends(void)
{
	u32 dqpn;

	start();
	post(0, 20);
	CHECK(fill(0, &dqpn));
	CHECK(!ur_list_empty(&senders[0]));
	ur_qp_destroy(q[0].qp);
	CHECK(ur_list_empty(&senders[0]));
	ur_port_go_on(w.port, &senders[0]);
	ur_qp_destroy(q[1].qp);
	wt_close(&w);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_two());
	CASE(test_meanwhile());
	CASE(test_ends());
	return cases_status();
}

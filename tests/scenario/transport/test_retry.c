// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers: the local ACK timeout and its count, the RNR wait at the time of
 * the table and its count, and the early probe.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/internal.h"
#include "transport/path_impl.h"
#include "transport/retry.h"

static struct wt w;
static struct wt_qp q;

static void open_port(u8 timeout, u8 retries, u8 rnr)
{
	struct ur_qp_attr a;

	wt_open(&w);
	a = wt_attr(&w, 0x77, 10, 9);
	a.timeout = timeout;
	a.retry_cnt = retries;
	a.rnr_retry = rnr;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
}

static void start(u8 timeout, u8 retries, u8 rnr)
{
	wt_config(&w, 0);
	open_port(timeout, retries, rnr);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

/* The peer is silent: retry_cnt + 1 sends at the timeout, then the error. lasts: the
 * code of the time that it takes in fact. */
static void peer_gone(u8 code, u8 lasts)
{
	u64 timeout = 4096ull << lasts;

	start(code, 3, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	for (int i = 0; i < 3; i++) {
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
		wt_sleep(&w, timeout - 1);
		wt_silence(&w);
		wt_sleep(&w, 1);
	}
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_sleep(&w, timeout - 1);
	wt_no_wc(&q);
	wt_sleep(&w, 1);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	wt_sleep(&w, 10 * timeout);
	wt_silence(&w);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_local_ack_timeout_err], 4);
	stop();
}

/* Of the peer's host, whose memory has the packets. */
static bool unread;

static bool is_unread(void *ctx, const struct ur_av *av, u32 dqpn)
{
	CHECK(av == &w.av && dqpn == 0x77);
	return unread;
}

/* Silent for so many times the timeout, and not longer. */
static void asked_after(u32 times)
{
	u64 timeout = 4096ull << 14;

	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	for (u32 i = 1; i < times; i++)
		wt_sleep(&w, timeout);
	wt_sleep(&w, timeout - 1);
	wt_silence(&w);
	wt_no_wc(&q);
	wt_sleep(&w, 1);
}

/* A peer that has not read its packets has four times the timeout for each retry, the longest that IBTA
 * allows. One that has read them has no more time than any other. */
static void peer_late(void)
{
	static struct ur_host_ops ops;
	const u64 *counters;

	ops = wt_host_ops;
	ops.unread = is_unread;
	wt_config(&w, 0);
	w.cfg.ops = &ops;
	open_port(14, 3, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	unread = true;
	asked_after(4);
	asked_after(4);
	unread = false;
	asked_after(1);
	unread = true;
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_sleep(&w, 4096ull << 14);
	wt_sleep(&w, 4096ull << 14);
	wt_silence(&w);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	counters = ur_port_counters(w.port);
	CHECK_EQ(counters[UR_CNT_local_ack_timeout_err], 3);
	stop();
}

/* A request is refused, and data of a READ before it are missing. They are asked for at once, and if they
 * come, all goes on; a peer whose queue pair has failed says nothing, and is not asked seven times. */
static void refused_behind_a_read(bool comes)
{
	u64 timeout = 4096ull << 14;

	start(14, 7, 7);
	wt_post(&q, UR_WR_READ, 0, 4);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_ack(&w, &q, 11, WT_NAK_ACCESS);
	wt_no_wc(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	if (comes) {
		wt_feed(&w, wt_pkt(&q, UR_OP_RC_READ_RESP_ONLY, 10, 4), NULL);
		wt_wc(&q, UR_WC_SUCCESS);
		wt_ack(&w, &q, 11, WT_NAK_ACCESS);
		wt_wc(&q, UR_WC_REM_ACCESS_ERR);
	} else {
		wt_sleep(&w, timeout - 1);
		wt_no_wc(&q);
		wt_sleep(&w, 1);
		wt_wc(&q, UR_WC_RETRY_EXC_ERR);
		wt_wc(&q, UR_WC_WR_FLUSH_ERR);
	}
	stop();
}

/* The first packet to a peer on this host came before its queue pair was ready: it goes
 * again long before the timeout, and between hosts, where nothing is known, then. */
static void first_is_early(bool near)
{
	u64 timeout = 4096ull << 14;
	struct ur_qp_attr a;
	struct ur_av av;

	wt_config(&w, 0);
	wt_open(&w);
	a = wt_attr(&w, 0x77, 10, 9);
	a.timeout = 14;
	av = *a.av;
	av.loop = near;
	a.av = &av;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_sleep(&w, near ? 1000000 - 1 : timeout - 1);
	wt_silence(&w);
	wt_sleep(&w, 1);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_local_ack_timeout_err], !near);
	stop();
}

/* Round trips longer than the timeout: it stretches, but not beyond four times. */
static void slow_peer(void)
{
	u64 timeout = 4096ull << 14, rtt = 60000000;

	start(14, 3, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_sleep(&w, rtt);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_sleep(&w, timeout);
	wt_silence(&w);
	wt_sleep(&w, 3 * rtt - timeout - 1); /* srtt + 4 * srtt / 2 */
	wt_silence(&w);
	wt_sleep(&w, 1);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	stop();

	start(14, 3, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	q.qp->req.srtt = 500000000;
	wt_sleep(&w, timeout - 1);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_sleep(&w, 4 * timeout - 1);
	wt_silence(&w);
	wt_sleep(&w, 1);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	stop();
}

/* A window not answered in time: one packet asks. A peer that was slow needs
 * no more; one that has lost them all gets them after its answer. */
static void window(bool lost)
{
	const u32 n = 40;

	start(14, 3, 7);
	for (u32 i = 0; i < n; i++)
		wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	for (u32 i = 0; i < n; i++)
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
	for (int i = 0; i < 3; i++) {
		wt_sleep(&w, 4096ull << 14);
		CHECK(wt_expect(&w, UR_OP_RC_SEND_ONLY, 10)->pkt.ackreq);
		wt_silence(&w);
	}
	wt_ack(&w, &q, lost ? 10 : 10 + n - 1, WT_ACK);
	for (u32 i = 1; lost && i < n; i++)
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
	wt_silence(&w);
	if (lost)
		wt_ack(&w, &q, 10 + n - 1, WT_ACK);
	for (u32 i = 0; i < n; i++)
		wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

/* Nothing was ever answered, and what was sent is much: one packet asks before
 * the timeout. It counts as a probe does. */
static void first_window(void)
{
	const u32 n = 64;
	u64 timeout = 4096ull << 14;

	start(14, 3, 7);
	for (u32 i = 0; i < n; i++)
		wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	for (u32 i = 0; i < n; i++)
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
	wt_sleep(&w, timeout / 16 - 1);
	wt_silence(&w);
	wt_sleep(&w, 1);
	CHECK(wt_expect(&w, UR_OP_RC_SEND_ONLY, 10)->pkt.ackreq);
	wt_silence(&w);
	CHECK_EQ(ur_port_counters(w.port)[UR_CNT_local_ack_timeout_err], 0);
	wt_ack(&w, &q, 10 + n - 1, WT_ACK);
	for (u32 i = 0; i < n; i++)
		wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

static void never(void)
{
	start(0, 3, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_next(&w);
	CHECK_EQ(ur_port_deadline(w.port), UR_NEVER);
	wt_sleep(&w, 1000000 * WT_MS);
	wt_silence(&w);
	stop();
}

/* Progress gives all retries back. */
static void progress(void)
{
	u64 timeout = 4096ull << 13;

	start(13, 1, 7);
	for (u32 i = 0; i < 5; i++) {
		wt_post(&q, UR_WR_SEND, 0, 4);
		wt_kick(&q);
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
		wt_sleep(&w, timeout);
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10 + i);
		w.out_head = w.out_tail; /* and probes before it */
		wt_ack(&w, &q, 10 + i, WT_ACK);
		wt_wc(&q, 0);
	}
	wt_sleep(&w, 5 * timeout);
	wt_silence(&w);
	stop();
}

static void rnr_times(void)
{
	static const u64 us[32] = {
		655360, 10,    20,    30,     40,     60,     80,     120,
		160,	240,   320,   480,    640,    960,    1280,   1920,
		2560,	3840,  5120,  7680,   10240,  15360,  20480,  30720,
		40960,	61440, 81920, 122880, 163840, 245760, 327680, 491520,
	};

	start(14, 7, 7);
	for (u32 code = 0; code < 32; code++) {
		CHECK_EQ(ur_rnr_ns((u8)code), us[code] * WT_US);
		wt_post(&q, UR_WR_SEND, 0, 300);
		wt_kick(&q);
		wt_expect(&w, UR_OP_RC_SEND_FIRST, 10 + 2 * code);
		wt_expect(&w, UR_OP_RC_SEND_LAST, 11 + 2 * code);
		wt_ack(&w, &q, 10 + 2 * code, WT_RNR((u8)code));
		wt_sleep(&w, us[code] * WT_US - 1);
		wt_silence(&w);
		wt_sleep(&w, 1);
		wt_expect(&w, UR_OP_RC_SEND_FIRST, 10 + 2 * code);
		wt_expect(&w, UR_OP_RC_SEND_LAST, 11 + 2 * code);
		wt_ack(&w, &q, 11 + 2 * code, WT_ACK);
		wt_wc(&q, 0);
	}
	stop();
}

static void rnr_count(void)
{
	start(14, 7, 2);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	for (int i = 0; i < 3; i++) {
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
		wt_ack(&w, &q, 10, 0x21);
		wt_sleep(&w, 10 * WT_US);
	}
	wt_wc(&q, UR_WC_RNR_RETRY_EXC_ERR);
	stop();
	/* Seven is for ever. */
	start(14, 7, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	for (int i = 0; i < 100; i++) {
		wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
		wt_ack(&w, &q, 10, 0x21);
		wt_sleep(&w, 10 * WT_US);
	}
	wt_no_wc(&q);
	stop();
	/* As responder: the RNR NAK carries our timer. */
	start(14, 7, 7);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
				.dqpn = q.qp->qpn,
				.psn = 9,
				.ackreq = true,
				.payload_bytes = 4},
		NULL);
	wt_expect_ack(&w, WT_RNR(12), 9);
	/* A packet that was sent behind it is no news: a sequence NAK would end
	 * the peer's wait. */
	for (u32 psn = 10; psn < 10 + 100; psn++) {
		wt_feed(&w,
			(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
					.dqpn = q.qp->qpn,
					.psn = psn,
					.ackreq = true,
					.payload_bytes = 4},
			NULL);
		wt_silence(&w);
	}
	wt_post_recv(&q, 0, 10);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
				.dqpn = q.qp->qpn,
				.psn = 9,
				.ackreq = true,
				.payload_bytes = 4},
		NULL);
	wt_expect_ack(&w, WT_ACK, 9);
	wt_wc(&q, 0);
	stop();
}

/* With a known round trip a lost tail is repeated early, and that does not
 * count: the error still comes after the time that the attributes say. */
static void probe(void)
{
	u64 timeout = 4096ull << 14, begin;
	u32 sends = 0;

	start(14, 1, 7);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_next(&w);
	wt_sleep(&w, 20 * WT_US);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, 0);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	begin = w.now;
	wt_next(&w);
	wt_sleep(&w, 2 * WT_MS);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	while (q.wc_head == q.wc_tail) {
		wt_sleep(&w, WT_MS);
		while (w.out_head != w.out_tail) {
			wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
			sends++;
		}
	}
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	CHECK(w.now - begin >= 2 * timeout);
	CHECK(w.now - begin <= 2 * timeout + 2 * WT_MS);
	CHECK(sends <= 14);
	stop();
}

/*
 * The very first answer to a READ is lost, and what was asked for again is
 * lost too: something came back, so nobody waits for the timeout.
 */
static void first_read(void)
{
	start(14, 7, 7);
	wt_post(&q, UR_WR_READ, 0, 4);
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_sleep(&w, 20 * WT_US);
	wt_ack(&w, &q, 11, WT_ACK);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_sleep(&w, 5 * WT_MS);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	stop();
}

/*
 * A network that reorders: the peer misses one packet, asks for it time and
 * again, and it comes. Only a peer that misses it for as long as one that says
 * nothing would be waited for has used up the retries.
 */
static void naks(u8 code)
{
	u64 timeout = 4096ull << 14;
	u32 retries = 3, n = 0;

	start(code, (u8)retries, 7);
	wt_post(&q, UR_WR_SEND, 0, 600);
	wt_kick(&q);
	wt_expect(&w, UR_OP_RC_SEND_FIRST, 10);
	wt_ack(&w, &q, 10, WT_ACK);
	while (q.qp->state == UR_QP_RTS) {
		wt_sleep(&w, timeout / 100);
		wt_ack(&w, &q, 11, WT_NAK_SEQ);
		CHECK(++n <= 100 * (retries + 1));
	}
	CHECK(n > 100 * retries);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	stop();

	start(code, (u8)retries, 7);
	wt_post(&q, UR_WR_SEND, 0, 600);
	wt_kick(&q);
	for (u32 k = 0; k < 50; k++) {
		wt_sleep(&w, timeout / 100);
		wt_ack(&w, &q, 11, WT_NAK_SEQ);
	}
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	CHECK(w.out_tail - w.out_head > 10); /* and it is sent again */
	wt_ack(&w, &q, 12, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	stop();
}

/* Missing from first on, in a row; returns how many are sent again, and where they end. */
static u32 run_from(u32 first, u32 *end)
{
	u32 count = 0;

	wt_sleep(&w, q.qp->req.srtt + 50 * WT_US); /* a round trip */
	w.out_head = w.out_tail;
	wt_ack(&w, &q, first, WT_NAK_SEQ);
	for (*end = first; w.out_head != w.out_tail; count++) {
		u32 psn = wt_next(&w)->pkt.psn;

		CHECK_EQ(psn, *end);
		*end = ur_psn_add(psn, 1);
	}
	return count;
}

/* One message there and back. */
static void measure(u32 psn, u64 ns)
{
	wt_post(&q, UR_WR_SEND, 0, 4);
	wt_kick(&q);
	w.out_head = w.out_tail;
	wt_sleep(&w, ns);
	wt_ack(&w, &q, psn, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
}

/* A full queue drops several in a row: one is sent again, then two, then four, as long
 * as the next one is missing too. waits: is it known that there is a queue? If not, two
 * may be a chance. */
static void run_of_losses(bool waits)
{
	static const u32 want[2][6] = {{1, 1, 2, 4, 8, 16},
				       {1, 2, 4, 8, 16, 16}};
	u32 end = 12;
	struct ur_qp_attr a;

	wt_config(&w, 0);
	w.cfg.path = true;
	wt_open(&w);
	a = wt_attr(&w, 0x77, 10, 9);
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	measure(10, waits ? 20 * WT_US : 500 * WT_US);
	measure(11, 500 * WT_US);
	q.qp->share.path->window.size = 100 * UR_PATH_ONE;
	w.out_head = w.out_tail;
	wt_post(&q, UR_WR_WRITE, 0, 256 * 64);
	wt_kick(&q);
	CHECK_EQ(w.out_tail - w.out_head, 64);
	for (u32 i = 0; i < 6; i++)
		CHECK_EQ(run_from(end, &end), want[waits][i]);
	/* A gap further on is another one. */
	CHECK_EQ(run_from(end + 2, &end), 1);
	if (!waits)
		CHECK_EQ(run_from(end, &end), 1);
	CHECK_EQ(run_from(end, &end), 2);
	/* The peer names the next one as soon as the first has come: it is
	 * on its way. */
	wt_ack(&w, &q, end - 1, WT_NAK_SEQ);
	wt_silence(&w);
	/* Never behind the end of what was sent. */
	run_from(end, &end);
	CHECK(end <= 12 + 64);
	CHECK_EQ(q.qp->state, UR_QP_RTS);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(peer_gone(14, 14));
	/* One whose engine waits for a processor is not silent. */
	CASE(peer_gone(1, 12));
	CASE(peer_gone(5, 12));
	CASE(peer_gone(13, 13));
	CASE(peer_late());
	CASE(refused_behind_a_read(false));
	CASE(refused_behind_a_read(true));
	CASE(slow_peer());
	CASE(window(false));
	CASE(window(true));
	CASE(first_window());
	CASE(never());
	CASE(progress());
	CASE(rnr_times());
	CASE(rnr_count());
	CASE(first_is_early(true));
	CASE(first_is_early(false));
	CASE(probe());
	CASE(run_of_losses(true));
	CASE(run_of_losses(false));
	CASE(first_read());
	CASE(naks(14));
	CASE(naks(0)); /* waits forever, but is not asked forever */
	return cases_status();
}

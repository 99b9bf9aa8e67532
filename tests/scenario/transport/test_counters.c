// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which counters move on each way back from a loss, and which do not: what a
 * person reads to find out what the network does.
 */
#include "tests/scenario/transport/wiretap.h"
#include "transport/internal.h"

static struct wt w;
static struct wt_qp q;
static bool coalesce = true;

/* The counters of recovery, in the order of expect(). */
static const struct {
	enum ur_counter id;
	const char *name;
} recovery[] = {
#define C(n)                   \
	{                      \
		UR_CNT_##n, #n \
	}
	C(packet_seq_err),
	C(rcvd_seq_err),
	C(implied_nak_seq_err),
	C(roce_adp_retrans),
	C(local_ack_timeout_err),
	C(completer_retry_err),
	C(out_of_sequence),
	C(out_of_seq_request),
	C(duplicate_request),
	C(rcvd_rnr_err),
	C(rnr_nak_retry_err),
	C(send_rnr_err),
	C(out_of_buffer),
	C(retry_exceeded_err),
	C(req_transport_retries_exceeded),
	C(retry_rnr_exceeded_err),
	C(req_rnr_retries_exceeded),
#undef C
};

struct moved {
	enum ur_counter id;
	u64 by;
};

/* These have these values, and all others of recovery are 0. */
static void expect(const struct moved *list, u32 n)
{
	const u64 *c = ur_port_counters(w.port);

	for (u32 i = 0; i < UR_ARRAY_SIZE(recovery); i++) {
		u64 want = 0;

		for (u32 j = 0; j < n; j++)
			if (list[j].id == recovery[i].id)
				want = list[j].by;
		if (c[recovery[i].id] != want)
			fprintf(stderr, "%s\n", recovery[i].name);
		CHECK_EQ(c[recovery[i].id], want);
	}
}
#define EXPECT(...)                                   \
	do {                                          \
		struct moved list_[] = {__VA_ARGS__}; \
		expect(list_, UR_ARRAY_SIZE(list_));  \
	} while (0)
#define BY(name, n)              \
	{                        \
		UR_CNT_##name, n \
	}

static void start(u8 retries)
{
	struct ur_qp_attr a;

	wt_config(&w, 0);
	w.cfg.ooo = true;
	w.cfg.coalesce = coalesce;
	wt_open(&w);
	a = wt_attr(&w, 0x77, 10, 9);
	a.retry_cnt = retries;
	a.rnr_retry = 1;
	wt_qp_create(&w, &q, UR_QPT_RC, NULL);
	wt_to_rts(&q, &a);
	/* An early packet is kept if it is from the port that packets came from
	 * before. */
	ur_origin_learn(&q.qp->resp.origin, w.meta.udp_sport);
}

static void stop(void)
{
	wt_stop(&w, &q);
}

static void post(u8 opcode, u32 n)
{
	for (u32 i = 0; i < n; i++)
		wt_post(&q, opcode, 0, 4);
	wt_kick(&q);
}

static void drain(void)
{
	while (w.out_head != w.out_tail)
		wt_next(&w);
}

/* One message there and back, so that a round trip has been measured. */
static void measure(void)
{
	post(UR_WR_SEND, 1);
	wt_next(&w);
	wt_sleep(&w, 20 * WT_US);
	wt_ack(&w, &q, 10, WT_ACK);
	wt_wc(&q, UR_WC_SUCCESS);
	EXPECT(BY(retry_exceeded_err, 0));
}

/* A sequence NAK, few outstanding: all of them again. */
static void nak(void)
{
	start(7);
	post(UR_WR_SEND, 3);
	drain();
	wt_ack(&w, &q, 10, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	EXPECT(BY(packet_seq_err, 1), BY(rcvd_seq_err, 1),
	       BY(completer_retry_err, 1));
	stop();
}

/* The same with many outstanding: the missing one alone. */
static void nak_single(void)
{
	start(7);
	measure();
	post(UR_WR_SEND, 20);
	drain();
	wt_ack(&w, &q, 11, WT_NAK_SEQ);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	wt_silence(&w);
	EXPECT(BY(packet_seq_err, 1), BY(rcvd_seq_err, 1),
	       BY(completer_retry_err, 1));
	stop();
}

/* A later request is answered, the READ before it was not. */
static void implied(void)
{
	start(7);
	post(UR_WR_READ, 1);
	post(UR_WR_SEND, 1);
	drain();
	wt_ack(&w, &q, 11, WT_ACK);
	wt_expect(&w, UR_OP_RC_READ_REQ, 10);
	EXPECT(BY(implied_nak_seq_err, 1), BY(completer_retry_err, 1));
	CHECK_EQ(ur_qp_counters(q.qp)[UR_QP_CNT_retries], 1);
	stop();
}

/* A lost tail after a measured round trip, long before the timeout. */
static void early(void)
{
	start(7);
	measure();
	post(UR_WR_SEND, 1);
	drain();
	wt_sleep(&w, WT_MS);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 11);
	EXPECT(BY(roce_adp_retrans, 1), BY(completer_retry_err, 1));
	CHECK_EQ(ur_qp_counters(q.qp)[UR_QP_CNT_retries], 1);
	stop();
}

/* Nothing measured: the timeout of the attributes; then once too often. */
static void timeout(void)
{
	start(1);
	post(UR_WR_SEND, 1);
	drain();
	wt_sleep(&w, 4096ull << 14);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	EXPECT(BY(local_ack_timeout_err, 1), BY(completer_retry_err, 1));
	wt_sleep(&w, 4096ull << 14);
	wt_wc(&q, UR_WC_RETRY_EXC_ERR);
	EXPECT(BY(local_ack_timeout_err, 2), BY(completer_retry_err, 1),
	       BY(retry_exceeded_err, 1),
	       BY(req_transport_retries_exceeded, 1));
	stop();
}

/* The peer has no receive; a second time is one too many. */
static void rnr(void)
{
	start(7);
	post(UR_WR_SEND, 1);
	drain();
	wt_ack(&w, &q, 10, WT_RNR(1));
	wt_silence(&w);
	EXPECT(BY(rcvd_rnr_err, 1), BY(rnr_nak_retry_err, 1));
	wt_sleep(&w, 10 * WT_US);
	wt_expect(&w, UR_OP_RC_SEND_ONLY, 10);
	wt_ack(&w, &q, 10, WT_RNR(1));
	wt_wc(&q, UR_WC_RNR_RETRY_EXC_ERR);
	EXPECT(BY(rcvd_rnr_err, 2), BY(rnr_nak_retry_err, 1),
	       BY(retry_rnr_exceeded_err, 1), BY(req_rnr_retries_exceeded, 1));
	stop();
}

static struct ur_pkt request(u32 psn)
{
	return (struct ur_pkt){.opcode = UR_OP_RC_SEND_ONLY,
			       .dqpn = q.qp->qpn,
			       .psn = psn,
			       .ackreq = true,
			       .payload_bytes = 4};
}

static void feed(u32 psn)
{
	wt_feed(&w, request(psn), NULL);
}

/* The other side: three packets behind a gap, one gap; what was missing; and
 * what had arrived once more. */
static void receiver(void)
{
	start(7);
	for (u32 i = 0; i < 4; i++)
		wt_post_recv(&q, 0, 4);
	feed(10);
	wt_expect_ack(&w, WT_NAK_SEQ, 9);
	feed(11);
	feed(12);
	wt_silence(&w);
	EXPECT(BY(out_of_sequence, 3), BY(out_of_seq_request, 1));
	feed(9);
	wt_expect_ack(&w, WT_ACK, 12);
	EXPECT(BY(out_of_sequence, 3), BY(out_of_seq_request, 1));
	feed(12);
	wt_expect_ack(&w, WT_ACK, 12);
	EXPECT(BY(out_of_sequence, 3), BY(out_of_seq_request, 1),
	       BY(duplicate_request, 1));
	stop();
}

/* A message without a receive. */
static void no_receive(void)
{
	start(7);
	feed(9);
	wt_expect_ack(&w, WT_RNR(12), 9);
	EXPECT(BY(send_rnr_err, 1), BY(out_of_buffer, 1));
	stop();
}

/* The missing packet comes before the NAK has left, which is then not sent: as
 * on a machine that reads its packets late, several at a time. */
static void not_sent(void)
{
	start(7);
	wt_post_recv(&q, 0, 4);
	wt_post_recv(&q, 0, 4);
	wt_arrive(&w, request(10), NULL);
	feed(9);
	if (coalesce)
		wt_expect_ack(&w, WT_ACK, 10);
	else
		drain();
	wt_silence(&w);
	EXPECT(BY(out_of_sequence, 1));
	wt_arrive(&w, request(11), NULL);
	feed(11);
	if (!coalesce)
		wt_expect_ack(&w, WT_RNR(12), 11);
	wt_expect_ack(&w, WT_RNR(12), 11);
	wt_silence(&w);
	EXPECT(BY(out_of_sequence, 1), BY(send_rnr_err, 2 - coalesce),
	       BY(out_of_buffer, 2 - coalesce));
	stop();
}

/* Two gaps: the second is reported when the first has closed. */
static void two_gaps(void)
{
	start(7);
	for (u32 i = 0; i < 4; i++)
		wt_post_recv(&q, 0, 4);
	feed(10);
	wt_expect_ack(&w, WT_NAK_SEQ, 9);
	feed(12);
	wt_silence(&w);
	feed(9);
	for (u32 i = 9; i <= 10 && !coalesce; i++)
		wt_expect_ack(&w, WT_ACK, i);
	wt_expect_ack(&w, WT_NAK_SEQ, 11);
	wt_silence(&w);
	EXPECT(BY(out_of_sequence, 2), BY(out_of_seq_request, 2));
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(nak());
	CASE(nak_single());
	CASE(implied());
	CASE(early());
	CASE(timeout());
	CASE(rnr());
	CASE(receiver());
	CASE(no_receive());
	for (int i = 0; i < 2; i++) {
		coalesce = i;
		CASE(not_sent());
		CASE(two_gaps());
	}
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Setting up: in order, each message lost, repeated, out of order, refused,
 * unanswered, delayed by MRA, data before the RTU, a stale peer.
 */
#include <errno.h>

#include "tests/scenario/cm/pair.h"

static struct pair p;

static void begin(void)
{
	pair_init(&p, NULL);
	listen_on(&p.b, 10);
}

static void end(void)
{
	run_dry(&p);
	pair_fini(&p);
}

static struct ur_cm_id *requested(u32 qpn, struct ur_cm_id **b)
{
	struct ur_cm_id *a = connect_start(&p, &p.a, &p.b, qpn);

	pass(&p, &p.a, UR_CM_REQ);
	*b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	return a;
}

static void reply(struct ur_cm_id *b, u32 qpn)
{
	struct ur_cm_rep rep = answer(&p.b, qpn);

	CHECK_EQ(ur_cm_send_rep(b, &rep), 0);
}

static void test_normal(void)
{
	struct ur_cm_id *a, *b;
	struct happening e;
	struct letter l;
	struct ur_cm_mad mad;
	u64 tid;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	l = take(&p.a, UR_CM_REQ);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.u.req.local_comm_id, ur_cm_id_local_comm_id(a));
	tid = mad.tid;
	deliver(&p, &p.b, &l);
	e = expect(&p.b, UR_CM_EVENT_REQ, 0);
	b = e.id;
	CHECK(!memcmp(e.mad.u.req.private_data + UR_IP_CM_BYTES, "hello", 5));
	reply(b, 1017);
	l = take(&p.b, UR_CM_REP);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.tid, tid);
	CHECK_EQ(mad.u.rep.remote_comm_id, ur_cm_id_local_comm_id(a));
	deliver(&p, &p.a, &l);
	e = expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK(!memcmp(e.mad.u.rep.private_data, "welcome", 7));
	CHECK_EQ(ur_cm_send_rtu(a, "go", 2), 0);
	l = take(&p.a, UR_CM_RTU);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.tid, tid);
	deliver(&p, &p.b, &l);
	e = expect(&p.b, UR_CM_EVENT_RTU, 0);
	CHECK(!memcmp(e.mad.u.rtu.private_data, "go", 2));
	CHECK_EQ(ur_cm_deadline(p.a.cm), UR_CM_NEVER);
	CHECK_EQ(ur_cm_deadline(p.b.cm), UR_CM_NEVER);
	end();
}

/* Each message is lost once; the sender of the last repeats it. */
static void test_lost(void)
{
	struct ur_cm_id *a, *b;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	drop(&p.a, UR_CM_REQ);
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	reply(b, 1017);
	drop(&p.b, UR_CM_REP);
	wait_deadline(&p, &p.b, 4096);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	drop(&p.a, UR_CM_RTU);
	wait_deadline(&p, &p.b, 4096);
	pass(&p, &p.b, UR_CM_REP);
	expect_no_event(&p.a);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	end();
}

static void test_duplicates(void)
{
	struct ur_cm_id *a = NULL, *b;
	struct letter req, rep, rtu;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	req = take(&p.a, UR_CM_REQ);
	deliver(&p, &p.b, &req);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	deliver(&p, &p.b, &req); /* nothing to say yet */
	expect_silence(&p.b);
	expect_no_event(&p.b);
	reply(b, 1017);
	rep = take(&p.b, UR_CM_REP);
	deliver(&p, &p.b, &req); /* says the REP again */
	CHECK(!memcmp(take(&p.b, UR_CM_REP).mad, rep.mad, sizeof(rep.mad)));
	deliver(&p, &p.a, &rep);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	deliver(&p, &p.a, &rep); /* not decided yet */
	expect_silence(&p.a);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	rtu = take(&p.a, UR_CM_RTU);
	deliver(&p, &p.a, &rep); /* says the RTU again */
	CHECK(!memcmp(take(&p.a, UR_CM_RTU).mad, rtu.mad, sizeof(rtu.mad)));
	deliver(&p, &p.b, &rtu);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	deliver(&p, &p.b, &rtu);
	deliver(&p, &p.b, &req);
	deliver(&p, &p.b, &rep); /* its own message: not for it */
	expect_no_event(&p.a);
	expect_no_event(&p.b);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_ESTABLISHED_STATE);
	end();
}

/* The RTU overtakes nothing; a REJ or DREP before its time is ignored. */
static void test_reordered(void)
{
	struct ur_cm_id *a, *b;
	struct letter req;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	wait_deadline(&p, &p.a, 4608);
	req = take(&p.a, UR_CM_REQ); /* overtaken by its repetition */
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	reply(b, 1017);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	deliver(&p, &p.b, &req);
	expect_no_event(&p.b);
	expect_silence(&p.b);
	end();
}

static void test_no_listener(void)
{
	struct ur_cm_id *a;
	struct happening e;
	struct letter l;
	struct ur_cm_mad mad;

	pair_init(&p, NULL);
	a = connect_start(&p, &p.a, &p.b, 17);
	pass(&p, &p.a, UR_CM_REQ);
	expect_no_event(&p.b);
	l = take(&p.b, UR_CM_REJ);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.u.rej.local_comm_id, 0);
	deliver(&p, &p.a, &l);
	e = expect(&p.a, UR_CM_EVENT_REJ, UR_CM_REJ_INVALID_SERVICE_ID);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_IDLE_STATE);
	CHECK_EQ(e.mad.u.rej.answers, UR_CM_ANSWERS_REQ);
	end();
}

static void test_reject(void)
{
	struct ur_cm_id *a, *b;
	struct happening e;

	begin();
	a = requested(17, &b);
	CHECK_EQ(
		ur_cm_send_rej(b, UR_CM_REJ_CONSUMER_DEFINED, NULL, 0, "no", 2),
		0);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_IDLE_STATE);
	pass(&p, &p.b, UR_CM_REJ);
	e = expect(&p.a, UR_CM_EVENT_REJ, UR_CM_REJ_CONSUMER_DEFINED);
	CHECK(!memcmp(e.mad.u.rej.private_data, "no", 3));
	CHECK_EQ(ur_cm_id_state(a), UR_CM_IDLE_STATE);
	/* The active side refuses the REP. */
	a = requested(18, &b);
	reply(b, 1018);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(
		ur_cm_send_rej(a, UR_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0),
		0);
	pass(&p, &p.a, UR_CM_REJ);
	e = expect(&p.b, UR_CM_EVENT_REJ, UR_CM_REJ_CONSUMER_DEFINED);
	CHECK_EQ(e.mad.u.rej.answers, UR_CM_ANSWERS_REP);
	end();
}

/* Nobody answers: 15 repetitions, then unreachable. */
static void test_unreachable(void)
{
	struct ur_cm_id *a, *b;
	u32 sent = 1;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	drop(&p.a, UR_CM_REQ);
	while (!p.a.events_count) {
		wait_deadline(&p, &p.a, 4608);
		if (!p.a.events_count) {
			drop(&p.a, UR_CM_REQ);
			sent++;
		}
	}
	CHECK_EQ(sent, 16);
	expect(&p.a, UR_CM_EVENT_REQ_ERROR, -ETIMEDOUT);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_IDLE_STATE);
	/* The same with the REP. */
	requested(18, &b);
	reply(b, 1018);
	sent = 1;
	drop(&p.b, UR_CM_REP);
	while (!p.b.events_count) {
		wait_deadline(&p, &p.b, 4096);
		if (!p.b.events_count) {
			drop(&p.b, UR_CM_REP);
			sent++;
		}
	}
	CHECK_EQ(sent, 16);
	expect(&p.b, UR_CM_EVENT_REP_ERROR, -ETIMEDOUT);
	end();
}

static void test_cancel(void)
{
	struct ur_cm_id *a, *b;

	/* The active side gives up while the request is being thought about. */
	begin();
	a = requested(17, &b);
	ur_cm_id_destroy(a);
	pass(&p, &p.a, UR_CM_REJ);
	expect(&p.b, UR_CM_EVENT_REJ, UR_CM_REJ_TIMEOUT);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_IDLE_STATE);
	/* It gives up, the REJ is lost, then the REP comes. */
	a = requested(18, &b);
	ur_cm_id_destroy(a);
	drop(&p.a, UR_CM_REJ);
	reply(b, 1018);
	pass(&p, &p.b, UR_CM_REP);
	expect_no_event(&p.a);
	pass(&p, &p.a, UR_CM_REJ);
	expect(&p.b, UR_CM_EVENT_REJ, UR_CM_REJ_INVALID_COMM_ID);
	/* The passive side goes away. */
	a = requested(19, &b);
	ur_cm_id_destroy(b);
	pass(&p, &p.b, UR_CM_REJ);
	expect(&p.a, UR_CM_EVENT_REJ, UR_CM_REJ_CONSUMER_DEFINED);
	end();
}

static void test_mra(void)
{
	struct ur_cm_id *a, *b;
	struct letter req;
	u64 before;

	begin();
	a = requested(17, &b);
	before = ur_cm_deadline(p.a.cm);
	CHECK_EQ(ur_cm_send_mra(b, 24, false, NULL, 0), 0);
	pass(&p, &p.b, UR_CM_MRA);
	expect(&p.a, UR_CM_EVENT_MRA, 0);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_MRA_REQ_RCVD_STATE);
	CHECK(ur_cm_deadline(p.a.cm) >= before + 60000 * MS);
	wait_deadline(&p, &p.a, 70000);
	req = take(&p.a, UR_CM_REQ);
	deliver(&p, &p.b, &req); /* a duplicate has its MRA again */
	pass(&p, &p.b, UR_CM_MRA);
	expect_no_event(&p.a);
	reply(b, 1017);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	/* The active side needs time too. */
	CHECK_EQ(ur_cm_send_mra(a, 22, false, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_MRA);
	expect(&p.b, UR_CM_EVENT_MRA, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	end();
}

/* As rdma_cm asks for it: only if the peer gets impatient. */
static void test_mra_delayed(void)
{
	struct ur_cm_id *b;

	begin();
	requested(17, &b);
	CHECK_EQ(ur_cm_send_mra(b, 24, true, NULL, 0), 0);
	expect_silence(&p.b);
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_REQ);
	expect_no_event(&p.b);
	pass(&p, &p.b, UR_CM_MRA);
	expect(&p.a, UR_CM_EVENT_MRA, 0);
	reply(b, 1017);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	end();
}

static void test_data_before_rtu(void)
{
	struct ur_cm_id *a, *b;

	begin();
	a = requested(17, &b);
	CHECK_EQ(ur_cm_notify_established(b), (u64)-EINVAL);
	reply(b, 1017);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	CHECK_EQ(ur_cm_notify_established(b), 0);
	expect(&p.b, UR_CM_EVENT_USER_ESTABLISHED, 0);
	CHECK_EQ(ur_cm_notify_established(b), (u64)-EISCONN);
	pass(&p, &p.a, UR_CM_RTU);
	expect_no_event(&p.b);
	end();
}

/* The peer restarted and uses a QPN we still have a connection with: it is
 * asked, and says that it knows nothing of that. */
static void test_stale(void)
{
	struct ur_cm_id *a, *b, *again;

	begin();
	establish(&p, 17, &a, &b);
	ur_cm_id_abandon(a);
	again = connect_start(&p, &p.a, &p.b, 17);
	pass(&p, &p.a, UR_CM_REQ);
	pass(&p, &p.b, UR_CM_REJ);
	expect(&p.a, UR_CM_EVENT_REJ, UR_CM_REJ_STALE_CONN);
	CHECK_EQ(ur_cm_id_state(again), UR_CM_TIMEWAIT_STATE);
	expect_no_event(&p.b);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_ESTABLISHED_STATE);
	pass(&p, &p.b, UR_CM_DREQ);
	pass(&p, &p.a, UR_CM_DREP);
	expect(&p.b, UR_CM_EVENT_DREP, 0);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_TIMEWAIT_STATE);
	end();
}

/* The peer died without a word and came back with the same numbers, while we
 * still say goodbye to its former life. */
static void test_peer_restarted(void)
{
	struct ur_cm_id *a, *b;
	struct ur_cm_rep rep;

	begin();
	establish(&p, 17, &a, &b);
	ur_cm_id_destroy(a);
	drop(&p.a, UR_CM_DREQ);
	ur_cm_id_abandon(b);
	a = requested(18, &b);
	rep = answer(&p.b, 1017);
	CHECK_EQ(ur_cm_send_rep(b, &rep), 0);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	/* The other way round. */
	ur_cm_id_destroy(b);
	drop(&p.b, UR_CM_DREQ);
	ur_cm_id_abandon(a);
	requested(18, &b);
	end();
}

/* Another connection under a comm id that the peer uses already. */
static void test_duplicate_comm_id(void)
{
	struct ur_cm_id *a, *b;
	struct ur_cm_mad mad;
	struct letter l;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	l = take(&p.a, UR_CM_REQ);
	deliver(&p, &p.b, &l);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	mad.u.req.local_qpn = 99;
	CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
	deliver(&p, &p.b, &l);
	l = take(&p.b, UR_CM_REJ);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.u.rej.reason, UR_CM_REJ_DUPLICATE_LOCAL_COMM_ID);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_REQ_SENT_STATE);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_REQ_RCVD_STATE);
	end();
}

/* A third host that knows the comm ids cannot speak for the peer. */
static void test_impostor(void)
{
	struct ur_cm_id *a, *b;
	struct ur_cm_stats stats;
	struct letter l;

	begin();
	establish(&p, 17, &a, &b);
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	l = take(&p.a, UR_CM_DREQ);
	l.path.sgid[15] = 77;
	deliver(&p, &p.b, &l);
	expect_no_event(&p.b);
	expect_silence(&p.b);
	ur_cm_get_stats(p.b.cm, &stats);
	CHECK_EQ(stats.rx_wrong_peer, 1);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_ESTABLISHED_STATE);
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_normal());
	CASE(test_lost());
	CASE(test_duplicates());
	CASE(test_reordered());
	CASE(test_no_listener());
	CASE(test_reject());
	CASE(test_unreachable());
	CASE(test_cancel());
	CASE(test_mra());
	CASE(test_mra_delayed());
	CASE(test_data_before_rtu());
	CASE(test_stale());
	CASE(test_peer_restarted());
	CASE(test_duplicate_comm_id());
	CASE(test_impostor());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ending: in order, lost, repeated, crossing, to a peer that has forgotten, by
 * destroying the id; TIMEWAIT; and LAP.
 */
#include <errno.h>

#include "tests/scenario/cm/pair.h"

static struct pair p;
static struct ur_cm_id *a, *b;

static void begin(void)
{
	pair_init(&p, NULL);
	listen_on(&p.b, 10);
	establish(&p, 17, &a, &b);
}

static void end(void)
{
	run_dry(&p);
	pair_fini(&p);
}

static void test_normal(void)
{
	struct happening e;

	begin();
	CHECK_EQ(ur_cm_send_dreq(a, "bye", 3), 0);
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), (u64)-EINVAL);
	pass(&p, &p.a, UR_CM_DREQ);
	e = expect(&p.b, UR_CM_EVENT_DREQ, 0);
	CHECK(!memcmp(e.mad.u.dreq.private_data, "bye", 3));
	CHECK_EQ(ur_cm_send_dreq(b, NULL, 0), (u64)-EINVAL);
	CHECK_EQ(ur_cm_send_drep(b, NULL, 0), 0);
	pass(&p, &p.b, UR_CM_DREP);
	expect(&p.a, UR_CM_EVENT_DREP, 0);
	/* The time that packets may still be on their way: 2^(19-8) ms. */
	wait_deadline(&p, &p.a, 2048);
	expect(&p.a, UR_CM_EVENT_TIMEWAIT_EXIT, 0);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_IDLE_STATE);
	wait_deadline(&p, &p.b, 2048);
	expect(&p.b, UR_CM_EVENT_TIMEWAIT_EXIT, 0);
	end();
}

static void test_lost(void)
{
	begin();
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	drop(&p.a, UR_CM_DREQ);
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_DREQ);
	expect(&p.b, UR_CM_EVENT_DREQ, 0);
	CHECK_EQ(ur_cm_send_drep(b, NULL, 0), 0);
	drop(&p.b, UR_CM_DREP);
	ur_cm_expire(p.a.cm, ur_cm_deadline(p.a.cm));
	pass(&p, &p.a, UR_CM_DREQ);
	expect_no_event(&p.b);
	pass(&p, &p.b, UR_CM_DREP);
	expect(&p.a, UR_CM_EVENT_DREP, 0);
	end();
}

static void test_crossing(void)
{
	struct letter from_a, from_b;

	begin();
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	CHECK_EQ(ur_cm_send_dreq(b, NULL, 0), 0);
	from_a = take(&p.a, UR_CM_DREQ);
	from_b = take(&p.b, UR_CM_DREQ);
	deliver(&p, &p.b, &from_a);
	expect(&p.b, UR_CM_EVENT_DREQ, 0);
	deliver(&p, &p.a, &from_b);
	expect(&p.a, UR_CM_EVENT_DREQ, 0);
	pass(&p, &p.a, UR_CM_DREP);
	pass(&p, &p.b, UR_CM_DREP);
	expect_no_event(&p.a);
	expect_no_event(&p.b);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_TIMEWAIT_STATE);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_TIMEWAIT_STATE);
	end();
}

static void test_timeout(void)
{
	begin();
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	while (!p.a.events_count) {
		drop(&p.a, UR_CM_DREQ);
		wait_deadline(&p, &p.a, 4608);
	}
	expect(&p.a, UR_CM_EVENT_DREQ_ERROR, -ETIMEDOUT);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_TIMEWAIT_STATE);
	end();
}

/* Destroyed while connected: no more events here, but the peer gets a DREQ,
 * even if the first one is lost. */
static void test_destroy(void)
{
	struct ur_cm_stats stats;

	begin();
	ur_cm_id_destroy(a);
	drop(&p.a, UR_CM_DREQ);
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_DREQ);
	expect(&p.b, UR_CM_EVENT_DREQ, 0);
	ur_cm_id_destroy(b);
	pass(&p, &p.b, UR_CM_DREP);
	expect_no_event(&p.a);
	run_dry(&p);
	ur_cm_get_stats(p.a.cm, &stats);
	CHECK_EQ(stats.ids, 0);
	ur_cm_get_stats(p.b.cm, &stats);
	CHECK_EQ(stats.ids, 1); /* the listener */
	end();
}

/* The peer has forgotten all: it answers, so that we can finish. */
static void test_unknown(void)
{
	struct letter l;

	begin();
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	l = take(&p.a, UR_CM_DREQ);
	ur_cm_id_abandon(b);
	deliver(&p, &p.b, &l);
	expect_no_event(&p.b);
	pass(&p, &p.b, UR_CM_DREP);
	expect(&p.a, UR_CM_EVENT_DREP, 0);
	end();
}

/* A DREQ instead of the RTU: the connection came and went. */
static void test_before_rtu(void)
{
	struct ur_cm_rep rep = {0};

	begin();
	a = connect_start(&p, &p.a, &p.b, 18);
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	rep = answer(&p.b, 1018);
	CHECK_EQ(ur_cm_send_rep(b, &rep), 0);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	drop(&p.a, UR_CM_RTU);
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_DREQ);
	expect(&p.b, UR_CM_EVENT_DREQ, 0);
	end();
}

static void test_wrong_qpn(void)
{
	struct ur_cm_mad mad;
	struct letter l;

	begin();
	CHECK_EQ(ur_cm_send_dreq(a, NULL, 0), 0);
	l = take(&p.a, UR_CM_DREQ);
	CHECK_EQ(ur_cm_mad_parse(l.mad, sizeof(l.mad), &mad), 0);
	CHECK_EQ(mad.u.dreq.remote_qpn, 1017);
	mad.u.dreq.remote_qpn++;
	CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
	deliver(&p, &p.b, &l);
	expect_no_event(&p.b);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_ESTABLISHED_STATE);
	end();
}

/* Both ends have disconnected: the peer may use the QPN again at once, as one
 * that draws its numbers does now and then. */
static void test_timewait_is_not_stale(void)
{
	begin();
	ur_cm_id_destroy(a);
	pass(&p, &p.a, UR_CM_DREQ);
	expect(&p.b, UR_CM_EVENT_DREQ, 0);
	ur_cm_id_destroy(b);
	pass(&p, &p.b, UR_CM_DREP);
	establish(&p, 17, &a, &b);
	end();
}

static void test_lap(void)
{
	struct ur_cm_mad mad = {.attr = UR_CM_LAP, .tid = 9};
	struct letter l = {.path = path_to(&p.a, &p.b)};

	begin();
	l.path = path_to(&p.a, &p.b);
	mad.u.lap.local_comm_id = ur_cm_id_local_comm_id(a);
	mad.u.lap.remote_comm_id = ur_cm_id_local_comm_id(b);
	CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
	deliver(&p, &p.b, &l);
	CHECK_EQ(ur_cm_mad_parse(take(&p.b, UR_CM_APR).mad, UR_CM_MAD_BYTES,
				 &mad),
		 0);
	CHECK_EQ(mad.u.apr.status, UR_CM_APR_UNSUPPORTED);
	CHECK_EQ(mad.u.apr.remote_comm_id, ur_cm_id_local_comm_id(a));
	mad.attr = UR_CM_LAP;
	memset(&mad.u, 0, sizeof(mad.u));
	mad.u.lap.remote_comm_id = 12345;
	CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
	deliver(&p, &p.b, &l);
	CHECK_EQ(ur_cm_mad_parse(take(&p.b, UR_CM_APR).mad, UR_CM_MAD_BYTES,
				 &mad),
		 0);
	CHECK_EQ(mad.u.apr.status, UR_CM_APR_INVALID_COMM_ID);
	CHECK_EQ(ur_cm_id_state(b), UR_CM_ESTABLISHED_STATE);
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_normal());
	CASE(test_lost());
	CASE(test_crossing());
	CASE(test_timeout());
	CASE(test_destroy());
	CASE(test_unknown());
	CASE(test_before_rtu());
	CASE(test_wrong_qpn());
	CASE(test_timewait_is_not_stale());
	CASE(test_lap());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A manager ends without a word in the middle of each step, and another one goes on with its
 * ids: the peer notices nothing. */
#include "tests/scenario/cm/pair.h"

static struct pair p;
static struct ur_cm_id *a, *b;

/* The host's manager is replaced. Returns its id in the next one. */
static struct ur_cm_id *replace(struct host *h, struct ur_cm_id *id)
{
	struct ur_cm_saved saved;

	ur_cm_id_save(id, &saved);
	ur_cm_destroy(h->cm);
	new_manager(h, 4711, NULL);
	ur_cm_set_now(h->cm, p.now);
	id = ur_cm_id_restore(h->cm, NULL, &saved);
	CHECK(id && !ur_cm_id_restore(h->cm, NULL, &saved));
	CHECK_EQ(ur_cm_id_local_comm_id(id), saved.local_id);
	CHECK(!ur_cm_check(h->cm));
	return id;
}

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

static void expect_end(struct host *h, enum ur_cm_event_type type)
{
	expect(h, type, 0);
	wait_deadline(&p, h, 2048);
	expect(h, UR_CM_EVENT_TIMEWAIT_EXIT, 0);
}

/* From either side, with either side replaced. */
static void ends(bool active_new, bool active_asks)
{
	struct host *asks = active_asks ? &p.a : &p.b;
	struct host *answers = active_asks ? &p.b : &p.a;

	begin();
	establish(&p, 17, &a, &b);
	if (active_new)
		a = replace(&p.a, a);
	else
		b = replace(&p.b, b);
	CHECK_EQ(ur_cm_send_dreq(active_asks ? a : b, NULL, 0), 0);
	pass(&p, asks, UR_CM_DREQ);
	expect(answers, UR_CM_EVENT_DREQ, 0);
	CHECK_EQ(ur_cm_send_drep(active_asks ? b : a, NULL, 0), 0);
	pass(&p, answers, UR_CM_DREP);
	expect_end(asks, UR_CM_EVENT_DREP);
	end();
}

static void test_ends(void)
{
	for (int i = 0; i < 4; i++)
		ends(i & 1, i & 2);
}

/* A request that may be lost is repeated at once. */
static void test_repeats(void)
{
	struct ur_cm_rep rep;

	begin();
	a = connect_start(&p, &p.a, &p.b, 17);
	drop(&p.a, UR_CM_REQ);
	a = replace(&p.a, a);
	ur_cm_expire(p.a.cm, p.now);
	pass(&p, &p.a, UR_CM_REQ);
	expect(&p.b, UR_CM_EVENT_REQ, 0);
	/* The passive side's: the request is there, and is answered. */
	b = replace(&p.b, p.b.last_new);
	rep = answer(&p.b, 1017);
	CHECK_EQ(ur_cm_send_rep(b, &rep), 0);
	drop(&p.b, UR_CM_REP);
	b = replace(&p.b, b);
	ur_cm_expire(p.b.cm, p.now);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	a = replace(&p.a, a);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	/* Lost: the answer to a duplicate is known, too. */
	drop(&p.a, UR_CM_RTU);
	a = replace(&p.a, a);
	wait_deadline(&p, &p.b, 8192);
	pass(&p, &p.b, UR_CM_REP);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	CHECK_EQ(ur_cm_send_dreq(b, NULL, 0), 0);
	drop(&p.b, UR_CM_DREQ);
	b = replace(&p.b, b);
	ur_cm_expire(p.b.cm, p.now);
	pass(&p, &p.b, UR_CM_DREQ);
	expect(&p.a, UR_CM_EVENT_DREQ, 0);
	a = replace(&p.a, a);
	CHECK_EQ(ur_cm_send_drep(a, NULL, 0), 0);
	drop(&p.a, UR_CM_DREP);
	/* In TIMEWAIT it answers once more. */
	a = replace(&p.a, a);
	wait_deadline(&p, &p.b, 8192);
	pass(&p, &p.b, UR_CM_DREQ);
	pass(&p, &p.a, UR_CM_DREP);
	expect(&p.b, UR_CM_EVENT_DREP, 0);
	end();
}

/* Damaged records, and a listener's, are refused. */
static void test_refused(void)
{
	struct ur_cm_saved saved;
	struct ur_cm_id *listener;

	pair_init(&p, NULL);
	listener = listen_on(&p.b, 10);
	ur_cm_id_save(listener, &saved);
	CHECK(!ur_cm_id_restore(p.a.cm, NULL, &saved));
	memset(&saved, 0, sizeof(saved));
	CHECK(!ur_cm_id_restore(p.a.cm, NULL, &saved));
	saved.local_id = 1;
	saved.state = UR_CM_STATE_COUNT;
	CHECK(!ur_cm_id_restore(p.a.cm, NULL, &saved));
	pair_fini(&p);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_ends());
	CASE(test_repeats());
	CASE(test_refused());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners and strangers: which listener gets a request, conflicts, backlog,
 * floods that must not cost more than the caps allow, SIDR.
 */
#include <errno.h>

#include "tests/scenario/cm/pair.h"

static struct pair p;

static const u64 service = (UR_IP_CM_PS_TCP << 16) | TEST_PORT;

static struct ur_cm_id *listen_match(struct ur_cm_match m)
{
	struct ur_cm_id *id = ur_cm_id_create(p.b.cm, NULL);

	CHECK(id);
	CHECK_EQ(ur_cm_listen(id, service, &m, 4), 0);
	return id;
}

/* Returns the id that gets a request to b's address on port, or NULL. */
static struct ur_cm_id *who_listens(u32 port)
{
	static u32 qpn = 100;
	struct ur_cm_id *a = connect_start(&p, &p.a, &p.b, qpn++);
	struct letter l = take(&p.a, UR_CM_REQ);
	struct ur_cm_id *listener = NULL;

	l.path.port = port;
	p.b.last_new = NULL;
	deliver(&p, &p.b, &l);
	if (p.b.last_new) {
		expect(&p.b, UR_CM_EVENT_REQ, 0);
		/* The backlog shows whose it was. */
		listener = p.b.last_new;
		ur_cm_id_destroy(p.b.last_new);
	}
	drop(&p.b, UR_CM_REJ);
	ur_cm_id_destroy(a);
	drop(&p.a, UR_CM_REJ);
	return listener;
}

static void test_matches(void)
{
	struct ur_cm_match any4 = {
		.ip_version = 4, .any_addr = true, .any_port = true};
	struct ur_cm_match any6 = {
		.ip_version = 6, .any_addr = true, .any_port = true};
	struct ur_cm_match only6 = any6;
	struct ur_cm_match exact = {.ip_version = 4, .any_port = true};
	struct ur_cm_match other = exact;
	struct ur_cm_match on_port = {
		.ip_version = 4, .any_addr = true, .port = 7};
	struct ur_cm_id *id, *second;

	pair_init(&p, NULL);
	memcpy(exact.addr, p.b.gid, 16);
	memcpy(other.addr, p.a.gid, 16);
	only6.v6_only = true;
	CHECK(!who_listens(0));
	id = listen_match(other);
	CHECK(!who_listens(0));
	ur_cm_id_destroy(id);
	id = listen_match(only6);
	CHECK(!who_listens(0));
	ur_cm_id_destroy(id);
	id = listen_match(any6);
	CHECK(who_listens(0));
	ur_cm_id_destroy(id);
	id = listen_match(any4);
	CHECK(who_listens(0));
	ur_cm_id_destroy(id);
	id = listen_match(on_port);
	CHECK(!who_listens(0));
	CHECK(who_listens(7));
	ur_cm_id_destroy(id);
	id = listen_match(exact);
	CHECK(who_listens(0));
	/* The same again is taken; another address is not. */
	second = ur_cm_id_create(p.b.cm, NULL);
	CHECK_EQ(ur_cm_listen(second, service, &exact, 4), (u64)-EADDRINUSE);
	CHECK_EQ(ur_cm_listen(second, service, &any4, 4), 0);
	CHECK_EQ(ur_cm_listen(second, service, &other, 4), (u64)-EINVAL);
	ur_cm_id_destroy(second);
	ur_cm_id_destroy(id);
	CHECK(!who_listens(0));
	pair_fini(&p);
}

static u32 flood(u32 count, u32 first_qpn)
{
	struct ur_cm_stats before, after;

	ur_cm_get_stats(p.b.cm, &before);
	for (u32 i = 0; i < count; i++) {
		struct letter l = {.path = path_to(&p.a, &p.b)};
		struct ur_cm_mad mad = {.attr = UR_CM_REQ, .tid = i};

		mad.u.req = request(&p.a, &p.b, first_qpn + i);
		mad.u.req.local_comm_id = first_qpn + i;
		CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
		deliver(&p, &p.b, &l);
		while (p.b.events_count)
			expect(&p.b, UR_CM_EVENT_REQ, 0);
		p.b.tray_count = 0;
	}
	ur_cm_get_stats(p.b.cm, &after);
	return after.ids - before.ids;
}

static void test_backlog(void)
{
	struct ur_cm_stats stats;

	pair_init(&p, NULL);
	listen_on(&p.b, 5);
	CHECK_EQ(flood(1000, 1), 5);
	ur_cm_get_stats(p.b.cm, &stats);
	CHECK_EQ(stats.dropped_backlog, 995);
	CHECK_EQ(stats.pending, 5);
	pair_fini(&p);
}

static void test_backlog_reopens(void)
{
	struct ur_cm_id *a, *b;

	pair_init(&p, NULL);
	listen_on(&p.b, 1);
	for (u32 i = 0; i < 5; i++)
		establish(&p, 20 + i, &a, &b);
	a = connect_start(&p, &p.a, &p.b, 40);
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	connect_start(&p, &p.a, &p.b, 41);
	pass(&p, &p.a, UR_CM_REQ);
	expect_no_event(&p.b);
	ur_cm_id_taken(b);
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_REQ);
	pass(&p, &p.a, UR_CM_REQ);
	expect(&p.b, UR_CM_EVENT_REQ, 0);
	pair_fini(&p);
}

/* However large the backlogs, requests that nobody answered are capped, and
 * a request of our own still finds room. */
static void test_flood(void)
{
	struct ur_cm_config limits = {
		.max_ids = 64, .max_pending = 32, .max_lingering = 16};
	struct ur_cm_stats stats;
	struct ur_cm_id *id;

	pair_init(&p, &limits);
	listen_on(&p.b, 1u << 30);
	CHECK_EQ(flood(5000, 1), 32);
	ur_cm_get_stats(p.b.cm, &stats);
	CHECK_EQ(stats.pending, 32);
	CHECK_EQ(stats.dropped_pending, 5000 - 32);
	id = ur_cm_id_create(p.b.cm, NULL);
	CHECK(id);
	pair_fini(&p);
}

/* Ids destroyed in TIMEWAIT are capped: the oldest goes first, and they make
 * room for new ids. */
static void test_lingering_capped(void)
{
	struct ur_cm_config limits = {
		.max_ids = 20, .max_pending = 8, .max_lingering = 16};
	struct ur_cm_stats stats;
	struct ur_cm_id *a, *b;

	pair_init(&p, &limits);
	listen_on(&p.b, 4);
	for (u32 i = 0; i < 100; i++) {
		establish(&p, 100 + i, &a, &b);
		ur_cm_id_destroy(a);
		pass(&p, &p.a, UR_CM_DREQ);
		expect(&p.b, UR_CM_EVENT_DREQ, 0);
		ur_cm_id_destroy(b);
		pass(&p, &p.b, UR_CM_DREP);
	}
	ur_cm_get_stats(p.a.cm, &stats);
	CHECK_EQ(stats.lingering, 16);
	CHECK_EQ(stats.evicted_lingering, 84);
	for (u32 i = 0; i < 20; i++)
		CHECK(ur_cm_id_create(p.a.cm, NULL));
	CHECK(!ur_cm_id_create(p.a.cm, NULL));
	pair_fini(&p);
}

static void test_abandon(void)
{
	struct ur_cm_id *b;

	pair_init(&p, NULL);
	listen_on(&p.b, 1);
	p.b.abandon_requests = true;
	connect_start(&p, &p.a, &p.b, 17);
	pass(&p, &p.a, UR_CM_REQ);
	expect_silence(&p.b);
	p.b.abandon_requests = false;
	wait_deadline(&p, &p.a, 4608);
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	CHECK_EQ(ur_cm_id_state(b), UR_CM_REQ_RCVD_STATE);
	pair_fini(&p);
}

/* The listener goes; what it handed out stays. */
static void test_listener_gone(void)
{
	struct ur_cm_id *listener, *a, *b;
	struct ur_cm_rep rep;

	pair_init(&p, NULL);
	listener = listen_on(&p.b, 4);
	a = connect_start(&p, &p.a, &p.b, 17);
	pass(&p, &p.a, UR_CM_REQ);
	b = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	ur_cm_id_destroy(listener);
	rep = answer(&p.b, 1017);
	CHECK_EQ(ur_cm_send_rep(b, &rep), 0);
	pass(&p, &p.b, UR_CM_REP);
	expect(&p.a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(a, NULL, 0), 0);
	pass(&p, &p.a, UR_CM_RTU);
	expect(&p.b, UR_CM_EVENT_RTU, 0);
	pair_fini(&p);
}

static struct ur_cm_id *sidr_start(u8 retries)
{
	struct ur_cm_id *a = ur_cm_id_create(p.a.cm, NULL);
	struct ur_cm_path path = path_to(&p.a, &p.b);
	struct ur_cm_sidr_req req = {.service_id = service, .pkey = 0xffff};

	CHECK_EQ(ur_cm_send_sidr_req(a, &path, &req, 4096, retries), 0);
	return a;
}

static void test_sidr(void)
{
	struct ur_cm_sidr_rep rep = {
		.qpn = 0x1234, .qkey = UR_IP_CM_UDP_QKEY, .private_data = "ud"};
	struct ur_cm_id *a, *b;
	struct happening e;

	pair_init(&p, NULL);
	/* Nobody there. */
	a = sidr_start(3);
	pass(&p, &p.a, UR_CM_SIDR_REQ);
	pass(&p, &p.b, UR_CM_SIDR_REP);
	expect(&p.a, UR_CM_EVENT_SIDR_REP, UR_CM_SIDR_UNSUPPORTED);
	ur_cm_id_destroy(a);
	listen_on(&p.b, 4);
	/* Found; the first answer is lost, the second comes from memory. */
	a = sidr_start(3);
	pass(&p, &p.a, UR_CM_SIDR_REQ);
	b = expect(&p.b, UR_CM_EVENT_SIDR_REQ, 0).id;
	CHECK_EQ(ur_cm_send_sidr_rep(b, &rep), 0);
	drop(&p.b, UR_CM_SIDR_REP);
	ur_cm_id_destroy(b);
	wait_deadline(&p, &p.a, 4096);
	pass(&p, &p.a, UR_CM_SIDR_REQ);
	expect_no_event(&p.b);
	pass(&p, &p.b, UR_CM_SIDR_REP);
	e = expect(&p.a, UR_CM_EVENT_SIDR_REP, UR_CM_SIDR_SUCCESS);
	CHECK_EQ(e.mad.u.sidr_rep.qpn, 0x1234);
	CHECK_EQ(e.mad.u.sidr_rep.qkey, UR_IP_CM_UDP_QKEY);
	CHECK_EQ(e.mad.u.sidr_rep.service_id, service);
	CHECK(!memcmp(e.mad.u.sidr_rep.private_data, "ud", 3));
	/* Refused by destroying the request. */
	a = sidr_start(3);
	pass(&p, &p.a, UR_CM_SIDR_REQ);
	b = expect(&p.b, UR_CM_EVENT_SIDR_REQ, 0).id;
	ur_cm_id_destroy(b);
	pass(&p, &p.b, UR_CM_SIDR_REP);
	expect(&p.a, UR_CM_EVENT_SIDR_REP, UR_CM_SIDR_REJECT);
	/* Nobody answers at all. */
	a = sidr_start(2);
	for (u32 i = 0; i < 3; i++) {
		drop(&p.a, UR_CM_SIDR_REQ);
		ur_cm_expire(p.a.cm, ur_cm_deadline(p.a.cm));
	}
	expect(&p.a, UR_CM_EVENT_SIDR_REQ_ERROR, -ETIMEDOUT);
	/* Cancelled. */
	a = sidr_start(2);
	ur_cm_id_destroy(a);
	run_dry(&p);
	expect_no_event(&p.a);
	pair_fini(&p);
}

/* A request comes before its listener: it is answered when that is there, and
 * refused when it does not come in time. Repetitions take no more room. */
static void test_too_early(void)
{
	struct ur_cm_config limits = {.listen_grace_ms = 100};
	struct ur_cm_id *a, *listener;
	struct letter l;

	pair_init(&p, &limits);
	a = connect_start(&p, &p.a, &p.b, 17);
	l = take(&p.a, UR_CM_REQ);
	deliver(&p, &p.b, &l);
	deliver(&p, &p.b, &l);
	expect_silence(&p.b);
	wait_deadline(&p, &p.b, 100);
	pass(&p, &p.b, UR_CM_REJ);
	expect(&p.a, UR_CM_EVENT_REJ, UR_CM_REJ_INVALID_SERVICE_ID);
	expect_silence(&p.b);
	ur_cm_id_destroy(a);
	connect_start(&p, &p.a, &p.b, 18);
	pass(&p, &p.a, UR_CM_REQ);
	a = sidr_start(3);
	pass(&p, &p.a, UR_CM_SIDR_REQ);
	listener = listen_on(&p.b, 4);
	wait_deadline(&p, &p.b, 0);
	expect(&p.b, UR_CM_EVENT_REQ, 0);
	expect(&p.b, UR_CM_EVENT_SIDR_REQ, 0);
	ur_cm_id_destroy(listener);
	/* No more than there are places; the rest is refused at once. */
	for (u32 i = 0; i < 100; i++) {
		connect_start(&p, &p.a, &p.b, 100 + i);
		pass(&p, &p.a, UR_CM_REQ);
	}
	CHECK(p.b.tray_count >= 60);
	p.b.tray_count = 0;
	wait_deadline(&p, &p.b, 100);
	CHECK(p.b.tray_count >= 30);
	pair_fini(&p);
}

static void test_garbage(void)
{
	struct ur_cm_path path;
	struct ur_cm_stats stats;
	u8 buf[UR_CM_MAD_BYTES + 100];

	pair_init(&p, NULL);
	path = path_to(&p.b, &p.a);
	memset(buf, 0xff, sizeof(buf));
	for (size_t len = 0; len <= sizeof(buf); len++)
		ur_cm_rx(p.b.cm, p.now, &path, buf, len);
	ur_cm_get_stats(p.b.cm, &stats);
	CHECK_EQ(stats.rx_malformed, sizeof(buf) + 1);
	CHECK_EQ(stats.ids, 0);
	expect_silence(&p.b);
	pair_fini(&p);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_matches());
	CASE(test_backlog());
	CASE(test_backlog_reopens());
	CASE(test_flood());
	CASE(test_lingering_capped());
	CASE(test_abandon());
	CASE(test_listener_gone());
	CASE(test_sidr());
	CASE(test_too_early());
	CASE(test_garbage());
	return cases_status();
}

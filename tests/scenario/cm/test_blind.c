// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A host that sees none of the packets attacks a connection of two others by
 * sending MADs under the address of one of them: it can do nothing that ends
 * it, with the packets that it can send in the life of a connection. It may
 * know node GUIDs and queue pair numbers, one of the two comm ids, and the comm
 * ids of connections of its own.
 */
#include "tests/scenario/cm/pair.h"
#include "util/rng.h"

/* The tries of each kind. The probability that the right pair of ids is among
 * them is 2^-48. */
#define TRIES	   65536
#define NEIGHBOURS 64
#define STRANGER   77

static struct pair p;
static struct ur_cm_id *a, *b;
static u32 a_id, b_id;

static void begin(void)
{
	pair_init(&p, NULL);
	listen_on(&p.b, 10);
	establish(&p, 17, &a, &b);
	a_id = ur_cm_id_local_comm_id(a);
	b_id = ur_cm_id_local_comm_id(b);
}

static void end(void)
{
	run_dry(&p);
	pair_fini(&p);
}

/* From the path of last_byte to b. */
static void send_from(u8 last_byte, const struct ur_cm_mad *mad)
{
	struct letter l = {.path = path_to(&p.a, &p.b)};
	struct ur_cm_path from = path_to(&p.b, &p.a);

	from.dgid[15] = last_byte;
	CHECK_EQ(ur_cm_mad_build(mad, l.mad), 0);
	ur_cm_rx(p.b.cm, p.now, &from, l.mad, sizeof(l.mad));
	p.b.tray_count = 0; /* what it answers goes to the one who is named */
}

/* Under the address of a. */
static void forge(const struct ur_cm_mad *mad)
{
	send_from(p.a.gid[15], mad);
}

static bool ended(void)
{
	return ur_cm_id_state(b) != UR_CM_ESTABLISHED_STATE || p.b.events_count;
}

/* A connection of the stranger's own: the comm id that b gives to it. */
static u32 learn(u32 n)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REQ, .tid = n};
	struct ur_cm_id *child;
	u32 id;

	mad.u.req = request(&p.a, &p.b, 5000 + n);
	mad.u.req.local_comm_id = 0x70000000u + n;
	mad.u.req.local_ca_guid = 0x7777;
	send_from(STRANGER, &mad);
	child = expect(&p.b, UR_CM_EVENT_REQ, 0).id;
	id = ur_cm_id_local_comm_id(child);
	ur_cm_id_destroy(child);
	p.b.tray_count = 0;
	return id;
}

static struct ur_cm_mad rej(u16 reason, u8 answers, u32 from, u32 to)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REJ};

	mad.u.rej.reason = reason;
	mad.u.rej.answers = answers;
	mad.u.rej.local_comm_id = from;
	mad.u.rej.remote_comm_id = to;
	if (reason == UR_CM_REJ_TIMEOUT) {
		ur_put_be64(mad.u.rej.ari, p.a.guid);
		mad.u.rej.ari_bytes = 8;
	}
	return mad;
}

/* Every way to say that a connection is over, with that pair of ids: how many
 * of them ended it. */
static u32 say_it_is_over(u32 from, u32 to)
{
	static const u16 reasons[] = {UR_CM_REJ_INVALID_COMM_ID,
				      UR_CM_REJ_TIMEOUT, UR_CM_REJ_STALE_CONN,
				      UR_CM_REJ_CONSUMER_DEFINED};
	struct ur_cm_mad mad;
	u32 hits = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(reasons); i++) {
		for (u8 answers = 0; answers < 4; answers++) {
			mad = rej(reasons[i], answers, from, to);
			forge(&mad);
			hits += ended();
		}
	}
	mad = (struct ur_cm_mad){.attr = UR_CM_DREQ};
	mad.u.dreq.local_comm_id = from;
	mad.u.dreq.remote_comm_id = to;
	mad.u.dreq.remote_qpn = 1017;
	forge(&mad);
	hits += ended();
	mad = (struct ur_cm_mad){.attr = UR_CM_DREP};
	mad.u.drep.local_comm_id = from;
	mad.u.drep.remote_comm_id = to;
	forge(&mad);
	return hits + ended();
}

/* The ids of its own connections, before and after the one of the others, say
 * nothing of theirs: those near to them are as good as any. */
static void test_near_ids(void)
{
	u32 known[NEIGHBOURS];
	struct ur_cm_mad mad;

	pair_init(&p, NULL);
	listen_on(&p.b, 10);
	for (u32 i = 0; i < NEIGHBOURS / 2; i++)
		known[i] = learn(i);
	establish(&p, 17, &a, &b);
	for (u32 i = NEIGHBOURS / 2; i < NEIGHBOURS; i++)
		known[i] = learn(i);
	for (u32 d = 0; d < TRIES; d++) {
		u32 near = known[d % NEIGHBOURS], off = d / NEIGHBOURS;

		mad = rej(UR_CM_REJ_CONSUMER_DEFINED, UR_CM_ANSWERS_REQ, 0x1234,
			  d & 1 ? near ^ off : near + off - TRIES / 2);
		forge(&mad);
		if (ended())
			fprintf(stderr, "over after %u packets\n", d + 1);
		CHECK(!ended());
	}
	end();
}

/* How far apart: with 2^32 ids drawn evenly the nearest of those that it knows
 * is 2^24 away in the mean, and by luck a thousandth of that. */
static void test_ids_are_spread(void)
{
	u32 known[256], nearest = ~0u, ones[32] = {0};

	begin();
	for (u32 i = 0; i < UR_ARRAY_SIZE(known); i++) {
		known[i] = learn(i);
		for (u32 k = 0; k < 32; k++)
			ones[k] += known[i] >> k & 1;
		for (u32 k = 0; k < i; k++) {
			u32 x = known[i] ^ known[k], d = known[i] - known[k];

			nearest = x < nearest ? x : nearest;
			nearest = d < nearest ? d : nearest;
			nearest = -d < nearest ? -d : nearest;
		}
	}
	/* 32,640 pairs: 2^32 of them would have one at distance 1. */
	CHECK(nearest > 1024);
	/* 128 of 256 with a deviation of 8. */
	for (u32 k = 0; k < 32; k++)
		CHECK(ones[k] > 80 && ones[k] < 176);
	end();
}

/* One id is known, the other is guessed. */
static void test_one_id_is_not_enough(void)
{
	struct ur_rng rng = {1};

	begin();
	for (u32 i = 0; i < TRIES / 8; i++) {
		u32 guess = (u32)ur_rng_u64(&rng);

		CHECK_EQ(say_it_is_over(guess, b_id), 0);
		CHECK_EQ(say_it_is_over(a_id, guess), 0);
	}
	CHECK_EQ(say_it_is_over(0, b_id), 0);
	CHECK_EQ(say_it_is_over(a_id, 0), 0);
	end();
}

/* With both, and the address, it is the peer who speaks; from another address
 * nobody does. */
static void test_both_are(void)
{
	struct ur_cm_mad mad;

	begin();
	mad = rej(UR_CM_REJ_CONSUMER_DEFINED, UR_CM_ANSWERS_OTHER, a_id, b_id);
	send_from(STRANGER, &mad);
	CHECK(!ended());
	forge(&mad);
	expect(&p.b, UR_CM_EVENT_REJ, UR_CM_REJ_CONSUMER_DEFINED);
	end();
}

/* A request that says that the peer has started anew: from another queue pair
 * number, and from all of them. */
static void test_requests(void)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REQ};

	begin();
	mad.u.req = request(&p.a, &p.b, 17);
	for (u32 i = 1; i <= TRIES; i++) {
		mad.u.req.local_comm_id = i;
		forge(&mad);
		CHECK(!ended());
	}
	end();
}

/* The peer is asked, in a way that who knows the connection does not answer. */
static void test_peer_is_asked(void)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REQ};
	struct letter l;

	begin();
	l.path = path_to(&p.a, &p.b);
	mad.u.req = request(&p.a, &p.b, 17);
	mad.u.req.local_comm_id = 12345;
	CHECK_EQ(ur_cm_mad_build(&mad, l.mad), 0);
	deliver(&p, &p.b, &l);
	pass(&p, &p.b, UR_CM_REJ);
	pass(&p, &p.b, UR_CM_DREQ);
	expect_silence(&p.a);
	expect_no_event(&p.a);
	CHECK_EQ(ur_cm_id_state(a), UR_CM_ESTABLISHED_STATE);
	/* An answer that is nobody's. */
	mad = (struct ur_cm_mad){.attr = UR_CM_DREP};
	mad.u.drep.local_comm_id = a_id ^ 1;
	mad.u.drep.remote_comm_id = b_id;
	forge(&mad);
	CHECK(!ended());
	CHECK_EQ(ur_cm_send_dreq(b, NULL, 0), 0);
	pass(&p, &p.b, UR_CM_DREQ);
	expect(&p.a, UR_CM_EVENT_DREQ, 0);
	end();
}

/* Nor can a host that claims the peer's GUID, under an address of its own, keep
 * the peer from connecting, or make us forget whom we owe a DREQ. */
static void test_claimed_guid(void)
{
	struct ur_cm_mad mad = {.attr = UR_CM_REQ};
	struct ur_cm_stats before, after;
	struct letter l;

	begin();
	mad.u.req = request(&p.a, &p.b, 18);
	mad.u.req.local_comm_id = 99;
	send_from(STRANGER, &mad);
	expect(&p.b, UR_CM_EVENT_REQ, 0);
	connect_start(&p, &p.a, &p.b, 18);
	l = take(&p.a, UR_CM_REQ);
	ur_put_be32(l.mad + 24, 99); /* the same comm id, too */
	deliver(&p, &p.b, &l);
	expect(&p.b, UR_CM_EVENT_REQ, 0);
	ur_cm_id_destroy(b);
	p.b.tray_count = 0;
	ur_cm_get_stats(p.b.cm, &before);
	mad.u.req.local_qpn = 17;
	mad.u.req.local_comm_id = 100;
	send_from(STRANGER, &mad);
	ur_cm_get_stats(p.b.cm, &after);
	CHECK_EQ(after.lingering, before.lingering);
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_near_ids());
	CASE(test_ids_are_spread());
	CASE(test_one_id_is_not_enough());
	CASE(test_both_are());
	CASE(test_requests());
	CASE(test_peer_is_asked());
	CASE(test_claimed_guid());
	return cases_status();
}

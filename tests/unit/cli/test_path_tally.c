// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tests what a `uroce doctor --fabric` that waits counts and answers. */
#include <arpa/inet.h>
#include <endian.h>

#include "cli/path/tally.h"
#include "tests/check.h"

#define TOKEN 0x0123456789abcdefull
#define NS    1000000000ull

static struct ur_path_arrival arrival(enum ur_path_kind kind, uint16_t series,
				      uint16_t index)
{
	return (struct ur_path_arrival){.message = {.token = htobe64(TOKEN),
						    .version = UR_PATH_VERSION,
						    .kind = (uint8_t)kind,
						    .series = htons(series),
						    .index = htons(index),
						    .bytes = htons(200),
						    .sent_ns = htobe64(77)},
					.bytes = 200,
					.hops = 63,
					.ns = 2 * NS};
}

static void counts(void)
{
	struct ur_path_tally t;
	struct ur_path_message m;
	struct ur_path_arrival a = arrival(UR_PATH_PROBE, 1, 0);

	ur_path_tally_begin(&t, TOKEN, NS);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT); /* again */
	/* ECT(0) that was marked; CE that left so is no mark. */
	a.message.index = htons(1023);
	a.message.tclass = 2;
	a.tclass = 3;
	a.ns += 500;
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	a.message.index = htons(5);
	a.message.tclass = 3;
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	a = arrival(UR_PATH_ASK, 1, 0);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_ANSWER);
	CHECK_EQ(m.kind, UR_PATH_REPORT);
	CHECK_EQ(ntohl(m.arrived[0]), 1);
	CHECK_EQ(ntohl(m.arrived[1]), 2);
	CHECK_EQ(ntohl(m.marked), 1);
	CHECK_EQ(be64toh(m.spread_ns), 500);
	/* Another series begins at nothing, and the one before is over. */
	a = arrival(UR_PATH_ASK, 2, 0);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_ANSWER);
	CHECK_EQ(ntohl(m.arrived[0]) + ntohl(m.arrived[1]), 0);
	a = arrival(UR_PATH_PROBE, 1, 7);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_REFUSE);
}

static void echoes(void)
{
	struct ur_path_tally t;
	struct ur_path_message m;
	struct ur_path_arrival a = arrival(UR_PATH_PING, 1, 9);

	a.message.tclass = 105;
	a.tclass = 104;
	ur_path_tally_begin(&t, TOKEN, NS);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_ANSWER);
	CHECK_EQ(m.kind, UR_PATH_ECHO);
	CHECK_EQ(be64toh(m.token), TOKEN);
	CHECK_EQ(m.tclass, 105);
	CHECK_EQ(m.seen_class, 104);
	CHECK_EQ(m.seen_hops, 63);
	CHECK_EQ(ntohs(m.index), 9);
	CHECK_EQ(be64toh(m.sent_ns), 77);
}

static void refuse(struct ur_path_arrival a)
{
	struct ur_path_tally t;
	struct ur_path_message m;

	ur_path_tally_begin(&t, TOKEN, NS);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_REFUSE);
	CHECK_EQ(t.arrived[0] + t.arrived[1], 0);
}

static void refusals(void)
{
	struct ur_path_arrival a = arrival(UR_PATH_PROBE, 1, 0);

	a.message.token ^= 1;
	refuse(a);
	a = arrival(UR_PATH_PROBE, 1, 0);
	a.message.version++;
	refuse(a);
	a = arrival(UR_PATH_PROBE, 1, 0);
	a.bytes = 4096; /* it says another length */
	refuse(a);
	refuse(arrival(UR_PATH_PROBE, 0, 0));
	refuse(arrival(UR_PATH_PROBE, 1, UR_PATH_SERIES_MAX));
	refuse(arrival(UR_PATH_PROBE, 0xffff, 0xffff));
	refuse(arrival(UR_PATH_ECHO, 1, 0));
	refuse(arrival(UR_PATH_REPORT, 1, 0));
	refuse(arrival(0, 1, 0));
	refuse(arrival(255, 1, 0));
}

static void ends(void)
{
	struct ur_path_tally t;
	struct ur_path_message m;
	struct ur_path_arrival a = arrival(UR_PATH_BYE, 1, 0);

	ur_path_tally_begin(&t, TOKEN, NS);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_FINISH);

	/* By silence; what others send does not count. */
	ur_path_tally_begin(&t, TOKEN, NS);
	a = arrival(UR_PATH_PROBE, 1, 0);
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	CHECK(!ur_path_tally_over(&t, 2 * NS + UR_PATH_SESSION_IDLE_NS - 1));
	a.message.token ^= 1;
	a.ns += NS;
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_REFUSE);
	CHECK(ur_path_tally_over(&t, 2 * NS + UR_PATH_SESSION_IDLE_NS));

	/* By time, and by number. */
	a = arrival(UR_PATH_PROBE, 1, 0);
	for (int i = 1; i < UR_PATH_SESSION_DATAGRAMS; i++) {
		CHECK(!ur_path_tally_over(&t, 2 * NS));
		CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	}
	CHECK(ur_path_tally_over(&t, 2 * NS));
	ur_path_tally_begin(&t, TOKEN, NS);
	a.ns = NS + UR_PATH_SESSION_NS - 1;
	CHECK_EQ(ur_path_tally_take(&t, &a, &m), UR_PATH_COUNT);
	CHECK(!ur_path_tally_over(&t, a.ns));
	CHECK(ur_path_tally_over(&t, a.ns + 1));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(counts());
	CASE(echoes());
	CASE(refusals());
	CASE(ends());
	return cases_status();
}

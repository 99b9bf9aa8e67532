// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How much a window grows in a round trip: at first, and after a mark. */
#include "tests/check.h"
#include "transport/path_window.h"

#define MS 1000000u

/* Returns what a window of so many 1/256 packets is after a round trip in which all of
 * it was answered and somebody waited. */
static u32 grown(u32 size)
{
	struct ur_path_window w;

	ur_path_window_init(&w, MS);
	ur_path_window_trip(&w, MS, MS, false);
	CHECK(ur_path_window_marked(&w, MS, 1));
	w.size = w.slow_until = size;
	w.grown = 0;
	for (u32 left = size / UR_PATH_ONE; left; left--)
		ur_path_window_answered(&w, MS, 1, true);
	return w.size - size;
}

/* Many losses begin a trial in which nothing grows until many packets are answered:
 * a mark ends it, for what it has made small would not send those in minutes. */
static void after_losses(void)
{
	struct ur_path_window w;
	u32 size;

	ur_path_window_init(&w, MS);
	ur_path_window_trip(&w, MS, MS, false);
	ur_path_window_answered(&w, MS, 200, false);
	CHECK(ur_path_window_lost(&w, 4 * MS, 40, false));
	size = w.size;
	ur_path_window_answered(&w, 4 * MS, 8, true);
	CHECK_EQ(w.size, size);
	CHECK(ur_path_window_marked(&w, 8 * MS, 1));
	size = w.size;
	for (u32 i = 0; i < 8; i++)
		ur_path_window_answered(&w, 8 * MS, 1, true);
	CHECK(w.size > size);
}

/* A round trip of so long, in which all of the window was answered. Returns what it has
 * grown, in packets. */
static u32 round_trip(struct ur_path_window *w, u64 *ms, u32 ns)
{
	u32 size = w->size;

	ur_path_window_trip(w, ++*ms * MS, ns, false);
	for (u32 left = size / UR_PATH_ONE; left; left--)
		ur_path_window_answered(w, *ms * MS, 1, true);
	return (w->size - size) / UR_PATH_ONE;
}

/* A long round trip ends the doubling only for as long as packets wait, where a host
 * was late; once something is lost, for good. */
static void late_hosts(bool lost)
{
	struct ur_path_window w;
	u64 ms = 1;

	ur_path_window_init(&w, MS);
	CHECK_EQ(round_trip(&w, &ms, 50000), 16);
	CHECK_EQ(round_trip(&w, &ms, 500000), 0);
	CHECK_EQ(round_trip(&w, &ms, 500000), 0);
	if (lost)
		ur_path_window_lost(&w, ms * MS, 1, false);
	if (lost)
		CHECK(round_trip(&w, &ms, 50000) <= 4);
	else
		CHECK_EQ(round_trip(&w, &ms, 50000), 32);
}

int main(void)
{
	after_losses();
	late_hosts(false);
	late_hosts(true);
	/* Less than half a packet, */
	CHECK(grown(1 * UR_PATH_ONE) >= UR_PATH_ONE * 38 / 100);
	CHECK(grown(4 * UR_PATH_ONE) >= UR_PATH_ONE * 38 / 100);
	CHECK(grown(8 * UR_PATH_ONE) <= UR_PATH_ONE * 42 / 100);
	/* then a third more than one, by which DCTCP grows, */
	CHECK(grown(16 * UR_PATH_ONE) >= UR_PATH_ONE);
	CHECK(grown(20 * UR_PATH_ONE) >= UR_PATH_ONE * 130 / 100);
	CHECK(grown(32 * UR_PATH_ONE) <= UR_PATH_ONE * 140 / 100);
	/* and an eighth of it, however large: a far path of 10 Gbit/s has 1,000
	 * packets and more. */
	CHECK(grown(100 * UR_PATH_ONE) >= UR_PATH_ONE);
	CHECK(grown(1000 * UR_PATH_ONE) >= 3 * UR_PATH_ONE);
	CHECK(grown(1000 * UR_PATH_ONE) <= 4 * UR_PATH_ONE);
	CHECK(grown(4000 * UR_PATH_ONE) >= 3 * UR_PATH_ONE);
	return 0;
}

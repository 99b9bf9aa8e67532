// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Is nobody else on the path? A queue of 100 packets at a packet in 10 us, whose trip
 * is 100 us when it is empty, and what others keep in it.
 */
#include "tests/check.h"
#include "transport/path_window.h"

#define US     1000ull
#define PACKET (10 * US)
#define EMPTY  (100 * US)
#define QUEUE  100u

static struct ur_path_window w;
static ur_time now;
static u32 others; /* packets of theirs in the queue */

/* A round trip: what of ours was in the window is answered. Returns its length. */
static u32 trip(bool wanted)
{
	u32 size = w.size / UR_PATH_ONE, fits = EMPTY / PACKET;
	u32 all = size + others;
	u32 ns = (u32)(EMPTY + (all > fits ? (all - fits) * PACKET : 0));

	now += ns;
	ur_path_window_trip(&w, now, ns, false);
	ur_path_window_answered(&w, now, size, wanted);
	if (all > QUEUE + fits)
		ur_path_window_lost(&w, now, 1, false);
	return ns;
}

static void trips(u32 count)
{
	while (count--)
		trip(true);
}

/* Until a loss has cut it, and what that began is over. */
static void fill(u32 theirs)
{
	u32 cuts;

	now = 1000 * US;
	others = theirs;
	ur_path_window_init(&w, now);
	trips(3);
	cuts = w.cuts;
	for (u32 i = 0; i < 3000 && w.alone.state == UR_ALONE_NOT; i++)
		trip(true);
	CHECK(w.cuts > cuts);
	CHECK_EQ(w.alone.state, UR_ALONE_ASKED);
	for (u32 i = 0; i < 20000 && w.alone.state == UR_ALONE_ASKED; i++)
		trip(true);
}

/* The queue gets short, and nothing that we send is lost any more. */
static void nobody(void)
{
	u32 cuts, size;

	fill(0);
	CHECK_EQ(w.alone.state, UR_ALONE);
	CHECK(w.size >= 10 * UR_PATH_ONE); /* the line is full, */
	CHECK(w.size < 30 * UR_PATH_ONE);  /* and its queue nearly empty */
	cuts = w.cuts;
	size = w.size;
	trips(5000);
	CHECK_EQ(w.cuts, cuts);
	CHECK_EQ(w.size, size);
	/* One loss there is of chance. */
	ur_path_window_lost(&w, now, 1, false);
	CHECK_EQ(w.size, size);
	CHECK_EQ(w.alone.state, UR_ALONE);
}

/* Somebody comes: it soon has a part again, and does not ask at each loss. */
static void somebody_comes(void)
{
	u32 before;

	fill(0);
	before = w.alone.before;
	others = 40;
	trips(20);
	CHECK_EQ(w.alone.state, UR_ALONE_NOT);
	trips(30);
	CHECK(w.size >= before / 2);
	for (u32 cuts = w.cuts; w.cuts == cuts;)
		trip(true);
	CHECK_EQ(w.alone.state, UR_ALONE_NOT);
}

/* As many as we are: less is answered with a smaller window, so it is none. */
static void somebody_there(void)
{
	fill(50);
	CHECK_EQ(w.alone.state, UR_ALONE_NOT);
	CHECK(w.size >= 35 * UR_PATH_ONE);
	CHECK(w.alone.next_at > now);
}

/* Where the program has nothing more to send, what is answered says nothing. */
static void little_to_send(void)
{
	fill(0);
	w.alone.state = UR_ALONE_NOT;
	w.alone.rate = 0;
	for (u32 i = 0; i < 100; i++)
		trip(false);
	CHECK_EQ(w.alone.rate, 0);
}

/* A mark is another way to know of a queue. */
static void marked(void)
{
	fill(0);
	CHECK(ur_path_window_marked(&w, now, 1));
	CHECK_EQ(w.alone.state, UR_ALONE_NOT);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(nobody());
	CASE(somebody_comes());
	CASE(somebody_there());
	CASE(little_to_send());
	CASE(marked());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Identifications that peers use: a counting kernel with its pauses and
 * reorderings is never refused, a damaged packet's random one mostly is.
 */
#include "engine/wire/udp_ids.h"
#include "tests/check.h"
#include "util/rng.h"

#define MS 1000000ull

static void counting(struct ur_udp_ids *ids, ur_time *now, u16 *id, int n)
{
	for (int i = 0; i < n; i++) {
		*now += MS / 100;
		++*id;
		CHECK(ur_udp_ids_take(ids, *now, *id,
				      *id == ur_udp_ids_guess(ids, 0)));
	}
}

static void kernel_peer(void)
{
	struct ur_udp_ids ids = {0};
	struct ur_rng rng = {1};
	ur_time now = 5 * MS;
	u16 id = 0xfff0;

	counting(&ids, &now, &id, 200);	 /* over the wrap */
	for (int i = 0; i < 2000; i++) { /* a jump of up to the pause */
		u32 pause = ur_rng_below(&rng, 65000);

		now += pause * MS;
		id = (u16)(id + ur_rng_below(&rng, pause + 1));
		CHECK(ur_udp_ids_take(&ids, now, id, false));
		counting(&ids, &now, &id, 100);
		CHECK(ur_udp_ids_take(&ids, now, (u16)(id - 7), false));
		CHECK(ur_udp_ids_take(&ids, now, id, false));
	}
}

/*
 * Recorded: a Linux guest (fq_codel, Soft-RoCE) sends through six queue pairs,
 * the identifications in their order on the wire, from the first one of the
 * backlog. The queue serves the flows in turn, and a flow that had nothing in
 * it (336) before all others.
 */
static const u16 fair_queue[] = {
	0,   55,  56,  120, 121, 185, 186, 1,	57,  122, 187, 2,   3,
	58,  59,  123, 124, 188, 189, 4,   60,	125, 190, 5,   61,  126,
	191, 6,	  7,   62,  63,	 127, 128, 192, 193, 209, 260, 261, 8,
	64,  129, 262, 194, 9,	 10,  65,  66,	130, 131, 263, 264, 195,
	196, 11,  67,  132, 265, 197, 12,  68,	133, 266, 198, 13,  14,
	69,  70,  134, 135, 267, 268, 199, 200, 15,  71,  136, 269, 201,
	16,  17,  72,  73,  137, 138, 270, 271, 202, 203, 18,  74,  139,
	272, 204, 19,  75,  140, 273, 205, 20,	336, 21,  76,  77,  141,
	142, 274, 275, 206, 207, 22,  78,  143, 276, 208, 23,  24};

static void other_flows(void)
{
	struct ur_udp_ids ids = {0};
	ur_time now = 0;
	u16 id = 1000;

	counting(&ids, &now, &id, 100);
	for (u32 i = 0; i < UR_ARRAY_SIZE(fair_queue); i++) {
		u16 got = (u16)(id + 1 + fair_queue[i]);

		now += MS / 10;
		CHECK(ur_udp_ids_take(&ids, now, got,
				      got == ur_udp_ids_guess(&ids, 0)));
	}
}

/* The most that Soft-RoCE has in the queue for 64 queue pairs, 64 packets
 * each, and after the first round a packet of a flow that had nothing in it. */
static void long_queue(void)
{
	struct ur_udp_ids ids = {0};
	ur_time now = 0;
	u16 id = 1000;

	counting(&ids, &now, &id, 100);
	id++;
	for (u16 round = 0; round < 64; round++) {
		for (u16 flow = 0; flow < 64; flow++)
			CHECK(ur_udp_ids_take(&ids, now,
					      (u16)(id + 64 * flow + round),
					      false));
		if (round == 0)
			CHECK(ur_udp_ids_take(&ids, now, (u16)(id + 4096),
					      false));
	}
	id = (u16)(id + 4096);
	counting(&ids, &now, &id, 100);
}

/* A peer that keeps to its pattern, but for packets with a damage that some
 * identification explains: one in 12 is let through. */
static void damaged(void)
{
	struct ur_udp_ids ids = {0};
	struct ur_rng rng = {2};
	ur_time now = 0;
	u16 id = 100;
	u32 let_through = 0;

	counting(&ids, &now, &id, 100);
	for (int i = 0; i < 10000; i++) {
		let_through += ur_udp_ids_take(&ids, now, (u16)ur_rng_u64(&rng),
					       false);
		ids.last = ids.high = id;
		counting(&ids, &now, &id, 1);
	}
	/* 128 + 4096 + 1024 of 65536 fit by chance: 8 % */
	CHECK(let_through > 10000 * 7 / 100);
	CHECK(let_through < 10000 * 9 / 100);
}

/* Two packets sent at once after a pause: the one that arrives first has a
 * number from before the jump. A while later such a jump is odd again. */
static void late_jump(void)
{
	struct ur_udp_ids ids = {0};
	ur_time now = 1;
	u16 id = 1000;

	counting(&ids, &now, &id, 100);
	now += 4800000000ull;
	CHECK(ur_udp_ids_take(&ids, now, ++id, false));
	now += 30000;
	id = (u16)(id + 1200);
	CHECK(ur_udp_ids_take(&ids, now, id, false));
	counting(&ids, &now, &id, 100);
	now += 99000000;
	CHECK(ur_udp_ids_take(&ids, now, ++id, true));
	now += 99000000;
	CHECK(!ur_udp_ids_take(&ids, now, (u16)(id + 1800), false));
}

static void changed_ways(void)
{
	struct ur_udp_ids ids = {0};
	ur_time now = 0;
	u16 id = 1000;
	int refused = 0;

	counting(&ids, &now, &id, 100);
	id = 40000;
	while (!ur_udp_ids_take(&ids, now, ++id, false))
		refused++;
	CHECK(refused < 4);
	counting(&ids, &now, &id, 100);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(kernel_peer());
	CASE(other_flows());
	CASE(long_queue());
	CASE(damaged());
	CASE(late_jump());
	CASE(changed_ways());
	return cases_status();
}

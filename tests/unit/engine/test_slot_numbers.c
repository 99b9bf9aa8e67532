// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers of queue pairs in a slot: each once before any comes again, whoever has the slot, in no order that
 * is seen; and only those that were given out since it was granted are its owner's.
 */
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/slot_numbers.h"
#include "tests/check.h"

#define BITS	      (24 - UR_PLACE_BITS)
#define NUMBERS	      (1u << BITS)
#define SLOT	      7u
#define SMALL_NUMBERS (1u << (24 - UR_SMALL_BITS))

static struct ur_engine engine = {.config.secret = {1, 2}};

static void test_each_once(void)
{
	u8 *seen = calloc(1, NUMBERS);
	u32 near = 0, last = 0;

	for (u32 i = 0; i < NUMBERS; i++) {
		u32 qpn = ur_engine_next_number(&engine, SLOT);

		CHECK_EQ(ur_shard_of(qpn, UR_PLACE_BITS), SLOT);
		CHECK(!seen[qpn % NUMBERS]++);
		near += qpn - last + 64 < 128;
		last = qpn;
		if (!(i % (NUMBERS / 8)))
			ur_slot_numbers_begin(engine.numbers, SLOT);
	}
	/* By chance 128. */
	CHECK(near < 256);
	free(seen);
}

static void test_whose(void)
{
	u32 had[100], now[100];

	ur_slot_numbers_begin(engine.numbers, SLOT);
	for (u32 i = 0; i < 100; i++)
		had[i] = ur_engine_next_number(&engine, SLOT);
	for (u32 i = 0; i < 100; i++)
		CHECK(ur_slot_numbers_has(engine.numbers, had[i]));
	ur_slot_numbers_begin(engine.numbers, SLOT);
	for (u32 i = 0; i < 100; i++)
		CHECK(!ur_slot_numbers_has(engine.numbers, had[i]));
	for (u32 i = 0; i < 100; i++)
		now[i] = ur_engine_next_number(&engine, SLOT);
	for (u32 i = 0; i < 100; i++) {
		CHECK(!ur_slot_numbers_has(engine.numbers, had[i]));
		CHECK(ur_slot_numbers_has(engine.numbers, now[i]));
	}
}

/* One that has had more than there are has all. */
static void test_all(void)
{
	for (u32 i = 0; i < NUMBERS + 10; i++)
		ur_engine_next_number(&engine, SLOT);
	for (u32 i = 0; i < NUMBERS; i += 97)
		CHECK(ur_slot_numbers_has(engine.numbers, SLOT << BITS | i));
	CHECK(!ur_slot_numbers_has(engine.numbers, (SLOT + 1) << BITS));
}

/* All ones is a group's. */
static void test_last_slot(void)
{
	for (u32 i = 0; i < 2 * SMALL_NUMBERS; i++)
		CHECK(ur_engine_next_number(&engine, UR_SLOTS - 1) !=
		      UR_QPN_MULTICAST);
}

static u32 rested(const struct ur_slot_set *taken)
{
	return ur_slot_numbers_oldest(engine.numbers, taken, 4, 7);
}

/* Numbers of a small slot lie in it alone, and those of each slot are its own. */
static void test_small(void)
{
	const u32 slot = UR_SMALL_FIRST + 5;
	u8 *seen = calloc(1, SMALL_NUMBERS);

	CHECK(seen);
	for (u32 i = 0; i < SMALL_NUMBERS; i++) {
		u32 qpn = ur_engine_next_number(&engine, slot);

		CHECK_EQ(ur_slot_of(qpn), slot);
		CHECK(!seen[qpn - ur_slot_first(slot)]++);
	}
	free(seen);
	for (u32 i = 1; i < UR_SLOTS; i++) {
		u32 last =
			ur_slot_first(i) + (1u << (24 - ur_slot_bits(i))) - 1;

		if (i >= UR_SHARED_FIRST && i < UR_SMALL_FIRST)
			continue;
		CHECK_EQ(ur_slot_of(ur_slot_first(i)), i);
		CHECK_EQ(ur_slot_of(last), i);
		CHECK(last < 1u << 24);
	}
}

static void test_rest(void)
{
	struct ur_slot_set taken = {{1ull << 5}};

	CHECK_EQ(ur_slot_numbers_oldest(engine.numbers, &taken, 5, 6), 0);
	taken = (struct ur_slot_set){0};
	CHECK_EQ(rested(&taken), 4);
	ur_slot_numbers_freed(engine.numbers, 4);
	ur_slot_numbers_freed(engine.numbers, 5);
	CHECK_EQ(rested(&taken), 6);
	ur_slot_numbers_freed(engine.numbers, 6);
	ur_slot_numbers_freed(engine.numbers, 4);
	CHECK_EQ(rested(&taken), 5);
	taken.word[0] = 3ull << 5;
	CHECK_EQ(rested(&taken), 4);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(!ur_slot_numbers_make(&engine));
	CASE(test_whose());
	CASE(test_each_once());
	CASE(test_all());
	CASE(test_last_slot());
	CASE(test_small());
	CASE(test_rest());
	ur_slot_numbers_fini(&engine);
	return cases_status();
}

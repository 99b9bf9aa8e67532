// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* No number is given twice while it is used, also after many rounds. */
#include <string.h>
#include "device/numbers.h"
#include "tests/check.h"
#include "util/rng.h"

#define WORDS 4
#define ALL   (64 * WORDS)

static u8 used[ALL + 1];

static u32 take(struct ur_numbers *n)
{
	u32 number = ur_numbers_take(n);

	CHECK(number >= 1 && number <= ALL);
	CHECK(!used[number]);
	used[number] = 1;
	return number;
}

static void give(struct ur_numbers *n, u32 number)
{
	ur_numbers_give(n, number);
	used[number] = 0;
}

int main(void)
{
	struct ur_numbers n = {.words = WORDS};
	struct ur_rng rng = {7};
	u32 held;

	for (u32 i = 1; i <= ALL; i++)
		CHECK_EQ(take(&n), i);
	CHECK_EQ(ur_numbers_take(&n), 0);
	/* Whichever it is, the one that is free is found. */
	for (u32 i = ALL; i >= 1; i -= 3) {
		give(&n, i);
		CHECK_EQ(take(&n), i);
		CHECK_EQ(ur_numbers_take(&n), 0);
		if (i < 3)
			break;
	}
	for (u32 i = 1; i <= ALL; i++)
		give(&n, i);
	/* One is held for ever; the others go round and round past it. */
	held = take(&n);
	for (u32 i = 0; i < 10 * ALL; i++) {
		u32 a = take(&n), b = take(&n);

		CHECK(a != held && b != held);
		give(&n, ur_rng_below(&rng, 2) ? a : b);
		give(&n, used[a] ? a : b);
	}
	ur_numbers_fini(&n);
	return 0;
}

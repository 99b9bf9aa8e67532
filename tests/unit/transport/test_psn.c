// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* PSN arithmetic around every wrap, against plain arithmetic. */
#include "tests/check.h"
#include "transport/psn.h"

#define HALF (1 << 23)

static void check_distance(u32 base, s64 d)
{
	u32 a = ur_psn_add(base, d);

	CHECK(a <= UR_PSN_MASK);
	CHECK_EQ(a, (u32)(((s64)base + d + (1ll << 40)) % (1 << 24)));
	CHECK_EQ(ur_psn_sub(a, base), d >= 0 ? d : d + (1 << 24));
	CHECK(ur_psn_diff(a, base) == d);
}

int main(void)
{
	static const u32 bases[] = {
		0, 1, HALF - 1, HALF, HALF + 1, UR_PSN_MASK - 1, UR_PSN_MASK};
	static const s64 distances[] = {0,	1,	   2,	 255, 256,
					65536,	HALF - 1,  -1,	 -2,  -256,
					-65537, -HALF + 1, -HALF};

	for (size_t i = 0; i < UR_ARRAY_SIZE(bases); i++) {
		for (size_t j = 0; j < UR_ARRAY_SIZE(distances); j++)
			check_distance(bases[i], distances[j]);
		for (s64 d = -300; d <= 300; d++)
			check_distance(bases[i], d);
	}
	CHECK_EQ(ur_psn_add(5, 1ll << 24), 5);
	CHECK_EQ(ur_psn_add(5, -(1ll << 24)), 5);

	CHECK(ur_psn_within(UR_PSN_MASK, UR_PSN_MASK, 1));
	CHECK(ur_psn_within(1, UR_PSN_MASK, 3));
	CHECK(!ur_psn_within(2, UR_PSN_MASK, 3));
	CHECK(!ur_psn_within(UR_PSN_MASK - 1, UR_PSN_MASK, 3));
	CHECK(!ur_psn_within(7, 7, 0));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Source ports against those of the kernel's Soft-RoCE (tests/golden). */
#include "tests/check.h"
#include "transport/sport.h"
#include "util/rng.h"

int main(void)
{
	struct ur_rng rng = {1};

	/* QP numbers and ports of rc_pingpong, rc_sizes_write, uc_pingpong. */
	CHECK_EQ(ur_udp_sport(0, 0x11, 0x123), 54099);
	CHECK_EQ(ur_udp_sport(0, 0x14c, 0x3b), 52357);
	CHECK_EQ(ur_udp_sport(0, 0x124, 0x12), 54408);
	CHECK_EQ(ur_udp_sport(0, 0x11, 0x11), 49441);
	/* rping: a flow label from the connection manager. */
	CHECK_EQ(ur_udp_sport(0x16e99, 0x131, 0x1f), 0xee9c);

	for (int i = 0; i < 100000; i++) {
		u32 fl = (u32)ur_rng_u64(&rng) & 0xfffff;
		u32 a = (u32)ur_rng_u64(&rng), b = (u32)ur_rng_u64(&rng);

		CHECK(ur_udp_sport(fl, a, b) >= 0xc000);
		CHECK_EQ(ur_udp_sport(0, a, b), ur_udp_sport(0, b, a));
		CHECK_EQ(ur_udp_sport(fl, a, b) - 0xc000,
			 fl ? ((fl & 0x3fff) ^ ((fl & 0xfc000) >> 14))
			    : ur_udp_sport(0, a, b) - 0xc000u);
	}
	return 0;
}

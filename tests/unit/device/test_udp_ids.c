// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Identifications that peers use: a counting kernel with its pauses and
 * reorderings is never refused, a damaged packet's random one is.
 */
#include "device/wire/udp_ids.h"
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
		u32 pause = ur_rng_below(&rng, 30000);

		now += pause * MS;
		id = (u16)(id + ur_rng_below(&rng, pause + 1));
		CHECK(ur_udp_ids_take(&ids, now, id, false));
		counting(&ids, &now, &id, 100);
		CHECK(ur_udp_ids_take(&ids, now, (u16)(id - 7), false));
		CHECK(ur_udp_ids_take(&ids, now, id, false));
	}
}

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
		ids.last = id;
		counting(&ids, &now, &id, 1);
	}
	/* 128 + 256 + 1024 of 65536 fit by chance */
	CHECK(let_through < 10000 * 3 / 100);
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

int main(void)
{
	kernel_peer();
	damaged();
	late_jump();
	changed_ways();
	return 0;
}

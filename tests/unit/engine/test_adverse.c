// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A hostile card draws in bounds, and the same for the same seed. */
#include "engine/faults/adverse.h"
#include "tests/check.h"

#define N 4096

struct choice {
	u32 batch;
	u64 late;
	bool rnr, event;
};

static void draw(struct choice *d, u32 seed, u32 nth)
{
	struct ur_rng rng = ur_adverse_rng(seed, nth);

	for (u32 i = 0; i < N; i++)
		d[i] = (struct choice){.batch = ur_adverse_draw_batch(&rng),
				       .late = ur_adverse_draw_late(&rng),
				       .rnr = ur_adverse_draw_rnr(&rng),
				       .event = ur_adverse_draw_event(&rng)};
}

static u32 same(const struct choice *a, const struct choice *b)
{
	u32 n = 0;

	for (u32 i = 0; i < N; i++)
		n += a[i].batch == b[i].batch && a[i].late == b[i].late &&
		     a[i].rnr == b[i].rnr && a[i].event == b[i].event;
	return n;
}

static void drawn(void)
{
	static struct choice a[N], b[N];
	u32 batches = 0, rnr = 0, events = 0;

	draw(a, 7, 1);
	draw(b, 7, 1);
	CHECK_EQ(same(a, b), N);
	draw(b, 7, 2);
	CHECK(same(a, b) < 16);
	draw(b, 8, 1);
	CHECK(same(a, b) < 16);
	for (u32 i = 0; i < N; i++) {
		CHECK(a[i].batch >= 1 && a[i].batch <= UR_ADVERSE_BATCH_MAX);
		CHECK(a[i].late >= 20000 && a[i].late <= 220000);
		batches |= 1u << a[i].batch;
		rnr += a[i].rnr;
		events += a[i].event;
	}
	CHECK_EQ(batches, 0x1fffe);
	CHECK(rnr > N / 16 && rnr < N / 4);
	CHECK(events > N / 128 && events < N / 32);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(drawn());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * usage: sim_cm [--seeds N] [--seed S [--trace]]
 * N runs from seed 0 up (default 500), each twice to the same hash; or one.
 */
#include "tests/sim/cm/world.h"

static struct world world;

struct total {
	u64 attempts, connected, resolved;
};

static u64 run(u64 seed, bool trace, struct total *total)
{
	u64 hash;

	world_init(&world, seed, trace);
	world_run(&world);
	hash = world.hash;
	total->attempts += world.attempts;
	total->connected += world.both_established / 2;
	total->resolved += world.sidr_done;
	world_fini(&world);
	return hash;
}

int main(int argc, char **argv)
{
	struct total total = {0}, ignored = {0};
	bool trace = false, one = false;
	u64 first = 0, count = 500;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--trace")) {
			trace = true;
		} else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			first = strtoull(argv[++i], NULL, 0);
			one = true;
		} else if (!strcmp(argv[i], "--seeds") && i + 1 < argc) {
			count = strtoull(argv[++i], NULL, 0);
		} else {
			fprintf(stderr, "usage: sim_cm [--seeds N] "
					"[--seed S [--trace]]\n");
			return 2;
		}
	}
	if (one)
		count = 1;
	for (u64 seed = first; seed < first + count; seed++) {
		u64 hash = run(seed, trace, &total);

		if (run(seed, false, &ignored) != hash)
			world_fail(&world, "two runs of one seed differ");
	}
	printf("%" PRIu64 " seeds, %" PRIu64 " attempts, %" PRIu64
	       " still connected at the end, %" PRIu64 " resolved\n",
	       count, total.attempts, total.connected, total.resolved);
	/* A simulation in which nothing succeeds checks nothing. */
	CHECK(one || (total.connected && total.resolved));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion times of 1 MiB on a line of 10 Gb/s and 10 us round trip, as
 * ratios to the lossless time. The bounds are what was measured plus a third:
 * they are there to notice when recovery gets slower, not to say what is good.
 */
#include "tests/sim/transport/drill.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS_MAX 1000

struct bound {
	u8 opcode;
	const char *name;
	u32 drop; /* per million */
	double mean, median, p90;
};

static const struct bound bounds[] = {
	{UR_WR_WRITE, "WRITE", 10000, 1.4, 1.2, 1.4},
	{UR_WR_WRITE, "WRITE", 100000, 12, 8, 14},
	{UR_WR_SEND, "SEND", 10000, 1.4, 1.2, 1.4},
	{UR_WR_SEND, "SEND", 100000, 14, 8, 14},
	{UR_WR_READ, "READ", 10000, 1.9, 1.8, 2.2},
	{UR_WR_READ, "READ", 100000, 32, 17, 28},
};

/* Without loss the line is the limit: 1 MiB and its headers take 0.91 ms. */
#define LOSSLESS_MAX_NS 1000000

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int measure(const struct sim_options *options, const struct bound *bound,
		   u32 drop, u64 seed, double *ns)
{
	struct sim_drill drill = {
		.opcode = bound->opcode,
		.bytes = 64 * 1024,
		.count = 16,
		.drop = drop,
	};
	struct sim_options o = *options;
	struct sim_result r;

	o.seed = seed;
	o.drill = &drill;
	if (sim_run(&o, &r, false))
		return 1;
	*ns = (double)r.ns;
	return 0;
}

static int run_bound(const struct sim_options *options,
		     const struct bound *bound, u32 seeds)
{
	double ratio[SEEDS_MAX], whole, sum = 0, median, p90;
	bool bad;

	if (measure(options, bound, 0, 1, &whole))
		return 1;
	for (u32 i = 0; i < seeds; i++) {
		if (measure(options, bound, bound->drop, i + 1, &ratio[i]))
			return 1;
		ratio[i] /= whole;
		sum += ratio[i];
	}
	qsort(ratio, seeds, sizeof(*ratio), by_size);
	median = ratio[seeds / 2];
	p90 = ratio[seeds * 9 / 10];
	bad = sum / seeds > bound->mean || median > bound->median ||
	      p90 > bound->p90 || whole > LOSSLESS_MAX_NS;
	printf("%-5s  loss %4.1f %%  lossless %6.0f us  mean %6.2f (%.2f)  "
	       "median %6.2f (%.2f)  p90 %6.2f (%.2f)%s\n",
	       bound->name, bound->drop / 10000.0, whole / 1000, sum / seeds,
	       bound->mean, median, bound->median, p90, bound->p90,
	       bad ? "  beyond its bound" : "");
	return bad;
}

/* Returns the options that a device has by default, unless they were forced. */
static struct sim_options usual(const struct sim_options *options)
{
	struct sim_options o = *options;

	o.ooo = o.ooo < 0 ? 1 : o.ooo;
	o.credits = o.credits < 0 ? 1 : o.credits;
	o.coalesce = o.coalesce < 0 ? 1 : o.coalesce;
	o.cc = o.cc < 0 ? 0 : o.cc;
	o.fast = o.fast < 0 ? 1 : o.fast;
	o.trains = o.trains < 0 ? 1 : o.trains;
	o.aimd = o.aimd < 0 ? 1 : o.aimd;
	o.path = o.path < 0 ? 0 : o.path;
	return o;
}

int drill_one(const struct sim_options *options, const char *name, u32 drop)
{
	struct sim_options o = usual(options);
	double ns;

	for (u32 i = 0; i < UR_ARRAY_SIZE(bounds); i++) {
		if (strcmp(bounds[i].name, name))
			continue;
		if (measure(&o, &bounds[i], drop, o.seed, &ns))
			return 1;
		printf("%s, drop %u ppm, seed %llu: %.0f us\n", name, drop,
		       (unsigned long long)o.seed, ns / 1000);
		return 0;
	}
	return 2;
}

int drill_run(const struct sim_options *options, u32 seeds)
{
	struct sim_options o = usual(options);
	int bad = 0;

	if (!seeds || seeds > SEEDS_MAX)
		return 2;
	for (u32 i = 0; i < UR_ARRAY_SIZE(bounds); i++)
		bad |= run_bound(&o, &bounds[i], seeds);
	return bad;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links that lose packets for no reason, and READs whose answers come by a short
 * queue. Bounds are those of what was measured when they were set, with room:
 * the numbers of a run come from one seed.
 */
#include "tests/sim/net/link.h"
#include "tests/sim/net/rows.h"
#include <stdio.h>

static const enum net_control controls[] = {CONTROL_AIMD, CONTROL_PATH};
static const char *const names[] = {"aimd", "path"};
static const u32 counts[] = {1, 8, 32, 256};
static const u32 percent[] = {0, 1, 10};

#define LENGTH (100 * MS)

static const struct kind {
	const char *name;
	struct link link;
	/* With a window for each path: the least part of what goes without a
	 * loss, at 1 % and 10 %, of 1, 8 and 32 flows. */
	double least[3][2];
} kinds[] = {
	{"write",
	 {.delay = 5 * US,
	  .opcode = UR_WR_WRITE,
	  .bytes = 1u << 20,
	  .depth = 8},
	 {{0.6, 0.02}, {0.8, 0.15}, {0.8, 0.3}}},
	{"read",
	 {.delay = 5 * US, .opcode = UR_WR_READ, .bytes = 1u << 20, .depth = 8},
	 {{0.3, 0.0}, {0.35, 0.005}, {0.4, 0.01}}},
	{"shaped",
	 {.delay = 5 * US,
	  .opcode = UR_WR_WRITE,
	  .bytes = 1u << 20,
	  .depth = 8,
	  .bps = G,
	  .queue = 256u << 10},
	 {{0.9, 0.25}, {0.9, 0.6}, {0.9, 0.7}}},
	{"one_by_one",
	 {.delay = 5 * US, .opcode = UR_WR_WRITE, .bytes = 20000, .depth = 1},
	 {{0.6, 0.08}, {0.75, 0.12}, {0.8, 0.4}}},
	{"far",
	 {.delay = 200 * US, .opcode = UR_WR_WRITE, .bytes = 20000, .depth = 1},
	 {{0.7, 0.15}, {0.6, 0.12}, {0.6, 0.04}}},
};

static bool lossy(const struct kind *k, u32 flows, u32 c)
{
	double none = 0;
	bool bad = false;

	for (u32 i = 0; i < 3; i++) {
		struct link l = k->link;
		struct link_row r;
		bool worse;

		l.control = controls[c];
		l.flows = counts[flows];
		l.length = LENGTH;
		l.lose = percent[i] * 65536 / 100;
		r = link_run(&l);
		none = i ? none : r.goodput;
		worse = r.broken ||
			(i && r.goodput < k->least[flows][i - 1] * none);
		worse = worse && controls[c] == CONTROL_PATH;
		printf("lossy %s control=%s flows=%u percent=%u goodput=%.4f "
		       "part=%.3f jain=%.3f broken=%u%s\n",
		       k->name, names[c], l.flows, percent[i], r.goodput,
		       r.goodput / none, r.jain, r.broken,
		       worse ? "  beyond its bound" : "");
		bad |= worse;
	}
	return bad;
}

int rows_lossy(void)
{
	bool bad = false;

	for (u32 k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (u32 flows = 0; flows < 3; flows++)
			for (u32 c = 0; c < 2; c++)
				bad |= lossy(&kinds[k], flows, c);
	return bad;
}

#define GOODPUT_MIN 0.85
#define LOSS_MAX    0.04
#define JAIN_MIN    0.8

int rows_reads(void)
{
	static const u32 queues[] = {32, 64, 256};
	bool bad = false;

	for (u32 i = 0; i < 48; i++) {
		struct link l = {
			.control = controls[i % 2],
			.bps = i < 24 ? G / 10 : G,
			.queue = queues[i / 8 % 3] << 10,
			.delay = 10 * US,
			.flows = counts[i / 2 % 4],
			.opcode = UR_WR_READ,
			.bytes = 65536,
			.depth = 8,
		};
		struct link_row r = link_run(&l);
		bool worse = l.control == CONTROL_PATH &&
			     (r.goodput < GOODPUT_MIN || r.loss > LOSS_MAX ||
			      r.jain < JAIN_MIN || r.broken);

		printf("reads control=%s mbps=%llu kib=%llu flows=%u "
		       "goodput=%.3f loss=%.4f jain=%.3f broken=%u%s\n",
		       names[i % 2], (unsigned long long)l.bps / 1000000,
		       (unsigned long long)l.queue >> 10, l.flows, r.goodput,
		       r.loss, r.jain, r.broken,
		       worse ? "  beyond its bound" : "");
		bad |= worse;
	}
	return bad;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * util/heap.h beside a plain array: after each of many random moves the heap
 * keeps its rules, names the earliest node and holds exactly those that were
 * put into it.
 */
#include "tests/check.h"
#include "util/heap.h"
#include "util/rng.h"

#define NODES 97

static struct ur_heap_place places[NODES];
static struct ur_heap_node nodes[NODES];

static void check(const struct ur_heap *h)
{
	const char *broken = ur_heap_check(h);
	u64 first = UINT64_MAX;
	u32 in = 0;

	if (broken) {
		fprintf(stderr, "broken: %s\n", broken);
		exit(1);
	}
	for (u32 i = 0; i < NODES; i++) {
		if (!ur_heap_has(&nodes[i]))
			continue;
		in++;
		if (nodes[i].at < first)
			first = nodes[i].at;
	}
	CHECK_EQ(in, h->count);
	if (h->count)
		CHECK_EQ(ur_heap_first(h)->at, first);
	else
		CHECK(!ur_heap_first(h));
}

static void test_random_moves(void)
{
	struct ur_heap h = {.place = places};
	struct ur_rng rng = {1};

	check(&h);
	for (u32 step = 0; step < 200000; step++) {
		struct ur_heap_node *n = &nodes[ur_rng_below(&rng, NODES)];
		/* Few values, so that many are equal. */
		u64 at = ur_rng_below(&rng, 40);

		if (!ur_heap_has(n))
			ur_heap_add(&h, n, at);
		else if (ur_rng_below(&rng, 3) && at <= n->at)
			ur_heap_earlier(&h, n, at);
		else
			ur_heap_remove(&h, n);
		check(&h);
	}
}

static void test_in_order(void)
{
	struct ur_heap h = {.place = places};
	struct ur_rng rng = {2};
	u64 last = 0;

	for (u32 i = 0; i < NODES; i++) {
		nodes[i].slot = 0;
		ur_heap_add(&h, &nodes[i], ur_rng_u64(&rng));
	}
	check(&h);
	while (h.count) {
		struct ur_heap_node *n = ur_heap_first(&h);

		CHECK(n->at >= last);
		last = n->at;
		ur_heap_remove(&h, n);
		CHECK(!ur_heap_has(n));
		ur_heap_remove(&h, n); /* twice is harmless */
		check(&h);
	}
}

/* The check itself notices each of its rules broken. */
static void test_check(void)
{
	struct ur_heap h = {.place = places};

	for (u32 i = 0; i < 5; i++) {
		nodes[i].slot = 0;
		ur_heap_add(&h, &nodes[i], i);
	}
	CHECK(!ur_heap_check(&h));
	nodes[3].slot++;
	CHECK(ur_heap_check(&h));
	nodes[3].slot--;
	nodes[3].at++;
	CHECK(ur_heap_check(&h));
	nodes[3].at--;
	places[1].at = nodes[1].at = 9;
	CHECK(ur_heap_check(&h));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_random_moves());
	CASE(test_in_order());
	CASE(test_check());
	return cases_status();
}

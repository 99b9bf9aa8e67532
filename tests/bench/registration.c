// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The cost of registering memory:
 *
 *	registration BYTES PAIRS
 *
 * Registers BYTES of touched memory and deregisters it, PAIRS times. Prints
 * nanoseconds, each the median: ibv_reg_mr, ibv_dereg_mr, both.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "tests/bench/clock.h"

struct times {
	u64 *reg, *dereg, *both;
};

static u8 *touched(size_t bytes)
{
	u8 *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "mmap");
	memset(p, 1, bytes);
	return p;
}

static void once(struct ibv_pd *pd, u8 *p, size_t bytes, struct times *t,
		 size_t i)
{
	u64 start = now_ns(), middle;
	struct ibv_mr *mr =
		ibv_reg_mr(pd, p, bytes,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE);

	need(mr != NULL, "ibv_reg_mr");
	middle = now_ns();
	need(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	t->both[i] = now_ns() - start;
	t->reg[i] = middle - start;
	t->dereg[i] = t->both[i] - t->reg[i];
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static unsigned long long median(u64 *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	return ns[n / 2];
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;
	size_t pairs = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct times t = {calloc(pairs, sizeof(u64)),
			  calloc(pairs, sizeof(u64)),
			  calloc(pairs, sizeof(u64))};
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	u8 *p;

	need(bytes && pairs && list && list[0], "arguments");
	need(t.reg && t.dereg && t.both, "calloc");
	ctx = ibv_open_device(list[0]);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	need(pd != NULL, "open");
	p = touched(bytes);
	for (size_t i = 0; i < pairs; i++)
		once(pd, p, bytes, &t, i);
	printf("%llu %llu %llu\n", median(t.reg, pairs), median(t.dereg, pairs),
	       median(t.both, pairs));
	return 0;
}

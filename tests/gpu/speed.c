// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How fast far memory is beside the host's, and how much is copied at a time: matrix.h. */
#include <stdio.h>
#include <time.h>

#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

#define LEN    (BYTES / 2)
#define DEPTH  16
#define ROUNDS 3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the bytes of each second, or those of one in a second where len is that small. */
static double stream(enum ibv_wr_opcode op, enum place p, uint32_t len, int n)
{
	struct ibv_sge sge = sge_of(p, 0, len);
	double began = now();
	int depth = len == LEN ? DEPTH : 1;

	for (int posted = 0, done = 0; done < n; done++) {
		for (; posted < n && posted - done < depth; posted++)
			must(!post(op, &sge, 1, p, 0), "post");
		must_be(poll_one().status, IBV_WC_SUCCESS);
	}
	return (double)len * n / (now() - began);
}

/* By turns, and of each the best: others work on this machine, too. */
static void compare(enum ibv_wr_opcode op, const char *name)
{
	double best[PLACES] = {0}, lowest[PLACES] = {1e9, 1e9}, got;

	for (int i = 0; i < ROUNDS; i++)
		for (int p = 0; p < PLACES; p++) {
			got = stream(op, (enum place)p, LEN, 128);
			if (got > best[p])
				best[p] = got;
			got = 64e6 / stream(op, (enum place)p, 64, 200);
			if (got < lowest[p])
				lowest[p] = got;
		}
	printf("%s 512 KiB: host %.2f GB/s, GPU %.2f GB/s, ratio %.2f\n", name,
	       best[HOST] / 1e9, best[FAR] / 1e9, best[FAR] / best[HOST]);
	printf("%s 64 B: host %.1f us, GPU %.1f us, more %.1f us\n", name,
	       lowest[HOST], lowest[FAR], lowest[FAR] - lowest[HOST]);
}

void run_speed(void)
{
	if (standin_lag)
		standin_lag(-1);
	if (peer.client) {
		compare(IBV_WR_RDMA_WRITE, "WRITE");
		compare(IBV_WR_RDMA_READ, "READ");
	}
	rounds_both(&peer);
}

/* Copies of long messages begin while others are under way. How many is the wire's, too: unit.gpu has the ratio. */
void run_overlap(void)
{
	struct standin_copies n;

	standin_lag(300);
	standin_hold(false);
	rounds_both(&peer);
	if (peer.client)
		stream(IBV_WR_RDMA_WRITE, FAR, LEN, 16);
	rounds_both(&peer);
	standin_lag(200);
	n = standin_copies();
	printf("copies: %u, beside others: %u, at most %d at a time\n", n.all,
	       n.beside, standin_most());
	must(standin_most() >= 4, "copies at a time");
	must(n.all >= 16 * LEN / (64u << 10), "copies");
	must(n.beside * 10 >= n.all, "copies beside others");
}

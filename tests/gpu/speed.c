// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How fast far memory is beside the host's, and how much is copied at a time: matrix.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
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

/* Of one processor's, there and back: what the stand-in takes where a GPU's own engine copies. */
static void copy_alone(void)
{
	static uint8_t piece[64u << 10];
	double best = 0, began, got;

	standin_is_mine(false);
	for (int i = 0; i < ROUNDS; i++) {
		began = now();
		for (uint32_t at = 0; at < 128 * LEN; at += sizeof(piece)) {
			must(!cuMemcpyDtoH_v2(piece, own[FAR].addr + at % LEN,
					      sizeof(piece)) &&
				     !cuMemcpyHtoD_v2(own[FAR].addr + at % LEN,
						      piece, sizeof(piece)),
			     "a copy");
		}
		got = 128.0 * LEN / (now() - began);
		best = got > best ? got : best;
	}
	standin_is_mine(true);
	printf("the stand-in alone, there and back: %.2f GB/s\n", best / 1e9);
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

/* Returns the seconds that the other threads of this process have had a processor: the engine's, as long
 * as the stand-in copies by its calls. */
static double engine_time(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	double sum = 0, ns;

	must(tasks, "/proc/self/task");
	while ((d = readdir(tasks))) {
		char name[64];
		FILE *f;

		if (d->d_name[0] == '.' || atoi(d->d_name) == getpid())
			continue;
		snprintf(name, sizeof(name), "/proc/self/task/%.16s/schedstat",
			 d->d_name);
		f = fopen(name, "r");
		if (f && fscanf(f, "%lf", &ns) == 1)
			sum += ns * 1e-9;
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return sum;
}

/* How long the engine of this side works for a message, by places. Other programs of this machine change
 * that less than the bandwidth. */
static void cost(enum ibv_wr_opcode op, const char *name)
{
	enum { N = 128, TURNS = 10 };
	double lowest[PLACES] = {1e9, 1e9}, took;

	for (int i = 0; i < TURNS; i++)
		for (int p = 0; p < PLACES; p++) {
			rounds_both(&peer);
			took = engine_time();
			if (peer.client)
				stream(op, (enum place)p, LEN, N);
			rounds_both(&peer);
			took = engine_time() - took;
			if (took < lowest[p])
				lowest[p] = took;
		}
	printf("%s 512 KiB, time of the engine: host %.0f us, GPU %.0f us, ratio %.2f\n",
	       name, lowest[HOST] / N * 1e6, lowest[FAR] / N * 1e6,
	       lowest[HOST] / lowest[FAR]);
}

/* How often each side calls CUDA for a long message. */
static void count(enum ibv_wr_opcode op, const char *name)
{
	enum { N = 32 };
	struct standin_copies n;

	standin_hold(false);
	rounds_both(&peer);
	if (peer.client)
		stream(op, FAR, LEN, N);
	rounds_both(&peer);
	n = standin_copies();
	printf("%s 512 KiB: %.1f copies, %.1f events recorded, %.1f asked, %.1f questions\n",
	       name, (double)n.all / N, (double)n.marks / N,
	       (double)n.queries / N, (double)n.questions / N);
}

static void compare_both(void)
{
	if (peer.client) {
		compare(IBV_WR_RDMA_WRITE, "WRITE");
		compare(IBV_WR_RDMA_READ, "READ");
	}
	rounds_both(&peer);
}

/* With the stand-in also as if copies took no time: the rest is what the engine does beyond what it does for memory of the
 * host. */
void run_speed(void)
{
	if (!standin_lag) {
		compare_both();
		return;
	}
	standin_lag(-1);
	count(IBV_WR_RDMA_WRITE, "WRITE");
	count(IBV_WR_RDMA_READ, "READ");
	copy_alone();
	rounds_both(&peer);
	compare_both();
	standin_lag(-2);
	printf("copies that take no time:\n");
	rounds_both(&peer);
	cost(IBV_WR_RDMA_WRITE, "WRITE");
	cost(IBV_WR_RDMA_READ, "READ");
	compare_both();
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

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What one program waits while another has large commands done.
 *
 *	neighbour watch SECONDS SCHEDSTAT
 *
 * WRITEs one at a time between two queue pairs of this program. Of each that takes
 * long, the time is taken off that this thread and the device's engine, whose
 * /proc/PID/task/TID/schedstat is given, waited for a processor: what is left is of
 * the device's making, on a busy machine too. Prints JSON: how many, the longest,
 * and the most that is left of one.
 *
 *	neighbour cq|qps|reg ROUNDS
 *
 * Makes and destroys a completion queue of 2^20 entries, 10,000 queue pairs, or a
 * memory region of 4 GiB, so often. Prints a line when it begins, and JSON: the
 * shortest round.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/e2e/verbs/bench.h"

#define LONG_NS	  1000000 /* worth to be looked into */
#define QPS	  10000
#define CQ_LARGE  (1 << 20)
#define REG_BYTES (4ull << 30)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds that a thread could have run and did not. */
static uint64_t waited_ns(int schedstat)
{
	unsigned long long waited;
	char text[96];
	ssize_t n = pread(schedstat, text, sizeof(text) - 1, 0);

	CHECK(n > 0);
	text[n] = 0;
	CHECK_EQ(sscanf(text, "%*u %llu", &waited), 1);
	return waited;
}

static void write_once(struct bench *t)
{
	struct ibv_wc wc;
	int n;

	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.mr->addr,
			   t->b.mr->rkey, 64),
		 0);
	do {
		n = ibv_poll_cq(t->a.cq, 1, &wc);
	} while (!n);
	CHECK_EQ(n, 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void watch(double seconds, const char *schedstat)
{
	int me = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	int engine = open(schedstat, O_RDONLY | O_CLOEXEC);
	uint64_t end, count = 0, longest = 0, left = 0;
	uint64_t known = 0, looked = 0;
	struct bench t;

	CHECK(me >= 0 && engine >= 0);
	bench_open(&t, 16);
	end = now_ns() + (uint64_t)(seconds * 1e9);
	for (uint64_t start; (start = now_ns()) < end; count++) {
		uint64_t took, waited;

		/* Not around each: it takes longer than a WRITE. */
		if (start - looked > LONG_NS) {
			known = waited_ns(me) + waited_ns(engine);
			looked = start = now_ns();
		}
		write_once(&t);
		took = now_ns() - start;
		longest = took > longest ? took : longest;
		if (took < LONG_NS)
			continue;
		waited = waited_ns(me) + waited_ns(engine) - known;
		if (took > waited && took - waited > left)
			left = took - waited;
		looked = 0;
	}
	bench_close(&t);
	printf("{\"writes\": %llu, \"longest_ns\": %llu, \"left_ns\": %llu}\n",
	       (unsigned long long)count, (unsigned long long)longest,
	       (unsigned long long)left);
}

static void make_cq(struct bench *t)
{
	struct ibv_cq *cq = ibv_create_cq(t->ctx, CQ_LARGE, NULL, NULL, 0);

	CHECK(cq);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
}

static void make_qps(struct bench *t)
{
	static struct ibv_qp *qp[QPS];

	for (int i = 0; i < QPS; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = t->a.cq,
			.recv_cq = t->a.cq,
			.cap = {4, 4, 1, 1, 0},
			.qp_type = IBV_QPT_RC,
		};

		qp[i] = ibv_create_qp(t->pd, &init);
		CHECK(qp[i]);
	}
	for (int i = 0; i < QPS; i++)
		CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
}

static void make_region(struct bench *t)
{
	void *p = mmap(NULL, REG_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ibv_mr *mr;

	CHECK(p != MAP_FAILED);
	mr = ibv_reg_mr(t->pd, p, REG_BYTES, ALL_ACCESS);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(munmap(p, REG_BYTES), 0);
}

static void large(void (*make)(struct bench *t), int rounds)
{
	uint64_t least = UINT64_MAX;
	struct bench t;

	bench_open(&t, 16);
	puts("began");
	fflush(stdout);
	for (int i = 0; i < rounds; i++) {
		uint64_t start = now_ns(), took;

		make(&t);
		took = now_ns() - start;
		least = took < least ? took : least;
	}
	bench_close(&t);
	printf("{\"rounds\": %d, \"least_ns\": %llu}\n", rounds,
	       (unsigned long long)least);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "watch") && argc == 4)
		watch(atof(argv[2]), argv[3]);
	else if (!strcmp(what, "cq"))
		large(make_cq, atoi(argv[2]));
	else if (!strcmp(what, "qps"))
		large(make_qps, atoi(argv[2]));
	else if (!strcmp(what, "reg"))
		large(make_region, atoi(argv[2]));
	else
		return 2;
	return 0;
}

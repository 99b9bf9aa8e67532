// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One active RC pair of QPs among many idle connected ones:
 *
 *	many_qps PAIRS MESSAGES [IDLE_US]
 *
 * Opens PAIRS pairs, connected with each other through GID index 0, then times
 * 64-byte WRITEs, one at a time, on the first pair. With IDLE_US it waits so
 * long before each, so that the device sleeps and must be woken. Prints
 * nanoseconds to completion: p50 mean p99. Reads a line from stdin before and
 * after, so that the caller can look at the device's memory.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/bench/clock.h"
#include "tests/verbs_pair.h"

#define BYTES 64

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static union ibv_gid gid;

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {16, 16, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	need(qp != NULL, "create_qp");
	return qp;
}

static void connect_qp(struct ibv_qp *qp, struct ibv_qp *to)
{
	struct ibv_qp_attr attr = pair_attr(&gid, to->qp_num);

	need(!pair_connect(qp, &attr), "connect");
}

static void write_once(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)mr->addr, BYTES, mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {(uintptr_t)mr->addr + 4096, mr->rkey},
		};
	struct ibv_wc wc;
	int n;

	need(!ibv_post_send(qp, &wr, &bad), "post_send");
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	need(n == 1 && wc.status == IBV_WC_SUCCESS, "completion");
}

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void wait_line(const char *say)
{
	char line[16];

	puts(say);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	u32 pairs = argc > 2 ? (u32)atoi(argv[1]) : 0;
	u32 count = argc > 2 ? (u32)atoi(argv[2]) : 0;
	u32 idle_us = argc > 3 ? (u32)atoi(argv[3]) : 0;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp **qp = calloc(2 * (size_t)pairs, sizeof(*qp));
	u32 *ns = calloc(count, sizeof(*ns));
	struct ibv_mr *mr;
	u64 sum = 0;

	need(pairs && count && list && list[0] && qp && ns, "arguments");
	ctx = ibv_open_device(list[0]);
	need(ctx != NULL, "open");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, aligned_alloc(4096, 8192), 8192,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(pd && cq && mr && !ibv_query_gid(ctx, 1, 0, &gid), "objects");
	wait_line("opened");
	for (u32 i = 0; i < 2 * pairs; i++)
		qp[i] = make_qp();
	for (u32 i = 0; i < 2 * pairs; i++)
		connect_qp(qp[i], qp[i ^ 1]);
	for (u32 i = 0; i < 100; i++)
		write_once(qp[0], mr);
	wait_line("connected");
	for (u32 i = 0; i < count; i++) {
		u64 start;

		if (idle_us)
			usleep(idle_us);
		start = now_ns();
		write_once(qp[0], mr);
		ns[i] = (u32)(now_ns() - start);
		sum += ns[i];
	}
	qsort(ns, count, sizeof(*ns), by_value);
	printf("%u %llu %u\n", ns[count / 2], (unsigned long long)sum / count,
	       ns[count - 1 - count / 100]);
	return 0;
}

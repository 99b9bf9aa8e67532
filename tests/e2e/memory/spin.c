// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two programs send each other WRITEs of 8 KiB in turn. Each waits for the completion of its own WRITE, and
 * then spins on the last byte of the other one's. It answers after a pause, so the acknowledgement comes
 * long before the answer, when nobody polls any more:
 *
 *	spin PORT [SERVER]
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define BYTES	 8192u
#define ROUNDS	 400u
#define PAUSE_NS 100000u
#define LIMIT_NS 20000000000ull

struct end {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t qpn, rkey;
};

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *out_mr, *in_mr;
static uint8_t out[BYTES];
static _Atomic uint8_t in[BYTES];
static struct end peer;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void make(const struct rounds_peer *other)
{
	struct ibv_context *ctx = rounds_open();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_qp_init_attr init = {.cap = {16, 16, 1, 1, 0},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr;
	struct end me = {0};

	must(pd, "ibv_alloc_pd");
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;
	qp = cq ? ibv_create_qp(pd, &init) : NULL;
	out_mr = ibv_reg_mr(pd, out, sizeof(out), 0);
	in_mr = ibv_reg_mr(pd, (void *)in, sizeof(in),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(qp && out_mr && in_mr && !ibv_query_gid(ctx, 1, 0, &me.gid),
	     "objects");
	me.addr = (uintptr_t)in;
	me.qpn = qp->qp_num;
	me.rkey = in_mr->rkey;
	rounds_swap(other, &me, &peer, sizeof(me));
	attr = pair_attr(&peer.gid, peer.qpn);
	must(!pair_connect(qp, &attr), "RTS");
	rounds_both(other);
}

static void send_one(uint8_t number)
{
	struct ibv_sge sge = {(uintptr_t)out, BYTES, out_mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.rdma = {peer.addr, peer.rkey}};
	struct ibv_wc wc;
	int n;

	out[BYTES - 1] = number;
	must(!ibv_post_send(qp, &wr, &bad), "post_send");
	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n);
	must(n == 1 && !wc.status, "completion");
}

static void take_one(uint8_t number)
{
	uint64_t end = now_ns() + LIMIT_NS, pause;

	while (atomic_load(&in[BYTES - 1]) != number)
		must(now_ns() < end, "a WRITE");
	pause = now_ns() + PAUSE_NS;
	while (now_ns() < pause)
		;
}

int main(int argc, char **argv)
{
	struct rounds_peer other = {0};

	must(argc == 2 || argc == 3, "arguments");
	rounds_meet(&other, argv[2], atoi(argv[1]));
	make(&other);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (other.client)
			send_one((uint8_t)(i + 1));
		take_one((uint8_t)(i + 1));
		if (!other.client)
			send_one((uint8_t)(i + 1));
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two programs send each other WRITEs of 8 KiB in turn. Each waits for the completion of its own WRITE, and
 * then spins on the last byte of the other one's. It answers after a pause, so the acknowledgement comes
 * long before the answer, when nobody polls any more:
 *
 *	spin - PORT
 *	spin ADDRESS PORT
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
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

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int meet(const char *addr, const char *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port))};
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (inet_pton(AF_INET, addr, &sa.sin_addr) == 1) {
		need(!connect(s, (void *)&sa, sizeof(sa)), "connect");
		return s;
	}
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	need(!bind(s, (void *)&sa, sizeof(sa)) && !listen(s, 1), "listen");
	return accept(s, NULL, NULL);
}

static void make(int s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx =
		list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_qp_init_attr init = {.cap = {16, 16, 1, 1, 0},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr;
	struct end me = {0};

	need(pd != NULL, "a device");
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;
	qp = cq ? ibv_create_qp(pd, &init) : NULL;
	out_mr = ibv_reg_mr(pd, out, sizeof(out), 0);
	in_mr = ibv_reg_mr(pd, (void *)in, sizeof(in),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(qp && out_mr && in_mr && !ibv_query_gid(ctx, 1, 0, &me.gid),
	     "objects");
	me.addr = (uintptr_t)in;
	me.qpn = qp->qp_num;
	me.rkey = in_mr->rkey;
	need(write(s, &me, sizeof(me)) == sizeof(me) &&
		     recv(s, &peer, sizeof(peer), MSG_WAITALL) == sizeof(peer),
	     "the other one");
	attr = pair_attr(&peer.gid, peer.qpn);
	need(!pair_connect(qp, &attr), "RTS");
	need(write(s, "", 1) == 1 && recv(s, &me, 1, MSG_WAITALL) == 1,
	     "the other one");
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
	need(!ibv_post_send(qp, &wr, &bad), "post_send");
	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n);
	need(n == 1 && !wc.status, "completion");
}

static void take_one(uint8_t number)
{
	uint64_t end = now_ns() + LIMIT_NS, pause;

	while (atomic_load(&in[BYTES - 1]) != number)
		need(now_ns() < end, "a WRITE");
	pause = now_ns() + PAUSE_NS;
	while (now_ns() < pause)
		;
}

int main(int argc, char **argv)
{
	bool first;

	need(argc == 3, "arguments");
	first = strcmp(argv[1], "-") != 0;
	make(meet(argv[1], argv[2]));
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (first)
			send_one((uint8_t)(i + 1));
		take_one((uint8_t)(i + 1));
		if (!first)
			send_one((uint8_t)(i + 1));
	}
	return 0;
}

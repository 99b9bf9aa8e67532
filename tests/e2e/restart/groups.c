// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A datagram queue pair that is in multicast groups when uroced is killed, and joins and leaves some afterwards:
 *
 *	groups MODE GID_INDEX GID PORT [SERVER]
 *
 * The client sends to all groups, the server receives, both print "made" and wait for SIGUSR1. Every byte is
 * looked at.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define BYTES  500
#define GRH    40
#define GROUPS 4 /* two from before */
#define QKEY   0x4711

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct ibv_ah *ah[GROUPS];
static union ibv_gid group[GROUPS];
static uint8_t buf[GRH + BYTES];

static void make(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr attr = pair_attr(NULL, 0);

	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	must(pd && cq, "a domain, and a queue");
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	must(mr && qp, "a queue pair");
	attr.qkey = QKEY;
	must(!pair_connect(qp, &attr), "RTS");
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	for (uint8_t i = 0; i < GROUPS; i++) {
		const uint8_t raw[16] = {[10] = 0xff, 0xff, 239,
					 1,	      2,    (uint8_t)(i + 1)};

		memcpy(group[i].raw, raw, sizeof(raw));
		attr.ah_attr.grh.dgid = group[i];
		ah[i] = ibv_create_ah(pd, &attr.ah_attr);
		must(ah[i], "ibv_create_ah");
	}
}

static void wait_for_one(void)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n);
	must(n == 1 && !wc.status, "a completion");
}

static void send_to(int i)
{
	struct ibv_sge sge = {(uintptr_t)buf, BYTES, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	for (int b = 0; b < BYTES; b++)
		buf[b] = (uint8_t)(i * 11 + b * 3 + 1);
	wr.wr.ud.ah = ah[i];
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = QKEY;
	must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	wait_for_one();
}

/* From or to the groups, one after the other: the switch between hosts may take a moment to know a member. */
static void exchange(int first, int last)
{
	struct ibv_sge sge = {(uintptr_t)buf, sizeof(buf), mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (int i = first; i <= last; i++) {
		memset(buf, 0, sizeof(buf));
		if (!peer.client)
			must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
		rounds_both(&peer);
		if (peer.client) {
			send_to(i);
		} else {
			wait_for_one();
			for (int b = 0; b < BYTES; b++)
				must(buf[GRH + b] ==
					     (uint8_t)(i * 11 + b * 3 + 1),
				     "the bytes");
		}
	}
	rounds_both(&peer);
}

static void join(int first, int last)
{
	for (int i = first; !peer.client && i <= last; i++)
		must(!ibv_attach_mcast(qp, &group[i], 0), "ibv_attach_mcast");
}

static void leave(int first, int last)
{
	for (int i = first; !peer.client && i <= last; i++) {
		must(!ibv_detach_mcast(qp, &group[i], 0), "ibv_detach_mcast");
		must(ibv_detach_mcast(qp, &group[i], 0) == EINVAL, "twice");
	}
}

int main(int argc, char **argv)
{
	rounds_will_wait();
	rounds_begin(&peer, argc, argv);
	context = rounds_open();
	make();
	join(0, 1);
	exchange(0, 1);
	rounds_wait(1);
	if (!strcmp(argv[1], "leave"))
		leave(1, 1);
	else
		exchange(0, 1);
	join(1, 3);
	exchange(0, 3);
	must(peer.client || ibv_destroy_qp(qp) == EBUSY, "EBUSY");
	leave(0, 3);
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	printf("done 0\n");
	return 0;
}

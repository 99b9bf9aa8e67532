// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* pair.h */
#include <stdio.h>

#include "tests/gpu/pair.h"
#include "tests/gpu/standin.h"
#include "tests/verbs_pair.h"

struct rounds_peer peer;
struct ibv_context *context;
struct ibv_pd *pd;
struct ibv_cq *cq;
struct ibv_qp *qp;
struct named there;

static void make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
	};

	qp = ibv_create_qp(pd, &init);
	must(qp, "ibv_create_qp");
}

static void connect_qp(void)
{
	struct named mine = {.qpn = qp->qp_num, .gid = peer.gid};
	struct ibv_qp_attr attr;

	for (int p = 0; p < PLACES; p++) {
		mine.addr[p] = own[p].addr;
		mine.rkey[p] = own[p].mr ? own[p].mr->rkey : 0;
	}
	rounds_swap(&peer, &mine, &there, sizeof(mine));
	attr = pair_attr(&there.gid, there.qpn);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	attr.qp_access_flags = ACCESS;
	/* 1 s, eight times: a peer may wait for a processor, or for copies that are held. */
	attr.timeout = 18;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 4;
	must(!pair_connect(qp, &attr), "the connection");
	rounds_both(&peer);
}

void again(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	make_qp();
	connect_qp();
}

static unsigned int calls(void)
{
	return standin_calls ? standin_calls() : 0;
}

/* A post and a poll call CUDA never. */
static int poll_once(struct ibv_wc *wc)
{
	unsigned int before = calls();
	int n = ibv_poll_cq(cq, 1, wc);

	must(calls() == before, "a poll calls CUDA");
	return n;
}

struct ibv_wc poll_one(void)
{
	struct ibv_wc wc;
	int n;

	while (!(n = poll_once(&wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc;
}

bool is_quiet(void)
{
	struct ibv_wc wc;

	return !poll_once(&wc);
}

struct ibv_sge sge_of(enum place p, uint32_t off, uint32_t len)
{
	return (struct ibv_sge){own[p].addr + off, len,
				own[p].mr ? own[p].mr->lkey : 0};
}

bool is_atomic(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       op == IBV_WR_ATOMIC_CMP_AND_SWP;
}

int post(enum ibv_wr_opcode op, struct ibv_sge *sge, int n, enum place p,
	 uint32_t off)
{
	struct ibv_send_wr wr = {.sg_list = sge,
				 .num_sge = n,
				 .opcode = op,
				 .imm_data = 77,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {there.addr[p] + off,
					     there.rkey[p]}},
			   *bad;
	unsigned int before = calls();
	int err;

	if (is_atomic(op))
		wr.wr.atomic = (__typeof__(wr.wr.atomic)){
			.remote_addr = there.addr[p] + off,
			.compare_add = 1,
			.rkey = there.rkey[p]};
	err = ibv_post_send(qp, &wr, &bad);
	must(calls() == before, "a post calls CUDA");
	return err;
}

void receive(struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = n}, *bad;

	must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

enum ibv_wc_status run(enum ibv_wr_opcode op, struct ibv_sge sge, enum place p,
		       uint32_t off)
{
	must(!post(op, &sge, 1, p, off), "ibv_post_send");
	return poll_one().status;
}

void must_be(enum ibv_wc_status got, enum ibv_wc_status want)
{
	if (got != want)
		printf("status %s for %s\n", ibv_wc_status_str(got),
		       ibv_wc_status_str(want));
	must(got == want, "the status");
}

void pair_begin(void)
{
	context = rounds_open();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 256, NULL, NULL, 0);
	must(pd && cq, "verbs");
	far_memory->begin();
	for (int p = 0; p < PLACES; p++) {
		own[p].addr = allocate(p);
		own[p].mr = reg(pd, own[p].addr, p);
		must(own[p].mr,
		     p == FAR ? "a far region" : "a region of the host");
	}
	make_qp();
	connect_qp();
}

void pair_end(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	for (int p = 0; p < PLACES; p++)
		must(!own[p].mr || !dereg(own[p].mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd), "the end");
	must(!ibv_close_device(context), "ibv_close_device");
}

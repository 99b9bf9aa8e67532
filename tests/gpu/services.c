// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Services other than RC, and shared receive queues: matrix.h. */
#include <string.h>
#include <unistd.h>

#include "tests/gpu/matrix.h"
#include "tests/verbs_pair.h"

#define QKEY  0x11111111u
#define FROM  12345u
#define TO    4096u
#define GRH   40u
#define TRIES 300 /* of a millisecond */

static uint8_t copy[BYTES];

/* One service, with what it sends. */
struct service {
	enum ibv_qp_type type;
	enum ibv_wr_opcode op;
	bool shared; /* receives of a shared receive queue */
	uint32_t len;
};

/* A queue pair of the service, connected to the peer's. */
struct other {
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	uint32_t qpn; /* the peer's */
};

static struct other begin(const struct service *s)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = s->type,
		.send_cq = cq,
		.recv_cq = cq,
	};
	bool ud = s->type == IBV_QPT_UD;
	struct ibv_qp_attr attr;
	struct other o = {0};

	if (s->shared)
		init.srq = o.srq = ibv_create_srq(pd, &srq);
	must(!s->shared || o.srq, "ibv_create_srq");
	o.qp = ibv_create_qp(pd, &init);
	must(o.qp, "ibv_create_qp");
	rounds_swap(&peer, &o.qp->qp_num, &o.qpn, sizeof(o.qpn));
	attr = pair_attr(&there.gid, ud ? 0 : o.qpn);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	attr.qp_access_flags = ACCESS;
	attr.qkey = QKEY;
	attr.timeout = 18;
	must(!pair_connect(o.qp, &attr), "the connection");
	if (ud)
		o.ah = ibv_create_ah(pd, &attr.ah_attr);
	must(!ud || o.ah, "ibv_create_ah");
	return o;
}

static void end(const struct other *o)
{
	must(!o->ah || !ibv_destroy_ah(o->ah), "ibv_destroy_ah");
	must(!ibv_destroy_qp(o->qp), "ibv_destroy_qp");
	must(!o->srq || !ibv_destroy_srq(o->srq), "ibv_destroy_srq");
}

static void take(const struct other *o, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	must(!(o->srq ? ibv_post_srq_recv(o->srq, &wr, &bad)
		      : ibv_post_recv(o->qp, &wr, &bad)),
	     "a receive");
}

static bool has_come(void)
{
	struct ibv_wc wc;

	for (int i = 0; i < TRIES; i++) {
		if (ibv_poll_cq(cq, 1, &wc) == 1) {
			must_be(wc.status, IBV_WC_SUCCESS);
			return true;
		}
		usleep(1000);
	}
	return false;
}

/* An unreliable service may lose it: it is sent until it has come, shorter each time, since on a wire that
 * loses some of a hundred packets no long message comes. Returns its length. */
static uint32_t send_until_it_comes(const struct other *o,
				    struct ibv_send_wr *wr)
{
	uint32_t *len = &wr->sg_list->length, sent;
	struct ibv_send_wr *bad;
	uint8_t came = 0, theirs;

	do {
		sent = *len;
		if (peer.client) {
			must(!ibv_post_send(o->qp, wr, &bad), "post");
			must_be(poll_one().status, IBV_WC_SUCCESS);
		} else {
			came = has_come();
		}
		rounds_swap(&peer, &came, &theirs, 1);
		*len = sent / 2 + 1;
	} while (!came && !theirs);
	return sent;
}

static void run_service(const struct service *s)
{
	uint32_t pattern = ++seed * 2, head = s->type == IBV_QPT_UD ? GRH : 0;
	uint32_t len;
	struct other o = begin(s);
	struct ibv_sge sge = sge_of(FAR, FROM, s->len);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = s->op,
				 .imm_data = 7,
				 .send_flags = IBV_SEND_SIGNALED};

	if (o.ah)
		wr.wr.ud = (__typeof__(wr.wr.ud)){o.ah, o.qpn, QKEY};
	else
		wr.wr.rdma = (__typeof__(wr.wr.rdma)){there.addr[FAR] + TO,
						      there.rkey[FAR]};
	fill(FAR, pattern + peer.client);
	if (!peer.client)
		take(&o, sge_of(FAR, TO - head, head + s->len));
	rounds_both(&peer);
	len = send_until_it_comes(&o, &wr);
	if (!peer.client) {
		get_bytes(copy, own[FAR].addr + TO, len, FAR);
		for (uint32_t i = 0; i < len; i++)
			must(copy[i] == byte_at(pattern + 1, FROM + i),
			     "the bytes");
	}
	rounds_both(&peer);
	end(&o);
}

void run_services(void)
{
	static const struct service services[] = {
		{IBV_QPT_UC, IBV_WR_SEND, false, 300001},
		{IBV_QPT_UC, IBV_WR_RDMA_WRITE_WITH_IMM, false, 300001},
		{IBV_QPT_UD, IBV_WR_SEND, false, 1000},
		{IBV_QPT_UD, IBV_WR_SEND_WITH_IMM, true, 1000},
		{IBV_QPT_RC, IBV_WR_SEND, true, 300001},
	};

	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		run_service(&services[i]);
}

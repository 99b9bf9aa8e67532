// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The host side of the QP door: receives that are all alike, memory that
 * checks every offset, completions that are counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/fuzz/qp_world.h"
#include "tests/qp_walk.h"

#define PD   7
#define XRCD 3

const u8 world_group[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};

static struct world *w;

static int rq_next(void *ctx, struct ur_recv_wr *wr)
{
	struct side *s = ctx;

	if (s->ring.recv_head == s->ring.recv_tail)
		return 0;
	wr->wr_id = wr->wqe_counter = s->ring.recv_head++;
	wr->num_sge = 2;
	wr->sge[0] = (struct ur_sge){IOVA, 100, ur_mr_key(w->mr)};
	wr->sge[1] = (struct ur_sge){IOVA + 512, 4000, ur_mr_key(w->mr_ops)};
	return 1;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	struct side *s = ctx;

	CHECK(wc->status <= UR_WC_GENERAL_ERR);
	if (wc->recv)
		CHECK(++s->recv_done <= s->ring.recv_head);
	else
		CHECK(++s->send_done <= s->ring.send_head);
	return w->cq_full ? -ENOSPC : 0;
}

static int mem_read(void *mem, u64 off, void *dst, u32 len)
{
	CHECK(off <= MEM_BYTES && len <= MEM_BYTES - off);
	memcpy(dst, (u8 *)mem + off, len);
	return 0;
}

static int mem_write(void *mem, u64 off, const void *src, u32 len)
{
	CHECK(off <= MEM_BYTES && len <= MEM_BYTES - off);
	memcpy((u8 *)mem + off, src, len);
	return 0;
}

static int mem_cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
		   u64 swap_mask, u64 *old)
{
	CHECK(off <= MEM_BYTES - 8);
	memcpy(old, (u8 *)mem + off, 8);
	if (!((*old ^ compare) & compare_mask)) {
		swap = (*old & ~swap_mask) | (swap & swap_mask);
		memcpy((u8 *)mem + off, &swap, 8);
	}
	return 0;
}

static int mem_faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	CHECK(off <= MEM_BYTES - 8);
	memcpy(old, (u8 *)mem + off, 8);
	add += *old;
	memcpy((u8 *)mem + off, &add, 8);
	return 0;
}

static int mem_flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0;
}

static const struct ur_mem_ops mem_ops = {
	.read = mem_read,
	.write = mem_write,
	.cas = mem_cas,
	.faa = mem_faa,
	.flush = mem_flush,
};

static const struct ur_host_ops host_ops =
	RING_HOST(rq_next, cq_push, idle_event);

#define ACCESS                                                                 \
	(UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |                      \
	 UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC | UR_ACCESS_MW_BIND | \
	 UR_ACCESS_FLUSH_GLOBAL | UR_ACCESS_FLUSH_PERSISTENT)

static enum ur_qp_type type_of(int i)
{
	static const enum ur_qp_type types[SIDES] = {
		UR_QPT_RC, UR_QPT_RC, UR_QPT_UC,      UR_QPT_UC,
		UR_QPT_UD, UR_QPT_UD, UR_QPT_XRC_INI, UR_QPT_XRC_TGT};

	return types[i];
}

void world_bring_up(struct world *world, int i)
{
	struct ur_qp *qp = world->sides[i].qp;
	struct ur_qp_attr a =
		qp_attr_to(ur_qp_number(world->sides[PEER(i)].qp), &world->av);

	a.qkey = QKEY;
	a.access = ACCESS;
	a.path_mtu = 256;
	a.sq_psn = a.rq_psn = FIRST_PSN;
	a.min_rnr_timer = 1;
	a.timeout = 10;
	a.retry_cnt = a.rnr_retry = 3;
	w = world;
	CHECK(!qp_walk_to(qp, w->now, &a, UR_QP_RTS));
}

static void create_side(int i)
{
	struct side *s = &w->sides[i];
	struct ur_qp_init init = qp_init_of(type_of(i), PD, s);

	s->ring.send = s->wrs;
	s->ring.places = WRS_MAX;
	init.max_send_wr = init.max_recv_wr = WRS_MAX;
	init.max_inline = 64;
	init.xrcd = XRCD;
	CHECK(!ur_qp_create(w->port, &init, &s->qp));
}

struct world *world_create(u32 options)
{
	struct ur_port_config config = {
		.seed = 1,
		.mtu_bytes = 1024,
		.max_qp = 64,
		.max_mr = 64,
		.first_qpn = 0x11,
		.node_guid = 1,
		.cc = {.enable = options & 1, .link_bps = 1000000000},
		.ooo = options & 2,
		.credits = options & 4,
		.coalesce = options & 8,
		.fast = !(options & 32),
		.burst_pkts = options & 64 ? 4 : 0,
		.burst_bytes = 65000,
		.loop = options & 16,
		.ops = &host_ops,
	};
	struct ur_mr_attr mr = {
		.pd = PD,
		.access = ACCESS,
		.iova = IOVA,
		.length = MEM_BYTES,
	};
	struct ur_srq_attr srq = {.pd = PD, .xrc = true, .xrcd = XRCD};

	w = calloc(1, sizeof(*w));
	CHECK(w);
	w->now = 1000000000;
	w->av = (struct ur_av){
		.udp_sport = 0xc000,
		.hop_limit = 64,
		.v4 = true,
		.loop = options & 16,
		.refs = 1,
	};
	memset(w->av.sgid + 10, 0xff, 2);
	memset(w->av.dgid + 10, 0xff, 2);
	config.ctx = w;
	w->port = ur_port_create(&config);
	CHECK(w->port);
	mr.direct = w->mem;
	CHECK(!ur_mr_create(w->port, &mr, &w->mr));
	mr.direct = NULL;
	mr.ops = &mem_ops;
	mr.mem = w->mem_ops;
	CHECK(!ur_mr_create(w->port, &mr, &w->mr_ops));
	CHECK(!ur_mw_create(w->port, PD, 1, &w->mw[0]));
	CHECK(!ur_mw_create(w->port, PD, 2, &w->mw[1]));
	srq.cq_ctx = srq.rq_ctx = srq.ctx = &w->sides[XRC_TGT];
	CHECK(!ur_srq_create(w->port, &srq, &w->srq));
	for (int i = 0; i < SIDES; i++)
		create_side(i);
	for (int i = 0; i < SIDES; i++)
		world_bring_up(w, i);
	CHECK(!ur_mcast_attach(w->sides[UD_A].qp, world_group));
	CHECK(!ur_mcast_attach(w->sides[UD_B].qp, world_group));
	return w;
}

void world_destroy(struct world *world)
{
	w = world;
	CHECK(!ur_mcast_detach(w->sides[UD_A].qp, world_group));
	CHECK(!ur_mcast_detach(w->sides[UD_B].qp, world_group));
	for (int i = 0; i < SIDES; i++)
		ur_qp_destroy(w->sides[i].qp);
	CHECK(!ur_srq_destroy(w->srq));
	ur_mw_destroy(w->mw[0]);
	ur_mw_destroy(w->mw[1]);
	CHECK(!ur_mr_destroy(w->mr));
	CHECK(!ur_mr_destroy(w->mr_ops));
	ur_port_destroy(w->port);
	CHECK_EQ(w->av.refs, 1);
	free(w);
	w = NULL;
}

void world_check(struct world *world)
{
	for (int i = 0; i < SIDES; i++) {
		const char *broken = ur_qp_check(world->sides[i].qp);

		if (!broken)
			continue;
		fprintf(stderr, "queue pair %d does not hold: %s\n", i, broken);
		exit(1);
	}
}

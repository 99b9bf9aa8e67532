// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device attributes are promises: a feature works at its limit and not beyond,
 * and one that is not advertised is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "tests/verbs_pair.h"

static struct ibv_device_attr_ex attributes(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex attr;

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &attr), 0);
	return attr;
}

/* Creates and destroys; whether it could. */
static bool can_qp(struct bench *t, struct ibv_cq *cq, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
					.recv_cq = cq,
					.cap = cap,
					.qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &attr);

	if (!qp)
		return false;
	CHECK(attr.cap.max_send_wr >= cap.max_send_wr);
	CHECK(attr.cap.max_recv_wr >= cap.max_recv_wr);
	CHECK(attr.cap.max_send_sge >= cap.max_send_sge);
	CHECK(attr.cap.max_recv_sge >= cap.max_recv_sge);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	return true;
}

static bool can_cq(struct ibv_context *ctx, uint32_t cqe, uint32_t vector)
{
	struct ibv_cq *cq =
		ibv_create_cq(ctx, (int)cqe, NULL, NULL, (int)vector);

	if (!cq)
		return false;
	CHECK(cq->cqe >= (int)cqe);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	return true;
}

static bool can_srq(struct ibv_pd *pd, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = {.attr = {wr, sge, 0}};
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	if (!srq)
		return false;
	CHECK(attr.attr.max_wr >= wr && attr.attr.max_sge >= sge);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	return true;
}

static bool can_dm(struct ibv_context *ctx, uint64_t length)
{
	struct ibv_alloc_dm_attr attr = {.length = length};
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &attr);

	return dm && !ibv_free_dm(dm);
}

/* Not one of them alone: programs make more than one. */
static void several(struct bench *t, const struct ibv_device_attr *o)
{
	struct ibv_qp_init_attr a = {
		.send_cq = t->a.cq,
		.recv_cq = t->a.cq,
		.cap = {(uint32_t)o->max_qp_wr, (uint32_t)o->max_qp_wr,
			(uint32_t)o->max_sge, (uint32_t)o->max_sge, 0}};
	struct ibv_qp *qp[8];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++) {
			a.qp_type = i & 1 ? IBV_QPT_UD : IBV_QPT_RC;
			qp[i] = ibv_create_qp(t->pd, &a);
			CHECK(qp[i]);
		}
		for (int i = 0; i < 8; i++)
			CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
	}
}

static void limits(void)
{
	struct ibv_device_attr_ex d;
	const struct ibv_device_attr *o = &d.orig_attr;
	struct bench t;
	uint32_t wr, sge;
	__be16 pkey;

	bench_open(&t, 64);
	d = attributes(t.ctx);
	wr = (uint32_t)o->max_qp_wr;
	sge = (uint32_t)o->max_sge;
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){wr, 1, 1, 1, 0}));
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, wr, 1, 1, 0}));
	CHECK(!can_qp(&t, t.a.cq, (struct ibv_qp_cap){wr + 1, 1, 1, 1, 0}));
	CHECK(!can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, wr + 1, 1, 1, 0}));
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, 1, sge, sge, 0}));
	CHECK(!can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, 1, sge + 1, 1, 0}));
	CHECK(!can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, 1, 1, sge + 1, 0}));
	/* Together, too. */
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){wr, 1, sge, sge, 0}));
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){1, wr, sge, sge, 0}));
	CHECK(can_qp(&t, t.a.cq, (struct ibv_qp_cap){wr, wr, sge, sge, 512}));
	CHECK(can_srq(t.pd, (uint32_t)o->max_srq_wr, (uint32_t)o->max_srq_sge));
	several(&t, o);
	CHECK(can_cq(t.ctx, (uint32_t)o->max_cqe, 0));
	CHECK(!can_cq(t.ctx, (uint32_t)o->max_cqe + 1, 0));
	CHECK(can_cq(t.ctx, 1, (uint32_t)t.ctx->num_comp_vectors - 1));
	CHECK(!can_cq(t.ctx, 1, (uint32_t)t.ctx->num_comp_vectors));
	wr = (uint32_t)o->max_srq_wr;
	sge = (uint32_t)o->max_srq_sge;
	CHECK(can_srq(t.pd, wr, 1));
	CHECK(!can_srq(t.pd, wr + 1, 1));
	CHECK(can_srq(t.pd, 1, sge));
	CHECK(!can_srq(t.pd, 1, sge + 1));
	CHECK(can_dm(t.ctx, d.max_dm_size));
	CHECK(!can_dm(t.ctx, d.max_dm_size + 4096));
	CHECK_EQ(o->max_pkeys, 1);
	CHECK_EQ(ibv_query_pkey(t.ctx, 1, 0, &pkey), 0);
	CHECK(ibv_query_pkey(t.ctx, 1, 1, &pkey));
	CHECK_EQ(o->phys_port_cnt, 1);
	CHECK_EQ(d.phys_port_cnt_ex, 1);
	/* Nanoseconds, all bits: what the test timestamps goes by. */
	CHECK_EQ(d.hca_core_clock, 1000000);
	CHECK_EQ(d.completion_timestamp_mask, UINT64_MAX);
	bench_close(&t);
}

/* READs and atomics on their way, both directions. */
static void limits_rd_atomic(void)
{
	struct ibv_qp_attr attr = {0};
	struct ibv_device_attr_ex d;
	struct bench t;

	bench_open(&t, 64);
	d = attributes(t.ctx);
	attr.max_dest_rd_atomic = (uint8_t)d.orig_attr.max_qp_rd_atom;
	CHECK_EQ(attr.max_dest_rd_atomic, d.orig_attr.max_qp_rd_atom);
	CHECK_EQ(d.orig_attr.max_qp_init_rd_atom, d.orig_attr.max_qp_rd_atom);
	for (int over = 0; over < 2; over++) {
		struct ibv_qp *qp =
			make_qp(&t, t.a.cq, NULL, IBV_QPT_RC, 8, NULL);
		struct ibv_qp_attr a = pair_attr(&t.gid, qp->qp_num);

		a.max_dest_rd_atomic = a.max_rd_atomic =
			(uint8_t)(attr.max_dest_rd_atomic + over);
		CHECK_EQ(pair_to(qp, &a, IBV_QPS_INIT), 0);
		CHECK_EQ(!!pair_to(qp, &a, IBV_QPS_RTR), over);
		a.max_dest_rd_atomic = 1;
		if (over)
			CHECK_EQ(pair_to(qp, &a, IBV_QPS_RTR), 0);
		CHECK_EQ(!!pair_to(qp, &a, IBV_QPS_RTS), over);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	bench_close(&t);
}

/* A feature with a capability of "none" is refused; EOPNOTSUPP is in "refused".
 * */
static void limits_none(void)
{
	struct ibv_counters_init_attr attr = {0};
	struct ibv_device_attr_ex d;
	struct bench t;

	bench_open(&t, 64);
	d = attributes(t.ctx);
	CHECK_EQ(d.rss_caps.supported_qpts, 0);
	CHECK_EQ(d.rss_caps.max_rwq_indirection_tables, 0);
	CHECK_EQ(d.max_wq_type_rq, 0);
	CHECK_EQ(d.tm_caps.max_num_tags, 0);
	CHECK_EQ(d.tso_caps.max_tso, 0);
	CHECK_EQ(d.raw_packet_caps, 0);
	CHECK(!(d.orig_attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG));
	/* Counters objects count packets of flows, which there are none of
	 * without --raw-ethernet. */
	CHECK(!ibv_create_counters(t.ctx, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
	bench_close(&t);
}

static int attach_many(struct bench *t, struct ibv_qp **qp, int n)
{
	union ibv_gid group = {
		.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}};
	int done = 0;

	while (done < n && !ibv_attach_mcast(qp[done], &group, 0))
		done++;
	for (int i = 0; i < done; i++)
		CHECK_EQ(ibv_detach_mcast(qp[i], &group, 0), 0);
	return done;
}

/* How many queue pairs may be in one group. */
static void limits_mcast(void)
{
	struct ibv_device_attr_ex d;
	struct ibv_qp **qp;
	struct bench t;
	int n;

	bench_open(&t, 64);
	d = attributes(t.ctx);
	n = d.orig_attr.max_mcast_qp_attach;
	CHECK(n > 0 && n < 1000);
	qp = calloc((size_t)n + 1, sizeof(struct ibv_qp *));
	CHECK(qp);
	for (int i = 0; i <= n; i++)
		qp[i] = make_qp(&t, t.a.cq, NULL, IBV_QPT_UD, 1, NULL);
	CHECK_EQ(attach_many(&t, qp, n + 1), n);
	for (int i = 0; i <= n; i++)
		CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
	free(qp);
	bench_close(&t);
}

static int count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int c, n = 0;

	CHECK(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

#define QUEUES 400

/* A process may have no more mappings than vm.max_map_count, 65,530 mostly, and max_cq and the
 * others are larger: not each queue takes one. Those that are left are as they were. */
static void limits_mappings(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq[QUEUES];
	struct ibv_cq *cq[QUEUES];
	struct ibv_qp *qp[QUEUES];
	struct bench t;
	int had;

	bench_open(&t, 64);
	had = count_mappings();
	for (int i = 0; i < QUEUES; i++) {
		cq[i] = ibv_create_cq(t.ctx, 16, NULL, NULL, 0);
		srq[i] = ibv_create_srq(t.pd, &init);
		CHECK(cq[i] && srq[i]);
		qp[i] = make_qp(&t, cq[i], NULL, IBV_QPT_RC, 8, NULL);
	}
	CHECK(count_mappings() < had + QUEUES / 4);
	for (int i = 0; i < QUEUES - 1; i++) {
		CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
		CHECK_EQ(ibv_destroy_srq(srq[i]), 0);
		CHECK_EQ(ibv_destroy_cq(cq[i]), 0);
	}
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	t.a.qp = qp[QUEUES - 1];
	connect_qp(&t, qp[QUEUES - 1], qp[QUEUES - 1]->qp_num);
	CHECK_EQ(ibv_destroy_srq(srq[QUEUES - 1]), 0);
	for (uint32_t i = 0; i < 40; i++) {
		CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE,
				   (uintptr_t)t.b.buf + i, t.b.mr->rkey, 1),
			 0);
		expect_wc(cq[QUEUES - 1], IBV_WC_SUCCESS);
	}
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	t.a.qp = NULL;
	CHECK_EQ(ibv_destroy_cq(cq[QUEUES - 1]), 0);
	CHECK(count_mappings() < had + QUEUES / 4);
	bench_close(&t);
}

const struct verbs_test limit_tests[] = {
	{"limits", limits},
	{"limits_rd_atomic", limits_rd_atomic},
	{"limits_none", limits_none},
	{"limits_mcast", limits_mcast},
	{"limits_mappings", limits_mappings},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rest: SRQ, XRC, multicast, domains, imports, ECE, counters. */
#include <fcntl.h>
#include <stdlib.h>

#include "bench.h"

static int srq_post(struct ibv_srq *srq, const struct end *e, uint64_t id)
{
	struct ibv_sge sge = sge_of(e, 0, 64);
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static void on_srq(struct bench *t, struct ibv_srq *srq)
{
	CHECK_EQ(ibv_destroy_qp(t->b.qp), 0);
	t->b.qp = make_qp(t, t->b.cq, srq, IBV_QPT_RC, 64, &t->b.cap);
	to_state(t->a.qp, IBV_QPS_RESET);
	connect_qp(t, t->a.qp, t->b.qp->qp_num);
	connect_qp(t, t->b.qp, t->a.qp->qp_num);
}

static void take_limit_event(struct bench *t, struct ibv_srq *srq)
{
	struct ibv_async_event ev;

	CHECK(next_event(t->ctx, 5000, &ev));
	CHECK_EQ(ev.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(ev.element.srq == srq);
}

static void srq(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 2}};
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	struct bench t;
	uint64_t n = 0;

	bench_open(&t, 512);
	srq = ibv_create_srq(t.pd, &init);
	CHECK(srq && init.attr.max_wr >= 16);
	on_srq(&t, srq);
	while (!srq_post(srq, &t.b, n))
		n++;
	CHECK_EQ(n, init.attr.max_wr);
	/* The limit event, once. */
	attr.srq_limit = (uint32_t)n - 2;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	for (uint64_t i = 0; i < 5; i++) {
		CHECK_EQ(post_send(&t.a, 0, 0, 8, IBV_SEND_SIGNALED), 0);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	take_limit_event(&t, srq);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	/* Grown; what waits in it stays, in order. */
	attr.max_wr = 200;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK(attr.max_wr >= 200);
	for (uint64_t i = 0; n - 5 + i < attr.max_wr; i++)
		CHECK_EQ(srq_post(srq, &t.b, n + i), 0);
	CHECK_EQ(srq_post(srq, &t.b, 0), ENOMEM);
	for (uint64_t i = 5; i < 150; i++) {
		CHECK_EQ(post_send(&t.a, 0, 0, 8, IBV_SEND_SIGNALED), 0);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	CHECK_EQ(ibv_destroy_srq(srq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(t.b.qp), 0);
	t.b.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	bench_close(&t);
}

/* The receiving side of XRC lives in its domain: another context opens the
 * queue pair, and it outlives its maker. */
static void xrc(void)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	struct ibv_xrcd_init_attr xattr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = file,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex sattr = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
	};
	struct ibv_qp_init_attr_ex qattr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_qp_open_attr oattr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_xrcd *d1, *d2;
	struct ibv_context *ctx2;
	struct ibv_qp *recv, *opened;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct bench t;
	uint32_t num;

	CHECK(file >= 0);
	bench_open(&t, 64);
	d1 = ibv_open_xrcd(t.ctx, &xattr);
	CHECK(d1);
	ctx2 = open_device();
	xattr.oflags = 0;
	d2 = ibv_open_xrcd(ctx2, &xattr);
	CHECK(d2);
	xattr.oflags = O_CREAT | O_EXCL;
	CHECK(!ibv_open_xrcd(ctx2, &xattr));

	sattr.xrcd = d1;
	sattr.cq = t.b.cq;
	sattr.pd = t.pd;
	srq = ibv_create_srq_ex(t.ctx, &sattr);
	CHECK(srq);
	CHECK_EQ(ibv_get_srq_num(srq, &num), 0);
	qattr.xrcd = d2;
	recv = ibv_create_qp_ex(ctx2, &qattr);
	CHECK(recv);

	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	t.a.qp = make_qp(&t, t.a.cq, NULL, IBV_QPT_XRC_SEND, 16, NULL);
	connect_qp(&t, t.a.qp, recv->qp_num);
	connect_qp(&t, recv, t.a.qp->qp_num);

	oattr.qp_num = recv->qp_num;
	oattr.xrcd = d1;
	opened = ibv_open_qp(t.ctx, &oattr);
	CHECK(opened);
	CHECK_EQ(opened->qp_num, recv->qp_num);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(srq_post(srq, &t.b, 40), 0);
		memset(t.a.buf, 20 + i, 8);
		sge = sge_of(&t.a, 0, 8);
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.qp_type.xrc.remote_srqn = num;
		CHECK_EQ(ibv_post_send(t.a.qp, &wr, &bad), 0);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).wr_id, 40);
		CHECK_EQ(t.b.buf[7], 20 + i);
		if (!i) /* its maker goes */
			CHECK_EQ(ibv_destroy_qp(recv), 0);
	}
	CHECK_EQ(ibv_destroy_qp(opened), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_close_xrcd(d1), 0);
	CHECK_EQ(ibv_close_xrcd(d2), 0);
	CHECK_EQ(ibv_close_device(ctx2), 0);
	close(file);
	bench_close(&t);
}

static void multicast(void)
{
	/* ::ffff:239.1.2.3, the form of an IPv4 group. */
	union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
	struct ibv_ah_attr aattr = {
		.is_global = 1,
		.port_num = 1,
		.dlid = 0xc000,
		.grh = {.dgid = group, .hop_limit = 1},
	};
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge;
	struct ibv_ah *ah;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(ibv_destroy_qp(t.a.qp) | ibv_destroy_qp(t.b.qp), 0);
	t.a.qp = make_qp(&t, t.a.cq, NULL, IBV_QPT_UD, 16, NULL);
	t.b.qp = make_qp(&t, t.b.cq, NULL, IBV_QPT_UD, 16, NULL);
	to_rts_ud(t.a.qp);
	to_rts_ud(t.b.qp);
	ah = ibv_create_ah(t.pd, &aattr);
	CHECK(ah);
	for (int attached = 1; attached >= 0; attached--) {
		CHECK_EQ((attached ? ibv_attach_mcast
				   : ibv_detach_mcast)(t.b.qp, &group, 0xc000),
			 0);
		CHECK_EQ(post_recv(&t.b, 5, 0, 40 + 16), 0);
		sge = sge_of(&t.a, 0, 16);
		memset(t.a.buf, 0x31, 16);
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = 0xffffff;
		wr.wr.ud.remote_qkey = 0x1234;
		CHECK_EQ(ibv_post_send(t.a.qp, &wr, &bad), 0);
		expect_wc(t.a.cq, IBV_WC_SUCCESS);
		if (attached) {
			CHECK_EQ(expect_wc(t.b.cq, IBV_WC_SUCCESS).byte_len,
				 56);
			CHECK_EQ(t.b.buf[40 + 15], 0x31);
		} else {
			expect_none(t.b.cq);
		}
	}
	CHECK(ibv_detach_mcast(t.b.qp, &group, 0xc000));
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	bench_close(&t);
}

static void domains(void)
{
	struct ibv_td_init_attr tattr = {0};
	struct ibv_parent_domain_init_attr pattr = {0};
	struct ibv_pd *parent, *real;
	struct ibv_td *td;
	struct bench t;

	bench_open(&t, 64);
	td = ibv_alloc_td(t.ctx, &tattr);
	CHECK(td);
	pattr.pd = t.pd;
	pattr.td = td;
	parent = ibv_alloc_parent_domain(t.ctx, &pattr);
	CHECK(parent);
	CHECK_EQ(ibv_dealloc_td(td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(t.pd), EBUSY);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	real = t.pd;
	t.pd = parent;
	t.a.qp = make_qp(&t, t.a.cq, NULL, IBV_QPT_RC, 64, NULL);
	to_state(t.b.qp, IBV_QPS_RESET);
	connect_qp(&t, t.a.qp, t.b.qp->qp_num);
	connect_qp(&t, t.b.qp, t.a.qp->qp_num);
	CHECK_EQ(post_recv(&t.b, 0, 0, 8), 0);
	CHECK_EQ(post_send(&t.a, 0, 0, 8, IBV_SEND_SIGNALED), 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_destroy_qp(t.a.qp), 0);
	t.a.qp = NULL;
	t.pd = real;
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
	bench_close(&t);
}

/* The same file opened twice by its descriptor: objects are one set. */
static void import(void)
{
	struct ibv_context *ctx2;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct bench t;
	int fd;

	bench_open(&t, 64);
	fd = fcntl(t.ctx->cmd_fd, F_DUPFD_CLOEXEC, 0);
	CHECK(fd >= 0);
	ctx2 = ibv_import_device(fd);
	CHECK(ctx2);
	pd = ibv_import_pd(ctx2, t.pd->handle);
	CHECK(pd);
	mr = ibv_import_mr(pd, t.b.mr->handle);
	CHECK(mr);
	CHECK_EQ(mr->rkey, t.b.mr->rkey);
	CHECK_EQ(mr->length, BUF_BYTES);
	memset(t.a.buf, 4, 64);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.buf,
			   mr->rkey, 64),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t.b.buf[63], 4);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	CHECK_EQ(ibv_close_device(ctx2), 0);
	bench_close(&t);
}

static void ece(void)
{
	struct ibv_ece e;
	struct bench t;

	bench_open(&t, 64);
	CHECK_EQ(ibv_query_ece(t.a.qp, &e), 0);
	CHECK(e.vendor_id);
	/* Connected: too late. */
	CHECK_EQ(ibv_set_ece(t.a.qp, &e), EINVAL);
	to_state(t.a.qp, IBV_QPS_RESET);
	/* An option that the other side has and we do not is not taken. */
	e.options = 0xff;
	CHECK_EQ(ibv_set_ece(t.a.qp, &e), 0);
	CHECK_EQ(ibv_query_ece(t.a.qp, &e), 0);
	CHECK_EQ(e.options, 0);
	e.vendor_id = 0x2c9;
	CHECK_EQ(ibv_set_ece(t.a.qp, &e), EINVAL);
	bench_close(&t);
}

/* A verb that is not there fails in the one way that programs know. */
static void refused(void)
{
	struct ibv_qp_init_attr qattr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = {1, 1, 1, 1, 0},
	};
	struct ibv_wq_init_attr wattr = {.wq_type = IBV_WQT_RQ, .max_wr = 1};
	struct bench t;

	bench_open(&t, 64);
	qattr.send_cq = qattr.recv_cq = t.a.cq;
	CHECK(!ibv_create_qp(t.pd, &qattr));
	CHECK_EQ(errno, EOPNOTSUPP);
	wattr.pd = t.pd;
	wattr.cq = t.a.cq;
	CHECK(!ibv_create_wq(t.ctx, &wattr));
	CHECK_EQ(errno, EOPNOTSUPP);
	bench_close(&t);
}

const struct verbs_test object_tests[] = {
	{"srq", srq},
	{"xrc", xrc},
	{"multicast", multicast},
	{"domains", domains},
	{"import", import},
	{"ece", ece},
	{"refused", refused},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every command on completion queues, receive queues and queue pairs. */
#include <errno.h>
#include <fcntl.h>

#include "tests/faults/verbs.h"
#include "tests/verbs_pair.h"

/* The objects that steps make, one of each kind. */
static struct ibv_comp_channel *channel;
static struct ibv_cq *a_cq;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_qp *qp;
static struct ibv_ah *ah;

static int make_channel(void)
{
	return MADE(channel, ibv_create_comp_channel(eth1));
}

static void must_channel(void)
{
	CHECK_EQ(make_channel(), 0);
}

static void undo_channel(void)
{
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

static int make_cq(void)
{
	return MADE(a_cq, ibv_create_cq(eth1, 100, NULL, NULL, 0));
}

static int make_channel_cq(void)
{
	return MADE(a_cq, ibv_create_cq(eth1, 100, NULL, channel, 0));
}

static void must_cq(void)
{
	CHECK_EQ(make_cq(), 0);
}

static int del_cq(void)
{
	return ibv_destroy_cq(a_cq);
}

static void undo_cq(void)
{
	CHECK_EQ(del_cq(), 0);
}

static void undo_channel_cq(void)
{
	undo_cq();
	undo_channel();
}

static int make_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 100,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(eth1, &attr);

	a_cq = ex ? ibv_cq_ex_to_cq(ex) : NULL;
	return ex ? 0 : errno;
}

static int resize(void)
{
	return ibv_resize_cq(a_cq, 5000);
}

static int moderate(void)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = 4, .cq_period = 10}};

	return ibv_modify_cq(a_cq, &attr);
}

static int make_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 2}};

	return MADE(srq, ibv_create_srq(pd, &attr));
}

static void must_srq(void)
{
	CHECK_EQ(make_srq(), 0);
}

static int grow_srq(void)
{
	struct ibv_srq_attr attr = {.max_wr = 900};

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static int del_srq(void)
{
	return ibv_destroy_srq(srq);
}

static void undo_srq(void)
{
	CHECK_EQ(del_srq(), 0);
}

static int make_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = shm,
		.oflags = O_CREAT};

	return MADE(xrcd, ibv_open_xrcd(eth1, &attr));
}

static void must_xrcd(void)
{
	CHECK_EQ(make_xrcd(), 0);
}

static int del_xrcd(void)
{
	return ibv_close_xrcd(xrcd);
}

static void undo_xrcd(void)
{
	CHECK_EQ(del_xrcd(), 0);
}

static int make_xsrq(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd,
		.cq = cq,
		.pd = pd};

	return MADE(srq, ibv_create_srq_ex(eth1, &attr));
}

static void undo_xsrq(void)
{
	undo_srq();
	undo_xrcd();
}

static int create_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
					.recv_cq = cq,
					.cap = {.max_send_wr = 16,
						.max_recv_wr = 16,
						.max_send_sge = 2,
						.max_recv_sge = 2},
					.qp_type = type};

	return MADE(qp, ibv_create_qp(pd, &attr));
}

static int make_rc(void)
{
	return create_qp(IBV_QPT_RC);
}

static int make_uc(void)
{
	return create_qp(IBV_QPT_UC);
}

static int make_ud(void)
{
	return create_qp(IBV_QPT_UD);
}

static int make_tgt(void)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_XRC_RECV,
					   .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					   .xrcd = xrcd};

	return MADE(qp, ibv_create_qp_ex(eth1, &attr));
}

static int del_qp(void)
{
	return ibv_destroy_qp(qp);
}

static void undo_qp(void)
{
	CHECK_EQ(del_qp(), 0);
}

static void undo_tgt(void)
{
	undo_qp();
	undo_xrcd();
}

static int move_qp(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = pair_attr(&gid, 4242);

	attr.qkey = 1;
	attr.qp_access_flags = ALL & ~IBV_ACCESS_MW_BIND;
	attr.max_rd_atomic = 16;
	attr.max_dest_rd_atomic = 16;
	return pair_to(qp, &attr, state);
}

static int to_init(void)
{
	return move_qp(IBV_QPS_INIT);
}

static int to_rtr(void)
{
	return move_qp(IBV_QPS_RTR);
}

static int to_rts(void)
{
	return move_qp(IBV_QPS_RTS);
}

static void fresh_rc(void)
{
	CHECK_EQ(make_rc(), 0);
}

static void init_rc(void)
{
	fresh_rc();
	CHECK_EQ(to_init(), 0);
}

static void rtr_rc(void)
{
	init_rc();
	CHECK_EQ(to_rtr(), 0);
}

static void init_ud(void)
{
	CHECK_EQ(make_ud(), 0);
	CHECK_EQ(to_init(), 0);
}

static int query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init);
}

static int join_group(void)
{
	union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};

	return ibv_attach_mcast(qp, &group, 0);
}

static int leave_group(void)
{
	union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};

	return ibv_detach_mcast(qp, &group, 0);
}

static void joined_ud(void)
{
	init_ud();
	CHECK_EQ(join_group(), 0);
}

static void undo_join(void)
{
	CHECK_EQ(leave_group(), 0);
	undo_qp();
}

static int make_ah(void)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.dgid = gid, .hop_limit = 64}};

	return MADE(ah, ibv_create_ah(pd, &attr));
}

static void must_ah(void)
{
	CHECK_EQ(make_ah(), 0);
}

static int del_ah(void)
{
	return ibv_destroy_ah(ah);
}

static void undo_ah(void)
{
	CHECK_EQ(del_ah(), 0);
}

const struct step queue_steps[] = {
	{"create channel", NULL, make_channel, undo_channel, 0},
	{"create cq", NULL, make_cq, undo_cq, 0},
	{"create cq_ex", NULL, make_cq_ex, undo_cq, 0},
	{"create cq with channel", must_channel, make_channel_cq,
	 undo_channel_cq, 0},
	{"resize cq", must_cq, resize, undo_cq, 0},
	{"modify cq", must_cq, moderate, undo_cq, 0},
	{"destroy cq", must_cq, del_cq, NULL, 0},
	{"create srq", NULL, make_srq, undo_srq, 0},
	{"resize srq", must_srq, grow_srq, undo_srq, 0},
	{"destroy srq", must_srq, del_srq, NULL, 0},
	{"open xrcd", NULL, make_xrcd, undo_xrcd, 0},
	{"create xrc srq", must_xrcd, make_xsrq, undo_xsrq, 0},
	{"create xrc target", must_xrcd, make_tgt, undo_tgt, 0},
	{"close xrcd", must_xrcd, del_xrcd, NULL, 0},
	{"create rc qp", NULL, make_rc, undo_qp, 0},
	{"create uc qp", NULL, make_uc, undo_qp, 0},
	{"create ud qp", NULL, make_ud, undo_qp, 0},
	{"to init", fresh_rc, to_init, undo_qp, 0},
	{"to rtr", init_rc, to_rtr, undo_qp, 0},
	{"to rts", rtr_rc, to_rts, undo_qp, 0},
	{"query qp", rtr_rc, query_qp, undo_qp, 0},
	{"destroy qp", rtr_rc, del_qp, NULL, 0},
	{"attach mcast", init_ud, join_group, undo_join, 0},
	{"detach mcast", joined_ud, leave_group, undo_qp, 0},
	{"create ah", NULL, make_ah, undo_ah, 0},
	{"destroy ah", must_ah, del_ah, NULL, 0},
	{0},
};

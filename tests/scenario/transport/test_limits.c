// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* As many groups, members, keys and shared receive queues as there may be. */
#include <errno.h>
#include <stdlib.h>
#include "tests/scenario/transport/wiretap.h"

static struct wt w;

static void group(u8 *gid, u32 n)
{
	memset(gid, 0, 16);
	gid[0] = 0xff;
	gid[1] = 0x0e;
	memcpy(gid + 8, &n, sizeof(n));
}

static void datagram(const u8 *gid, u32 n)
{
	memcpy(w.meta.daddr, gid, 16);
	wt_feed(&w,
		(struct ur_pkt){.opcode = UR_OP_UD_SEND_ONLY,
				.dqpn = UR_QPN_MULTICAST,
				.qkey = 0x1234,
				.sqpn = 5,
				.psn = n,
				.payload_bytes = 4},
		NULL);
}

static void groups(void)
{
	struct ur_qp_attr a;
	static struct wt_qp q[UR_MCAST_MEMBERS_MAX + 1];
	u8 gid[16];

	wt_config(&w, 0);
	wt_open(&w);
	a = wt_attr(&w, 0, 0, 0);
	a.qkey = 0x1234;
	for (u32 i = 0; i <= UR_MCAST_MEMBERS_MAX; i++) {
		wt_qp_create(&w, &q[i], UR_QPT_UD, NULL);
		wt_to_rts(&q[i], &a);
	}
	for (u32 n = 0; n < UR_MCAST_GROUPS_MAX; n++) {
		group(gid, n);
		CHECK_EQ(ur_mcast_attach(q[0].qp, gid), 0);
	}
	group(gid, UR_MCAST_GROUPS_MAX);
	CHECK_EQ(ur_mcast_attach(q[0].qp, gid), -ENOMEM);
	/* Not a new group, and not a new member. */
	group(gid, 7);
	CHECK_EQ(ur_mcast_attach(q[0].qp, gid), 0);
	for (u32 i = 1; i < UR_MCAST_MEMBERS_MAX; i++)
		CHECK_EQ(ur_mcast_attach(q[i].qp, gid), 0);
	CHECK_EQ(ur_mcast_attach(q[UR_MCAST_MEMBERS_MAX].qp, gid), -ENOMEM);
	/* Each has its copy, and the one that was too many has none. */
	for (u32 i = 0; i <= UR_MCAST_MEMBERS_MAX; i++)
		wt_post_recv(&q[i], 0, 100);
	datagram(gid, 0);
	for (u32 i = 0; i < UR_MCAST_MEMBERS_MAX; i++)
		wt_wc(&q[i], 0);
	wt_no_wc(&q[UR_MCAST_MEMBERS_MAX]);
	/* The last group that fits works as the first does. */
	group(gid, UR_MCAST_GROUPS_MAX - 1);
	wt_post_recv(&q[0], 0, 100);
	datagram(gid, 1);
	wt_wc(&q[0], 0);
	/* A place that was left can be had again. */
	CHECK_EQ(ur_mcast_detach(q[0].qp, gid), 0);
	group(gid, UR_MCAST_GROUPS_MAX);
	CHECK_EQ(ur_mcast_attach(q[1].qp, gid), 0);
	CHECK_EQ(ur_mcast_detach(q[1].qp, gid), 0);
	group(gid, 7);
	for (u32 i = 1; i < UR_MCAST_MEMBERS_MAX; i++)
		CHECK_EQ(ur_mcast_detach(q[i].qp, gid), 0);
	for (u32 n = 0; n < UR_MCAST_GROUPS_MAX - 1; n++) {
		group(gid, n);
		CHECK_EQ(ur_mcast_detach(q[0].qp, gid), 0);
	}
	for (u32 i = 0; i <= UR_MCAST_MEMBERS_MAX; i++)
		ur_qp_destroy(q[i].qp);
	wt_close(&w);
}

static void keys(void)
{
	struct ur_mw **mw;
	u32 n = 0;

	wt_config(&w, 0);
	w.cfg.max_mr = 1u << 20;
	wt_open(&w);
	mw = calloc(w.cfg.max_mr, sizeof(*mw));
	CHECK(mw);
	while (n < w.cfg.max_mr && !ur_mw_create(w.port, WT_PD, 1, &mw[n]))
		n++;
	/* One is the region that the port of a test has. */
	CHECK_EQ(n, w.cfg.max_mr - 1);
	CHECK_EQ(ur_mw_create(w.port, WT_PD, 1, &mw[n]), -ENOMEM);
	ur_mw_destroy(mw[n / 2]);
	CHECK_EQ(ur_mw_create(w.port, WT_PD, 1, &mw[n / 2]), 0);
	while (n--)
		ur_mw_destroy(mw[n]);
	free(mw);
	wt_close(&w);
}

static void shared_queues(void)
{
	static struct ur_srq *srq[(1u << 20) + 1];
	struct ur_srq_attr attr = {.pd = WT_PD};
	u32 n = 0;

	wt_config(&w, 0);
	wt_open(&w);
	while (n < UR_ARRAY_SIZE(srq) && !ur_srq_create(w.port, &attr, &srq[n]))
		n++;
	CHECK_EQ(n, 1u << 20); /* as the device's attributes say */
	while (n--)
		ur_srq_destroy(srq[n]);
	wt_close(&w);
}

/* Remote stores ask for the right to store. */
static void rights(void)
{
	struct ur_mr_attr attr = {.pd = WT_PD, .length = 8, .null_mr = true};
	struct ur_mr *mr;

	wt_config(&w, 0);
	wt_open(&w);
	attr.access = UR_ACCESS_REMOTE_WRITE;
	CHECK_EQ(ur_mr_create(w.port, &attr, &mr), -EINVAL);
	attr.access = UR_ACCESS_REMOTE_ATOMIC;
	CHECK_EQ(ur_mr_create(w.port, &attr, &mr), -EINVAL);
	attr.access |= UR_ACCESS_LOCAL_WRITE;
	CHECK_EQ(ur_mr_create(w.port, &attr, &mr), 0);
	attr.access = UR_ACCESS_REMOTE_ATOMIC;
	CHECK_EQ(ur_mr_rereg(mr, &attr), -EINVAL);
	CHECK_EQ(ur_mr_destroy(mr), 0);
	wt_close(&w);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(groups());
	CASE(keys());
	CASE(shared_queues());
	CASE(rights());
	return cases_status();
}

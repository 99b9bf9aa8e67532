// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The pairs of beside.h, made and ended. */
#include <fcntl.h>
#include <stdlib.h>

#include "beside.h"

struct ibv_mr *beside_make_buffer(struct beside *b, uint8_t **buf)
{
	struct ibv_mr *mr;

	*buf = calloc(1, BUF_BYTES);
	CHECK(*buf);
	mr = ibv_reg_mr(b->t.pd, *buf, BUF_BYTES, ALL_ACCESS);
	CHECK(mr);
	return mr;
}

void beside_make_rc(struct beside *b)
{
	for (int i = 0; i < 2; i++) {
		b->rc[i].mr = beside_make_buffer(b, &b->rc[i].buf);
		b->rc[i].qp = make_qp(&b->t, b->cq, NULL, IBV_QPT_RC, 64, NULL);
	}
	connect_qp(&b->t, b->rc[0].qp, b->rc[1].qp->qp_num);
	connect_qp(&b->t, b->rc[1].qp, b->rc[0].qp->qp_num);
}

/* Others could open it: its queues are the device's. */
static int open_shared(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	CHECK(fd >= 0);
	return fd;
}

void beside_make_xrc(struct beside *b)
{
	bool alone = getenv("BESIDE_ALONE");
	struct ibv_xrcd_init_attr xattr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = alone ? -1 : open_shared(),
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex sattr = {
		.attr = {.max_wr = 64, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = b->t.pd,
		.cq = b->cq,
	};
	struct ibv_qp_init_attr_ex qattr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	b->domain = ibv_open_xrcd(b->t.ctx, &xattr);
	CHECK(b->domain);
	if (!alone)
		close(xattr.fd);
	sattr.xrcd = qattr.xrcd = b->domain;
	b->srq = ibv_create_srq_ex(b->t.ctx, &sattr);
	CHECK(b->srq);
	CHECK_EQ(ibv_get_srq_num(b->srq, &b->srqn), 0);
	b->target = ibv_create_qp_ex(b->t.ctx, &qattr);
	CHECK(b->target);
	b->xrc.mr = beside_make_buffer(b, &b->xrc.buf);
	b->xrc.qp = make_qp(&b->t, b->cq, NULL, IBV_QPT_XRC_SEND, 64, NULL);
	connect_qp(&b->t, b->xrc.qp, b->target->qp_num);
	connect_qp(&b->t, b->target, b->xrc.qp->qp_num);
}

void beside_open_bare(struct beside *b, int cqe)
{
	memset(b, 0, sizeof(*b));
	bench_bare(&b->t);
	b->ch = ibv_create_comp_channel(b->t.ctx);
	CHECK(b->ch);
	b->cq = ibv_create_cq(b->t.ctx, cqe, NULL, b->ch, 0);
	CHECK(b->cq);
}

void beside_open_both(struct beside *b, int cqe)
{
	beside_open_bare(b, cqe);
	beside_make_rc(b);
	beside_make_xrc(b);
}

void beside_end_xrc(struct beside *b)
{
	CHECK_EQ(ibv_destroy_qp(b->xrc.qp), 0);
	CHECK_EQ(ibv_destroy_qp(b->target), 0);
	CHECK_EQ(ibv_destroy_srq(b->srq), 0);
	CHECK_EQ(ibv_close_xrcd(b->domain), 0);
	CHECK_EQ(ibv_dereg_mr(b->xrc.mr), 0);
	free(b->xrc.buf);
}

void beside_end_rc(struct beside *b)
{
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(ibv_destroy_qp(b->rc[i].qp), 0);
		CHECK_EQ(ibv_dereg_mr(b->rc[i].mr), 0);
		free(b->rc[i].buf);
	}
}

void beside_close_bare(struct beside *b)
{
	CHECK_EQ(ibv_destroy_cq(b->cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(b->ch), 0);
	bench_close(&b->t);
}

void beside_close_both(struct beside *b)
{
	beside_end_xrc(b);
	beside_end_rc(b);
	beside_close_bare(b);
}

void beside_send_xrc(struct beside *b, uint64_t id, unsigned int flags)
{
	struct ibv_sge from = sge_of(&b->xrc, 0, 64),
		       to = sge_of(&b->xrc, BUF_BYTES / 2, 64);
	struct ibv_recv_wr *bad_recv,
		recv = {.wr_id = id, .sg_list = &to, .num_sge = 1};
	struct ibv_send_wr *bad, wr = {
					 .wr_id = id,
					 .sg_list = &from,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = flags,
					 .qp_type.xrc.remote_srqn = b->srqn,
				 };

	memset(b->xrc.buf, (int)id, 64);
	CHECK_EQ(ibv_post_srq_recv(b->srq, &recv, &bad_recv), 0);
	CHECK_EQ(ibv_post_send(b->xrc.qp, &wr, &bad), 0);
}

void beside_send_rc(struct beside *b, uint64_t id, unsigned int flags)
{
	memset(b->rc[0].buf, (int)id, 64);
	CHECK_EQ(post_recv(&b->rc[1], id, 0, 64), 0);
	CHECK_EQ(post_send(&b->rc[0], id, 0, 64, flags), 0);
}

bool beside_is_xrc(const struct beside *b, uint32_t qpn)
{
	return qpn == b->xrc.qp->qp_num || qpn == b->target->qp_num;
}

void beside_expect_both(struct beside *b, uint64_t id)
{
	unsigned int seen = 0;

	for (int i = 0; i < 4; i++) {
		struct ibv_wc wc = expect_wc(b->cq, IBV_WC_SUCCESS);

		CHECK_EQ(wc.wr_id, id);
		seen |= 1u << ((beside_is_xrc(b, wc.qp_num) ? 2 : 0) +
			       !!(wc.opcode & IBV_WC_RECV));
	}
	CHECK_EQ(seen, 15);
	CHECK_EQ(b->rc[1].buf[63], (uint8_t)id);
	CHECK_EQ(b->xrc.buf[BUF_BYTES / 2 + 63], (uint8_t)id);
}

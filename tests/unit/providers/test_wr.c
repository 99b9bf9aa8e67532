// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ibv_wr_* builder: same WQEs as ibv_post_send, batches, errors. */
#include "fake_device.h"

static u8 wqe[UROCE_MAX_WQE_BYTES], want[UROCE_MAX_WQE_BYTES];

static const u64 rc_ops =
	IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
	IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
	IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
	IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |
	IBV_QP_EX_WITH_ATOMIC_WRITE;

static void start(struct fake *f, u16 qpt_bit)
{
	fake_init(f, qpt_bit, 6, 16, 4);
	f->qp->ex.wr_id = 42;
	f->qp->ex.wr_flags = IBV_SEND_SIGNALED;
}

/* Builds 'wr' the other way and compares. */
static void same_as(struct fake *f, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct fake g;
	u32 ds, n;

	ds = fake_take_wqe(f, wqe);
	start(&g, f->qp->qpt_bit);
	wr->wr_id = 42;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (wr->opcode != IBV_WR_BIND_MW && f->qp->qpt_bit == UR_SENDS_UD)
		wr->wr.ud.ah = &g.ah.ibv;
	CHECK_EQ(uroce_post_send(&g.qp->ibv, wr, &bad), 0);
	n = fake_take_wqe(&g, want);
	CHECK_EQ(ds, n);
	if (wqe[1] & UROCE_WQE_F_INLINE) /* the pad is whatever it was */
		CHECK(!memcmp(wqe, want, 16));
	else
		CHECK(!memcmp(wqe, want, ds * 16));
}

static void test_each(void)
{
	struct ibv_sge sge[2] = {{0x1000, 8, 3}, {0x2000, 9, 4}};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM,
				 .imm_data = 5,
				 .sg_list = sge,
				 .num_sge = 2};
	struct ibv_mr mr = {.lkey = 9};
	struct ibv_mw mw = {.rkey = 8};
	struct ibv_mw_bind_info info = {&mr, 1, 2, 3};
	struct ibv_qp_ex *ex;
	struct fake f;

	start(&f, UR_SENDS_RC);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, rc_ops), 0);
	ex = &f.qp->ex;
	ibv_wr_start(ex);
	ibv_wr_send_imm(ex, 5);
	ibv_wr_set_sge_list(ex, 2, sge);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK(fake_take_doorbell(&f, 131));
	same_as(&f, &wr);

	wr = (struct ibv_send_wr){.opcode = IBV_WR_RDMA_READ,
				  .sg_list = sge,
				  .num_sge = 1,
				  .wr.rdma = {0x77, 6}};
	ibv_wr_start(ex);
	ibv_wr_rdma_read(ex, 6, 0x77);
	ibv_wr_set_sge(ex, 3, 0x1000, 8);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	same_as(&f, &wr);

	wr = (struct ibv_send_wr){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				  .sg_list = sge,
				  .num_sge = 1,
				  .wr.atomic = {0x88, 1, 2, 6}};
	ibv_wr_start(ex);
	ibv_wr_atomic_cmp_swp(ex, 6, 0x88, 1, 2);
	ibv_wr_set_sge(ex, 3, 0x1000, 8);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	same_as(&f, &wr);

	wr = (struct ibv_send_wr){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				  .sg_list = sge,
				  .num_sge = 1,
				  .wr.atomic = {0x88, 1, 0, 6}};
	ibv_wr_start(ex);
	ibv_wr_atomic_fetch_add(ex, 6, 0x88, 1);
	ibv_wr_set_sge(ex, 3, 0x1000, 8);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	same_as(&f, &wr);

	wr = (struct ibv_send_wr){.opcode = IBV_WR_BIND_MW};
	wr.bind_mw.mw = &mw;
	wr.bind_mw.rkey = 10;
	wr.bind_mw.bind_info = info;
	ibv_wr_start(ex);
	ibv_wr_bind_mw(ex, &mw, 10, &info);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(mw.rkey, 10);
	mw.rkey = 8;
	same_as(&f, &wr);

	wr = (struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV,
				  .invalidate_rkey = 3};
	ibv_wr_start(ex);
	ibv_wr_local_inv(ex, 3);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	same_as(&f, &wr);
}

static void test_inline(void)
{
	char hello[] = "hello ", world[] = "world";
	struct ibv_data_buf list[2] = {{hello, 6}, {world, 5}};
	u64 value = 0x0123456789abcdef;
	static u8 big[201];
	struct ibv_qp_ex *ex;
	struct fake f;

	start(&f, UR_SENDS_RC);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, rc_ops), 0);
	ex = &f.qp->ex;
	fake_sq_at(&f, 15);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, 6, 0x77);
	ibv_wr_set_inline_data_list(ex, 2, list);
	ibv_wr_rdma_write(ex, 6, 0x77);
	ibv_wr_set_inline_data(ex, big, 150);
	ibv_wr_atomic_write(ex, 6, 0x78, &value);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(wqe[1], UROCE_WQE_F_INLINE | UROCE_WQE_F_SIGNALED);
	CHECK_EQ(ur_get_le32(wqe + 32), 11);
	CHECK(!memcmp(wqe + 36, "hello world", 11));
	CHECK_EQ(fake_take_wqe(&f, wqe), 12);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(ur_get_le32(wqe + 32), 8);
	CHECK(!memcmp(wqe + 36, &value, 8));

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, big, 201);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	CHECK_EQ(fake_take_wqe(&f, wqe), 0);
}

static void test_address(void)
{
	struct ibv_sge sge = {0x1000, 8, 3};
	struct uroce_wqe_av *av = (void *)(wqe + 16);
	struct ibv_qp_ex *ex;
	struct fake f;

	start(&f, UR_SENDS_UD);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, rc_ops), EOPNOTSUPP);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, IBV_QP_EX_WITH_SEND), 0);
	ex = &f.qp->ex;
	/* Either order of address and data. */
	for (int order = 0; order < 2; order++) {
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		if (order)
			ibv_wr_set_sge_list(ex, 1, &sge);
		ibv_wr_set_ud_addr(ex, &f.ah.ibv, 9, 8);
		if (!order)
			ibv_wr_set_sge_list(ex, 1, &sge);
		CHECK_EQ(ibv_wr_complete(ex), 0);
		CHECK_EQ(fake_take_wqe(&f, wqe), 3);
		CHECK_EQ(av->ah, 77);
		CHECK_EQ(av->dqpn, 9);
		CHECK_EQ(av->qkey, 8);
		CHECK_EQ(ur_get_le32(wqe + 32), 8);
	}

	start(&f, UR_SENDS_XRC);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, rc_ops), 0);
	ex = &f.qp->ex;
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, 1, 2);
	ibv_wr_set_xrc_srqn(ex, 31);
	ibv_wr_set_sge(ex, 3, 4, 5);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 4);
	CHECK_EQ(av->srqn, 31);
	CHECK_EQ(av->ah, 0);
}

static void test_batches(void)
{
	struct ibv_qp_ex *ex;
	struct fake f;

	start(&f, UR_SENDS_RC);
	CHECK_EQ(ur_qp_set_wr_methods(f.qp, rc_ops), 0);
	ex = &f.qp->ex;
	ex->wr_flags = 0; /* nobody polls here */
	/* Abort leaves nothing. */
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	CHECK_EQ(fake_take_wqe(&f, wqe), 0);
	CHECK(!f.page->summary);
	/* One too many: none of the batch, and the queue is as before. */
	ibv_wr_start(ex);
	for (int i = 0; i < 7; i++)
		ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), ENOMEM);
	CHECK_EQ(fake_take_wqe(&f, wqe), 0);
	ibv_wr_start(ex);
	for (u64 i = 0; i < 6; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
	}
	CHECK_EQ(ibv_wr_complete(ex), 0);
	for (u64 i = 0; i < 6; i++) {
		CHECK_EQ(fake_take_wqe(&f, wqe), 1);
		CHECK_EQ(*(u64 *)(void *)(wqe + 8), i);
	}
	/* Too many segments; wrong state. */
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 4, (struct ibv_sge[4]){{0}});
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	f.qp->state = IBV_QPS_RESET;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	CHECK_EQ(fake_take_wqe(&f, wqe), 0);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	ur_vqp_tail = 360;
	CASE(test_each());
	CASE(test_inline());
	CASE(test_address());
	CASE(test_batches());
	return cases_status();
}

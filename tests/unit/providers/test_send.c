// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_post_send: every WQE's bytes, the ring's wrap, limits and errors. */
#include "fake_device.h"

static u8 wqe[UROCE_MAX_WQE_BYTES];

static struct ibv_send_wr make_wr(enum ibv_wr_opcode op, struct ibv_sge *sge,
				  int n)
{
	return (struct ibv_send_wr){
		.wr_id = 0x1122334455667788,
		.opcode = op,
		.sg_list = sge,
		.num_sge = n,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
	};
}

static void test_write_bytes(void)
{
	struct ibv_sge sge[2] = {{0x1000, 10, 1}, {0x2000, 20, 2}};
	struct ibv_send_wr wr = make_wr(IBV_WR_RDMA_WRITE_WITH_IMM, sge, 2),
			   *bad;
	struct uroce_wqe_ctrl *c = (void *)wqe;
	struct uroce_wqe_raddr *r = (void *)(wqe + 16);
	struct uroce_wqe_data *d = (void *)(wqe + 32);
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	wr.imm_data = 0xaabbccdd;
	wr.wr.rdma.remote_addr = 0x7000;
	wr.wr.rdma.rkey = 0x55;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK(fake_take_doorbell(&f, 131));
	CHECK_EQ(fake_take_wqe(&f, wqe), 4);
	CHECK_EQ(c->opcode, UROCE_WQE_WRITE_IMM);
	CHECK_EQ(c->flags, UROCE_WQE_F_SIGNALED | UROCE_WQE_F_SOLICITED);
	CHECK_EQ(c->imm_inv, 0xaabbccdd);
	CHECK_EQ(c->wr_id, wr.wr_id);
	CHECK_EQ(r->addr, 0x7000);
	CHECK_EQ(r->rkey, 0x55);
	CHECK_EQ(d[1].addr, 0x2000);
	CHECK_EQ(d[1].length, 20);
	CHECK_EQ(d[1].lkey, 2);
}

static void test_ud_and_xrc_address(void)
{
	struct ibv_sge sge = {0x1000, 10, 1};
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, &sge, 1), *bad;
	struct uroce_wqe_av *av = (void *)(wqe + 16);
	struct fake f;

	fake_init(&f, UR_SENDS_UD, 4, 16, 4);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), EINVAL);
	wr.wr.ud.ah = &f.ah.ibv;
	wr.wr.ud.remote_qpn = 9;
	wr.wr.ud.remote_qkey = 8;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(av->ah, 77);
	CHECK_EQ(av->dqpn, 9);
	CHECK_EQ(av->qkey, 8);
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), EINVAL);

	fake_init(&f, UR_SENDS_XRC, 4, 16, 4);
	wr.qp_type.xrc.remote_srqn = 6;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 4);
	CHECK_EQ(av->srqn, 6);
	CHECK_EQ(av->ah, 0);
}

static void test_atomics_and_bind(void)
{
	struct ibv_sge sge = {0x1000, 8, 1};
	struct ibv_send_wr wr = make_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, 1);
	struct uroce_wqe_atomic *a = (void *)(wqe + 32);
	struct uroce_wqe_bind *b = (void *)(wqe + 16);
	struct ibv_mr mr = {.lkey = 4};
	struct ibv_mw mw = {.rkey = 5};
	struct ibv_send_wr *bad;
	u64 value = 0xfeed;
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 8, 32, 4);
	wr.wr.atomic.compare_add = 1;
	wr.wr.atomic.swap = 2;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 4);
	CHECK_EQ(a->compare, 1);
	CHECK_EQ(a->swap_add, 2);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 4);
	CHECK_EQ(a->swap_add, 1);

	wr = make_wr(IBV_WR_BIND_MW, NULL, 0);
	wr.bind_mw.mw = &mw;
	wr.bind_mw.rkey = 6;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){&mr, 0x100, 0x200, 7};
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(b->addr, 0x100);
	CHECK_EQ(b->length, 0x200);
	CHECK_EQ(b->mw_rkey, 5);
	CHECK_EQ(b->new_rkey, 6);
	CHECK_EQ(b->mr_lkey, 4);
	CHECK_EQ(b->access, 6); /* local write is not a window's */
	CHECK_EQ(mw.rkey, 6);
	/* Its index stays, whatever is above the key byte. */
	mw.rkey = 0x123405;
	wr.bind_mw.rkey = 0xba;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(b->mw_rkey, 0x123405);
	CHECK_EQ(b->new_rkey, 0x1234ba);
	CHECK_EQ(mw.rkey, 0x1234ba);

	sge.addr = (uintptr_t)&value;
	wr = make_wr(IBV_WR_ATOMIC_WRITE, &sge, 1);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(fake_take_wqe(&f, wqe), 3);
	CHECK_EQ(ur_get_le32(wqe + 32), 8);
	CHECK(!memcmp(wqe + 36, &value, 8));
	sge.length = 4;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), EINVAL);
}

/* Inline data of every length up to the limit, from every block of the ring,
 * so that WQE and data cross the end in every way; indices wrap at 2^32. */
static void test_inline_wrap(void)
{
	static u8 data[256];
	struct ibv_sge sge[2] = {{(uintptr_t)data, 0, 0},
				 {(uintptr_t)data, 0, 0}};
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, sge, 2), *bad;
	struct fake f;

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (u8)(i * 7 + 1);
	fake_init(&f, UR_SENDS_RC, 4, 8, 4);
	fake_sq_at(&f, (u32)-40);
	wr.send_flags = IBV_SEND_INLINE;
	for (u32 len = 0; len <= 200; len++) {
		sge[0].length = len / 3;
		sge[1].addr = (uintptr_t)data + len / 3;
		sge[1].length = len - len / 3;
		CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
		CHECK_EQ(fake_take_wqe(&f, wqe), 1 + (len + 4 + 15) / 16);
		CHECK_EQ(wqe[1], UROCE_WQE_F_INLINE);
		CHECK_EQ(ur_get_le32(wqe + 16), len);
		CHECK(!memcmp(wqe + 20, data, len));
	}
	sge[1].length++;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
}

static void test_limits(void)
{
	struct ibv_sge sge[4] = {{0x1000, 10, 1}};
	struct ibv_send_wr wr[6], *bad;
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	for (int i = 0; i < 6; i++) {
		wr[i] = make_wr(IBV_WR_SEND, sge, 1);
		wr[i].send_flags = 0;
		wr[i].next = i < 5 ? &wr[i + 1] : NULL;
	}
	/* WQEs run out before blocks do. */
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), ENOMEM);
	CHECK(bad == &wr[4]);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(fake_take_wqe(&f, wqe), 2);
	CHECK_EQ(fake_take_wqe(&f, wqe), 0);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr[4], &bad), 0);
	/* Too many segments, in the middle of a list. */
	wr[1].num_sge = 4;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), EINVAL);
	CHECK(bad == &wr[1]);
	/* States. */
	wr[0].next = NULL;
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_UNKNOWN; s++) {
		fake_init(&f, UR_SENDS_RC, 4, 16, 4);
		f.qp->state = (u8)s;
		CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad),
			 s < IBV_QPS_RTS ? EINVAL : 0);
	}
	/* Blocks run out before WQEs do: 3 blocks each in a ring of 8. */
	fake_init(&f, UR_SENDS_RC, 8, 8, 4);
	f.qp->max_send_sge = 10;
	wr[0] = make_wr(IBV_WR_SEND, (struct ibv_sge[10]){{0}}, 10);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), 0);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), 0);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), ENOMEM);
	wr[0].num_sge = 1;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, wr, &bad), 0);
}

/* A signalled send keeps its place until its completion is polled, so that
 * no more completions than places can wait. */
static void test_polled(void)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, NULL, 0), *bad;
	struct ibv_wc wc[4];
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	for (u64 i = 0; i < 100; i += 2) {
		/* Unsignalled, signalled; the device is done with both. */
		wr.wr_id = i;
		wr.send_flags = 0;
		CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
		wr.send_flags = IBV_SEND_SIGNALED;
		CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
		fake_take_wqe(&f, wqe);
		fake_take_wqe(&f, wqe);
		if (i % 4) {
			/* Both places of each pair are taken until then. */
			wr.send_flags = 0;
			CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
			fake_take_wqe(&f, wqe);
			wr.send_flags = IBV_SEND_SIGNALED;
			CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad),
				 ENOMEM);
			fake_complete_send(&f, f.sq_hdr->cons - 4);
			fake_complete_send(&f, f.sq_hdr->cons - 2);
			CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad),
				 ENOMEM);
			CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 4, wc), 2);
		}
	}
}

static void test_wake(void)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, NULL, 0), *bad;
	struct fake f;
	u64 v;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK(read(f.ctx.db.wake_fd, &v, 8) < 0);
	f.page->asleep = 1;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	CHECK_EQ(read(f.ctx.db.wake_fd, &v, 8), 8);
	CHECK_EQ(v, 1);
}

static void test_sig_all(void)
{
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND, NULL, 0), *bad;
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	wr.send_flags = IBV_SEND_FENCE;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	f.qp->sq_sig_all = true;
	CHECK_EQ(uroce_post_send(&f.qp->ibv, &wr, &bad), 0);
	fake_take_wqe(&f, wqe);
	CHECK_EQ(wqe[1], UROCE_WQE_F_FENCE);
	fake_take_wqe(&f, wqe);
	CHECK_EQ(wqe[1], UROCE_WQE_F_FENCE | UROCE_WQE_F_SIGNALED);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_write_bytes());
	CASE(test_ud_and_xrc_address());
	CASE(test_atomics_and_bind());
	CASE(test_inline_wrap());
	CASE(test_limits());
	CASE(test_polled());
	CASE(test_wake());
	CASE(test_sig_all());
	return cases_status();
}

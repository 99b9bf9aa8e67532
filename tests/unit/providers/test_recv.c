// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_post_recv and ibv_post_srq_recv. */
#include "fake_device.h"

static void test_full_and_refill(void)
{
	struct ibv_sge sge[4] = {{0x10, 1, 7}, {0x20, 2, 8}, {0x30, 3, 9}};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = 3};
	struct ibv_recv_wr *bad;
	struct uroce_recv_wqe *w;
	struct uroce_wqe_data *d;
	struct ibv_wc wc[8];
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	f.qp->rq.prod = f.qp->rq.cons = (u32)-2; /* wrap at 2^32 */
	f.qp->rq.polled = (u32)-2;
	f.rq_hdr->prod = f.rq_hdr->cons = (u32)-2;
	for (int lap = 0; lap < 3; lap++) {
		for (u64 i = 0; i < 4; i++) {
			wr.wr_id = i;
			CHECK_EQ(uroce_post_recv(&f.qp->ibv, &wr, &bad), 0);
		}
		CHECK_EQ(uroce_post_recv(&f.qp->ibv, &wr, &bad), ENOMEM);
		CHECK(bad == &wr);
		for (u64 i = 0; i < 4; i++) {
			w = (void *)(f.rq + (f.rq_hdr->cons & 3) * 64);
			d = (void *)(w + 1);
			CHECK_EQ(w->wr_id, i);
			CHECK_EQ(w->num_sge, 3);
			CHECK_EQ(d[2].addr, 0x30);
			CHECK_EQ(d[2].length, 3);
			CHECK_EQ(d[2].lkey, 9);
			f.rq_hdr->cons++;
			/* The place is free when the completion is polled. */
			fake_complete(&f, i, 0x11);
			CHECK_EQ(uroce_post_recv(&f.qp->ibv, &wr, &bad),
				 ENOMEM);
		}
		CHECK_EQ(uroce_poll_cq(&f.cq->vcq.cq, 8, wc), 4);
		CHECK_EQ(f.rq_hdr->cons, f.rq_hdr->prod);
	}
	CHECK(!f.page->summary);
}

static void test_errors_and_doorbell(void)
{
	struct ibv_sge sge[4] = {{0}};
	struct ibv_recv_wr wr[2] = {{.next = &wr[1], .sg_list = sge},
				    {.num_sge = 4, .sg_list = sge}};
	struct ibv_recv_wr *bad;
	struct uroce_srq srq = {0};
	struct fake f;

	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	f.rq_hdr->flags = UROCE_RING_F_NEED_DB;
	CHECK_EQ(uroce_post_recv(&f.qp->ibv, wr, &bad), EINVAL);
	CHECK(bad == &wr[1]);
	/* The first of the list was posted, and its doorbell was rung. */
	CHECK_EQ(f.rq_hdr->prod, 1);
	CHECK(fake_take_doorbell(&f, 131));
	f.qp->state = IBV_QPS_RESET;
	CHECK_EQ(uroce_post_recv(&f.qp->ibv, wr, &bad), EINVAL);
	CHECK(bad == &wr[0]);

	srq.vsrq.srq.context = &f.ctx.ibv;
	srq.db = f.ctx.db;
	srq.rq = f.qp->rq;
	srq.db_slot = 4000;
	wr[0].next = NULL;
	CHECK_EQ(uroce_post_srq_recv(&srq.vsrq.srq, wr, &bad), 0);
	CHECK_EQ(f.rq_hdr->prod, 2);
	CHECK(fake_take_doorbell(&f, 4000));

	/* A queue pair on an SRQ has no receive queue of its own. */
	fake_init(&f, UR_SENDS_RC, 4, 16, 4);
	f.qp->rq.max_wqes = 0;
	CHECK_EQ(uroce_post_recv(&f.qp->ibv, wr, &bad), EINVAL);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_full_and_refill());
	CASE(test_errors_and_doorbell());
	return cases_status();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two ports with a wire between them: every operation moves its bytes, with
 * and without loss, and in the same way when the peer is on the same port.
 */
#include "tests/scenario/transport/wiretap.h"

static struct wt a, b;
static struct wt_qp qa, qb;

static void start(enum ur_qp_type type, bool loop)
{
	wt_config(&a, 0);
	wt_config(&b, 1);
	if (loop)
		wt_loop(&a);
	wt_open(&a);
	wt_open(&b);
	wt_rts(&a, &qa, type, loop ? 0x12 : 0x11, 0xfffffe, 5);
	wt_rts(loop ? &a : &b, &qb, type, 0x11, 5, 0xfffffe);
	for (u32 i = 0; i < WT_MEM_BYTES / 2; i++)
		qb.wt->mem[WT_MEM_BYTES / 2 + i] = 0;
}

static void stop(void)
{
	CHECK(!ur_qp_check(qa.qp));
	CHECK(!ur_qp_check(qb.qp));
	ur_qp_destroy(qa.qp);
	ur_qp_destroy(qb.qp);
	wt_close(&a);
	wt_close(&b);
}

static bool same(u32 from, u32 to, u32 len)
{
	return memcmp(qa.wt->mem + from, qb.wt->mem + to, len) == 0;
}

static void run(u32 drop)
{
	ur_qp_kick(qa.qp);
	wt_pump_for(&a, &b, drop, 20000 * WT_MS);
}

static const u32 sizes[] = {0,	 1,   3,    255,   256,	  257,
			    511, 512, 4096, 65537, 300000};
#define HALF (WT_MEM_BYTES / 2)

static void move_all(u32 drop)
{
	struct ur_send_wr *wr;
	struct ur_wc wc;

	for (u32 i = 0; i < UR_ARRAY_SIZE(sizes); i++) {
		u32 n = sizes[i];

		memset(qb.wt->mem + HALF, 0, HALF);
		wt_post_recv(&qb, HALF, 400000);
		wr = wt_post(&qa, UR_WR_SEND_IMM, 100, n);
		wr->imm_inv = 0x01020304 + i;
		run(drop);
		wc = wt_wc(&qa, UR_WC_SUCCESS);
		CHECK_EQ(wc.opcode, UR_WC_SEND);
		wc = wt_wc(&qb, UR_WC_SUCCESS);
		CHECK_EQ(wc.byte_len, n);
		CHECK_EQ(wc.imm_inv, 0x01020304 + i);
		CHECK(wc.wc_flags & UR_WC_F_IMM);
		CHECK(same(100, HALF, n));

		memset(qb.wt->mem + HALF, 0, HALF);
		wr = wt_post(&qa, UR_WR_WRITE, 100, n);
		wr->raddr = WT_IOVA + HALF + 1;
		wr->rkey = qb.wt->key;
		run(drop);
		wt_wc(&qa, UR_WC_SUCCESS);
		CHECK(same(100, HALF + 1, n));
	}
	wt_no_wc(&qa);
	wt_no_wc(&qb);
}

static void read_all(u32 drop)
{
	struct ur_send_wr *wr;
	u64 value = 0x1122334455667788ull;

	for (u32 i = 0; i < UR_ARRAY_SIZE(sizes); i++) {
		u32 n = sizes[i];

		for (u32 k = 0; k < n; k++)
			qb.wt->mem[HALF + k] = (u8)(k * 13 + i);
		wr = wt_post(&qa, UR_WR_READ, 100, n);
		wr->raddr = WT_IOVA + HALF;
		wr->rkey = qb.wt->key;
		run(drop);
		CHECK_EQ(wt_wc(&qa, UR_WC_SUCCESS).opcode, UR_WC_RDMA_READ);
		CHECK(same(100, HALF, n));
	}
	for (u32 i = 0; i < 40; i++) {
		memcpy(qb.wt->mem + HALF, &value, 8);
		wr = wt_post(&qa, UR_WR_FETCH_ADD, 64, 8);
		wr->raddr = WT_IOVA + HALF;
		wr->rkey = qb.wt->key;
		wr->swap_add = 1;
		wr = wt_post(&qa, UR_WR_CMP_SWAP, 72, 8);
		wr->raddr = WT_IOVA + HALF;
		wr->rkey = qb.wt->key;
		wr->compare = value + 1;
		wr->swap_add = 77;
		run(drop);
		wt_wc(&qa, UR_WC_SUCCESS);
		wt_wc(&qa, UR_WC_SUCCESS);
		CHECK(memcmp(qa.wt->mem + 64, &value, 8) == 0);
		value++;
		CHECK(memcmp(qa.wt->mem + 72, &value, 8) == 0);
		value = 77;
		CHECK(memcmp(qb.wt->mem + HALF, &value, 8) == 0);
		value = 0x5500 + i;
	}
}

int main(void)
{
	for (int loop = 0; loop < 2; loop++) {
		start(UR_QPT_RC, loop);
		move_all(0);
		read_all(0);
		stop();
	}
	for (u32 drop = 100; drop >= 5; drop /= 2) {
		start(UR_QPT_RC, false);
		move_all(drop);
		read_all(drop);
		stop();
	}
	for (int loop = 0; loop < 2; loop++) {
		start(UR_QPT_UC, loop);
		move_all(0);
		stop();
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* WQEs as a good client writes them, and as a hostile one does. */
#include <errno.h>
#include "engine/core/ring_io.h"
#include "tests/check.h"
#include "util/rng.h"

#define BBS 16

static struct {
	struct uroce_ring_hdr hdr;
	u8 base[BBS * UROCE_SQ_BB];
} sq;
static struct ur_ring ring;
static struct ur_send_wr wr;
static u32 ah;

static void reset(u32 first)
{
	memset(&sq, 0, sizeof(sq));
	sq.hdr.prod = first;
	ur_ring_init(&ring, &sq.hdr, sq.base, BBS, UROCE_SQ_BB, first);
}

/* Write bytes of a WQE at the producer index, around the end if need be. */
static void post(const void *wqe, u32 bytes)
{
	u32 bbs = (bytes + UROCE_SQ_BB - 1) / UROCE_SQ_BB;
	const u8 *p = wqe;

	for (u32 i = 0; i < bytes; i++)
		sq.base[((sq.hdr.prod % BBS) * UROCE_SQ_BB + i) %
			sizeof(sq.base)] = p[i];
	sq.hdr.prod += bbs;
}

static u32 put_ctrl(u8 *w, u8 opcode, u8 flags, u32 bytes)
{
	struct uroce_wqe_ctrl c = {
		.opcode = opcode,
		.flags = flags,
		.ds = (u8)((bytes + 15) / 16),
		.wr_id = 0x1122334455667788,
		.imm_inv = 77,
	};

	memcpy(w, &c, sizeof(c));
	return sizeof(c);
}

static void test_write_sges(void)
{
	u8 w[1024] = {0};
	struct uroce_wqe_raddr r = {0x1000, 5, 0};

	reset(0xfffffff8u); /* over the wrap of the index and of the ring */
	for (int round = 0; round < 20; round++) {
		put_ctrl(w, UROCE_WQE_WRITE, UROCE_WQE_F_SIGNALED, 32 + 7 * 16);
		memcpy(w + 16, &r, sizeof(r));
		for (u32 i = 0; i < 7; i++) {
			struct uroce_wqe_data d = {100 + i, 9, 0x5000 + i};

			memcpy(w + 32 + 16 * i, &d, sizeof(d));
		}
		CHECK_EQ(ur_ring_read_send(&ring, false, &wr, &ah), 0);
		post(w, 32 + 7 * 16);
		CHECK_EQ(ur_ring_read_send(&ring, false, &wr, &ah), 1);
		CHECK_EQ(wr.num_sge, 7);
		CHECK_EQ(wr.raddr, 0x1000);
		CHECK_EQ(wr.rkey, 5);
		CHECK_EQ(wr.sge[6].addr, 0x5006);
		CHECK_EQ(wr.sge[6].length, 106);
		CHECK_EQ(wr.sge[6].lkey, 9);
		CHECK_EQ(wr.ring_end, sq.hdr.prod);
		ur_ring_retire(&ring, wr.ring_end);
		CHECK_EQ(sq.hdr.cons, sq.hdr.prod);
	}
}

static void test_inline_wraps(void)
{
	u8 w[1024] = {0}, got[512];
	struct uroce_wqe_inline inl = {300};

	reset(14); /* two BBs before the end */
	put_ctrl(w, UROCE_WQE_SEND, UROCE_WQE_F_INLINE, 16 + 4 + 300);
	memcpy(w + 16, &inl, sizeof(inl));
	for (u32 i = 0; i < 300; i++)
		w[20 + i] = (u8)i;
	post(w, 16 + 4 + 300);
	CHECK_EQ(ur_ring_read_send(&ring, false, &wr, &ah), 1);
	CHECK_EQ(wr.inl_len[0] + wr.inl_len[1], 300);
	CHECK_EQ(wr.inl_len[0], 128 - 20);
	memcpy(got, wr.inl[0], wr.inl_len[0]);
	memcpy(got + wr.inl_len[0], wr.inl[1], wr.inl_len[1]);
	for (u32 i = 0; i < 300; i++)
		CHECK_EQ(got[i], (u8)i);
}

static void test_ud(void)
{
	u8 w[64] = {0};
	struct uroce_wqe_av av = {3, 17, 0x11, 0};

	reset(0);
	put_ctrl(w, UROCE_WQE_SEND, 0, 48);
	memcpy(w + 16, &av, sizeof(av));
	post(w, 48);
	CHECK_EQ(ur_ring_read_send(&ring, true, &wr, &ah), 1);
	CHECK_EQ(ah, 3);
	CHECK_EQ(wr.dqpn, 17);
	CHECK_EQ(wr.qkey, 0x11);
	CHECK_EQ(wr.num_sge, 1);
}

static void refuse(const u8 *w, u32 bytes, bool has_av)
{
	reset(0);
	post(w, bytes);
	CHECK_EQ(ur_ring_read_send(&ring, has_av, &wr, &ah), (u64)-EINVAL);
}

static void test_hostile_wqe(void)
{
	u8 w[1024];
	struct uroce_wqe_inline inl = {1000};

	memset(w, 0, sizeof(w)); /* ds 0 */
	refuse(w, 64, false);
	put_ctrl(w, UR_WR_OPCODES, 0, 64);
	refuse(w, 64, false);
	put_ctrl(w, UROCE_WQE_SEND, 0, 64);
	w[2] = 255; /* longer than a WQE may be */
	refuse(w, 64, false);
	put_ctrl(w, UROCE_WQE_SEND, 0, 512); /* longer than what is posted */
	refuse(w, 64, false);
	put_ctrl(w, UROCE_WQE_WRITE, 0, 16); /* no room for its segments */
	refuse(w, 64, false);
	put_ctrl(w, UROCE_WQE_SEND, 0, 16); /* nor for an address vector */
	refuse(w, 64, true);
	put_ctrl(w, UROCE_WQE_SEND, UROCE_WQE_F_INLINE, 64);
	memcpy(w + 16, &inl, sizeof(inl)); /* more than the WQE holds */
	refuse(w, 64, false);
	put_ctrl(w, UROCE_WQE_MASK_CMP_SWAP, UROCE_WQE_F_INLINE, 128);
	refuse(w, 128, false);
	put_ctrl(w, UROCE_WQE_SEND, 0, 16 + 33 * 16); /* too many pieces */
	refuse(w, 16 + 33 * 16, false);
}

static void test_hostile_index(void)
{
	reset(0);
	sq.hdr.prod = BBS + 1;
	CHECK_EQ(ur_ring_avail(&ring), (u64)-EINVAL);
	sq.hdr.prod = (u32)-1;
	CHECK_EQ(ur_ring_avail(&ring), (u64)-EINVAL);
	sq.hdr.prod = BBS;
	CHECK_EQ(ur_ring_avail(&ring), BBS);
	ring.next = 8; /* backwards past what was read */
	ring.prod = 8;
	sq.hdr.prod = 4;
	CHECK_EQ(ur_ring_avail(&ring), (u64)-EINVAL);
	ur_ring_drop(&ring);
	CHECK_EQ(ur_ring_avail(&ring), 0);
}

/* Any bytes: no crash, pieces inside the ring. */
static void test_random(void)
{
	struct ur_rng rng = {7};

	for (int round = 0; round < 200000; round++) {
		reset(ur_rng_below(&rng, 1000));
		for (u32 i = 0; i < sizeof(sq.base); i += 8) {
			u64 v = ur_rng_u64(&rng);

			memcpy(sq.base + i, &v, 8);
		}
		for (u32 i = 0; i < BBS; i++) {
			struct uroce_wqe_ctrl *c = (void *)(sq.base + i * 64);

			c->opcode %= UR_WR_OPCODES + 1;
			c->ds %= 66;
			c->rsv = 0;
		}
		sq.hdr.prod += ur_rng_below(&rng, BBS + 2);
		while (ur_ring_read_send(&ring, round & 1, &wr, &ah) > 0) {
			CHECK(wr.num_sge <= UR_MAX_SGE);
			if (!(wr.flags & UR_WR_F_INLINE))
				continue;
			CHECK(wr.inl[0] >= sq.base &&
			      wr.inl[0] + wr.inl_len[0] <=
				      sq.base + sizeof(sq.base));
			CHECK(wr.inl_len[0] + wr.inl_len[1] <= 1024);
		}
	}
}

static void test_recv(void)
{
	struct {
		struct uroce_recv_wqe h;
		struct uroce_wqe_data d[3];
	} w = {{0x99, 2, 0}, {{1, 2, 3}, {4, 5, 6}, {0, 0, 0}}};
	struct ur_recv_wr rwr;

	memset(&sq, 0, sizeof(sq));
	ur_ring_init(&ring, &sq.hdr, sq.base, 4, 64, 0);
	memcpy(sq.base, &w, sizeof(w));
	sq.hdr.prod = 1;
	CHECK_EQ(ur_ring_read_recv(&ring, &rwr), 1);
	CHECK_EQ(rwr.wr_id, 0x99);
	CHECK_EQ(rwr.num_sge, 2);
	CHECK_EQ(rwr.sge[1].lkey, 5);
	CHECK_EQ(sq.hdr.cons, 1);
	CHECK_EQ(ur_ring_read_recv(&ring, &rwr), 0);
	w.h.num_sge = 4; /* more than the stride holds */
	memcpy(sq.base + 64, &w, 64);
	sq.hdr.prod = 2;
	CHECK_EQ(ur_ring_read_recv(&ring, &rwr), (u64)-EINVAL);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_write_sges());
	CASE(test_inline_wraps());
	CASE(test_ud());
	CASE(test_hostile_wqe());
	CASE(test_hostile_index());
	CASE(test_random());
	CASE(test_recv());
	return cases_status();
}

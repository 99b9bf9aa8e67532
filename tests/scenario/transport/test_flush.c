// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * FLUSH and ATOMIC WRITE: what reaches the memory, and what is refused with
 * which answer; the same from a peer elsewhere and from one of this port. IBTA
 * volume 1, annex A19.
 */
#include "tests/scenario/transport/wiretap.h"

#define BYTES 4096
#define IOVA  0x20000000ull

static struct wt w;
static struct wt_qp q, r;
static struct ur_mr *mr;
static u32 psn;

/* The range that the region was asked to flush, and its first word. */
static struct {
	u32 calls, type;
	u64 off, len, word;
} seen;

static int on_write(void *mem, u64 off, const void *src, u32 len)
{
	CHECK(off == 0 && len == 8);
	memcpy(&seen.word, src, 8);
	return 0;
}

static int on_flush(void *mem, u64 off, u64 len, u32 type)
{
	seen.calls++;
	seen.off = off;
	seen.len = len;
	seen.type = type;
	return 0;
}

static const struct ur_mem_ops ops = {.write = on_write, .flush = on_flush};

/* q asks r, or the test does in its place. */
static void start(u32 access, bool loop)
{
	struct ur_mr_attr attr = {.pd = WT_PD,
				  .access = access,
				  .iova = IOVA,
				  .length = BYTES,
				  .ops = &ops};

	memset(&seen, 0, sizeof(seen));
	wt_config(&w, 0);
	if (loop)
		wt_loop(&w);
	wt_open(&w);
	CHECK(!ur_mr_create(w.port, &attr, &mr));
	wt_pair(&w, &q, &r, UR_QPT_RC, 9);
	psn = 9;
}

static void stop(void)
{
	CHECK(!ur_qp_check(q.qp));
	CHECK(!ur_qp_check(r.qp));
	ur_qp_destroy(q.qp);
	ur_qp_destroy(r.qp);
	CHECK(!ur_mr_destroy(mr));
	wt_close(&w);
}

enum { OK, INVALID = WT_NAK_INV_REQ, ACCESS = WT_NAK_ACCESS };

struct flush {
	u32 access, type, level;
	u64 off, len;
	u32 key_xor;
	u32 want;
};

static void by_packet(const struct ur_pkt *pkt, const void *payload, u32 want)
{
	wt_feed(&w, *pkt, payload);
	if (want)
		wt_expect_ack(&w, (u8)want, psn);
	else
		CHECK_EQ(wt_expect(&w, UR_OP_RC_READ_RESP_ONLY, psn)
				 ->pkt.payload_bytes,
			 0);
	wt_silence(&w);
}

static void by_loop(u32 want)
{
	wt_kick(&q);
	wt_wc(&q, want == INVALID  ? UR_WC_REM_INV_REQ_ERR
		  : want == ACCESS ? UR_WC_REM_ACCESS_ERR
				   : UR_WC_SUCCESS);
	wt_silence(&w);
}

static void flush(const struct flush *f, bool loop)
{
	struct ur_pkt pkt = {.opcode = UR_OP_RC_FLUSH,
			     .dqpn = r.qp->qpn,
			     .psn = psn,
			     .ackreq = true,
			     .va = IOVA + f->off,
			     .rkey = ur_mr_key(mr) ^ f->key_xor,
			     .dma_bytes = (u32)f->len,
			     .flush_placement = (u8)f->type,
			     .flush_selectivity = (u8)f->level};
	struct ur_send_wr *wr;

	if (!loop) {
		by_packet(&pkt, NULL, f->want);
		return;
	}
	wr = wt_post(&q, UR_WR_FLUSH, 0, 0);
	wr->raddr = pkt.va;
	wr->rkey = pkt.rkey;
	wr->flush_length = f->len;
	wr->flush_type = f->type;
	wr->flush_level = f->level;
	by_loop(f->want);
}

#define G   UR_ACCESS_FLUSH_GLOBAL
#define P   UR_ACCESS_FLUSH_PERSISTENT
#define ALL UR_FETH_SEL_MR

static const struct flush flushes[] = {
	{G, UR_FETH_GLOBAL, 0, 8, 16, 0, OK},
	{P, UR_FETH_PERSISTENT, 0, 0, BYTES, 0, OK},
	{G | P, UR_FETH_GLOBAL | UR_FETH_PERSISTENT, 0, 5, 7, 0, OK},
	/* The whole region: the range is not looked at. */
	{G, UR_FETH_GLOBAL, ALL, 0, 0, 0, OK},
	{G, UR_FETH_GLOBAL, ALL, -IOVA, 0, 0, OK},
	{G, UR_FETH_GLOBAL, ALL, BYTES, 999, 0, OK},
	/* Each type asks for its right, whatever the level. */
	{P, UR_FETH_GLOBAL, 0, 8, 16, 0, ACCESS},
	{G, UR_FETH_PERSISTENT, 0, 8, 16, 0, ACCESS},
	{G, UR_FETH_GLOBAL | UR_FETH_PERSISTENT, 0, 8, 16, 0, ACCESS},
	{P, UR_FETH_GLOBAL, ALL, 0, 0, 0, ACCESS},
	{G | P, UR_FETH_GLOBAL, 0, BYTES - 15, 16, 0, ACCESS},
	{G | P, UR_FETH_GLOBAL, 0, -1, 16, 0, ACCESS},
	{G | P, UR_FETH_GLOBAL, 0, 8, 16, 1, ACCESS},
	{G | P, UR_FETH_GLOBAL, ALL, 0, 0, 1, ACCESS},
	{G | P, 0, 0, 8, 16, 0, INVALID},
	{G | P, 4, 0, 8, 16, 0, INVALID},
	{G | P, UR_FETH_GLOBAL, 2, 8, 16, 0, INVALID},
};

static void test_flush(bool loop)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(flushes); i++) {
		const struct flush *f = &flushes[i];
		bool all = f->level == ALL;

		start(f->access, loop);
		flush(f, loop);
		CHECK_EQ(seen.calls, f->want == OK);
		if (seen.calls) {
			CHECK_EQ(seen.type, f->type);
			CHECK_EQ(seen.off, all ? 0 : f->off);
			CHECK_EQ(seen.len, all ? BYTES : f->len);
		}
		stop();
	}
}

static void write8(u64 va, u64 value, u32 want, bool loop)
{
	struct ur_pkt pkt = {.opcode = UR_OP_RC_ATOMIC_WRITE,
			     .dqpn = r.qp->qpn,
			     .psn = psn,
			     .ackreq = true,
			     .va = va,
			     .rkey = ur_mr_key(mr),
			     .dma_bytes = 8,
			     .payload_bytes = 8};
	struct ur_send_wr *wr;

	if (!loop) {
		by_packet(&pkt, &value, want);
		return;
	}
	memcpy(w.mem, &value, 8);
	wr = wt_post(&q, UR_WR_ATOMIC_WRITE, 0, 8);
	wr->raddr = va;
	wr->rkey = pkt.rkey;
	by_loop(want);
}

#define RW (UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE)

static void test_atomic_write(bool loop)
{
	static const struct {
		u32 access, qp_access;
		u64 off;
		u32 want;
	} cases[] = {
		{RW, RW, 0, OK},
		{RW, RW, 4, INVALID},
		{RW, RW, BYTES, ACCESS},
		{RW, RW, -8, ACCESS},
		{UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_ATOMIC, RW, 0,
		 ACCESS},
		{RW, UR_ACCESS_REMOTE_READ, 0, INVALID},
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(cases); i++) {
		start(cases[i].access, loop);
		r.qp->attr.access = cases[i].qp_access;
		write8(IOVA + cases[i].off, 0x1122334455667788ull,
		       cases[i].want, loop);
		CHECK_EQ(seen.word,
			 cases[i].want == OK ? 0x1122334455667788ull : 0);
		stop();
	}
	/* Once more by the network: answered, and not written again. */
	start(RW, false);
	write8(IOVA, 1, OK, false);
	seen.word = 2;
	write8(IOVA, 1, OK, false);
	CHECK_EQ(seen.word, 2);
	stop();
}

/* Too short and too long never leave. */
static void test_length(void)
{
	for (u32 len = 4; len <= 16; len += 12) {
		start(RW, false);
		wt_post(&q, UR_WR_ATOMIC_WRITE, 0, len)->raddr = IOVA;
		wt_kick(&q);
		wt_wc(&q, UR_WC_LOC_LEN_ERR);
		wt_silence(&w);
		stop();
	}
	for (u32 i = 0; i < 2; i++) {
		struct ur_send_wr *wr;

		start(G, false);
		wr = wt_post(&q, UR_WR_FLUSH, 0, 0);
		wr->flush_type = i ? 17 : 1;
		wr->flush_level = i ? 0 : 4;
		wt_kick(&q);
		wt_wc(&q, UR_WC_LOC_QP_OP_ERR);
		wt_silence(&w);
		stop();
	}
	start(G, false);
	wt_post(&q, UR_WR_FLUSH, 0, 0)->flush_length = 1ull << 32;
	wt_kick(&q);
	wt_wc(&q, UR_WC_LOC_LEN_ERR);
	wt_silence(&w);
	stop();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_flush(0));
	CASE(test_atomic_write(0));
	CASE(test_flush(1));
	CASE(test_atomic_write(1));
	CASE(test_length());
	return cases_status();
}

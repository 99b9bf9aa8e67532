// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ring door: a client that writes anything into its send and receive
 * rings, between reads and during the life of a request.
 *
 * Input: one byte of world options, then records: a byte of where and how, a
 * byte that adds to the producer index (in half laps when its high bit is
 * set), a byte of how many 16-byte segments follow, the segments. They are
 * written at the old producer index. A 32-bit word 0x4b455930 + n ("0YEK")
 * in them is replaced by the n-th valid key, as nobody could guess it.
 *
 * Every work request that the reader lets through must be inside its ring,
 * and goes on into a real port.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/core/ring_io.h"
#include "tests/check.h"
#include "tests/fuzz/qp_world.h"

#define SQ_BBS	   64
#define RQ_ENTRIES 8
#define RQ_STRIDE  64
#define KEY_WORD   0x4b455930u
#define TX_DESCS   16
#define RECORDS	   64
#define INPUT_MAX  8192

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct world *w;

/* Exactly as large as asked for, so that a sanitizer sees accesses beyond. */
struct rings {
	struct uroce_ring_hdr *sq_hdr, *rq_hdr;
	u8 *sq_base, *rq_base;
	struct ur_ring sq, rq;
};

static void rings_open(struct rings *r)
{
	r->sq_hdr = calloc(1, sizeof(*r->sq_hdr));
	r->rq_hdr = calloc(1, sizeof(*r->rq_hdr));
	r->sq_base = calloc(SQ_BBS, UROCE_SQ_BB);
	r->rq_base = calloc(RQ_ENTRIES, RQ_STRIDE);
	CHECK(r->sq_hdr && r->rq_hdr && r->sq_base && r->rq_base);
	ur_ring_init(&r->sq, r->sq_hdr, r->sq_base, SQ_BBS, UROCE_SQ_BB, 0);
	ur_ring_init(&r->rq, r->rq_hdr, r->rq_base, RQ_ENTRIES, RQ_STRIDE,
		     UINT32_MAX - 3);
	r->rq_hdr->prod = UINT32_MAX - 3;
}

static void rings_close(struct rings *r)
{
	free(r->sq_hdr);
	free(r->rq_hdr);
	free(r->sq_base);
	free(r->rq_base);
}

static u32 replace_key(u32 word)
{
	switch (word - KEY_WORD) {
	case 0:
		return ur_mr_key(w->mr);
	case 1:
		return ur_mr_key(w->mr_ops);
	case 2:
		return ur_mw_rkey(w->mw[0]);
	case 3:
		return ur_mw_rkey(w->mw[1]);
	case 4:
		return ur_qp_number(w->sides[UD_B].qp);
	case 5:
		return ur_srq_number(w->srq);
	}
	return word;
}

/* Segments into a ring of so many bytes, from byte `at` on, wrapping. */
static const u8 *scribble(u8 *base, size_t bytes, size_t at, const u8 *in,
			  const u8 *end, u32 segments)
{
	for (u32 n = segments * 4; n && end - in >= 4; n--, in += 4) {
		u32 word = replace_key(ur_get_le32(in));

		ur_put_le32(base + at % bytes, word);
		at += 4;
	}
	return in;
}

static void check_piece(const struct rings *r, const u8 *p, u32 len)
{
	CHECK(!len || (p >= r->sq_base &&
		       p + len <= r->sq_base + SQ_BBS * UROCE_SQ_BB));
}

/* Checks the promises of the reader about a request. */
static void check_send(const struct rings *r, const struct ur_send_wr *wr)
{
	u32 bbs = wr->ring_end - wr->wqe_counter;

	CHECK(wr->opcode < UR_WR_OPCODES);
	CHECK(wr->num_sge <= UR_MAX_SGE);
	CHECK(bbs >= 1 && bbs * UROCE_SQ_BB <= UROCE_MAX_WQE_BYTES);
	CHECK(!wr->av);
	check_piece(r, wr->inl[0], wr->inl_len[0]);
	check_piece(r, wr->inl[1], wr->inl_len[1]);
	CHECK(wr->inl_len[0] + wr->inl_len[1] <= UROCE_MAX_WQE_BYTES);
}

/* All requests posted so far into the port. False: the ring is corrupt. */
static bool read_sends(struct rings *r, int i)
{
	struct side *s = &w->sides[i];
	bool has_av = i == UD_A || i == XRC_INI;
	struct ur_send_wr wr;
	int rc = 0;
	u32 ah;

	while (s->ring.send_tail - s->ring.retired < WRS_MAX &&
	       (rc = ur_ring_read_send(&r->sq, has_av, &wr, &ah)) > 0) {
		check_send(r, &wr);
		if (i == UD_A && ah == 1)
			wr.av = &w->av;
		ring_post(&s->ring, &wr);
	}
	ur_qp_kick(s->qp);
	return rc >= 0;
}

static bool read_recvs(struct rings *r)
{
	struct ur_recv_wr wr;
	int rc;

	while ((rc = ur_ring_read_recv(&r->rq, &wr)) > 0)
		CHECK(wr.num_sge * sizeof(struct uroce_wqe_data) +
			      sizeof(struct uroce_recv_wqe) <=
		      RQ_STRIDE);
	return rc >= 0;
}

static void run_port(void)
{
	struct ur_rx_meta meta = {.v4 = true, .ttl = 64};
	struct ur_tx_desc descs[TX_DESCS];
	struct ur_tx tx = {
		.buf = w->tx,
		.cap = TX_BYTES,
		.desc = descs,
		.max_desc = TX_DESCS,
	};

	memcpy(meta.saddr, w->av.dgid, 16);
	memcpy(meta.daddr, w->av.sgid, 16);
	ur_port_tx(w->port, w->now, &tx);
	for (u32 i = 0; i < tx.n_desc; i++)
		ur_port_rx(w->port, w->now, &meta, tx.buf + descs[i].off,
			   descs[i].len);
	world_check(w);
}

static const u8 *record(struct rings *r, int i, const u8 *in, const u8 *end)
{
	u8 how = in[0];
	u32 add = in[1] & 0x80 ? (in[1] & 0x7fu) * (SQ_BBS / 2) : in[1];
	u32 segments = in[2];
	bool good = true;

	in += 3;
	if (how & 1) {
		in = scribble(r->rq_base, RQ_ENTRIES * RQ_STRIDE,
			      (size_t)r->rq_hdr->prod * RQ_STRIDE, in, end,
			      segments);
		r->rq_hdr->prod += add;
		good = read_recvs(r);
	} else {
		in = scribble(r->sq_base, SQ_BBS * UROCE_SQ_BB,
			      (size_t)r->sq_hdr->prod * UROCE_SQ_BB, in, end,
			      segments);
		r->sq_hdr->prod += add;
		good = read_sends(r, i);
	}
	/* Or not: then the next record changes what is being sent. */
	for (u32 n = how >> 1 & 3; n; n--)
		run_port();
	if (w->sides[i].ring.retired == w->sides[i].ring.send_head &&
	    w->sides[i].ring.send_head == w->sides[i].ring.send_tail)
		ur_ring_retire(&r->sq, r->sq.next);
	if (!good) /* as a RESET does */
		ur_ring_drop(how & 1 ? &r->rq : &r->sq);
	return in;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const int senders[] = {RC_A, UC_A, UD_A, XRC_INI};
	const u8 *in = data + 1, *end = data + size;
	struct rings r;
	int i;

	if (size < 1 || size > INPUT_MAX)
		return 0;
	w = world_create(data[0] & 0x1f);
	i = senders[data[0] >> 5 & 3];
	w->sides[PEER(i)].ring.recv_tail = 8;
	rings_open(&r);
	for (u32 n = 0; n < RECORDS && end - in >= 3; n++)
		in = record(&r, i, in, end);
	world_destroy(w);
	rings_close(&r);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every opcode at every length from nothing to a few words beyond its
 * headers, with every pad count; every field there and back.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "transport/packet.h"
#include "util/rng.h"

static struct ur_rng rng = {20};

/* A buffer of exactly len bytes, so that a sanitizer sees an overread. */
static u8 *exact(const u8 *from, size_t len)
{
	u8 *p = malloc(len ? len : 1);

	CHECK(p);
	memcpy(p, from, len);
	return p;
}

/* The verdict by the rules as the header states them. */
static enum ur_pkt_error expected(u8 opcode, size_t len, u32 pad, u32 tver)
{
	const struct ur_opcode *op = ur_opcode_lookup(opcode);
	size_t rest = len - op->header_bytes;

	if (len < 12)
		return UR_PKT_SHORT;
	if (!op->flags)
		return UR_PKT_OPCODE;
	if (tver)
		return UR_PKT_TVER;
	if (len < op->header_bytes)
		return UR_PKT_SHORT;
	if (len % 4)
		return UR_PKT_ALIGN;
	if (pad > rest)
		return UR_PKT_PAD;
	if (rest && !(op->flags & UR_OPF_PAYLOAD))
		return UR_PKT_TRAILING;
	if (rest - pad > 4096)
		return UR_PKT_PAYLOAD;
	if ((opcode & 0x1f) == UR_OPC_ATOMIC_WRITE && rest - pad != 8)
		return UR_PKT_PAYLOAD;
	return UR_PKT_OK;
}

static void check_one(u8 opcode, size_t len, u32 pad, u32 tver)
{
	u8 wire[8192], built[UR_HEADERS_MAX_BYTES], *p;
	struct ur_pkt pkt;
	enum ur_pkt_error want = expected(opcode, len, pad, tver);
	size_t n;

	CHECK(len <= sizeof(wire));
	for (size_t i = 0; i < len; i++)
		wire[i] = (u8)ur_rng_u64(&rng);
	if (len > 0)
		wire[0] = opcode;
	if (len > 1)
		wire[1] = (u8)((wire[1] & 0xc0) | pad << 4 | tver);
	p = exact(wire, len);
	CHECK_EQ(ur_pkt_parse(&pkt, p, len), want);
	if (want == UR_PKT_OK) {
		CHECK_EQ(pkt.pad, pad);
		CHECK_EQ(pkt.payload_bytes, len - pkt.header_bytes - pad);
		CHECK(pkt.payload == p + pkt.header_bytes);
		CHECK_EQ(pkt.psn, ur_bth_psn(p));
		CHECK_EQ(pkt.dqpn, ur_bth_dqpn(p));
		/* Reserved bits are not kept: build, parse, build again. */
		n = ur_pkt_build(&pkt, built);
		CHECK_EQ(n, pkt.header_bytes);
		memcpy(p, built, n);
		memset(built, 0xa5, sizeof(built));
		CHECK_EQ(ur_pkt_parse(&pkt, p, len), UR_PKT_OK);
		CHECK_EQ(ur_pkt_build(&pkt, built), n);
		CHECK(!memcmp(p, built, n));
	}
	free(p);
}

static void check_all_lengths(void)
{
	for (int opcode = 0; opcode < 256; opcode++) {
		size_t max = ur_opcode_lookup((u8)opcode)->header_bytes + 8u;

		if (max < 20)
			max = 20;
		for (size_t len = 0; len <= max; len++) {
			for (u32 pad = 0; pad < 4; pad++)
				check_one((u8)opcode, len, pad, 0);
			check_one((u8)opcode, len, 0, 1 + opcode % 15);
		}
		for (u32 more = 4092; more <= 4108; more++)
			check_one((u8)opcode, max - 8 + more, more & 3, 0);
	}
}

/* One packet with every header kind, byte by byte. */
static void check_layout(void)
{
	static const u8 xrc_cas[] = {
		0xb3, 0x80, 0x80, 0x01, 0,    0x12, 0x34, 0x56, 0x80,
		0xab, 0xcd, 0xef, 0,	0x00, 0x07, 0x08, 1,	2,
		3,    4,    5,	  6,	7,    8,    0xde, 0xad, 0xbe,
		0xef, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28};
	static const u8 flush[] = {
		0x1c, 0, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,	 0x12,
		0,    0, 0,    0,    0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0x10, 0};
	static const u8 ud_imm[] = {0x65, 0x70, 0xff, 0xff, 0,	  0, 0, 1, 0, 0,
				    0,	  4,	0x80, 1,    0,	  0, 0, 0, 0, 1,
				    9,	  8,	7,    6,    0x41, 0, 0, 0};
	u8 buf[UR_HEADERS_MAX_BYTES];
	struct ur_pkt pkt;

	CHECK_EQ(ur_pkt_parse(&pkt, xrc_cas, sizeof(xrc_cas)), UR_PKT_OK);
	CHECK(pkt.se && !pkt.migreq && pkt.ackreq);
	CHECK_EQ(pkt.pkey, 0x8001);
	CHECK_EQ(pkt.dqpn, 0x123456);
	CHECK_EQ(pkt.psn, 0xabcdef);
	CHECK_EQ(pkt.xrc_srqn, 0x708);
	CHECK_EQ(pkt.va, 0x0102030405060708);
	CHECK_EQ(pkt.rkey, 0xdeadbeef);
	CHECK_EQ(pkt.swap_add, 0x1112131415161718);
	CHECK_EQ(pkt.compare, 0x2122232425262728);
	CHECK_EQ(ur_pkt_build(&pkt, buf), sizeof(xrc_cas));
	CHECK(!memcmp(buf, xrc_cas, sizeof(xrc_cas)));

	CHECK_EQ(ur_pkt_parse(&pkt, flush, sizeof(flush)), UR_PKT_OK);
	CHECK_EQ(pkt.flush_placement, UR_FETH_PERSISTENT);
	CHECK_EQ(pkt.flush_selectivity, UR_FETH_SEL_MR);
	CHECK_EQ(pkt.va, 9);
	CHECK_EQ(pkt.dma_bytes, 0x1000);
	CHECK_EQ(ur_pkt_build(&pkt, buf), sizeof(flush));
	CHECK(!memcmp(buf, flush, sizeof(flush)));

	CHECK_EQ(ur_pkt_parse(&pkt, ud_imm, sizeof(ud_imm)), UR_PKT_OK);
	CHECK_EQ(pkt.qkey, UR_QKEY_GSI);
	CHECK_EQ(pkt.sqpn, 1);
	CHECK_EQ(pkt.imm, 0x09080706);
	CHECK_EQ(pkt.payload_bytes, 1);
	CHECK_EQ(pkt.payload[0], 0x41);
	CHECK(pkt.migreq);
	CHECK_EQ(ur_pkt_build(&pkt, buf), 24);
	CHECK(!memcmp(buf, ud_imm, 24));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	STEP(check_all_lengths());
	STEP(check_layout());
	for (u32 n = 0; n < 9; n++)
		CHECK_EQ((n + ur_pkt_pad(n)) % 4, 0);
	for (int e = 0; e < UR_PKT_ERRORS; e++)
		CHECK(ur_pkt_error_name((enum ur_pkt_error)e)[0] != '?');
	return cases_status();
}

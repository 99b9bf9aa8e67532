// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Outer headers: there and back, every way to be wrong, the GRH area. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "transport/frame.h"

#define BTH_BYTES 24

static struct ur_frame_addr make_addr(enum ur_frame_kind kind)
{
	struct ur_frame_addr a = {
		.kind = kind,
		.sgid = {0xfe, 0x80, [15] = 1},
		.dgid = {0xfe, 0x80, [15] = 2},
		.tos = 0x62,
		.ttl = 63,
	};

	if (kind == UR_FRAME_V4) {
		ur_gid_from_v4(a.sgid, (const u8[]){10, 0, 0, 1});
		ur_gid_from_v4(a.dgid, (const u8[]){10, 0, 0, 2});
		a.ip_id = 0xbeef;
		a.df = true;
	} else {
		a.flow_label = 0xabcde;
	}
	if (kind != UR_FRAME_V1) {
		a.sport = 0xc123;
		a.dport = UR_ROCE_V2_UDP_PORT;
	}
	return a;
}

static enum ur_frame_error parse_exact(const u8 *pkt, size_t len, bool v1)
{
	struct ur_frame f;
	enum ur_frame_error error;
	u8 *p = malloc(len ? len : 1);

	CHECK(p);
	memcpy(p, pkt, len);
	error = ur_frame_parse(&f, v1, p, len);
	free(p);
	return error;
}

static void check_round_trip(enum ur_frame_kind kind)
{
	struct ur_frame_addr a = make_addr(kind);
	bool v1 = kind == UR_FRAME_V1;
	size_t hdr = ur_frame_header_bytes(kind), len;
	struct ur_frame f;
	u8 pkt[128] = {0}, again[64];

	for (size_t i = 0; i < BTH_BYTES; i++)
		pkt[hdr + i] = (u8)(i * 7);
	len = ur_frame_build(pkt, &a, BTH_BYTES);
	CHECK_EQ(len, hdr + BTH_BYTES + 4);
	/* Ethernet pads short frames: bytes beyond the length are nothing. */
	CHECK_EQ(ur_frame_parse(&f, v1, pkt, len + 6), UR_FRAME_OK);
	CHECK(f.bth == pkt + hdr);
	CHECK_EQ(f.bth_bytes, BTH_BYTES);
	CHECK_EQ(ur_frame_headers(again, &f.addr, BTH_BYTES), hdr);
	CHECK(!memcmp(again, pkt, hdr));
	CHECK(f.addr.kind == kind && !memcmp(f.addr.sgid, a.sgid, 16));

	for (size_t n = 0; n < len; n++)
		CHECK_EQ(parse_exact(pkt, n, v1), UR_FRAME_SHORT);
	pkt[len - 1] ^= 1;
	CHECK_EQ(parse_exact(pkt, len, v1), UR_FRAME_ICRC);
	pkt[len - 1] ^= 1;
	CHECK_EQ(parse_exact(pkt, len, v1), UR_FRAME_OK);
	CHECK(parse_exact(pkt, len, !v1) != UR_FRAME_OK);
}

static void fix_checksum(u8 *ip)
{
	ur_put_be16(ip + 10, 0);
	ur_put_be16(ip + 10, ur_frame_ipv4_checksum(ip));
}

/* Change one 16-bit word of a good packet and want one verdict. */
static void check_bad(enum ur_frame_kind kind, size_t at, u16 value,
		      enum ur_frame_error want)
{
	struct ur_frame_addr a = make_addr(kind);
	u8 pkt[128] = {0};
	size_t len = ur_frame_build(pkt, &a, BTH_BYTES);

	ur_put_be16(pkt + at, value);
	if (kind == UR_FRAME_V4 && want != UR_FRAME_CHECKSUM)
		fix_checksum(pkt);
	CHECK_EQ(parse_exact(pkt, len, kind == UR_FRAME_V1), want);
}

static void check_verdicts(void)
{
	check_bad(UR_FRAME_V4, 0, 0x5500, UR_FRAME_VERSION);
	check_bad(UR_FRAME_V4, 0, 0x4600, UR_FRAME_OPTIONS);
	check_bad(UR_FRAME_V4, 0, 0x4400, UR_FRAME_OPTIONS);
	check_bad(UR_FRAME_V4, 10, 0x1234, UR_FRAME_CHECKSUM);
	check_bad(UR_FRAME_V4, 2, 500, UR_FRAME_SHORT);
	check_bad(UR_FRAME_V4, 2, 19, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V4, 2, 20, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V4, 2, 28, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V4, 2, 52, UR_FRAME_LENGTH); /* UDP says 36 */
	check_bad(UR_FRAME_V4, 6, 0x2000, UR_FRAME_FRAGMENT);
	check_bad(UR_FRAME_V4, 6, 0x4001, UR_FRAME_FRAGMENT);
	check_bad(UR_FRAME_V4, 8, 0x4006, UR_FRAME_PROTO);
	check_bad(UR_FRAME_V4, 22, 4790, UR_FRAME_PORT);
	check_bad(UR_FRAME_V4, 24, 35, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V4, 24, 7, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V6, 4, 500, UR_FRAME_SHORT);
	check_bad(UR_FRAME_V6, 4, 7, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V6, 6, 0x1b40, UR_FRAME_PROTO);
	check_bad(UR_FRAME_V6, 42, 53, UR_FRAME_PORT);
	check_bad(UR_FRAME_V6, 44, 9, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V1, 4, 15, UR_FRAME_LENGTH);
	check_bad(UR_FRAME_V1, 4, 500, UR_FRAME_SHORT);
	check_bad(UR_FRAME_V1, 6, 0x1140, UR_FRAME_PROTO);
	check_bad(UR_FRAME_V1, 0, 0x4560, UR_FRAME_VERSION);
	for (int e = 0; e < UR_FRAME_ERRORS; e++)
		CHECK(ur_frame_error_name((enum ur_frame_error)e)[0] != '?');
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(check_round_trip(UR_FRAME_V4));
	CASE(check_round_trip(UR_FRAME_V6));
	CASE(check_round_trip(UR_FRAME_V1));
	CASE(check_verdicts());
	CHECK_EQ(parse_exact((const u8 *)"", 0, false), UR_FRAME_SHORT);
	return cases_status();
}

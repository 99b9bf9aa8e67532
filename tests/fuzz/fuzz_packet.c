// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The packet door: outer headers, ICRC, transport headers, one-line decode
 * and the identification solver, over any bytes.
 *
 * Input: one byte of mode, then a packet from its IP header or GRH.
 * Mode bit 0: RoCEv1. Bit 1: correct lengths, checksum and ICRC first, so
 * that mutations reach what lies behind those checks.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "transport/dump.h"
#include "transport/frame.h"
#include "transport/packet.h"

#define MODE_V1	  0x01
#define MODE_FIX  0x02
#define MAX_BYTES 16384

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct ur_icrc_cache cache;

/* Make the outer headers of a packet agree with its size. */
static void fix(u8 *pkt, size_t len, bool v1)
{
	enum ur_frame_kind kind = v1		     ? UR_FRAME_V1
				  : pkt[0] >> 4 == 4 ? UR_FRAME_V4
						     : UR_FRAME_V6;
	size_t hdr = ur_frame_header_bytes(kind);

	if (len < hdr + UR_BTH_BYTES + UR_ICRC_BYTES)
		return;
	if (kind == UR_FRAME_V4) {
		pkt[0] = 0x45;
		ur_put_be16(pkt + 2, (u16)len);
		ur_put_be16(pkt + 6, ur_get_be16(pkt + 6) & UR_IPV4_DF);
		pkt[9] = 17;
		ur_put_be16(pkt + 10, 0);
		ur_put_be16(pkt + 10, ur_frame_ipv4_checksum(pkt));
	} else {
		pkt[0] = (u8)(0x60 | (pkt[0] & 0x0f));
		ur_put_be16(pkt + 4, (u16)(len - 40));
		pkt[6] = v1 ? UR_GRH_NEXT_HDR_IBA : 17;
	}
	if (kind != UR_FRAME_V1) {
		ur_put_be16(pkt + hdr - 6, UR_ROCE_V2_UDP_PORT);
		ur_put_be16(pkt + hdr - 4, (u16)(len - hdr + UR_UDP_BYTES));
	}
	ur_put_le32(pkt + len - 4,
		    ur_frame_icrc(kind, pkt, len - hdr - UR_ICRC_BYTES));
}

/* A packet that was parsed, built and parsed again is the same. */
static void check_pkt(const struct ur_frame *f)
{
	u8 headers[UR_HEADERS_MAX_BYTES], *built;
	struct ur_pkt pkt, again;
	size_t n;

	if (ur_pkt_parse(&pkt, f->bth, f->bth_bytes))
		return;
	CHECK(pkt.header_bytes + pkt.payload_bytes + pkt.pad == f->bth_bytes);
	CHECK(pkt.payload_bytes <= UR_MTU_MAX_BYTES);
	built = malloc(f->bth_bytes);
	CHECK(built);
	n = ur_pkt_build(&pkt, built);
	CHECK_EQ(n, pkt.header_bytes);
	memcpy(built + n, pkt.payload, pkt.payload_bytes + pkt.pad);
	CHECK_EQ(ur_pkt_parse(&again, built, f->bth_bytes), UR_PKT_OK);
	CHECK_EQ(again.payload_bytes, pkt.payload_bytes);
	CHECK_EQ(ur_pkt_build(&again, headers), n);
	CHECK(!memcmp(headers, built, n));
	free(built);
}

static void check_solver(const struct ur_frame *f, const u8 *pkt, size_t len)
{
	size_t covered = 28 + f->bth_bytes;
	struct ur_icrc_id id = {0};
	u8 *copy;

	if (f->addr.kind != UR_FRAME_V4 || covered % 4 ||
	    covered > UR_FRAME_MAX_BYTES)
		return;
	copy = malloc(len);
	CHECK(copy);
	memcpy(copy, pkt, len);
	memset(copy + 4, 0, 4);
	CHECK(ur_icrc_solve_id(&cache,
			       ur_frame_icrc(UR_FRAME_V4, copy, f->bth_bytes),
			       f->icrc_right, covered, &id));
	CHECK(id.id == f->addr.ip_id && id.df == f->addr.df);
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	enum ur_frame_error error;
	char line[UR_DUMP_BYTES];
	struct ur_frame f;
	size_t len;
	u8 *pkt;

	if (size < 2 || size > MAX_BYTES)
		return 0;
	len = size - 1;
	pkt = malloc(len);
	CHECK(pkt);
	memcpy(pkt, data + 1, len);
	if (data[0] & MODE_FIX)
		fix(pkt, len, data[0] & MODE_V1);
	error = ur_frame_parse(&f, data[0] & MODE_V1, pkt, len);
	CHECK(ur_frame_dump(line, sizeof(line), &f, error) < sizeof(line));
	if (error == UR_FRAME_OK || error == UR_FRAME_ICRC) {
		check_pkt(&f);
		check_solver(&f, pkt, len);
	}
	free(pkt);
	return 0;
}

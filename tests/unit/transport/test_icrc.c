// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two packets whose ICRC is known from elsewhere (one captured from a
 * ConnectX-4 Lx, one from scapy's tests), masking, and the solver.
 */
#include <string.h>

#include "tests/check.h"
#include "transport/frame.h"
#include "util/rng.h"

static struct ur_icrc_cache cache;
static struct ur_rng rng = {4};

/* CNP as captured, from the IP header to the end of the padding. */
static const char cnp[] =
	"45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff400001"
	"18000000000000000000000000000000000000000082fd002a";

static size_t unhex(u8 *out, const char *hex)
{
	size_t n = 0;
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[n++] = (u8)byte;
	return n;
}

static void check_cnp(void)
{
	u8 pkt[64];
	struct ur_frame f;

	CHECK_EQ(unhex(pkt, cnp), 60);
	CHECK_EQ(ur_frame_parse(&f, false, pkt, 60), UR_FRAME_OK);
	CHECK_EQ(f.icrc, 0x2a00fd82);
	CHECK_EQ(f.bth[0], UR_OP_CNP);
	CHECK_EQ(f.bth_bytes, 28);
}

/* scapy: UC SEND_ONLY, ToS 1, id 1144. */
static void check_uc(void)
{
	static const u8 addr[4] = {192, 168, 0, 7};
	static const u8 icrc[4] = {0x78, 0xf3, 0x53, 0xf3};
	struct ur_frame_addr a = {
		.kind = UR_FRAME_V4,
		.tos = 1,
		.ttl = 64,
		.ip_id = 1144,
		.df = true,
		.sport = 49152,
		.dport = UR_ROCE_V2_UDP_PORT,
	};
	u8 pkt[64], *bth = pkt + 28;

	ur_gid_from_v4(a.sgid, addr);
	ur_gid_from_v4(a.dgid, addr);
	CHECK_EQ(unhex(bth, "2460ffff000000d300cf16f0"), 12);
	ur_put_be24(bth + 9, 13571856);
	CHECK_EQ(unhex(bth + 12, "4630818be28935d90e9a95505401be885e500000"),
		 20);
	CHECK_EQ(ur_frame_build(pkt, &a, 32), 64);
	CHECK(!memcmp(pkt + 60, icrc, 4));
}

static struct ur_frame_addr random_addr(enum ur_frame_kind kind)
{
	struct ur_frame_addr a = {
		.kind = kind,
		.ttl = 64,
		.ip_id = (u16)ur_rng_u64(&rng),
		.df = ur_rng_below(&rng, 2),
		.sport = (u16)(0xc000 | ur_rng_u64(&rng)),
		.dport = UR_ROCE_V2_UDP_PORT,
	};

	for (int i = 0; i < 16; i++) {
		a.sgid[i] = (u8)ur_rng_u64(&rng);
		a.dgid[i] = (u8)ur_rng_u64(&rng);
	}
	if (kind == UR_FRAME_V4) {
		ur_gid_from_v4(a.sgid, a.sgid + 12);
		ur_gid_from_v4(a.dgid, a.dgid + 12);
	}
	return a;
}

/* Whatever a router may change leaves the ICRC alone; anything else that
 * ICRC covers does not. */
static void check_masks(enum ur_frame_kind kind)
{
	static const u8 free_v4[] = {1, 8, 10, 11, 26, 27, 32};
	static const u8 free_v6[] = {1, 2, 3, 7, 46, 47, 52};
	static const u8 free_v1[] = {1, 2, 3, 7, 44};
	const u8 *list = kind == UR_FRAME_V4   ? free_v4
			 : kind == UR_FRAME_V6 ? free_v6
					       : free_v1;
	size_t n = kind == UR_FRAME_V1 ? 5 : 7;
	struct ur_frame_addr a = random_addr(kind);
	u8 pkt[128] = {0};
	size_t len = ur_frame_build(pkt, &a, 40) - 4;
	u32 right = ur_frame_icrc(kind, pkt, 40);

	for (size_t i = 0; i < len; i++) {
		u8 flip = kind != UR_FRAME_V4 && !i ? 0x0f : 0xff;
		bool masked = !!memchr(list, (int)i, n) ||
			      (kind != UR_FRAME_V4 && !i);

		pkt[i] ^= flip;
		CHECK((ur_frame_icrc(kind, pkt, 40) == right) == masked);
		pkt[i] ^= flip;
	}
}

/* Find id and DF of a packet whose four bytes the receiver does not have. */
static void check_solve(size_t bth_bytes)
{
	struct ur_frame_addr a = random_addr(UR_FRAME_V4);
	u8 pkt[UR_FRAME_MAX_BYTES];
	struct ur_icrc_id id = {0};
	u32 received, crc;
	size_t len;

	for (size_t i = 0; i < bth_bytes; i++)
		pkt[28 + i] = (u8)ur_rng_u64(&rng);
	len = ur_frame_build(pkt, &a, bth_bytes);
	received = ur_get_le32(pkt + len - 4);
	memset(pkt + 4, 0, 4);
	crc = ur_frame_icrc(UR_FRAME_V4, pkt, bth_bytes);
	CHECK(ur_icrc_solve_id(&cache, crc, received, len - 4, &id));
	CHECK_EQ(id.id, a.ip_id);
	CHECK_EQ(id.df, a.df);
}

/* As documented: about one random difference in 2^15 has a solution. */
static void check_strength(void)
{
	struct ur_icrc_id id;
	u32 found = 0, tries = 1 << 20;

	for (u32 i = 0; i < tries; i++)
		found += ur_icrc_solve_id(&cache, 0, (u32)ur_rng_u64(&rng),
					  1068, &id);
	CHECK(found > tries / 32768 / 3 && found < tries / 32768 * 3);
}

/* One pass gives what masking a copy gives, and leaves the packet alone. */
static void check_packet(size_t n, u8 masked)
{
	static u8 pkt[1 << 17], copy[1 << 17];
	u32 seed = (u32)ur_rng_u64(&rng);

	for (size_t i = 0; i < n; i++)
		pkt[i] = (u8)ur_rng_u64(&rng);
	pkt[4] = masked;
	memcpy(copy, pkt, n);
	copy[4] = 0xff;
	for (int k = 0; k < 2; k++)
		CHECK_EQ(ur_icrc_packet(&cache, seed, pkt, n),
			 ur_icrc_update(seed, copy, n));
	CHECK_EQ(pkt[4], masked);
}

int main(void)
{
	struct ur_icrc_id id;

	check_cnp();
	check_uc();
	check_masks(UR_FRAME_V4);
	check_masks(UR_FRAME_V6);
	check_masks(UR_FRAME_V1);
	for (size_t n = 12; n <= UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES;
	     n += 4)
		check_solve(n);
	check_strength();
	for (size_t n = 12; n <= UR_FRAME_MAX_BYTES; n += 4) {
		check_packet(n, 0);
		check_packet(n, (u8)ur_rng_u64(&rng));
	}
	/* A UDP datagram may be longer than any packet, or odd. */
	check_packet(UR_FRAME_MAX_BYTES + 4, 0);
	check_packet(65531, 0);
	/* Lengths that no RoCE packet has must not index the cache. */
	CHECK(!ur_icrc_solve_id(&cache, 0, 0, 0, &id));
	CHECK(!ur_icrc_solve_id(&cache, 0, 0, 41, &id));
	CHECK(!ur_icrc_solve_id(&cache, 0, 0, 1u << 20, &id));
	CHECK(ur_icrc_solve_id(&cache, 7, 7, 40, &id) && !id.id && !id.df);
	return 0;
}

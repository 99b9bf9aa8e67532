// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ICRC by ISA-L's CRC-32, and the algebra that finds an unknown IPv4
 * identification from it. The state passed around is the complemented one,
 * as zlib's crc32() has it, so every intermediate value is a valid ICRC.
 */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <isa-l/crc.h>

#include "transport/icrc.h"

/* CRC-32 of eight 0xff bytes. */
#define LRH_CRC 0x2144df1cu
/* The polynomial without x^32, bit-reversed: bit 31 is x^0. */
#define POLY 0xedb88320u
/* Element 1 of the field in that bit order, and x. */
#define ONE 0x80000000u
/* IP offset of identification, flags and fragment offset. */
#define ID_OFFSET 4

/*
 * From 256 bytes up ISA-L 2.30 may use AVX-512, and leaves the upper halves of
 * the registers dirty: every SSE instruction that follows, ours and the C
 * library's, then waits for them. Measured on a Sapphire Rapids Xeon: the seed
 * of the next packet took 129 ns instead of 16, seed and 1 KiB 153 ns instead
 * of 35.
 */
#define WIDE_BYTES 256

#ifdef __x86_64__
__attribute__((target("avx"))) static void clean_registers(void)
{
	__builtin_ia32_vzeroupper();
}

#define AVX_AND_OSXSAVE (3u << 27) /* of leaf 1, ecx */
#define SSE_AND_AVX	6u	   /* of XCR0 */

__attribute__((target("xsave"))) static bool find_avx(void)
{
	unsigned int a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) &&
	       (c & AVX_AND_OSXSAVE) == AVX_AND_OSXSAVE &&
	       (__builtin_ia32_xgetbv(0) & SSE_AND_AVX) == SSE_AND_AVX;
}

/* Asked when it is first needed: a virtual machine's cpuid takes 20 us, and
 * __builtin_cpu_supports() calls it a dozen times when the library is loaded. */
static bool have_avx(void)
{
	static u8 answer; /* result + 1; 0: not known */
	u8 is = __atomic_load_n(&answer, __ATOMIC_RELAXED);

	if (!is) {
		is = find_avx() + 1;
		__atomic_store_n(&answer, is, __ATOMIC_RELAXED);
	}
	return is > 1;
}
#else
static void clean_registers(void)
{
}

static bool have_avx(void)
{
	return false;
}
#endif

u32 ur_icrc_update(u32 crc, const void *data, size_t len)
{
	crc = crc32_gzip_refl(crc, data, len);
	if (len >= WIDE_BYTES && have_avx())
		clean_registers();
	return crc;
}

/* BTH with its congestion and reserved bits masked. */
static void mask_bth(u8 *pseudo, const u8 *bth)
{
	memmove(pseudo, bth, UR_BTH_BYTES);
	pseudo[4] = 0xff;
}

u32 ur_icrc_seed_v4(const u8 *ip_udp, const u8 *bth)
{
	u8 pseudo[UR_IPV4_BYTES + UR_UDP_BYTES + UR_BTH_BYTES];

	memcpy(pseudo, ip_udp, UR_IPV4_BYTES + UR_UDP_BYTES);
	pseudo[1] = 0xff;			     /* ToS */
	pseudo[8] = 0xff;			     /* TTL */
	memset(pseudo + 10, 0xff, 2);		     /* header checksum */
	memset(pseudo + UR_IPV4_BYTES + 6, 0xff, 2); /* UDP checksum */
	mask_bth(pseudo + UR_IPV4_BYTES + UR_UDP_BYTES, bth);
	return ur_icrc_update(LRH_CRC, pseudo, sizeof(pseudo));
}

/* Traffic class, flow label and hop limit, of IPv6 header and GRH alike. */
static void mask_v6(u8 *pseudo)
{
	pseudo[0] |= 0x0f;
	memset(pseudo + 1, 0xff, 3);
	pseudo[7] = 0xff;
}

u32 ur_icrc_seed_v6(const u8 *ip_udp, const u8 *bth)
{
	u8 pseudo[UR_IPV6_BYTES + UR_UDP_BYTES + UR_BTH_BYTES];

	memcpy(pseudo, ip_udp, UR_IPV6_BYTES + UR_UDP_BYTES);
	mask_v6(pseudo);
	memset(pseudo + UR_IPV6_BYTES + 6, 0xff, 2); /* UDP checksum */
	mask_bth(pseudo + UR_IPV6_BYTES + UR_UDP_BYTES, bth);
	return ur_icrc_update(LRH_CRC, pseudo, sizeof(pseudo));
}

u32 ur_icrc_seed_v1(const u8 *grh, const u8 *bth)
{
	u8 pseudo[UR_GRH_BYTES + UR_BTH_BYTES];

	memcpy(pseudo, grh, UR_GRH_BYTES);
	mask_v6(pseudo);
	mask_bth(pseudo + UR_GRH_BYTES, bth);
	return ur_icrc_update(LRH_CRC, pseudo, sizeof(pseudo));
}

/* The register is linear: what one byte adds does not depend on the others. */
static u32 mask_of(size_t len)
{
	static const u8 zeros[UR_FRAME_MAX_BYTES];
	u8 head[UR_BTH_BYTES] = {0};
	u32 without = ur_icrc_update(0, head, sizeof(head)), with;

	mask_bth(head, head);
	with = ur_icrc_update(0, head, sizeof(head));
	len -= sizeof(head);
	return ur_icrc_update(without, zeros, len) ^
	       ur_icrc_update(with, zeros, len);
}

u32 ur_icrc_packet(struct ur_icrc_cache *cache, u32 crc, const u8 *bth,
		   size_t len)
{
	u8 head[UR_BTH_BYTES];

	if (!bth[4] && len % 4 == 0 && len <= UR_FRAME_MAX_BYTES) {
		u32 *mask = &cache->mask[len / 4];

		if (!*mask)
			*mask = mask_of(len);
		return ur_icrc_update(crc, bth, len) ^ *mask;
	}
	mask_bth(head, bth);
	crc = ur_icrc_update(crc, head, sizeof(head));
	return ur_icrc_update(crc, bth + sizeof(head), len - sizeof(head));
}

/* a * b modulo the polynomial, both in reflected order. */
static u32 mul_mod(u32 a, u32 b)
{
	u32 product = 0;

	for (int i = 31; i >= 0; i--) {
		product ^= b & -(a >> i & 1);
		b = (b >> 1) ^ (POLY & -(b & 1));
	}
	return product;
}

/* v * x^-8: one byte step of a CRC register, backwards. */
static u32 step_back(u32 v)
{
	for (int i = 0; i < 8; i++)
		v = v & ONE ? ((v ^ POLY) << 1) | 1 : v << 1;
	return v;
}

/* x^-8n by squaring; n is at most UR_FRAME_MAX_BYTES. */
static u32 inverse_power(size_t n)
{
	u32 result = ONE, square = step_back(ONE);

	for (; n; n >>= 1) {
		if (n & 1)
			result = mul_mod(result, square);
		square = mul_mod(square, square);
	}
	return result;
}

bool ur_icrc_solve_id(struct ur_icrc_cache *cache, u32 crc, u32 received,
		      size_t ip_bytes, struct ur_icrc_id *ret)
{
	u32 *factor, field, flags;

	if (ip_bytes < UR_IPV4_BYTES || ip_bytes % 4 ||
	    ip_bytes / 4 >= UR_ARRAY_SIZE(cache->factor))
		return false;
	factor = &cache->factor[ip_bytes / 4];
	if (!*factor)
		*factor = inverse_power(ip_bytes - ID_OFFSET);
	/* Bytes enter a reflected register at its low end, first byte lowest,
	 * so the four bytes appear here as they would in a little-endian
	 * load: identification (big-endian), then flags and offset. */
	field = mul_mod(crc ^ received, *factor);
	flags = field >> 16;
	if (flags != 0 && flags != UR_IPV4_DF >> 8)
		return false;
	ret->id = (u16)(field << 8 | (field >> 8 & 0xff));
	ret->df = flags != 0;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Loads and stores of big-endian fields at any alignment, and the integer
 * names used everywhere. Pure: needs no operating system.
 */
#ifndef UR_UTIL_BYTES_H
#define UR_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define UR_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ur_container_of(ptr, type, member) \
	((type *)(((char *)(ptr)) - offsetof(type, member)))

/* Loads and stores: p need not be aligned. */

static inline u16 ur_get_be16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline u32 ur_get_be24(const void *p)
{
	const u8 *b = p;

	return ((u32)b[0] << 16) | ((u32)b[1] << 8) | b[2];
}

static inline u32 ur_get_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline u64 ur_get_be64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void ur_put_be16(void *p, u16 v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void ur_put_be24(void *p, u32 v)
{
	u8 *b = p;

	b[0] = (u8)(v >> 16);
	b[1] = (u8)(v >> 8);
	b[2] = (u8)v;
}

static inline void ur_put_be32(void *p, u32 v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void ur_put_be64(void *p, u64 v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

static inline u32 ur_get_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void ur_put_le32(void *p, u32 v)
{
	memcpy(p, &v, sizeof(v));
}

static inline u32 ur_min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u64 ur_min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* For constants: is n a power of two? */
#define UR_IS_POW2(n) ((n) != 0 && ((n) & ((n)-1)) == 0)

/* Returns v, at most 2^64 - pow2, rounded up to a multiple of pow2, a power of
 * two. */
static inline u64 ur_align_up(u64 v, u64 pow2)
{
	return (v + pow2 - 1) & ~(pow2 - 1);
}

/* Returns the smallest power of two that is at least v, which is at most
 * 2^31. */
static inline u32 ur_roundup_pow2(u32 v)
{
	return v <= 1 ? 1 : 1u << (32 - __builtin_clz(v - 1));
}

#endif

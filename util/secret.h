/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers that nobody can predict from others: SipHash-2-4 of a counter
 * (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). The same
 * key gives the same numbers. The numbers of struct ur_rng, by contrast, reveal
 * its state.
 */
#ifndef UR_UTIL_SECRET_H
#define UR_UTIL_SECRET_H

#include "util/bytes.h"

struct ur_secret {
	u64 key[2];
	u64 count;
};

static inline void ur_sip_round(u64 v[4])
{
#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))
	v[0] += v[1];
	v[1] = ROTL(v[1], 13) ^ v[0];
	v[0] = ROTL(v[0], 32);
	v[2] += v[3];
	v[3] = ROTL(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = ROTL(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = ROTL(v[1], 17) ^ v[2];
	v[2] = ROTL(v[2], 32);
#undef ROTL
}

/* Returns the next number. */
static inline u64 ur_secret_u64(struct ur_secret *s)
{
	u64 word[2] = {s->count++, 8ull << 56}; /* and the length in bytes */
	u64 v[4] = {
		s->key[0] ^ 0x736f6d6570736575ull,
		s->key[1] ^ 0x646f72616e646f6dull,
		s->key[0] ^ 0x6c7967656e657261ull,
		s->key[1] ^ 0x7465646279746573ull,
	};

	for (int i = 0; i < 2; i++) {
		v[3] ^= word[i];
		ur_sip_round(v);
		ur_sip_round(v);
		v[0] ^= word[i];
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		ur_sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Returns a number in [0, n), uniform enough; n > 0. */
static inline u32 ur_secret_below(struct ur_secret *s, u32 n)
{
	return (u32)(((ur_secret_u64(s) >> 32) * n) >> 32);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Seeded generator (splitmix64): the only source of randomness for code that
 * must be reproducible from a seed.
 */
#ifndef UR_UTIL_RNG_H
#define UR_UTIL_RNG_H

#include "util/bytes.h"

struct ur_rng {
	u64 state;
};

/* Returns the next number. */
static inline u64 ur_rng_u64(struct ur_rng *r)
{
	u64 z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Skips n numbers. */
static inline void ur_rng_skip(struct ur_rng *r, u64 n)
{
	r->state += n * 0x9e3779b97f4a7c15ull;
}

/* Returns a number in [0, n), uniform enough; n > 0. */
static inline u32 ur_rng_below(struct ur_rng *r, u32 n)
{
	return (u32)(((ur_rng_u64(r) >> 32) * n) >> 32);
}

/* Returns a generator for one named part, so that an additional draw in one
 * part does not change the others. */
static inline struct ur_rng ur_rng_derive(const struct ur_rng *root,
					  const char *name)
{
	struct ur_rng r = {root->state ^ 0xcbf29ce484222325ull};

	for (; *name; name++)
		r.state = (r.state ^ (u8)*name) * 0x100000001b3ull;
	ur_rng_u64(&r);
	return r;
}

#endif

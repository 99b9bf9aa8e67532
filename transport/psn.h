/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Arithmetic of 24-bit packet sequence numbers (and message sequence
 * numbers): values live in the low 24 bits of a u32 and wrap at 2^24. Two
 * numbers can be compared while they are less than 2^23 apart.
 * IBTA volume 1, 9.7.1.
 */
#ifndef UR_TRANSPORT_PSN_H
#define UR_TRANSPORT_PSN_H

#include "util/bytes.h"
#include "transport/wire_format.h"

/* Returns a + n, wrapped. n may be negative or beyond 24 bits. */
static inline u32 ur_psn_add(u32 a, s64 n)
{
	return (u32)(a + (u64)n) & UR_PSN_MASK;
}

/* Returns how far a is ahead of b, as a signed distance in [-2^23, 2^23). */
static inline s32 ur_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) / 256;
}

/* Returns the steps forward from b to a, in [0, 2^24). */
static inline u32 ur_psn_sub(u32 a, u32 b)
{
	return (a - b) & UR_PSN_MASK;
}

/* Returns whether first <= psn < first + count, modulo 2^24. */
static inline bool ur_psn_within(u32 psn, u32 first, u32 count)
{
	return ur_psn_sub(psn, first) < count;
}

/* A PSN that acknowledgements have yet to reach. It is cleared when they do:
 * after a wrap an old mark would look like a future one. */
struct ur_psn_mark {
	u32 psn;
	bool set;
};

static inline void ur_psn_mark_at(struct ur_psn_mark *m, u32 psn)
{
	*m = (struct ur_psn_mark){psn, true};
}

/* Returns whether una, the oldest PSN not acknowledged, is before the mark. */
static inline bool ur_psn_before_mark(const struct ur_psn_mark *m, u32 una)
{
	return m->set && ur_psn_diff(una, m->psn) < 0;
}

/* Clears the mark if una has reached it. Called before una is 2^23 beyond
 * it. */
static inline void ur_psn_mark_reach(struct ur_psn_mark *m, u32 una)
{
	m->set = ur_psn_before_mark(m, una);
}

#endif

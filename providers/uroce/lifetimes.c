// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A region whose traffic never pauses does about seven times as much when the
 * device maps it as when it copies, so a life as long as its moves would have
 * paid for them: a shorter one may or may not have. Where such lives come
 * again and again, the next one stays in place; it then lives at most as long
 * as the moves cost, or the one after it is moved again. So a wrong guess costs
 * about what it would have saved.
 */
#include "lifetimes.h"

/* Short lives one after another before pages stay in place: a program may
 * try a registration or two before those that it works with. */
#define SHORT_LIVES 3

#define RANGES_BITS 8

struct range {
	u64 start, end;
	u64 cost; /* least time that moving in and out has taken */
	unsigned int in_row;
};

static struct range ranges[1 << RANGES_BITS];

/* Where the range is remembered, if it is. */
static struct range *place_of(u64 start, u64 end)
{
	u64 h = (start ^ end << 20) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden */

	return &ranges[h >> (64 - RANGES_BITS)];
}

bool ur_lifetimes_pay(u64 start, u64 end)
{
	const struct range *r = place_of(start, end);

	return r->start != start || r->end != end || r->in_row < SHORT_LIVES;
}

void ur_lifetimes_add(u64 start, u64 end, u64 lived, u64 moved)
{
	struct range *r = place_of(start, end);

	if (r->start != start || r->end != end) {
		if (!moved)
			return;
		*r = (struct range){.start = start, .end = end, .cost = moved};
	}
	/* The least: another program may have had the processor meanwhile. */
	if (moved)
		r->cost = ur_min_u64(r->cost, moved);
	if (lived >= r->cost)
		r->in_row = 0;
	else if (r->in_row < SHORT_LIVES)
		r->in_row++;
}

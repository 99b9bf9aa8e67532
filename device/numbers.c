// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers of domains: a bit map of those in use. The search continues behind the last
 * number given, so a freed number is reused as late as possible.
 */
#include <stdlib.h>
#include "device/numbers.h"
#include "util/assert.h"

/* Returns the first free bit from `from` on, or 64. */
static u32 free_bit(u64 used, u32 from)
{
	u64 left = ~used & (~0ull << from);

	return left ? (u32)__builtin_ctzll(left) : 64;
}

u32 ur_numbers_take(struct ur_numbers *n)
{
	u32 w = n->next / 64, bit = n->next % 64;

	if (!n->map)
		n->map = calloc(n->words, sizeof(*n->map));
	if (!n->map)
		return 0;
	/* The last round searches the first word again, below 'next'. */
	for (u32 i = 0; i <= n->words; i++) {
		u32 found = free_bit(n->map[w], bit);

		if (found < 64) {
			n->map[w] |= 1ull << found;
			n->next = (w * 64 + found + 1) % (n->words * 64);
			return w * 64 + found + 1;
		}
		w = (w + 1) % n->words;
		bit = 0;
	}
	return 0;
}

void ur_numbers_give(struct ur_numbers *n, u32 number)
{
	ur_assert(n->map && number && number <= n->words * 64);
	number--;
	ur_assert(n->map[number / 64] & 1ull << number % 64);
	n->map[number / 64] &= ~(1ull << number % 64);
}

void ur_numbers_fini(struct ur_numbers *n)
{
	free(n->map);
	n->map = NULL;
}

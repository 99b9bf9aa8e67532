// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Takes the bits of a doorbell page: first the summary, then each word that it
 * names.
 */
#include "engine/core/doorbell.h"

void ur_doorbell_take(struct uroce_db_page *db, void (*fn)(void *arg, u32 slot),
		      void *arg)
{
	/* [D4] before [D3]: if the client sets a bit after the exchange of its word,
	 * it sets the summary bit after that, so the next call finds the bit. */
	u64 summary = __atomic_exchange_n(&db->summary, 0, __ATOMIC_ACQ_REL);

	while (summary) {
		u32 w = (u32)__builtin_ctzll(summary);
		u64 word =
			__atomic_exchange_n(&db->word[w], 0, __ATOMIC_ACQ_REL);

		summary &= summary - 1;
		while (word) {
			fn(arg, w * 64 + (u32)__builtin_ctzll(word));
			word &= word - 1;
		}
	}
}

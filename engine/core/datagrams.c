// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Groups datagrams with the same route. */
#include "engine/core/datagrams.h"

#include <string.h>
#include "engine/engine_grant.h"
#include "transport/wire_format.h"

/* Number of packets searched backwards for one with the same route. */
#define MOST_BETWEEN 64u

/* Returns whether packet i goes to the same engine as packet k. */
static bool is_same_path(const struct ur_tx *tx, u32 i, u32 k)
{
	const struct ur_tx_desc *a = &tx->desc[i], *b = &tx->desc[k];

	return a->av == b->av &&
	       !((tx->buf[a->off + 5] ^ tx->buf[b->off + 5]) >>
		 (8 - UR_PLACE_BITS));
}

static bool is_datagram(const struct ur_tx *tx, u32 i)
{
	u8 opcode = tx->buf[tx->desc[i].off];

	return opcode == UR_OP_UD_SEND_ONLY || opcode == UR_OP_UD_SEND_ONLY_IMM;
}

/* Returns the index behind the last packet with the route of packet i, from index least on; or i if
 * there is none. */
static u32 place_of(const struct ur_tx *tx, u32 least, u32 i)
{
	if (i - least > MOST_BETWEEN)
		least = i - MOST_BETWEEN;
	for (u32 k = i; k > least; k--)
		if (is_same_path(tx, k - 1, i))
			return k;
	return i;
}

void ur_datagrams_together(struct ur_tx *tx)
{
	u32 least = 0; /* index behind the last packet that is no datagram */

	for (u32 i = 0; i < tx->n_desc; i++) {
		struct ur_tx_desc d = tx->desc[i];
		u32 to;

		if (!is_datagram(tx, i)) {
			least = i + 1;
			continue;
		}
		to = place_of(tx, least, i);
		if (to == i)
			continue;
		memmove(&tx->desc[to + 1], &tx->desc[to], (i - to) * sizeof(d));
		tx->desc[to] = d;
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which IPv4 identifications a peer uses; see the header. */
#include "device/wire/udp_ids.h"

/* Packets after which a peer is held to its pattern, and packets off it in a
 * row after which it is let go: a burst of bit errors that long is rare. */
#define PATTERN_SHOWN  64u
#define PATTERN_BROKEN 4u
/* Identifications of one segmented burst, at most. */
#define BURST 128u
/* Steps back by reordering; steps on without a pause, for packets that were
 * lost or went elsewhere. */
#define BACK  256u
#define AHEAD 1024u
/* A pause of note; and how long after it its jump may come. */
#define PAUSE_NS 100000000u

u16 ur_udp_ids_guess(const struct ur_udp_ids *ids, u32 index)
{
	return index ? (u16)(ids->last + 1) : ids->next;
}

static bool fits(const struct ur_udp_ids *ids, ur_time now, u16 id)
{
	bool after = ids->pause_end && now - ids->pause_end < PAUSE_NS;
	ur_time since = after ? ids->pause_from : ids->last_ns;
	u64 pause_ms = (now - since) / 1000000;
	u16 step = (u16)(id - ids->last + BACK);

	return id < BURST || pause_ms > UINT16_MAX ||
	       step <= BACK + AHEAD + pause_ms;
}

bool ur_udp_ids_take(struct ur_udp_ids *ids, ur_time now, u16 id, bool guessed)
{
	if (guessed || fits(ids, now, id)) {
		ids->good++;
		ids->odd = 0;
	} else if (ids->good >= PATTERN_SHOWN) {
		if (++ids->odd < PATTERN_BROKEN)
			return false;
		ids->good = 0;
		ids->odd = 0;
	}
	if (ids->last_ns && now - ids->last_ns >= PAUSE_NS) {
		ids->pause_from = ids->last_ns;
		ids->pause_end = now;
	}
	ids->last = id;
	ids->next = id ? (u16)(id + 1) : 0;
	ids->last_ns = now;
	return true;
}

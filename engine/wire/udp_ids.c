// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The identifications that a peer uses: what was seen last, what fits its
 * pattern, and when the pattern is given up. udp_ids.h says how Linux counts.
 */
#include "engine/wire/udp_ids.h"

/* Packets after which a peer is held to its pattern, and packets off it in a
 * row after which it is let go: a burst of bit errors that long is rare. */
#define PATTERN_SHOWN  64u
#define PATTERN_BROKEN 4u
/* Identifications of one segmented burst, at most. */
#define BURST 128u
/* Steps from the highest one. Back, for what a fair queue kept: Soft-RoCE leaves
 * up to 64 packets of a queue pair there, and this is room for 64 queue pairs
 * (measured with as many: 1727). On, without a pause, for packets that were
 * lost, went elsewhere or are still in the queue (measured: 359). A random
 * identification fits by BURST + BACK + AHEAD of 65536, one in 12. */
#define BACK  4096u
#define AHEAD 1024u
/* A pause of note; and how long after it its jump may come. */
#define PAUSE_NS 100000000u

u16 ur_udp_ids_guess(const struct ur_udp_ids *ids, u32 index)
{
	return index ? (u16)(ids->last + 1) : ids->next;
}

/* Is it a step on from the highest, or that one again? */
static bool is_ahead(const struct ur_udp_ids *ids, ur_time now, u16 id)
{
	bool after = ids->pause_end && now - ids->pause_end < PAUSE_NS;
	ur_time since = after ? ids->pause_from : ids->last_ns;
	u64 pause_ms = (now - since) / 1000000;

	return pause_ms > UINT16_MAX ||
	       (u16)(id - ids->high) <= AHEAD + pause_ms;
}

bool ur_udp_ids_take(struct ur_udp_ids *ids, ur_time now, u16 id, bool guessed)
{
	bool burst = id < BURST;
	bool ahead = !burst && is_ahead(ids, now, id);
	bool fits = burst || ahead ||
		    (ids->last_ns && (u16)(ids->high - id) <= BACK);

	if (guessed || fits) {
		ids->good++;
		ids->odd = 0;
	} else if (ids->good >= PATTERN_SHOWN) {
		if (++ids->odd < PATTERN_BROKEN)
			return false;
		ids->good = 0;
		ids->odd = 0;
	}
	/* A straggler does not set it, nor an identification that fitted only
	 * because it is small. */
	if (ahead || !fits)
		ids->high = id;
	if (ids->last_ns && now - ids->last_ns >= PAUSE_NS) {
		ids->pause_from = ids->last_ns;
		ids->pause_end = now;
	}
	ids->last = id;
	ids->next = id ? (u16)(id + 1) : 0;
	ids->last_ns = now;
	return true;
}

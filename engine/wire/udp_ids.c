// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A peer's identifications: the last one, whether one fits the pattern, and when
 * the pattern is dropped. udp_ids.h explains how Linux counts.
 */
#include "engine/wire/udp_ids.h"

/* Packets that must fit the pattern before one that does not is refused. Packets in a row that
 * do not fit, after which the pattern is dropped: so many bit errors in a row are rare. */
#define PATTERN_SHOWN  64u
#define PATTERN_BROKEN 4u
/* Most identifications of one segmented burst. */
#define BURST 128u
/* Allowed steps from the highest identification. BACK is for packets that a fair
 * queue delayed: Soft-RoCE leaves up to 64 packets of a queue pair there, times 64
 * queue pairs (measured with as many: 1727). AHEAD, without a pause, is for packets
 * that were lost, went elsewhere or are still queued (measured: 359). A random
 * identification fits with BURST + BACK + AHEAD of 65536, one in 12. */
#define BACK  4096u
#define AHEAD 1024u
/* The shortest long pause; and how long after it the jump may come. */
#define PAUSE_NS 100000000u

u16 ur_udp_ids_guess(const struct ur_udp_ids *ids, u32 index)
{
	return index ? (u16)(ids->last + 1) : ids->next;
}

/* Returns whether id is the highest one or a plausible step ahead of it. */
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
	/* A late packet does not set high, nor does an id that fitted only because
	 * it is small. */
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

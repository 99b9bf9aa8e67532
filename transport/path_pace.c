// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How fast the path carries, and how many packets leave at once for that.
 *
 * Answers come for many packets together, from a turn of one queue pair or from a host
 * that had other work, and what they make room for left together, too. On a slow path such a
 * burst is a queue for milliseconds: what others send waits behind it, a short queue has no
 * room for it, and where each flow has its queue, that is long or empty and never shows
 * how much waits. So there a turn is a few packets, and the next one not before the path has
 * carried most of them.
 */
#include "transport/path_impl.h"

/* A turn has as many packets as the path carries in that time, and at least so many. */
#define TURN_NS	   500000u
#define TURN_LEAST 2
#define LEAST	   (4 * UR_PATH_ONE) /* window */
/* A path is slow where a packet takes so long. A turn of a faster one is as many as leave by a
 * system call; where a packet takes longer, it is not the line that lets packets wait. */
#define SLOW_NS	   30000u
#define SLOWEST_NS 1000000u
#define AHEAD(ns)  ((ns) / 4 * 3) /* so that the window and not this limits */

/* Do packets wait somewhere? By the mean of the trips: where each flow has its queue, some
 * find that empty. And where packets are lost by chance, trips are long by what is sent
 * again. */
static bool is_filled(const struct ur_path *p)
{
	return ur_path_is_calm(p) &&
	       ur_path_window_long(&p->window, p->window.srtt);
}

/* Returns how long a slow path takes for a packet, about; 0: it is not slow, or nothing
 * waits. */
static u32 packet_ns(const struct ur_path *p)
{
	u64 ns;

	if (p->window.size < LEAST)
		return 0;
	ns = (u64)p->window.srtt * UR_PATH_ONE / p->window.size;
	return ns > SLOW_NS && ns < SLOWEST_NS && is_filled(p) ? (u32)ns : 0;
}

u32 ur_path_pace_turn(const struct ur_path *p, u32 turn)
{
	u32 ns = packet_ns(p), most;

	if (!ns)
		return turn;
	most = TURN_NS / ns;
	return ur_min_u32(turn, most > TURN_LEAST ? most : TURN_LEAST);
}

bool ur_path_pace_ready(const struct ur_path *p)
{
	return p->port->now >= p->turn_at || !packet_ns(p);
}

void ur_path_pace_granted(struct ur_path *p, u32 turn)
{
	p->turn_at = p->port->now + AHEAD((u64)turn * packet_ns(p));
}

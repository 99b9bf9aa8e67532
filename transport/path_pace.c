// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Estimates the speed of the path, and limits how many packets leave at once.
 *
 * Answers come for many packets together, from a turn of one queue pair or from a busy host, and
 * the packets that they allow would leave together. On a slow path such a burst is a queue of
 * milliseconds: others' packets wait behind it, a short queue overflows, and with a queue for each
 * flow it is long or empty and never shows how much waits. So there a turn is a few packets, and
 * the next begins when the path has carried most of them.
 */
#include "transport/path_impl.h"

/* A turn is what the path carries in this time, at least TURN_LEAST. */
#define TURN_NS	   500000u
#define TURN_LEAST 2
#define LEAST	   (4 * UR_PATH_ONE) /* smallest window of a slow path */
/* A path is slow where a packet takes at least this long. On a faster one a turn is as many as
 * leave by one system call; above SLOWEST_NS it is not the line that delays packets. */
#define SLOW_NS	   30000u
#define SLOWEST_NS 1000000u
/* less than all, so that the window is the limit */
#define AHEAD(ns) ((ns) / 4 * 3)

/* Returns whether packets wait in a queue. Uses the mean of the trips, since with a queue for each
 * flow some are empty. Random losses make trips long, too, so the path must be calm. */
static bool is_filled(const struct ur_path *p)
{
	return ur_path_is_calm(p) &&
	       ur_path_window_long(&p->window, p->window.srtt);
}

/* Returns roughly how long a slow path takes for a packet; 0: it is not slow,
 * or nothing waits. */
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

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds out whether others use the path. A window that only losses cut keeps the bottleneck's queue
 * long, and everything else sent there waits for all of it, even a short message of ours. If others
 * compete, the sender with a shorter queue gets less. If nobody does, a smaller window gets the
 * same.
 *
 * So after a loss at the end of a queue the window does not grow again at once. While as much is
 * answered as before, with shorter round trips, it is cut again, until that ends or nothing waits;
 * it keeps a step or two more. Longer round trips than those mean that others compete: the window
 * quickly regains half of its former size, and losses decide again, for some seconds at least.
 */
#include "transport/path_window.h"
#include "util/assert.h"

#define ONE	     UR_PATH_ONE
#define LEAST	     (4 * ONE)
#define STEP(size)   ((size) / 4 * 3)
#define BACK(size)   ((size) / 3 * 4)
#define STALE_ROUNDS 3 /* rounds until answers belong to the new window */
#define ROUNDS	     4 /* rounds of a measurement, at least */
/* and its time: hosts stop for some milliseconds */
#define TIME_NS	      50000000u
#define PACKETS	      64
#define SAME(rate)    ((rate) - (rate) / 32)
#define SHORTER(trip) ((trip) - (trip) / 16)
#define STEPS	      2 /* one may be chance: others have lost too */
#define HOLD_NS	      1000000000ull
#define HOLD_MAX      4 /* doublings of HOLD_NS */
#define NOISE_NS      30000u

/* Returns the shortest trip of the last rounds: the wait of all of them. */
static u32 standing(const struct ur_path_window *w)
{
	u32 trip = w->round_last;

	for (u32 i = 0; i < UR_PATH_PAST; i++)
		trip = ur_min_u32(trip, w->past[i]);
	return trip;
}

static void measure_anew(struct ur_path_window *w, ur_time now, u32 after)
{
	struct ur_path_alone *a = &w->alone;

	a->from = now;
	a->from_round = w->rounds + after;
	a->packets = a->unwanted = 0;
}

/* Returns packets per second; 0: the measurement goes on, or there was not
 * enough to send. */
static u32 measured(struct ur_path_window *w, ur_time now)
{
	struct ur_path_alone *a = &w->alone;
	u64 ns = now - a->from;
	u32 rate;

	if ((s32)(w->rounds - a->from_round) < 0) {
		a->from = now;
		a->packets = a->unwanted = 0;
		return 0;
	}
	if (w->rounds - a->from_round < ROUNDS || ns < TIME_NS ||
	    a->packets < PACKETS)
		return 0;
	rate = (u32)ur_min_u64(a->packets * 1000000000ull / ns, UINT32_MAX);
	if (a->unwanted > a->packets / 4)
		rate = 0;
	measure_anew(w, now, 0);
	return rate;
}

static void give_up(struct ur_path_window *w, ur_time now)
{
	struct ur_path_alone *a = &w->alone;

	if (a->state == UR_ALONE_NOT)
		return;
	a->state = UR_ALONE_NOT;
	a->next_at = now + (HOLD_NS << a->hold);
	if (a->hold < HOLD_MAX)
		a->hold++;
	a->rate = 0;
	measure_anew(w, now, STALE_ROUNDS);
}

void ur_path_alone_over(struct ur_path_window *w, ur_time now)
{
	give_up(w, now);
	w->alone.regain = 0;
}

void ur_path_alone_ended(struct ur_path_window *w, ur_time now, u32 before)
{
	struct ur_path_alone *a = &w->alone;

	if (a->state != UR_ALONE_NOT) {
		ur_path_alone_over(w, now);
		return;
	}
	a->regain = 0;
	if (now < a->next_at || !a->rate || w->size < LEAST)
		return;
	a->state = UR_ALONE_ASKED;
	a->steps = 0;
	a->before = before;
	a->trip = standing(w);
	measure_anew(w, now, STALE_ROUNDS);
}

/* Keeps that window. Packets wait there in proportion to trip, which was at
 * most that of the former window. */
static void keep_window(struct ur_path_window *w, ur_time now, u32 size,
			u32 trip)
{
	struct ur_path_alone *a = &w->alone;

	ur_assert(w->size);
	a->trip = (u32)ur_min_u64((u64)trip * size / w->size, UINT32_MAX / 2);
	w->size = w->slow_until = size;
	a->state = UR_ALONE;
	a->hold = 0;
	measure_anew(w, now, STALE_ROUNDS);
}

/* Evaluates the rate measured with the present window. */
static void judge(struct ur_path_window *w, ur_time now, u32 rate, bool waits)
{
	struct ur_path_alone *a = &w->alone;
	u32 trip = standing(w);

	if (rate >= SAME(a->rate) && trip < SHORTER(a->trip)) {
		a->steps++;
		a->trip = trip;
		if (rate > a->rate)
			a->rate = rate;
		if (waits && STEP(w->size) >= LEAST) {
			w->size = w->slow_until = STEP(w->size);
			measure_anew(w, now, STALE_ROUNDS);
		} else
			keep_window(w, now, w->size, trip);
		return;
	}
	if (a->steps >= STEPS)
		keep_window(w, now, BACK(BACK(w->size)), trip);
	else {
		if (a->steps)
			w->size = w->slow_until = BACK(w->size);
		give_up(w, now);
	}
}

/* Alone so far: checks whether others have come. */
static void look(struct ur_path_window *w, ur_time now, u32 rate)
{
	struct ur_path_alone *a = &w->alone;
	u32 trip = standing(w);

	if (trip > a->trip + a->trip / 4 + NOISE_NS) {
		give_up(w, now);
		a->regain = a->before / 2;
		return;
	}
	if (rate && rate < SAME(a->rate) && BACK(w->size) <= a->before)
		keep_window(w, now, BACK(w->size), a->trip);
}

void ur_path_alone_round(struct ur_path_window *w, ur_time now, bool waits)
{
	struct ur_path_alone *a = &w->alone;
	u32 rate = measured(w, now);

	if (a->state == UR_ALONE)
		look(w, now, rate);
	else if (rate && a->state == UR_ALONE_ASKED)
		judge(w, now, rate, waits);
	else if (rate)
		a->rate = rate;
}

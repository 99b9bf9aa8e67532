/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The window of one address: how much may be in flight, from measured round
 * trips, losses and marks. It knows nothing of queue pairs.
 *
 * Windows are in 1/256 packets, times in nanoseconds, shares of losses in
 * 1/1024.
 */
#ifndef UR_TRANSPORT_PATH_WINDOW_H
#define UR_TRANSPORT_PATH_WINDOW_H

#include "transport/transport.h"

#define UR_PATH_ONE 256u /* packet */

/* Round trips kept, since a timer notices a loss about so many trips late. */
#define UR_PATH_PAST 4

/* The search for a smaller window while nobody else uses the path
 * (path_alone.c). Rates in packets per second. */
struct ur_path_alone {
	enum {
		UR_ALONE_NOT,	/* others use the path, or it is not known */
		UR_ALONE_ASKED, /* the window is being reduced */
		UR_ALONE,
	} state;
	/* rate with the window that filled the queue; 0: not known */
	u32 rate;
	u32 before; /* window that filled the queue */
	u32 regain; /* size to regain quickly; 0: none */
	u32 steps;
	u32 trip; /* round trip with the window that it keeps, at most */
	u32 hold; /* failed searches in a row, at most HOLD_MAX */
	ur_time next_at;
	/* The measurement: its start, and the round from which it counts. */
	ur_time from;
	u32 from_round;
	/* packets answered; those answered while nobody waited */
	u64 packets, unwanted;
};

struct ur_path_window {
	u32 size, slow_until;
	struct ur_path_alone alone;
	u32 grown; /* growth not yet in size, 1/65536 packets */
	u32 srtt;
	/* shortest round trips of this period and the one before; 0: none */
	u32 rtt_min[2];
	ur_time min_at; /* start of this period */
	u32 round_min,
		/* shortest round trip of this round, of the last round */
		round_last;
	u32 past[UR_PATH_PAST]; /* those of earlier rounds */
	u32 rounds;
	ur_time round_at, sampled_at;
	u32 full; /* round trip at which a queue overflowed; 0: not known */
	ur_time cut_at;
	u32 cuts, cut_round;
	/* packets lost and answered, since losses are counted */
	u32 losses, answered;
	u32 heard, marked; /* packets answered and marked in this round */
	u32 alpha;	   /* smoothed share of marked packets; 65536: all */
	bool by_marks;	   /* the last cut was for a mark */
	u32 sign_ns;	   /* shortest time between two CNPs; not 0 */
	u32 clean;	   /* packets answered since the last loss */
	/* share of losses that a trial examines, and the window before it; 0:
	 * no trial */
	u32 blamed, before;
	u32 usual; /* share of losses that a smaller window does not lower */
};

/* Packets count as waiting where a trip exceeds the shortest one by a quarter and this. */
#define UR_PATH_WAITING_NS 30000u

static inline u32 ur_path_window_shortest(const struct ur_path_window *w)
{
	if (!w->rtt_min[0] || !w->rtt_min[1])
		return w->rtt_min[0] | w->rtt_min[1];
	return ur_min_u32(w->rtt_min[0], w->rtt_min[1]);
}

/* Returns whether packets waited in a queue during a round trip of trip ns. */
static inline bool ur_path_window_long(const struct ur_path_window *w, u32 trip)
{
	u32 least = ur_path_window_shortest(w);

	return least && trip > least + least / 4 + UR_PATH_WAITING_NS;
}

void ur_path_window_init(struct ur_path_window *w, ur_time now);

/* path_alone.c */

/* Notes that a queue overflowed at window "before", which was cut: starts to
 * find out whether others use the path. */
void ur_path_alone_ended(struct ur_path_window *w, ur_time now, u32 before);
/* Ends the search, after a cut for another reason or a restart. */
void ur_path_alone_over(struct ur_path_window *w, ur_time now);
/* Notes the end of a round. waits: packets wait in a queue. */
void ur_path_alone_round(struct ur_path_window *w, ur_time now, bool waits);

/* path_window.c */

/* Takes a measured round trip. again: the packet was sent more than once, so
 * any of its sendings may have been answered. */
void ur_path_window_trip(struct ur_path_window *w, ur_time now, u32 rtt,
			 bool again);
/* Notes that so many packets arrived. wanted: a queue pair had to wait. */
void ur_path_window_answered(struct ur_path_window *w, ur_time now, u32 packets,
			     bool wanted);
/* Notes that so many packets were lost that were sent since the last cut. late:
 * a timer found it, not an answer to a later packet. Returns whether the window
 * was cut. */
bool ur_path_window_lost(struct ur_path_window *w, ur_time now, u32 packets,
			 bool late);
/* Notes that roughly so many of the arrived packets were marked. Returns
 * whether the window was cut. */
bool ur_path_window_marked(struct ur_path_window *w, ur_time now, u32 packets);
/* Returns whether the last round trips show waiting packets. */
bool ur_path_window_waits(const struct ur_path_window *w);
/* Restarts the window after a time without one. out: packets in flight. trip: a
 * round trip that shows waiting packets, else 0. */
void ur_path_window_resume(struct ur_path_window *w, ur_time now, u32 out,
			   u32 trip);
/* Returns whether trip is about the round trip at which a queue overflowed, or
 * none is known. */
bool ur_path_window_full(const struct ur_path_window *w, u32 trip);

#endif

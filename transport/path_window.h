/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How much may be in flight to one address: from round trips, losses and marks,
 * whoever measured them, to a window. It knows nothing of queue pairs.
 *
 * Windows are in 1/256 packets, times in nanoseconds, shares of losses in
 * 1/1024.
 */
#ifndef UR_TRANSPORT_PATH_WINDOW_H
#define UR_TRANSPORT_PATH_WINDOW_H

#include "transport/transport.h"

#define UR_PATH_ONE 256u /* packet */

/* Round trips that what a timer finds out is behind, about. */
#define UR_PATH_PAST 4

/* Is nobody else on the path (path_alone.c)? Rates in packets a second. */
struct ur_path_alone {
	enum {
		UR_ALONE_NOT,	/* or it is not known */
		UR_ALONE_ASKED, /* the window gets smaller and smaller */
		UR_ALONE,
	} state;
	u32 rate;   /* with the window that filled the queue; 0: not known */
	u32 before; /* that window */
	u32 regain; /* what it has soon again; 0: as it grows */
	u32 steps;
	u32 trip; /* with the window that it keeps, at most */
	u32 hold; /* times that it was given up in a row, at most HOLD_MAX */
	ur_time next_at;
	/* The measurement: it began then, and counts after that round. */
	ur_time from;
	u32 from_round;
	u64 packets, unwanted; /* answered; of these, where nobody waited */
};

struct ur_path_window {
	u32 size, slow_until;
	struct ur_path_alone alone;
	u32 grown; /* 1/65536 packets that are not in size yet */
	u32 srtt;
	u32 rtt_min[2]; /* of this period and the one before; 0: none */
	ur_time min_at; /* when this one began */
	u32 round_min,
		round_last;	/* the shortest of this round trip, the last */
	u32 past[UR_PATH_PAST]; /* of those before */
	u32 rounds;
	ur_time round_at, sampled_at;
	u32 full; /* the round trip where a queue ended; 0: not known */
	ur_time cut_at;
	u32 cuts, cut_round;
	u32 losses, answered; /* packets, since they are counted */
	u32 heard, marked;    /* packets, of this round trip */
	u32 alpha;	      /* the share that is marked; 65536: all */
	bool by_marks;	      /* was it a mark that cut it last? */
	u32 sign_ns; /* between two signs of marks, at the least; not 0 */
	u32 clean;   /* answered since the last of these losses */
	/* The share of losses that a trial is about, and the window before;
	 * 0: no trial. */
	u32 blamed, before;
	u32 usual; /* the share of losses that no window changes */
};

/* Packets wait where a trip is longer than the shortest one by so long and a quarter. */
#define UR_PATH_WAITING_NS 30000u

static inline u32 ur_path_window_shortest(const struct ur_path_window *w)
{
	if (!w->rtt_min[0] || !w->rtt_min[1])
		return w->rtt_min[0] | w->rtt_min[1];
	return ur_min_u32(w->rtt_min[0], w->rtt_min[1]);
}

/* Do packets wait somewhere, where that is the round trip? */
static inline bool ur_path_window_long(const struct ur_path_window *w, u32 trip)
{
	u32 least = ur_path_window_shortest(w);

	return least && trip > least + least / 4 + UR_PATH_WAITING_NS;
}

void ur_path_window_init(struct ur_path_window *w, ur_time now);

/* path_alone.c */

/* A queue has ended at a window of before, which was cut: it is found out now if
 * anybody else is there. */
void ur_path_alone_ended(struct ur_path_window *w, ur_time now, u32 before);
/* It was cut for another reason, or begins again. */
void ur_path_alone_over(struct ur_path_window *w, ur_time now);
/* A round trip has ended. waits: do packets wait somewhere? */
void ur_path_alone_round(struct ur_path_window *w, ur_time now, bool waits);

/* path_window.c */

/* A round trip was measured; again: of what was sent more than once, so of any
 * of these. */
void ur_path_window_trip(struct ur_path_window *w, ur_time now, u32 rtt,
			 bool again);
/* So many packets have arrived; wanted: somebody had to wait. */
void ur_path_window_answered(struct ur_path_window *w, ur_time now, u32 packets,
			     bool wanted);
/* So many packets were lost, which were sent since the last cut. late: a timer
 * found out, and not what came after them. Returns whether it was cut. */
bool ur_path_window_lost(struct ur_path_window *w, ur_time now, u32 packets,
			 bool late);
/* So many of the packets that arrived were marked, about. Returns whether it was
 * cut. */
bool ur_path_window_marked(struct ur_path_window *w, ur_time now, u32 packets);
/* Returns whether packets wait somewhere, by the last round trips. */
bool ur_path_window_waits(const struct ur_path_window *w);
/* Begins again after a time without a window, with something like this in
 * flight; trip: where packets wait for so long, else 0. */
void ur_path_window_resume(struct ur_path_window *w, ur_time now, u32 out,
			   u32 trip);
/* Returns whether that is about the round trip where a queue ended, or none is
 * known. */
bool ur_path_window_full(const struct ur_path_window *w, u32 trip);

#endif

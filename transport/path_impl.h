/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The files of a path share this: path.c keeps its members, path_turns.c
 * decides who may send, path_pace.c how much at once, path_answers.c changes its window
 * by answers, losses and marks, path_patience.c says when they may probe, path_marks.c
 * finds out whether the peer answers marks at all. A path whose window limited nobody for
 * a while has none, until packets that wait are lost or marked again.
 *
 * Times in nanoseconds.
 */
#ifndef UR_TRANSPORT_PATH_IMPL_H
#define UR_TRANSPORT_PATH_IMPL_H

#include "transport/internal.h"
#include "transport/path_window.h"

/* When a peer has answered nobody for so long, each queue pair finds out for
 * itself. */
#define UR_PATH_HEARD_NS 50000000u

/* So many packets answered while nobody waited: no window is needed. */
#define UR_PATH_FREE_PKTS 4096u

/* A packet of full size, where what is sent is counted. */
#define UR_PATH_PACKET 16u

struct ur_path {
	struct ur_path *next, **list; /* in port->paths */
	struct ur_port *port;
	u8 sgid[16], dgid[16];
	u32 owner;
	u32 members_count;
	struct ur_list members;
	struct ur_list fresh, waiting; /* for their turns, in this order */
	u32 waits;		       /* queue pairs in both */
	u32 sent; /* in all turns, parts of UR_PATH_PACKET */
	bool held;
	bool missed; /* somebody waited since it last grew */
	struct ur_path_window window;
	u32 out, granted; /* packets: in flight, about to be */
	u32 unmissed;	  /* packets answered since somebody waited */
	ur_time heard_at; /* the last answer */
	ur_time moved_at; /* the last one that acknowledged something new */
	ur_time tried_at; /* the last answer, or when somebody sent with nothing
			   * out */
	ur_time probed_at; /* the last probe */
	u32 asked_at;	 /* sent, when a peer last asked for something again */
	u32 longest;	 /* trip of what was sent once, slowly forgotten */
	u8 silences;	 /* since the last answer */
	ur_time next_at; /* window below one packet: not before */
	ur_time turn_at; /* a slow path: no other turn before */
	u32 cnp_gap_ns; /* the shortest mean of some between two CNPs of a queue pair */
	/* Does the peer answer marks? */
	enum ur_marks {
		UR_MARKS_UNKNOWN,
		UR_MARKS_ANSWERED,
		UR_MARKS_SILENT, /* so its packets are not ECT */
	} marks;
	ur_time marks_until; /* where it is known */
	struct ur_av *test_av;
	struct ur_qp *tester; /* it is to send a test; NULL: none */
	u8 tests;	      /* that were sent */
	u32 marks_round;      /* when it was last looked at */
	ur_time looked_at;
	ur_time test_at; /* the last one */
	ur_time long_at; /* since when round trips are long; 0: they are not */
};

static inline u32 ur_path_in_flight(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) + qp->share.stale;
}

/* The queue pair has so many packets in flight. */
static inline void ur_path_set_out(struct ur_path *p, struct ur_qp *qp, u32 out)
{
	p->out += out - qp->share.out;
	qp->share.out = out;
}

/* Somebody waits for room. */
static inline void ur_path_miss(struct ur_path *p)
{
	p->missed = true;
	p->unmissed = 0;
}

/* Its window limits nobody: it is held only until it is known whether the peer answers
 * marks. */
static inline bool ur_path_is_open(const struct ur_path *p)
{
	return p->unmissed >= UR_PATH_FREE_PKTS;
}

/* Whole packets of the window. */
static inline u32 ur_path_whole(const struct ur_path *p)
{
	return p->window.size / UR_PATH_ONE;
}

/* It is in neither list any more. */
void ur_path_wait_no_more(struct ur_path *p, struct ur_qp *qp);
/* The queue pair has no turn any more. */
void ur_path_give_back(struct ur_path *p, struct ur_qp *qp);
/* The first that wait go on, as far as there is room. */
void ur_path_wake(struct ur_path *p);

/* Hashes an owner and the address of a peer; the upper bits are the good ones.
 * Nobody can choose addresses that meet: the port's numbers are its secret. */
static inline u64 ur_path_hash(const struct ur_port *port, const u8 dgid[16],
			       u32 owner)
{
	const u64 *key = port->path_key;
	u64 sum = key[8] * owner + key[9];

	for (u32 i = 0; i < 4; i++)
		sum += key[i] * ur_get_be32(dgid + 4 * i);
	return sum;
}

/* path_patience.c */

/* The trip of a packet that was sent once, and waited for none that was sent twice. */
void ur_path_certain(struct ur_path *p, u32 trip);
/* Returns whether the peer has asked for nothing again of late. */
bool ur_path_is_calm(const struct ur_path *p);
/* Returns how long a queue pair waits for an answer at the least before it probes. */
u32 ur_path_patience(const struct ur_path *p);

/* path_pace.c */

/* Returns how many packets of a turn may leave at once. */
u32 ur_path_pace_turn(const struct ur_path *p, u32 turn);
/* Returns whether it is time for a turn: else it is at turn_at. */
bool ur_path_pace_ready(const struct ur_path *p);
/* A turn of so many packets was given. */
void ur_path_pace_granted(struct ur_path *p, u32 turn);

/* path_marks.c */

/* A new path: what is known of its peer. Without memory no test is made.
 * Allocates. */
void ur_path_marks_init(struct ur_path *p, const struct ur_av *av);
void ur_path_marks_fini(struct ur_path *p);
/* A member has left. */
void ur_path_marks_left(struct ur_path *p, struct ur_qp *qp);
/* The peer has sent a CNP. Returns whether it may be that of a test. */
bool ur_path_marks_answered(struct ur_path *p);
/* The peer has answered a member, which sends more: perhaps it is time for a
 * test. */
void ur_path_marks_look(struct ur_path *p, struct ur_qp *qp);
/* Returns whether a path is to stay held, until that is known. */
static inline bool ur_path_marks_open(const struct ur_path *p)
{
	return p->long_at != 0;
}

#endif

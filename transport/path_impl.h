/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The internals of a path: path.c keeps its members; path_turns.c decides who may send; path_pace.c
 * how much at once; path_answers.c changes the window by answers, losses and marks; path_patience.c
 * decides when to probe; path_marks.c finds out whether the peer answers marks. A path whose window
 * limited nobody for a while holds nobody, until waiting packets are lost or marked again.
 *
 * Times in nanoseconds.
 */
#ifndef UR_TRANSPORT_PATH_IMPL_H
#define UR_TRANSPORT_PATH_IMPL_H

#include "transport/internal.h"
#include "transport/path_window.h"

/* After so long without an answer to anybody, each queue pair probes for
 * itself. */
#define UR_PATH_HEARD_NS 50000000u

/* After so many answered packets without anybody waiting, no window is
 * needed. */
#define UR_PATH_FREE_PKTS 4096u

/* Weight of a packet of full size in path->sent. */
#define UR_PATH_PACKET 16u

struct ur_path {
	struct ur_path *next, **list; /* in port->paths */
	struct ur_port *port;
	u8 sgid[16], dgid[16];
	u32 owner;
	u32 members_count;
	struct ur_list members;
	/* queue pairs waiting for a turn; fresh ones come first */
	struct ur_list fresh, waiting;
	u32 waits; /* number of queue pairs in both */
	u32 sent;  /* weight of all packets sent in turns, in UR_PATH_PACKET */
	bool held;
	bool missed; /* a queue pair has waited since the last answer */
	struct ur_path_window window;
	/* packets in flight; packets of turns granted, not yet sent */
	u32 out, granted;
	u32 unmissed;	  /* packets answered since a queue pair last waited */
	ur_time heard_at; /* time of the last answer */
	/* time of the last answer that acknowledged something new */
	ur_time moved_at;
	/* start of silence: the last answer, or a packet sent with none in
	 * flight */
	ur_time tried_at;
	ur_time probed_at; /* time of the last probe */
	/* value of sent when a peer last asked for a repetition */
	u32 asked_at;
	/* longest round trip of packets sent once, slowly forgotten */
	u32 longest;
	u8 silences;	 /* silences in a row since the last answer */
	ur_time next_at; /* with a window below one packet: no packet before */
	ur_time turn_at; /* on a slow path: no turn before */
	u32 cnp_gap_ns;	 /* shortest mean gap between CNPs of a queue pair */
	/* Does the peer answer marks? */
	enum ur_marks {
		UR_MARKS_UNKNOWN,
		UR_MARKS_ANSWERED,
		UR_MARKS_SILENT, /* its packets are not ECT */
	} marks;
	ur_time marks_until; /* end of what marks says, unless UNKNOWN */
	struct ur_av *test_av;
	struct ur_qp *tester; /* queue pair to send a test; NULL: none */
	u8 tests;	      /* tests sent */
	u32 marks_round;      /* window.rounds at the last look */
	ur_time looked_at;
	ur_time test_at; /* time of the last test */
	ur_time long_at; /* since when round trips are long; 0: they are not */
};

static inline u32 ur_path_in_flight(const struct ur_qp *qp)
{
	return ur_inflight(&qp->req) + qp->share.stale;
}

/* Sets the number of packets that the queue pair has in flight. */
static inline void ur_path_set_out(struct ur_path *p, struct ur_qp *qp, u32 out)
{
	p->out += out - qp->share.out;
	qp->share.out = out;
}

/* Notes that a queue pair waits for room. */
static inline void ur_path_miss(struct ur_path *p)
{
	p->missed = true;
	p->unmissed = 0;
}

/* Returns whether the window limits nobody: the path is held only to find out
 * whether the peer answers marks. */
static inline bool ur_path_is_open(const struct ur_path *p)
{
	return p->unmissed >= UR_PATH_FREE_PKTS;
}

/* Returns the window in whole packets. */
static inline u32 ur_path_whole(const struct ur_path *p)
{
	return p->window.size / UR_PATH_ONE;
}

/* Takes the queue pair off the waiting lists. */
void ur_path_wait_no_more(struct ur_path *p, struct ur_qp *qp);
/* Takes back the queue pair's turn. */
void ur_path_give_back(struct ur_path *p, struct ur_qp *qp);
/* Grants turns to the first waiting queue pairs, as far as there is room. */
void ur_path_wake(struct ur_path *p);

/* Returns a keyed hash of an owner and a peer's address. Use its upper bits.
 * The key is secret, so nobody can choose addresses that collide. */
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

/* Notes the round trip of a packet that was sent once and waited for no
 * repeated packet. */
void ur_path_certain(struct ur_path *p, u32 trip);
/* Returns whether the peer has asked for no repetition recently. */
bool ur_path_is_calm(const struct ur_path *p);
/* Returns the shortest wait of a queue pair before a probe. */
u32 ur_path_patience(const struct ur_path *p);

/* path_pace.c */

/* Returns how many packets of a turn may leave at once. */
u32 ur_path_pace_turn(const struct ur_path *p, u32 turn);
/* Returns whether a turn may begin now; else turn_at says when. */
bool ur_path_pace_ready(const struct ur_path *p);
/* Notes that a turn of so many packets was granted. */
void ur_path_pace_granted(struct ur_path *p, u32 turn);

/* path_marks.c */

/* Initializes a new path with what is known of its peer. Without memory the
 * path makes no tests. Allocates. */
void ur_path_marks_init(struct ur_path *p, const struct ur_av *av);
void ur_path_marks_fini(struct ur_path *p);
/* Notes that a member has left. */
void ur_path_marks_left(struct ur_path *p, struct ur_qp *qp);
/* Handles a CNP of the peer. Returns whether it may answer a test. */
bool ur_path_marks_answered(struct ur_path *p);
/* Starts a test if one is due, after an answer to a member that sends more. */
void ur_path_marks_look(struct ur_path *p, struct ur_qp *qp);
/* Returns whether the path must stay held to find out about marks. */
static inline bool ur_path_marks_open(const struct ur_path *p)
{
	return p->long_at != 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A path limits the packets in flight to one address: all connected queue pairs
 * of a port and an owner that send there share its window, since one network
 * carries them. Each owner has its own window, so a peer that answers badly
 * slows down only the owner that connected to it. The window holds the queue
 * pairs while the path is unknown, and while waiting packets are lost; each
 * queue pair then gets turns of some packets. A path that needs no window costs
 * its queue pairs one branch.
 *
 * All functions run on the port's thread.
 */
#ifndef UR_TRANSPORT_PATH_H
#define UR_TRANSPORT_PATH_H

#include "transport/psn.h"
#include "transport/transport.h"
#include "util/list.h"

struct ur_path;

/* The part of a path that belongs to one queue pair. */
struct ur_share {
	struct ur_path *path; /* NULL: no path, or no congestion control */
	struct ur_list link;  /* in path->members */
	struct ur_list wait;  /* in path->fresh or ->waiting */
	bool held;	      /* the path's window limits it */
	u32 turn;	      /* packets that it may send now */
	/* packets that must go together, for which it waits */
	u32 need;
	/* packets that its last turn lacked for want of room */
	u32 owed;
	u32 fresh_at; /* value of path->sent at which it may go first again */
	u32 weight;   /* what a packet of its turn adds to path->sent */
	u32 out;      /* its share of path->out */
	u32 cuts;     /* window.cuts when cut was set */
	struct ur_psn_mark cut;
	/* answers to a READ that are on their way and will be dropped */
	u32 stale;
	bool test;  /* its next packet is to be a test, marked by ourselves */
	bool doubt; /* answers were late: a loss, or a busy host? */
	/* cnp_open: the last CNP may be about the answers that arrive now; cnp_owed: none of
	 * those has arrived yet */
	bool cnp_open, cnp_owed;
	ur_time cnp_at; /* time of the last CNP; 0: none */
	u32 cnps;	/* CNPs since cnps_from, the first included */
	ur_time cnps_from;
};

/* Makes the queue pair, which has its address vector, a member of its path, and
 * of no other. Without memory it has no path. Allocates. */
void ur_path_join(struct ur_qp *qp);
/* Removes the queue pair from its path. */
void ur_path_leave(struct ur_qp *qp);
/* Forgets what the queue pair has in flight, and frees that room. */
void ur_path_drop(struct ur_qp *qp);

/* Handles a CNP for the queue pair. Returns whether the path reacts to it:
 * false without a path, or with nothing in flight. */
bool ur_path_cnp(struct ur_qp *qp);
/* Cuts the window for a marked answer to a READ: our requests determine what
 * the peer sends. */
void ur_path_marked(struct ur_qp *qp);
/* Notes that the queue pair's peer answers marks: a CNP has come. Any connected
 * service. */
void ur_qp_marks_answered(struct ur_qp *qp);
/* Notes the same for an address and an owner. */
void ur_marks_answer(struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns whether that address has sent the owner a CNP within an hour. */
bool ur_marks_known(struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns a keyed hash of an address and an owner. Outsiders cannot choose
 * addresses that collide. Use its upper bits. */
u64 ur_marks_hash(const struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns the address vector for a test of whether the peer answers marks
 * (share.test). It belongs to the path. */
struct ur_av *ur_path_test_av(struct ur_qp *qp);
/* Notes that the test was sent. */
void ur_path_tested(struct ur_qp *qp);

/* The functions below are for held queue pairs (share.held) and affect nothing
 * else, unless they say so. */

/* Returns whether the queue pair may send share.turn packets now, at least
 * need: 1, or the answers to a READ, which come together. If not, it waits for
 * its turn, which activates it. */
bool ur_path_may_send(struct ur_qp *qp, u32 need);
/* Returns whether nobody may send beyond the turns that are granted. */
bool ur_path_full(const struct ur_qp *qp);
/* Notes that the queue pair sent so many packets, and what it has in flight. */
void ur_path_sent(struct ur_qp *qp, u32 packets);
/* Notes that the queue pair went back to its oldest packet while stale answers,
 * which it will ask for again, are on their way. */
void ur_path_back(struct ur_qp *qp, u32 stale);
/* Handles an answer of its peer. */
void ur_path_answered(struct ur_qp *qp);
/* Notes that its READs are limited by their number, since the window keeps them
 * short: the window may then grow. */
void ur_path_at_once(struct ur_qp *qp);
/* Gives back the rest of a turn, after a quantum that ended with nothing to
 * send. */
void ur_path_yield(struct ur_qp *qp);
/* Returns whether it waits for its turn while others on the path still get
 * answers. */
bool ur_path_waits(const struct ur_qp *qp);
/* Does what is due for the path at the queue pair's deadline. */
void ur_path_expire(struct ur_qp *qp);

/* Returns roughly how many packets a READ should request at once; UINT32_MAX:
 * no limit. This and the next functions: any queue pair with a path. */
u32 ur_path_read(const struct ur_qp *qp);
/* Returns the round trip measured by other queue pairs, ns; 0: none. Any queue
 * pair. */
u32 ur_path_trip(const struct ur_qp *qp);
/* Returns whether packets wait in a queue on the path. */
bool ur_path_queues(const struct ur_qp *qp);
/* Returns whether the peer has asked for no repetition recently. */
bool ur_path_calm(const struct ur_qp *qp);
/* Returns whether another queue pair of the path has just probed, without any
 * answer since: if the peer or the line stands still, one probe is enough. */
bool ur_path_is_probed(struct ur_qp *qp);
/* Notes that so many packets were lost. late: a timer found it, not an answer
 * to a later packet. */
void ur_path_lost(struct ur_qp *qp, u32 packets, bool late);
/* Notes that answers are late, and the queue pair probes with its oldest
 * packet. */
void ur_path_late(struct ur_qp *qp);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is in flight to one address: all connected queue pairs of a port that
 * send there share one window, whatever their number, since it is one network
 * that carries them. While nothing is known of a path, and where it loses while
 * packets wait in it, the window holds; each queue pair has its turn of some
 * packets. A path that needs no window costs its queue pairs one branch.
 *
 * All functions run on the port's thread.
 */
#ifndef UR_TRANSPORT_PATH_H
#define UR_TRANSPORT_PATH_H

#include "transport/transport.h"
#include "util/list.h"

struct ur_path;

/* Of one queue pair. */
struct ur_share {
	struct ur_path *path; /* NULL: none, or no control */
	struct ur_list link;  /* in path->members */
	struct ur_list wait;  /* in path->waiting */
	bool held;	      /* the path's window holds it */
	u32 turn;	      /* packets that it may send now */
	u32 owed;	      /* what its turn lacked for want of room */
	u32 out;	      /* its part of path->out */
};

/* Makes the queue pair, which has its address vector, one of those of its path,
 * and no longer of the one before. Without memory it has none. Allocates. */
void ur_path_join(struct ur_qp *qp);
/* It is none of them any more. */
void ur_path_leave(struct ur_qp *qp);
/* Frees its room: what it has sent is forgotten. */
void ur_path_drop(struct ur_qp *qp);

/* The others need a held queue pair (share.held), and turn to nothing else. */

/* Returns whether it may send share.turn packets now, at least one; the answers
 * to a READ count, which may be more. If not, it waits for its turn, and is
 * activated then. */
bool ur_path_may_send(struct ur_qp *qp);
/* Returns whether nobody may send more than the turns that are given. */
bool ur_path_full(const struct ur_qp *qp);
/* It has sent so many packets, or goes back: what it has in flight changed. */
void ur_path_sent(struct ur_qp *qp, u32 packets);
/* Its peer has answered. */
void ur_path_answered(struct ur_qp *qp);
/* A quantum ended with nothing to send: others have the rest of its turn. */
void ur_path_yield(struct ur_qp *qp);
/* Returns whether it waits for its turn, and others are heard of meanwhile. */
bool ur_path_waits(const struct ur_qp *qp);
/* Its deadline has come, perhaps for the path. */
void ur_path_expire(struct ur_qp *qp);

/* Returns the packets of the path's window, at least one; UINT32_MAX: none. Like
 * the next one, of any queue pair with a path, held or not. */
u32 ur_path_window(const struct ur_qp *qp);
/* A packet was lost. */
void ur_path_lost(struct ur_qp *qp);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A path limits what is in flight to one address: all connected queue pairs of
 * a port and an owner that send there share one window, since one network
 * carries them. Each owner has its own window, so a peer that answers badly
 * slows down only the owner that connected to it. The window limits the queue
 * pairs while nothing is known of the path, and while packets that wait in it
 * are lost; each queue pair then gets turns of some packets. A path that needs
 * no window costs its queue pairs one branch.
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
	struct ur_path *path; /* NULL: none, or no control */
	struct ur_list link;  /* in path->members */
	struct ur_list wait;  /* in path->fresh or ->waiting */
	bool held;	      /* the path's window holds it */
	u32 turn;	      /* packets that it may send now */
	u32 need;	      /* what it waits for: packets that go together */
	u32 owed;	      /* what its turn lacked for want of room */
	u32 fresh_at; /* path->sent, from which on it may go first again */
	u32 weight;   /* of a packet of its turn, in path->sent */
	u32 out;      /* its part of path->out */
	u32 cuts;     /* of the path, when max_psn was at cut */
	struct ur_psn_mark cut;
	u32 stale;  /* answers that come in vain, of a READ */
	bool test;  /* its next packet is to be marked by ourselves */
	bool doubt; /* its answers were late: has it lost, or did a host wait? */
	/* Answers that come now may be those that its last CNP stands for; none of
	 * them has come yet. */
	bool cnp_open, cnp_owed;
	ur_time cnp_at; /* 0: none has come */
	u32 cnps;	/* since cnps_from, that one too */
	ur_time cnps_from;
};

/* Makes the queue pair, which has its address vector, one of those of its path,
 * and no longer of the one before. Without memory it has none. Allocates. */
void ur_path_join(struct ur_qp *qp);
/* It is none of them any more. */
void ur_path_leave(struct ur_qp *qp);
/* Frees its room: what it has sent is forgotten. */
void ur_path_drop(struct ur_qp *qp);

/* A CNP has come for it. Returns whether its path heeds that: not where it has no
 * path, or sends nothing. */
bool ur_path_cnp(struct ur_qp *qp);
/* An answer to its READ was marked: what the peer may send is for us to say. */
void ur_path_marked(struct ur_qp *qp);
/* A CNP has come for a connected queue pair of any service: its peer answers marks. */
void ur_qp_marks_answered(struct ur_qp *qp);
/* The same of any address, for an owner. */
void ur_marks_answer(struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns whether it has sent that owner a CNP within an hour. */
bool ur_marks_known(struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns a number for an address and an owner; nobody else knows which have the
 * same. Its upper bits are the good ones. */
u64 ur_marks_hash(const struct ur_port *port, const u8 dgid[16], u32 owner);
/* Returns the address vector of the packet that its path asks for to find out
 * whether the peer answers marks (share.test). The path's, good until it leaves
 * that. */
struct ur_av *ur_path_test_av(struct ur_qp *qp);
/* That packet was sent. */
void ur_path_tested(struct ur_qp *qp);

/* The others need a held queue pair (share.held), and turn to nothing else. */

/* Returns whether it may send share.turn packets now, at least need: one, or the
 * answers to a READ, which come together. If not, it waits for its turn, and is
 * activated then. */
bool ur_path_may_send(struct ur_qp *qp, u32 need);
/* Returns whether nobody may send more than the turns that are given. */
bool ur_path_full(const struct ur_qp *qp);
/* It has sent so many packets: what it has in flight changed. */
void ur_path_sent(struct ur_qp *qp, u32 packets);
/* The queue pair has gone back while so many answers that it will ask for again
 * are on their way. Any queue pair whose path has a window that limits it. */
void ur_path_back(struct ur_qp *qp, u32 stale);
/* Its peer has answered. */
void ur_path_answered(struct ur_qp *qp);
/* It would send another READ, but has as many as it may have at once, and they
 * are short for the window's sake: so that grows with what they are. */
void ur_path_at_once(struct ur_qp *qp);
/* A quantum ended with nothing to send: others have the rest of its turn. */
void ur_path_yield(struct ur_qp *qp);
/* Returns whether it waits for its turn while the path still has answers for
 * others. */
bool ur_path_waits(const struct ur_qp *qp);
/* Its deadline has come, perhaps for the path. */
void ur_path_expire(struct ur_qp *qp);

/* Returns about how many packets a READ is to ask for at once; UINT32_MAX: as
 * many as there may be. Like the next ones, of any queue pair with a path, held
 * or not. */
u32 ur_path_read(const struct ur_qp *qp);
/* Returns the round trip that others have measured, ns; 0: none. qp: any queue
 * pair. */
u32 ur_path_trip(const struct ur_qp *qp);
/* Returns whether packets wait somewhere on a held queue pair's path. */
bool ur_path_queues(const struct ur_qp *qp);
/* Returns whether the peer of a held queue pair's path has asked for nothing again of
 * late. */
bool ur_path_calm(const struct ur_qp *qp);
/* A held queue pair would probe. Returns whether another one of its path has done so
 * just now, and nobody's answer has come since: if the peer, or all that goes there,
 * stands still, one packet finds out. */
bool ur_path_is_probed(struct ur_qp *qp);
/* So many packets were lost. late: a timer found out, and not what came after
 * them. */
void ur_path_lost(struct ur_qp *qp, u32 packets, bool late);
/* Answers to a held queue pair are late, and it asks for them by its oldest packet. */
void ur_path_late(struct ur_qp *qp);

#endif

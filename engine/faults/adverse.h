/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine's part of a legal but hostile card (doc/adverse.md), for the objects
 * of contexts that asked for one. Engine thread only, unless a comment says
 * otherwise.
 *
 * Its state is in engine->faults, and it is called at the same places: an engine
 * with neither faults nor hostile cards pays nothing.
 */
#ifndef UR_ENGINE_FAULTS_ADVERSE_H
#define UR_ENGINE_FAULTS_ADVERSE_H

#include "engine/faults/faults.h"
#include "util/rng.h"

/* Most queues and packets of an engine that are delayed at a time, since each turn
 * checks all of them, and they take memory. Others are served as by an ordinary
 * card. A turn checks 64 in less than a microsecond. */
#define UR_ADVERSE_QUEUES_MAX  64
#define UR_ADVERSE_PACKETS_MAX 1024

/* The settings of one context. */
struct ur_adverse {
	u32 what; /* UROCE_ADVERSE_* */
	u32 seed;
	u32 queues; /* number of queues made; each has its own generator */
};

/* Most completions that are delayed together. */
#define UR_ADVERSE_BATCH_MAX 16

struct ur_adverse_cq {
	struct ur_list node; /* of faults->late_cqs, while there are any */
	struct ur_ecq *cq;
	struct ur_rng rng;
	ur_time at;
	u32 n, size;
	struct ur_wc wc[UR_ADVERSE_BATCH_MAX];
};

struct ur_adverse_qp {
	struct ur_eqp *qp;
	u32 what; /* UROCE_ADVERSE_* of its context */
	struct ur_rng rng;
	/* Requests that were posted and are fetched later. */
	struct ur_list waiting; /* of faults->waiting */
	ur_time fetch_at;
	u32 fetch; /* requests to fetch now, before the next delay */
	/* Kept packets: those of a message that is incomplete, and later ones. */
	struct ur_list ordered; /* of faults->ordered, while there are any */
	struct ur_list packets; /* ur_held_in */
	u32 n_packets, next_psn;
	ur_time hand_in_at;
	bool whole; /* the message is complete, or its end cannot be recognized */
	bool rnr_said; /* the last SEND got an RNR NAK, so the next one gets none */
};

/* ---- random draws: the same for the same seed and number ---- */

/* Returns the generator of the nth queue of a context. */
struct ur_rng ur_adverse_rng(u32 seed, u32 nth);
/* Returns how many completions are written together, 1 to UR_ADVERSE_BATCH_MAX. */
u32 ur_adverse_draw_batch(struct ur_rng *rng);
/* Returns a delay in nanoseconds: 20,000 to 220,000. */
u64 ur_adverse_draw_late(struct ur_rng *rng);
/* Returns whether a SEND is answered by an RNR NAK: one in eight. */
bool ur_adverse_draw_rnr(struct ur_rng *rng);
/* Returns whether to send a needless asynchronous event: at one completion in 64. */
bool ur_adverse_draw_event(struct ur_rng *rng);

/* ---- objects of a context; nothing where it is an ordinary one ---- */

/* Undoes ur_ectx_set_adverse() when the context ends. */
void ur_adverse_end(struct ur_ectx *ectx);
/* Give a queue its state before it is made. Any thread. Return 0 or -ENOMEM. */
int ur_adverse_make_cq(struct ur_ecq *cq);
int ur_adverse_make_qp(struct ur_eqp *qp, struct ur_ectx *ectx);
/* Free that state. The engine must not know the queue any more. */
void ur_adverse_free_cq(struct ur_ecq *cq);
void ur_adverse_free_qp(struct ur_eqp *qp);
/* Writes the delayed completions of the queue. cq may be NULL. */
void ur_adverse_flush_cq(struct ur_ecq *cq);
/* Writes the queue pair's delayed completions and removes it from all lists: it is
 * being destroyed, or its rings are dropped. */
void ur_adverse_forget_qp(struct ur_eqp *qp);
/* on: fetches all requests without delay from now on; else ends that. */
void ur_adverse_hurry(struct ur_eqp *qp, bool on);
/* Makes the queue pairs of the context fetch all requests posted so far in their next
 * turn. engine->faults must exist. */
void ur_adverse_fetch_all(struct ur_engine *engine, const struct ur_ectx *ectx);

/* ---- the data path ---- */

/* Writes or delays a completion for a queue with cq->adverse. Returns as
 * ur_cq_push(). */
int ur_adverse_push(struct ur_ecq *cq, const struct ur_wc *wc);
/* Returns whether the queue pair must wait before it fetches its next request. */
bool ur_adverse_waits(struct ur_eqp *qp);
/* Returns whether a SEND that begins gets an RNR NAK. */
bool ur_adverse_refuses(struct ur_eqp *qp);
/* Hands a packet in to the port, or keeps it until the message is complete. */
void ur_adverse_rx(struct ur_engine *engine, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len);
/* Hands in the packets whose time has come. Returns whether there were any. */
bool ur_adverse_hand_in(struct ur_engine *engine);
/* Writes delayed completions and fetches delayed requests that are due. Returns whether
 * there were any. */
bool ur_adverse_turn(struct ur_engine *engine);
/* Returns when the next delayed packet, completion or request is due. */
ur_time ur_adverse_deadline(const struct ur_engine *engine);

#endif

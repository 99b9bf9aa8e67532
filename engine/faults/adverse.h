/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine's part of a legal but hostile card (doc/adverse.md): for the
 * objects of contexts that asked for it, and of no others. Engine thread only,
 * but where a comment says otherwise.
 *
 * It lives in engine->faults, and is called where faults are: an engine without
 * either pays for neither.
 */
#ifndef UR_ENGINE_FAULTS_ADVERSE_H
#define UR_ENGINE_FAULTS_ADVERSE_H

#include "engine/faults/faults.h"
#include "util/rng.h"

/* The most queues and packets of an engine that are held up: each turn looks at
 * all of them, and they take memory. The others are served as on an ordinary
 * card. A turn looks at 64 in less than a microsecond. */
#define UR_ADVERSE_QUEUES_MAX  64
#define UR_ADVERSE_PACKETS_MAX 1024

/* The settings of one context. */
struct ur_adverse {
	u32 what; /* UROCE_ADVERSE_* */
	u32 seed;
	u32 queues; /* made so far: each has a generator of its own */
};

/* Completions that are not yet written. */
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
	u32 fetch; /* so many now; then there is a wait again */
	/* Packets of a message whose end has not come, and what is behind. */
	struct ur_list ordered; /* of faults->ordered, while there are any */
	struct ur_list packets; /* ur_held_in */
	u32 n_packets, next_psn;
	ur_time hand_in_at;
	bool whole;    /* its end came, or can no longer be recognized */
	bool rnr_said; /* the next one is not refused */
};

/* ---- what is drawn: the same for the same seed and number ---- */

/* Returns the generator of the nth queue of a context. */
struct ur_rng ur_adverse_rng(u32 seed, u32 nth);
/* Returns how many completions come together, 1 to UR_ADVERSE_BATCH_MAX. */
u32 ur_adverse_draw_batch(struct ur_rng *rng);
/* Returns how late something is, in nanoseconds: 20,000 to 220,000. */
u64 ur_adverse_draw_late(struct ur_rng *rng);
/* Returns whether a SEND is answered by an RNR NAK: one in eight. */
bool ur_adverse_draw_rnr(struct ur_rng *rng);
/* Returns whether an event comes that nobody needs: one completion in 64. */
bool ur_adverse_draw_event(struct ur_rng *rng);

/* ---- objects of a context; nothing where it is an ordinary one ---- */

/* Ends what ur_ectx_set_adverse() has begun, with the context. */
void ur_adverse_end(struct ur_ectx *ectx);
/* Makes the engine one that has such a context, or no longer. It has no queue
 * pairs then. Returns 0 or -ENOMEM. */
int ur_adverse_join(struct ur_engine *engine, const struct ur_ectx *ectx);
void ur_adverse_leave(struct ur_engine *engine, const struct ur_ectx *ectx);
/* Returns whether completions of the context are still to be written. */
bool ur_adverse_late(const struct ur_engine *engine,
		     const struct ur_ectx *ectx);
/* Give a queue its state before it is made. Any thread. Return 0 or -ENOMEM. */
int ur_adverse_make_cq(struct ur_ecq *cq);
int ur_adverse_make_qp(struct ur_eqp *qp, struct ur_ectx *ectx);
/* Frees what these have made. The engine must not know the queue any more. */
void ur_adverse_free_cq(struct ur_ecq *cq);
void ur_adverse_free_qp(struct ur_eqp *qp);
/* Writes the completions that the queue has not got yet. cq may be NULL. */
void ur_adverse_flush_cq(struct ur_ecq *cq);
/* Takes the queue pair off all lists: it is destroyed, or its rings are
 * dropped. Its completions are written. */
void ur_adverse_forget_qp(struct ur_eqp *qp);
/* on: fetches at once whatever is posted from now on; else ends that. */
void ur_adverse_hurry(struct ur_eqp *qp, bool on);
/* Requests posted so far to queue pairs of the context are fetched in their
 * next turn. The engine has a fault table. */
void ur_adverse_fetch_all(struct ur_engine *engine, const struct ur_ectx *ectx);

/* ---- the data path ---- */

/* A completion for a queue that has a cq->adverse. Returns as ur_cq_push(). */
int ur_adverse_push(struct ur_ecq *cq, const struct ur_wc *wc);
/* Returns whether the next request of the queue pair is not fetched yet. */
bool ur_adverse_waits(struct ur_eqp *qp);
/* Returns whether a SEND that begins is answered by an RNR NAK. */
bool ur_adverse_refuses(struct ur_eqp *qp);
/* Hands a packet in to the port, or keeps it until the message is whole. */
void ur_adverse_rx(struct ur_engine *engine, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len);
/* Hands in the packets whose time has come. Returns whether there were any. */
bool ur_adverse_hand_in(struct ur_engine *engine);
/* Does what is due. Returns whether there was anything. */
bool ur_adverse_turn(struct ur_engine *engine);
/* Returns when the next of these is due. */
ur_time ur_adverse_deadline(const struct ur_engine *engine);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Completion queues: cq_ring.c, their events cq_event.c. */
#ifndef UR_ENGINE_CORE_CQ_H
#define UR_ENGINE_CORE_CQ_H

#include "engine/core/arena.h"
#include "engine/core/event_file.h"
#include "kernel-abi/uroce-ring.h"
#include "transport/host.h"

struct ur_adverse_cq;

struct ur_ecq {
	struct ur_ectx *ectx;
	struct ur_block block;
	struct uroce_cq_hdr *hdr;
	struct uroce_cqe *cqes;
	u32 entries;
	u32 prod;      /* CQEs written */
	u32 cons;      /* last consumer index seen */
	u32 arm_taken; /* value of hdr->arm that has already had its event */
	bool overrun;
	bool ignore_overrun;
	bool stamped; /* CQEs carry time stamps */
	u32 users;    /* QPs and SRQs that use it */
	struct ur_echan *chan;
	struct ur_easync *async;
	struct ur_evsrc comp_src, async_src;
	/* moderation */
	u16 mod_count, mod_period_us;
	u32 mod_seen;	      /* CQEs since the last event */
	ur_time mod_deadline; /* of the delayed event; UR_NEVER: none */
	struct ur_list mod_node;
	u32 due; /* events to send in this turn */
	struct ur_list due_node;
	struct ur_adverse_cq *adverse; /* NULL: an ordinary card */
};

/* Host callbacks of the transport (transport/host.h), here and below. */
int ur_cq_push(void *cq_ctx, const struct ur_wc *wc);
/* Handles a completion that finds the queue full. Returns -ENOSPC. */
int ur_ecq_overrun(struct ur_ecq *cq);
/* Returns a description of the first violated invariant of the queue, or NULL. */
const char *ur_ecq_check(const struct ur_ecq *cq);

/* ---- their events: cq_event.c ---- */

/* Decides whether a CQE that was written to a queue with a channel causes an
 * event. */
void ur_ecq_completed(struct ur_ecq *cq, const struct ur_wc *wc);
/* Makes the queue's event due in this turn, without moderation. */
void ur_ecq_event(struct ur_ecq *cq);
/* Makes all events due whose moderation period is over. Returns the next
 * deadline. */
ur_time ur_ecq_moderate(struct ur_engine *engine, ur_time now);
/* Sends all events that are due. Each holder of the owner lock calls this before
 * releasing it. */
void ur_ecq_send_events(struct ur_engine *engine);
/* Does the same, but releases the owner lock meanwhile: a thread of the program that an event
 * wakes can poll and post at once, without waiting for the rest of the turn. Thread of an engine
 * in a program, between two steps of its turn. */
void ur_ecq_send_events_aside(struct ur_engine *engine);

#endif

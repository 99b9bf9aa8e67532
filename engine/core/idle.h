/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Decides how the engine waits after iterations that found nothing: it keeps
 * the processor (hold), gives it up for a moment (yield), or sleeps. This file
 * only decides, with no clock and no system call; wait.c does what is decided
 * here. Engine thread only. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef UR_ENGINE_CORE_IDLE_H
#define UR_ENGINE_CORE_IDLE_H

#include "engine/core/spin_predictor.h"
#include "util/bytes.h"

enum ur_idle_way {
	UR_IDLE_HOLD,
	UR_IDLE_YIELD,
	UR_IDLE_SLEEP,
};

struct ur_idle {
	bool hold;   /* option: hold where that has paid; else yield at once */
	u64 spin_ns; /* option: awake for so long after the last work */
	u64 last_work;
	struct ur_spin_predictor wire;	  /* holding after packets */
	struct ur_spin_predictor *served; /* of what was served last */
	struct ur_spin_predictor
		*holding; /* learns how this wait ends, or NULL */
	bool waiting;	  /* the last iteration found nothing either */
	u64 hold_until;
	u64 yield_at; /* alone: no sooner than that */
	/* long yields */
	u64 lost_since, contended_until;
	u64 lost_ns;
};

/* hold, spin_ns: the options of struct ur_idle. */
void ur_idle_init(struct ur_idle *idle, bool hold, u64 spin_ns, u64 now);
/* Work of the kind that this predictor is for was found. The predictor stays
 * the caller's and must live until ur_idle_forget(). */
static inline void ur_idle_serve(struct ur_idle *idle,
				 struct ur_spin_predictor *predictor)
{
	idle->served = predictor;
}
/* Forgets the predictor, which is about to be freed. */
void ur_idle_forget(struct ur_idle *idle, struct ur_spin_predictor *predictor);
/* An iteration that began at now found work. */
void ur_idle_work(struct ur_idle *idle, u64 now);
/* An iteration that began at now found none. Returns what to do. */
enum ur_idle_way ur_idle_wait(struct ur_idle *idle, u64 now);
/* The yield that ur_idle_wait() asked for took from before to after. */
void ur_idle_yielded(struct ur_idle *idle, u64 before, u64 after);

#endif

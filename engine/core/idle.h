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

enum ur_idle_mode {
	UR_IDLE_HOLD,
	UR_IDLE_YIELD,
	UR_IDLE_SLEEP,
};

struct ur_idle {
	bool hold;   /* option: hold if that pays; else yield at once */
	u64 spin_ns; /* option: stay awake for so long after the last work */
	u64 last_work;
	struct ur_spin_predictor wire;	  /* for waits after packets */
	struct ur_spin_predictor *served; /* for waits after the last work */
	struct ur_spin_predictor
		*holding; /* the one that learns how this wait ends, or NULL */
	bool waiting;	  /* the last iteration found no work */
	u64 hold_until;
	u64 yield_at; /* earliest next yield, if alone on the processor */
	/* Time lost in long yields: since when, and how much. Until contended_until the processor counts as shared. */
	u64 lost_since, contended_until;
	u64 lost_ns;
};

/* Initializes *idle. hold, spin_ns: the options of struct ur_idle. */
void ur_idle_init(struct ur_idle *idle, bool hold, u64 spin_ns, u64 now);
/* Records that work of this predictor's kind was found. The predictor stays the
 * caller's and must live until ur_idle_forget(). */
static inline void ur_idle_serve(struct ur_idle *idle,
				 struct ur_spin_predictor *predictor)
{
	idle->served = predictor;
}
/* Forgets the predictor, which is about to be freed. */
void ur_idle_forget(struct ur_idle *idle, struct ur_spin_predictor *predictor);
/* Records that an iteration that began at now found work. */
void ur_idle_work(struct ur_idle *idle, u64 now);
/* Returns what to do after an iteration that began at now and found no work. */
enum ur_idle_mode ur_idle_wait(struct ur_idle *idle, u64 now);
/* Records that a yield lasted from before to after. */
void ur_idle_yielded(struct ur_idle *idle, u64 before, u64 after);

#endif

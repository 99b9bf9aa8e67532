/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Predicts from earlier waits whether it pays to hold the processor during a wait.
 * Each kind of work that precedes a wait has a predictor of its own. After a doorbell
 * of a program that shares the engine's processor holding is in vain, since that
 * program cannot run meanwhile; a program on another processor may post again at once.
 * Engine thread only.
 */
#ifndef UR_ENGINE_CORE_SPIN_PREDICTOR_H
#define UR_ENGINE_CORE_SPIN_PREDICTOR_H

#include "util/bytes.h"

/* Zeroed: the first prediction is yes. */
struct ur_spin_predictor {
	u8 missed;   /* average of waits in vain, in 256ths */
	u8 refusals; /* predictions of no, in a row */
};

/* The value of missed from which on the prediction is no. */
#define UR_SPIN_MISS_LIMIT 144
/* After so many, the prediction is yes once, to learn. */
#define UR_SPIN_RETRY 32

/* Returns whether the next wait is worth holding the processor. */
static inline bool ur_spin_predict(struct ur_spin_predictor *g)
{
	if (g->missed < UR_SPIN_MISS_LIMIT || ++g->refusals >= UR_SPIN_RETRY) {
		g->refusals = 0;
		return true;
	}
	return false;
}

/* Records how a wait with the processor held ended: with work (true) or in vain. */
static inline void ur_spin_learn(struct ur_spin_predictor *g, bool work)
{
	int to = work ? 0 : 255;

	g->missed = (u8)(g->missed + (to - g->missed) / 4);
}

#endif

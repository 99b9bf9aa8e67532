/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Predicts whether it is worth holding the processor while waiting, from how
 * earlier waits ended. There is one predictor for each kind of work that a wait
 * follows: of two programs that talk to each other, one may share the engine's
 * processor and cannot answer while the engine holds it, while the other runs
 * and answers at once. Engine thread only.
 */
#ifndef UR_ENGINE_CORE_SPIN_PREDICTOR_H
#define UR_ENGINE_CORE_SPIN_PREDICTOR_H

#include "util/bytes.h"

/* Zeroed: knows nothing, says yes. */
struct ur_spin_predictor {
	u8 missed;   /* share of waits in vain, of 256 */
	u8 refusals; /* how often in a row it answered no */
};

/* Says no from this share on ... */
#define UR_SPIN_MISS_LIMIT 144
/* ... but yes each so many times, to learn. */
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

/* Tells the predictor how such a wait ended: with work (true) or in vain. */
static inline void ur_spin_learn(struct ur_spin_predictor *g, bool work)
{
	int to = work ? 0 : 255;

	g->missed = (u8)(g->missed + (to - g->missed) / 4);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether holding the processor while waiting is worth it, learned from how it
 * went: one guess for each kind of work that the wait follows. Of two programs
 * that talk to each other, one shares the engine's processor and cannot answer
 * while the engine holds it; the other runs and answers at once.
 */
#ifndef UR_DEVICE_GUESS_H
#define UR_DEVICE_GUESS_H

#include "util/bytes.h"

/* Zeroed: knows nothing, says yes. */
struct ur_guess {
	u8 missed; /* share of waits in vain, of 256 */
	u8 shy;	   /* how often in a row it said no */
};

/* Says no from this share on ... */
#define UR_GUESS_LIMIT 144
/* ... but yes each so many times, to learn. */
#define UR_GUESS_TRY 32

static inline bool ur_guess_ask(struct ur_guess *g)
{
	if (g->missed < UR_GUESS_LIMIT || ++g->shy >= UR_GUESS_TRY) {
		g->shy = 0;
		return true;
	}
	return false;
}

/* How a wait ended: with work (true) or in vain. */
static inline void ur_guess_learn(struct ur_guess *g, bool work)
{
	int to = work ? 0 : 255;

	g->missed = (u8)(g->missed + (to - g->missed) / 4);
}

#endif

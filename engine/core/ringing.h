/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The contexts whose doorbells the engine looks at in each turn. Where there are
 * many, a context that has not rung of late is told that the engine sleeps: its
 * next ring writes the wake eventfd, and the event of that brings it back. So a
 * turn, a sleep and a wake-up cost by the contexts that ring, and not by those
 * that are there.
 *
 * All functions: under the owner lock.
 */
#ifndef UR_ENGINE_CORE_RINGING_H
#define UR_ENGINE_CORE_RINGING_H

#include "engine/core/engine_impl.h"

/* Contexts that cost nothing worth saving. */
#define UR_RINGING_FEW 16u

/* Puts a context among them, which has rung, or is new. */
void ur_ringing_add(struct ur_engine *engine, struct ur_ectx *ectx);
/* Takes it away, if it is there. */
void ur_ringing_del(struct ur_engine *engine, struct ur_ectx *ectx);
/* Takes those away that have not rung for a while, unless they are few. Once a
 * turn, while awake. */
void ur_ringing_look(struct ur_engine *engine);
/* Answers the doorbells of these contexts, or of all: events were lost that said
 * who else has rung, or a command waits. Returns whether any had rung. */
bool ur_ringing_answer(struct ur_engine *engine, bool all);
/* Returns whether any of these contexts has rung, and was not answered yet. */
bool ur_ringing_waits(const struct ur_engine *engine);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The set of contexts whose doorbells the engine checks in each turn. If there are
 * many, the engine removes a context that has not rung of late and shows it that
 * the engine sleeps. Its next doorbell then writes the wake eventfd, and that event
 * puts it back. So the cost of a turn, a sleep and a wake-up depends on the number
 * of active contexts, not of all.
 *
 * All functions: under the owner lock.
 */
#ifndef UR_ENGINE_CORE_RINGING_H
#define UR_ENGINE_CORE_RINGING_H

#include "engine/core/engine_impl.h"

/* Up to this number of contexts none is removed. */
#define UR_RINGING_FEW 16u

/* Adds a context that has rung, or is new. */
void ur_ringing_add(struct ur_engine *engine, struct ur_ectx *ectx);
/* Removes a context, if it is in the set. */
void ur_ringing_del(struct ur_engine *engine, struct ur_ectx *ectx);
/* Removes the contexts that have not rung for a while, if there are many. Once a
 * turn, while awake. */
void ur_ringing_check(struct ur_engine *engine);
/* Serves the doorbells of the set; of all contexts if all is set (a command waits)
 * or wake events were lost. Returns whether any had rung. */
bool ur_ringing_answer(struct ur_engine *engine, bool all);
/* Returns whether any context of the set has rung and was not served yet. */
bool ur_ringing_waits(const struct ur_engine *engine);

#endif

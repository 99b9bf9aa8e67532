/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine thread between two iterations: it does what idle.h decides. Engine
 * thread only.
 */
#ifndef UR_ENGINE_CORE_WAIT_H
#define UR_ENGINE_CORE_WAIT_H

#include "engine/core/engine_impl.h"
#include "util/os/clock.h"

/* Sets the scheduling attributes of the calling thread, once. */
void ur_wait_init(struct ur_engine *engine);
/* Waits after an iteration that found nothing: holds, yields or sleeps, for an
 * hour at most. Returns whether it slept. */
bool ur_wait(struct ur_engine *engine);
/* Sleeps until something is to be done. */
void ur_wait_sleep(struct ur_engine *engine);
/* Returns whether there is something to do at once. The caller has published
 * that the engine sleeps, with a full barrier behind it. */
bool ur_work_waits(struct ur_engine *engine);
/* Tells the clients on which processor the engine is now, where that has
 * changed. */
void ur_wait_show_cpu(struct ur_engine *engine);
/* Puts a context among those that the engine serves, and shows its client
 * whether the engine sleeps, and where it is. Any thread that holds the owner
 * lock. */
void ur_wait_add(struct ur_engine *engine, struct ur_ectx *ectx);
/* A context's doorbell has called the engine: each turn looks at it again, and
 * its client is shown what the others are. The caller holds the owner lock. */
void ur_wait_ring(struct ur_engine *engine, struct ur_ectx *ectx);
/* Returns whether any client has rung a doorbell that was not taken yet. The
 * caller holds the owner lock. */
bool ur_doorbells_rung(const struct ur_engine *engine);

#endif

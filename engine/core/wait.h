/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine thread's waiting between two turns, as idle.h decides. Engine thread
 * only.
 */
#ifndef UR_ENGINE_CORE_WAIT_H
#define UR_ENGINE_CORE_WAIT_H

#include <time.h>
#include "engine/core/engine_impl.h"
#include "util/os/clock.h"

/* Sets the scheduling attributes of the calling thread, once. */
void ur_wait_init(struct ur_engine *engine);
/* Waits after a turn that found no work: holds, yields or sleeps, for an hour at
 * most. Returns whether it slept. */
bool ur_wait(struct ur_engine *engine);
/* Sleeps until there is work. */
void ur_wait_sleep(struct ur_engine *engine);
/* The two halves of that, for a thread that runs several engines. ur_wait_begins() publishes that the engine
 * sleeps, until asleep_until at the latest; returns false if there is work already. ur_wait_ends() waits for
 * the engine's own descriptors for that time, serves them, and publishes that it is awake. */
bool ur_wait_begins(struct ur_engine *engine);
void ur_wait_ends(struct ur_engine *engine, const struct timespec *timeout);
/* Returns the time from now to until, an hour at most. */
struct timespec ur_wait_until(u64 until);
/* Returns whether there is work. The caller has published that the engine sleeps,
 * with a full barrier afterwards. */
bool ur_work_waits(struct ur_engine *engine);
/* Publishes to the clients the engine's processor, if that has changed. */
void ur_wait_show_cpu(struct ur_engine *engine);
/* Adds a context to those that the engine serves, and publishes to its client
 * whether the engine sleeps, and its processor. Any thread that holds the owner
 * lock. */
void ur_wait_add(struct ur_engine *engine, struct ur_ectx *ectx);
/* Handles a context's wake-up: each turn checks its doorbell again. Publishes to its
 * client whether the engine sleeps, and its processor. The caller holds the owner
 * lock. */
void ur_wait_ring(struct ur_engine *engine, struct ur_ectx *ectx);
/* Returns whether any doorbell waits to be served. The caller holds the owner
 * lock. */
bool ur_doorbells_rung(const struct ur_engine *engine);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine thread. */
#ifndef UR_ENGINE_CORE_POLL_LOOP_H
#define UR_ENGINE_CORE_POLL_LOOP_H

#include "util/bytes.h"

struct ur_engine;

/* Runs the engine thread. arg: struct ur_engine. Returns NULL when its stop is
 * set. */
void *ur_poll_thread(void *arg);
/* One turn: commands, doorbells, datagrams, timers, transmission. Returns whether
 * there was anything to do. Under the owner lock. */
bool ur_poll_turn(struct ur_engine *engine);
/* Runs the part of a turn that a thread needs after it has posted: sends what
 * waits. Under the owner lock. */
void ur_poll_posted(struct ur_engine *engine);
/* Returns whether the engine's thread, which sleeps, would sleep too long. Under
 * the owner lock. */
bool ur_poll_overdue(struct ur_engine *engine);
/* Sends the packets and events of a function that a caller ran in the sleeping
 * engine's place. Under the owner lock. Returns true when the engine has to
 * wake for the rest. */
bool ur_poll_after_call(struct ur_engine *engine);

#endif

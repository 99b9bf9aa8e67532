/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The turns of a program's engine. */
#ifndef UR_ENGINE_CORE_POLL_LOOP_H
#define UR_ENGINE_CORE_POLL_LOOP_H

#include "util/bytes.h"

struct ur_engine;

/* Runs one turn: commands, doorbells, datagrams, timers, transmission. Returns
 * whether there was any work. Under the owner lock. */
bool ur_poll_turn(struct ur_engine *engine);
/* Runs the part of a turn that a thread needs after posting: doorbells and
 * transmission. Under the owner lock. */
void ur_poll_posted(struct ur_engine *engine);
/* Processes the datagrams that have arrived; at most some. Under the owner lock. */
void ur_poll_arrived(struct ur_engine *engine);
/* Returns whether there is work before the end of the engine thread's present
 * sleep. Under the owner lock. */
bool ur_poll_overdue(struct ur_engine *engine);
/* Sends the packets and events of a function that a caller ran in place of the
 * sleeping thread. Returns whether the thread has to wake for the rest. Under the
 * owner lock. */
bool ur_poll_after_call(struct ur_engine *engine);

#endif

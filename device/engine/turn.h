/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The engine thread. */
#ifndef UR_DEVICE_TURN_H
#define UR_DEVICE_TURN_H

#include "util/bytes.h"

struct ur_engine;

/* arg: struct ur_engine; returns when its stop is set. */
void *ur_turn_thread(void *arg);
/* For who ran a function in the sleeping engine's place: send what came of it.
 * True when the engine has to wake for the rest. */
bool ur_turn_after_call(struct ur_engine *engine);

#endif

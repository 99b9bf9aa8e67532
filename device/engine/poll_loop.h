/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine thread. */
#ifndef UR_DEVICE_POLL_LOOP_H
#define UR_DEVICE_POLL_LOOP_H

#include "util/bytes.h"

struct ur_engine;
struct ur_ectx;
struct ur_eqp;

/* arg: struct ur_engine; returns when its stop is set. */
void *ur_poll_thread(void *arg);
/* For who ran a function in the sleeping engine's place: send what came of it.
 * True when the engine has to wake for the rest. */
bool ur_poll_after_call(struct ur_engine *engine);
/*
 * Before a queue pair is changed or destroyed: take what is posted to its send
 * queue and let go what can go now (of RC, its window). An adapter has done so
 * microseconds after the doorbell. What the wire has no room for stays.
 */
void ur_poll_settle(struct ur_engine *engine, struct ur_eqp *qp);
/* The same for all of a context, before what their requests name goes. */
void ur_poll_settle_all(struct ur_engine *engine, struct ur_ectx *ectx);

#endif

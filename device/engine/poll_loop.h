/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine thread, and what it does with posted work when control asks. */
#ifndef UR_DEVICE_POLL_LOOP_H
#define UR_DEVICE_POLL_LOOP_H

#include "util/bytes.h"

struct ur_engine;
struct ur_ectx;
struct ur_eqp;

/* Runs the engine thread. arg: struct ur_engine. Returns NULL when its stop is
 * set. */
void *ur_poll_thread(void *arg);
/* Sends what a function caused that a caller ran in the sleeping engine's
 * place, under the owner lock. Returns true when the engine has to wake for the
 * rest. */
bool ur_poll_after_call(struct ur_engine *engine);
/*
 * Takes what is posted to a queue pair's send queue and sends what can be sent
 * now (of RC, a window), before the queue pair is changed or destroyed. An
 * adapter would have done so microseconds after the doorbell. What the wire has
 * no room for stays. Runs as the engine.
 */
void ur_poll_settle(struct ur_engine *engine, struct ur_eqp *qp);
/* Does the same for all queue pairs of a context, before an object goes that
 * their requests may name: for some of them, and returns false when those were
 * the last. Else the caller comes again, and others have turns between. */
bool ur_poll_settle_all(struct ur_engine *engine, struct ur_ectx *ectx);

#endif

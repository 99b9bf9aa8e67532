/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's sending. Runs as the engine. */
#ifndef UR_ENGINE_CORE_TRANSMIT_H
#define UR_ENGINE_CORE_TRANSMIT_H

#include "util/bytes.h"

struct ur_engine;
struct ur_ectx;
struct ur_eqp;

/* Fills of the burst buffer in one iteration. */
#define UR_TRANSMIT_ROUNDS 4
/* The same in a program, which may send to itself: requests, answers, what the credits in these
 * let go (a few at most of a number that they cannot say), and its answers, twice. */
#define UR_TRANSMIT_ROUNDS_OWN 8

/* Sends what the transport has, for so many fills. Returns whether there was
 * anything. */
bool ur_transmit(struct ur_engine *engine);
/* Does the same for a tenth of a millisecond: a caller waits for it, and others
 * wait for that caller. Returns whether there may be more. */
bool ur_transmit_little(struct ur_engine *engine);
/*
 * Takes what is posted to a queue pair's send queue and sends what can be sent
 * now (of RC, a window), before the queue pair is changed or destroyed. An
 * adapter would have done so microseconds after the doorbell. Packets that the
 * wire has no room for stay. It works for some tenths of a millisecond and
 * returns whether there is more: then the caller calls again, and others have
 * turns between.
 */
bool ur_transmit_settle(struct ur_engine *engine, struct ur_eqp *qp);
/* Does the same for all queue pairs of a context, before an object goes that
 * their requests may name. *run: 0 at first, and then what the function put
 * there. */
bool ur_transmit_settle_all(struct ur_engine *engine, struct ur_ectx *ectx,
			    u64 *run);
/* Somebody has posted to the queue pair, which has a send ring. */
void ur_transmit_note(struct ur_eqp *qp);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's sending. Runs as the engine. */
#ifndef UR_ENGINE_CORE_TRANSMIT_H
#define UR_ENGINE_CORE_TRANSMIT_H

#include "util/bytes.h"

struct ur_engine;
struct ur_ectx;
struct ur_eqp;

/* Most fills of the burst buffer in one turn. */
#define UR_TRANSMIT_ROUNDS 4
/* The same in a program, which may send to itself. Four fills are one exchange: requests, their responses,
 * the requests that the credits in the responses allow, and their responses. Eight are two exchanges. */
#define UR_TRANSMIT_ROUNDS_OWN 8

/* Sends the transport's packets, for at most that number of fills. Returns whether
 * there were any. */
bool ur_transmit(struct ur_engine *engine);
/* Does the same for at most 100 us, since a caller waits with the control lock.
 * Returns whether there may be more. */
bool ur_transmit_little(struct ur_engine *engine);
/*
 * Fetches the requests posted to a queue pair and sends what can be sent now (of
 * RC, a window), before the queue pair is changed or destroyed. An adapter would
 * have done so microseconds after the doorbell. Packets that the wire has no room
 * for stay. Takes some tenths of a millisecond. Returns whether there is more: then
 * the caller releases the lock for others, and calls again.
 */
bool ur_transmit_drain(struct ur_engine *engine, struct ur_eqp *qp);
/* Does the same for all queue pairs of a context, before an object that their
 * requests may name is destroyed. *run is 0 in the first call, and the function's
 * afterwards. */
bool ur_transmit_drain_all(struct ur_engine *engine, struct ur_ectx *ectx,
			   u64 *run);
/* Notes that requests may have been posted to the queue pair, which has a send
 * ring. */
void ur_transmit_note(struct ur_eqp *qp);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends what is in the burst buffer, engine->tx. Runs as the engine. */
#ifndef UR_ENGINE_CORE_TX_H
#define UR_ENGINE_CORE_TX_H

#include "util/bytes.h"

struct ur_engine;

/* Empties tx. Returns false if the wire has no room for its packets. */
bool ur_tx_empty(struct ur_engine *engine);
/* Sends the rest of tx. Returns false if the wire has no room. */
bool ur_tx_flush(struct ur_engine *engine);
/* Records the packets that were just filled in, and applies fault rules to them. */
void ur_tx_arrange(struct ur_engine *engine);
/* Does that and sends them. Returns false if the wire has no room. */
bool ur_tx_put_out(struct ur_engine *engine);
/* With fault rules: delivers the received packets that a rule has delayed until now, and sends the delayed
 * packets of this engine. Returns whether there were any. */
bool ur_tx_held(struct ur_engine *engine);

#endif

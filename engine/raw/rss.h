/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's side of receive hashing; raw.h has control's side. */
#ifndef UR_ENGINE_RAW_RSS_H
#define UR_ENGINE_RAW_RSS_H

#include "engine/core/engine_impl.h"

/* Returns the queue pair that receives a frame with that key: qp, or one of those that
 * it spreads frames over. As the engine. */
struct ur_eqp *ur_rss_queue(struct ur_eqp *qp, const struct ur_flow_key *key);

#endif

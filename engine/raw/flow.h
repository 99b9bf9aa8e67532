/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Flow rules inside the engine: which raw packet queue pairs get a frame. Rules
 * with the same priority and mask are a group, in which a frame finds its rule by
 * hash. So the cost of a frame depends on the number of groups, which is bounded,
 * and not on the number of rules. Everything runs as the engine.
 */
#ifndef UR_ENGINE_RAW_FLOW_H
#define UR_ENGINE_RAW_FLOW_H

#include "engine/core/engine_impl.h"

struct ur_flow_table;

/* Returns an empty table, or NULL without memory. */
struct ur_flow_table *ur_flow_table_create(u64 seed);
/* Frees an empty table. table may be NULL. */
void ur_flow_table_destroy(struct ur_flow_table *table);

/* Delivers the frame to the queue pairs whose rules match. sender: the number of the
 * queue pair of this device that sent it, or 0. */
void ur_flow_rx(struct ur_engine *engine, u32 sender, const u8 *frame, u32 len);

#endif

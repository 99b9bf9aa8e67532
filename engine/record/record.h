/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Feeds the flight recorder and the probes. While both are off, the port has its
 * ordinary callbacks. The cost is then a check of record.on for each batch of sent
 * packets and for each received one, and a check of the probes in each turn. Engine
 * thread only, unless a comment says control.
 */
#ifndef UR_ENGINE_RECORD_RECORD_H
#define UR_ENGINE_RECORD_RECORD_H

#include "engine/core/engine_impl.h"
#include "engine/record/probes.h"

/* Sets the port's callbacks by engine->record.on (record_work.c). */
void ur_record_choose(struct ur_engine *engine);
/* Sets the port's callbacks to ops; while recording is on, those that record call
 * ops. */
void ur_record_set_ops(struct ur_engine *engine, const struct ur_host_ops *ops);
/* Switches to or from the callbacks for probes: a tool began to use them, or none
 * does any more. */
void ur_record_probes_changed(struct ur_engine *engine);
/* Records the packets that the port has just put into engine->tx. */
void ur_record_sent(struct ur_engine *engine);
/* Records a received packet; arguments as of ur_port_rx(). */
void ur_record_received(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len);

/* In a program: follows the device's recording. run: its number, new for each; kib: size of
 * the ring, 0: recording is off. */
void ur_record_follow(struct ur_engine *engine, u32 run, u32 kib);

/* Checks whether tools use probes. Once a turn. */
static inline void ur_record_check_probes(struct ur_engine *engine)
{
	if (ur_probes_used() != engine->record.probed)
		ur_record_probes_changed(engine);
}

#endif

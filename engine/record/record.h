/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Feeds the flight recorder and the probes. While neither is on, the port has
 * its ordinary callbacks, and the cost is a look at record.on for a batch of
 * packets that leave and for each that comes in, and one at the probes for each
 * turn. Engine thread only, but for what is control's.
 */
#ifndef UR_ENGINE_RECORD_RECORD_H
#define UR_ENGINE_RECORD_RECORD_H

#include "engine/core/engine_impl.h"
#include "engine/record/probes.h"

/* Makes ops the callbacks of the port, behind those that record. */
void ur_record_set_ops(struct ur_engine *engine, const struct ur_host_ops *ops);
/* A tool has begun to use probes of the engine, or the last one has ended. */
void ur_record_probes_changed(struct ur_engine *engine);
/* Records the packets of engine->tx: the port has just put them there. */
void ur_record_sent(struct ur_engine *engine);
/* Records a packet that came in; arguments as of ur_port_rx(). */
void ur_record_received(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len);

/* Records in a program as the device does: run is new with each recording, and kib is 0
 * where there is none. */
void ur_record_follow(struct ur_engine *engine, u32 run, u32 kib);
/* Makes an engine that has just begun record where another does. Control. */
void ur_record_copy(const struct ur_engine *from, struct ur_engine *to);

/* Notices tools that use probes. Once a turn. */
static inline void ur_record_look(struct ur_engine *engine)
{
	if (ur_probes_used() != engine->record.probed)
		ur_record_probes_changed(engine);
}

#endif

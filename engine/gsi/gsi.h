/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * QP1 of a device, in uroced's engine: a queue of datagrams to send, one PSN counter, and received
 * datagrams. It needs no port and no queue pair. Engine thread only.
 */
#ifndef UR_ENGINE_GSI_GSI_H
#define UR_ENGINE_GSI_GSI_H

#include "engine/core/engine_impl.h"
#include "transport/packet.h"

/* Makes engine->gsi. Returns 0 or -ENOMEM. */
int ur_gsi_create(struct ur_engine *engine);
/* Frees it, with what was not sent. */
void ur_gsi_destroy(struct ur_engine *engine);

/* Queues a copy of a MAD of UR_MAD_BYTES to queue pair dqpn (1 to 0xffffff) of av's destination. Holds a
 * reference of av until it is sent. Returns 0, -ENOMEM where the queue is full, or -EOPNOTSUPP for an engine
 * without QP1. */
int ur_gsi_send(struct ur_engine *engine, struct ur_av *av, u32 dqpn,
		const u8 *mad);
/* Returns whether datagrams wait to be sent. */
bool ur_gsi_waits(const struct ur_engine *engine);
/* Puts datagrams that wait into engine->tx, which must be empty, as far as there is room. When they are
 * sent, the caller calls ur_gsi_sent(). */
void ur_gsi_fill(struct ur_engine *engine);
void ur_gsi_sent(struct ur_engine *engine);

/* Returns whether a received packet of len bytes is for QP1 of this engine. */
static inline bool ur_gsi_takes(const struct ur_engine *engine, const u8 *bth,
				u32 len)
{
	return engine->gsi && len >= UR_BTH_BYTES &&
	       ur_bth_dqpn(bth) == UR_QPN_GSI;
}
/* Receives such a packet, from BTH to pad: reports its MAD to control, or drops and counts it. */
void ur_gsi_rx(struct ur_engine *engine, const struct ur_rx_meta *meta,
	       const u8 *bth, u32 len);
/* Counts another packet, which has no receiver. */
void ur_gsi_refuse(struct ur_engine *engine, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire of raw packet queue pairs: unchanged Ethernet frames, through two packet
 * sockets (raw_sockets.h). It has no GIDs: of the operations of wire.h it has poll,
 * send, listen, rebind and destroy. It owns the table of flow rules. Sent frames are
 * matched against the device's own rules too, as by the switch inside an adapter.
 */
#ifndef UR_ENGINE_RAW_WIRE_RAW_H
#define UR_ENGINE_RAW_WIRE_RAW_H

#include "engine/raw/raw_sockets.h"
#include "engine/wire/wire.h"

#if UROCE_WITH_RAW_PACKET
/* Makes the wire in *wire. Returns 0, -EPERM (no CAP_NET_RAW) or another
 * -errno. */
int ur_wire_raw_create(struct ur_engine *engine, struct ur_wire **wire);
/* Makes the wire with existing sockets, which become the wire's. Returns 0, -ENOMEM or -errno;
 * after an error they stay the caller's. */
int ur_wire_raw_take(struct ur_engine *engine, const int fd[UR_RAW_SOCKETS],
		     struct ur_wire **wire);
#else
static inline int ur_wire_raw_create(struct ur_engine *engine,
				     struct ur_wire **wire)
{
	return -EOPNOTSUPP;
}
#endif

#endif

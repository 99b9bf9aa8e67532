/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire of raw packet queue pairs: Ethernet frames as they are, through two
 * packet sockets (raw_sockets.h). It carries no GIDs: of the operations
 * of wire.h it has poll, send, listen, rebind and destroy, and it has the table
 * of flow rules. Sent frames are offered to the device's own rules as well, as
 * the switch inside an adapter does.
 */
#ifndef UR_ENGINE_RAW_WIRE_RAW_H
#define UR_ENGINE_RAW_WIRE_RAW_H

#include "engine/raw/raw_sockets.h"
#include "engine/wire/wire.h"

#if UROCE_WITH_RAW_PACKET
/* Makes the wire in *wire. Returns 0, -EPERM (no CAP_NET_RAW) or another
 * -errno. */
int ur_wire_raw_create(struct ur_engine *engine, struct ur_wire **wire);
/* The same of those sockets, which become the wire's. Returns 0, -ENOMEM or -errno; after an
 * error they stay the caller's. */
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

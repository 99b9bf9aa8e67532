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

/* Makes the wire, in *wire, with existing sockets, which become the wire's. Returns 0, -ENOMEM or -errno;
 * after an error they stay the caller's. */
int ur_wire_raw_take(struct ur_engine *engine, const int fd[UR_RAW_SOCKETS],
		     struct ur_wire **wire);

#endif

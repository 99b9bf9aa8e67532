/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's descriptors. Engine thread only. */
#ifndef UR_DEVICE_DISPATCH_H
#define UR_DEVICE_DISPATCH_H

#include <time.h>
#include "engine/engine_impl.h"

/* Waits up to timeout for the engine's descriptors, and serves them. Returns
 * whether there was anything. */
bool ur_dispatch(struct ur_engine *engine, const struct timespec *timeout);
/* Ends a round of received datagrams: does the work that is due once for all of
 * them. */
void ur_dispatch_end_rx(struct ur_engine *engine);

#endif

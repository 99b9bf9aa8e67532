/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which datagrams of unreliable queue pairs leave. Middleware that makes them reliable by
 * itself sends to its peers in turn, a packet each.
 */
#ifndef UR_ENGINE_CORE_DATAGRAMS_H
#define UR_ENGINE_CORE_DATAGRAMS_H

#include "transport/transport.h"

/*
 * Puts datagrams that go the same way behind each other, so that they leave as one segmented
 * datagram. Those to one peer keep their order, and other packets their places. The bytes are not
 * moved: neighbours may have theirs apart.
 */
void ur_datagrams_together(struct ur_tx *tx);

#endif

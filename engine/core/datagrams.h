/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which UD datagrams leave. Middleware that adds reliability itself sends one packet to
 * each of its peers in turn.
 */
#ifndef UR_ENGINE_CORE_DATAGRAMS_H
#define UR_ENGINE_CORE_DATAGRAMS_H

#include "transport/transport.h"

/*
 * Groups the descriptors of datagrams with the same route, so that they leave as one segmented
 * datagram. Datagrams to one peer keep their order, other packets keep their positions. Only
 * descriptors move: the bytes of adjacent descriptors need not be adjacent afterwards.
 */
void ur_datagrams_together(struct ur_tx *tx);

#endif

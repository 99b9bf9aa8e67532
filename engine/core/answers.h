/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which acknowledgements and requests of a program leave. A program has taken messages
 * of several queue pairs and answers each by some of its own; the port has put the acknowledgement of
 * each queue pair before its requests.
 */
#ifndef UR_ENGINE_CORE_ANSWERS_H
#define UR_ENGINE_CORE_ANSWERS_H

#include "transport/transport.h"

/*
 * Puts acknowledgements before all requests among which they are, if that moves few bytes for
 * each. They leave as one segmented datagram then, and requests of one length as the next: two ways
 * through the kernel on each side, not one or two for each queue pair. The peer has the completion of
 * a message before the message that answers it, as it has from any card.
 */
void ur_answers_first(struct ur_tx *tx);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which acknowledgements and requests of a program leave. A program receives messages
 * on several queue pairs and answers each with a message of its own. The port places the
 * acknowledgement of each queue pair directly before its requests.
 */
#ifndef UR_ENGINE_CORE_ANSWERS_H
#define UR_ENGINE_CORE_ANSWERS_H

#include "transport/transport.h"

/*
 * Moves acknowledgements before the requests between them, if that moves few bytes for each. Then
 * they leave as one segmented datagram, and requests of one length as the next: two system calls on
 * each side, not one or two for each queue pair. As with any card, the peer gets the completion of a
 * message before the message that answers it.
 */
void ur_answers_first(struct ur_tx *tx);

#endif

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

/*
 * Moves the acknowledgement at the beginning of tx behind the last packet, if all other packets are requests
 * to the same peer, and the acknowledgement becomes the shorter last segment of their datagram. That saves a
 * system call on each side, and the peer gets the message first, for which it waits. A peer that waits for the
 * completion of its request, and then for the message, polls until it has both. An acknowledgement that would be a
 * datagram of its own is not moved: the peer would get the message before the completion of its request.
 * Returns whether it has moved.
 */
bool ur_answers_last(struct ur_tx *tx);

#endif

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
 * If tx begins with an acknowledgement, and requests to the same peer follow alone: moves it behind the
 * last one, if it becomes the shorter last segment of that one's datagram. That saves a system call on each
 * side, and the message that the peer waits for comes first. A peer that waits for its own completion, and
 * then spins on the memory that the message is written to, polls until both are there. It is not moved
 * where it would be a datagram of its own, since the peer would get the message before the completion
 * of its own request. Returns whether it has moved.
 */
bool ur_answers_last(struct ur_tx *tx);

#endif

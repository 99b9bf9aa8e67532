/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which acknowledgements and requests of a program leave. A program has taken messages
 * and answers each by one of its own; the port has put the acknowledgement of each before that.
 */
#ifndef UR_DEVICE_ANSWERS_H
#define UR_DEVICE_ANSWERS_H

#include "transport/transport.h"

/*
 * Puts acknowledgements behind the requests among which they are, if that moves few bytes for each.
 * Requests of one length then leave as one segmented datagram, with the first acknowledgement
 * as its shorter end, and the others as the next: two ways through the kernel on each side, not
 * two a message. And the messages that the peer waits for come first.
 */
void ur_answers_last(struct ur_tx *tx);

#endif

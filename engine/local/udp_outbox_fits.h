/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether a message in the outbox of a program in another network namespace (udp_outbox.h) may
 * leave: verbs could have made its packets with a queue pair of that program. A packet of RC or UC
 * does not name its sender, and verbs can connect a queue pair to any number, so only few fields
 * can be checked.
 */
#ifndef UR_ENGINE_LOCAL_UDP_OUTBOX_FITS_H
#define UR_ENGINE_LOCAL_UDP_OUTBOX_FITS_H

#include "engine/local/peer_ring.h"

/* Returns whether the program in that slot may send the message, whose packets are the m->len bytes at data, a copy
 * of both. The caller knows whether it has the source address. Any thread. */
bool ur_udp_outbox_fits(const struct ur_peer_message *m, const u8 *data,
			u32 slot);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Probes a peer with plain UDP and ICMP when RoCE gets no answer. */
#ifndef UR_CLI_PING_PROBE_H
#define UR_CLI_PING_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/peer.h"

/* Sends a datagram to the peer's port 4791. Returns 0, or the socket's errno (EPERM: our
 * own filter; ECONNREFUSED: no socket has the port). */
int ur_probe_port(struct ur_peer *peer);

/* Returns whether a packet with bytes above IP crosses unfragmented and an answer comes
 * back. Takes up to a second. */
bool ur_probe_fits(struct ur_peer *peer, size_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ring of what comes for a slot: its life is in udp_relay_life.c, packets are in udp_relay.c. */
#ifndef UR_DEVICE_UDP_RELAY_IMPL_H
#define UR_DEVICE_UDP_RELAY_IMPL_H

#include "engine/wire/wire_udp.h"

struct ur_udp_relay {
	struct ur_wire_udp *wire;
	u32 slot;
	int file, words_fd;
	void *packets;
	struct ur_peer_word *words;
	struct ur_peer_out out;
	struct ur_list addrs;
	bool full;
	ur_time look, step; /* while it is full */
};

#endif

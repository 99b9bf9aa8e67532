/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of the device's part of outboxes: life is in udp_outbox.c, sending in udp_outbox_send.c. */
#ifndef UR_ENGINE_LOCAL_UDP_OUTBOX_IMPL_H
#define UR_ENGINE_LOCAL_UDP_OUTBOX_IMPL_H

#include "engine/local/udp_outbox.h"
#include "engine/wire/wire_udp.h"

/* The device's copy of the port that was granted to the slot. Neighbours send wake-ups of the
 * program there. */
struct ur_outbox_port {
	struct ur_watch watch;
	struct ur_udp_outbox *outbox;
	int fd;
	int tos, sl; /* as its packets leave; -1: not known */
};

struct ur_udp_outbox {
	struct ur_wire_udp *wire;
	u32 slot;
	int file, wake_fd, bell;
	void *packets;
	struct ur_peer_word *word;
	struct ur_peer_in in;
	struct ur_watch wake_watch;
	struct ur_outbox_port port[2];
	bool broken;
	bool no_gso, no_label; /* as of struct ur_udp_out */
	ur_time again;	       /* 0: there was room */
	u32 refusals;
};

/* Wakes its program. */
void ur_udp_outbox_call(const struct ur_udp_outbox *outbox);
/* Returns whether the outbox has a message that may be processed at time now. */
bool ur_udp_outbox_has_some(const struct ur_udp_outbox *outbox, ur_time now);

#endif

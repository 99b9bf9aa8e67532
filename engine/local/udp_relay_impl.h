/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ring of what comes for a slot: its life is in udp_relay_life.c, packets are in udp_relay.c. */
#ifndef UR_ENGINE_LOCAL_UDP_RELAY_IMPL_H
#define UR_ENGINE_LOCAL_UDP_RELAY_IMPL_H

#include "engine/ground/keep.h"
#include "engine/wire/wire_udp.h"

/* The kept descriptors of a slot (ground/keep.h): those of the ring, of the outbox (udp_outbox.c), and of groups, by
 * their addresses. */
enum ur_relay_kept {
	UR_RELAY_PACKETS,
	UR_RELAY_WORDS,
	UR_RELAY_OUTBOX,
	UR_RELAY_WAKE,
	UR_RELAY_BELL,
	UR_RELAY_GROUP = 100,
};

static inline struct ur_kept ur_udp_relay_kept(const struct ur_wire_udp *w,
					       u32 slot, u32 which)
{
	return (struct ur_kept){.kind = UR_KEPT_RELAY,
				.device = w->device,
				.place = slot,
				.which = which};
}

static inline void ur_udp_relay_drop(const struct ur_wire_udp *w, u32 slot,
				     u32 first, u32 last)
{
	for (u32 which = first; which <= last; which++) {
		const struct ur_kept what = ur_udp_relay_kept(w, slot, which);

		ur_keep_drop(&what);
	}
}

struct ur_udp_relay {
	struct ur_wire_udp *wire;
	u32 slot; /* 0: of a shared place */
	int file, words_fd;
	void *packets;
	struct ur_peer_word *words;
	struct ur_peer_out out;
	struct ur_list addrs;
	u32 seen; /* a number that is the program's; 0: none yet */
	bool full;
	ur_time retry_at, step; /* while it is full */
};

#endif

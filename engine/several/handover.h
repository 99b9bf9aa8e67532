/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets on their way from one engine of a device to another: a ring of bytes
 * with one writer and one reader, who never wait for each other. A packet that
 * finds no room is lost, as in a switch: reliable services repeat it.
 *
 * Writer: the thread of the engine that the packets come from. Reader: the
 * thread of the one that they go to. shards.c notifies the reader.
 */
#ifndef UR_ENGINE_SEVERAL_HANDOVER_H
#define UR_ENGINE_SEVERAL_HANDOVER_H

#include "transport/host.h"
#include "util/bytes.h"

/* Some windows of connections with the largest packets. Pages that were never
 * needed are not there. */
#define UR_HANDOVER_BYTES (2u << 20)

struct ur_handover {
	u8 *ring;
	/* The writer's. */
	u32 put, seen; /* ever put; ever taken, when last looked */
	u64 lost;
	u32 published __attribute__((aligned(64)));
	u32 taken __attribute__((aligned(64)));
	u32 next; /* the reader's: behind the packet that it has */
} __attribute__((aligned(64)));

/* Makes an empty ring. Returns 0 or -ENOMEM. */
int ur_handover_init(struct ur_handover *q);
/* Frees it, and what is in it. One that is all zero may be freed. */
void ur_handover_fini(struct ur_handover *q);

/* Puts a copy of a packet, len bytes from BTH to pad, into the ring. Nobody
 * sees it yet. Datagrams have half of the ring, so that a flood of them leaves
 * room for the others. Returns false where there is no room. Writer. */
bool ur_handover_put(struct ur_handover *q, const struct ur_rx_meta *meta,
		     const u8 *bth, u32 len);
/* Shows the reader all that was put. Returns whether there was anything.
 * Writer. */
bool ur_handover_publish(struct ur_handover *q);

/* Returns whether there is a packet. Reader. */
static inline bool ur_handover_any(const struct ur_handover *q)
{
	return __atomic_load_n(&q->published, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&q->taken, __ATOMIC_RELAXED);
}

/* Returns the next packet, len bytes, and *meta, both in the ring and good until
 * ur_handover_done(); NULL where there is none. Reader. */
const u8 *ur_handover_get(struct ur_handover *q, const struct ur_rx_meta **meta,
			  u32 *len);
/* Gives the place of that packet back. Reader. */
void ur_handover_done(struct ur_handover *q);

#endif

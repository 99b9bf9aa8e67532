/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests ahead of a gap. The standard lets a responder drop everything behind
 * a missing packet. This one keeps it, and needs only the missing packet again.
 * On the wire this shows only as an acknowledgement that jumps.
 *
 * All functions run on the port's thread. For queue pairs without ooo (resp.ooo
 * is NULL) the functions below do nothing and find nothing.
 */
#ifndef UR_TRANSPORT_OOO_H
#define UR_TRANSPORT_OOO_H

#include "transport/host.h"
#include "transport/packet.h"
#include "transport/transport.h"
#include "util/assert.h"

#define UR_OOO_SPAN  512  /* PSNs beyond the expected one, power of two */
#define UR_OOO_SLOTS 1024 /* packets kept by all queue pairs of a port */
#define UR_OOO_NONE  0xffffu

_Static_assert(UR_IS_POW2(UR_OOO_SPAN), "low bits of a PSN");
_Static_assert(UR_OOO_SLOTS < UR_OOO_NONE, "a slot's number is not none");

struct ur_ooo_slot {
	u32 psn;
	u16 bytes; /* BTH to pad */
	/* next slot of the free list, or of a queue pair (unready.h) */
	u16 next;
	/* Time and origin of a packet whose queue pair was not ready. */
	ur_time at;
	struct ur_rx_meta meta;
	u8 packet[UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES];
};

struct ur_ooo_pool {
	struct ur_ooo_slot *slot;
	u16 free; /* head of the free list, or UR_OOO_NONE */
	u16 used; /* slots from here on were never used: no memory yet */
};

/* Returns the number of a free slot, or UR_OOO_NONE. */
static inline u16 ur_ooo_take(struct ur_ooo_pool *pool)
{
	u16 s = pool->free;

	ur_assert_hot(pool->used <= UR_OOO_SLOTS);
	if (s != UR_OOO_NONE)
		pool->free = pool->slot[s].next;
	else if (pool->used < UR_OOO_SLOTS)
		s = pool->used++;
	return s;
}

/* Gives back a slot that ur_ooo_take() returned. */
static inline void ur_ooo_give(struct ur_ooo_pool *pool, u16 s)
{
	ur_assert_hot(s < pool->used);
	pool->slot[s].next = pool->free;
	pool->free = s;
}

/* A queue pair's kept packets: the slot by the low bits of the PSN. */
struct ur_ooo {
	u32 count;
	u16 slot[UR_OOO_SPAN];
};

/* Allocates the port's slots. Returns 0 or -ENOMEM. */
int ur_ooo_pool_create(struct ur_ooo_pool *pool);
/* Frees them. All queue pairs must be gone. */
void ur_ooo_pool_destroy(struct ur_ooo_pool *pool);
/* Allocates the part of a queue pair. Returns 0 or -ENOMEM. */
int ur_ooo_create(struct ur_qp *qp);
/* Frees it, and gives its slots back to the pool. */
void ur_ooo_destroy(struct ur_qp *qp);

/*
 * Keeps a copy of a packet ahead of the expected PSN, if there is room and the
 * packet comes from the same source port as the accepted ones. If two packets
 * with one PSN differ, neither is kept: a forger who comes first must not win,
 * and the peer repeats its own. pkt was parsed from a buffer that still holds
 * its headers and payload.
 */
void ur_ooo_keep(struct ur_qp *qp, const struct ur_pkt *pkt);
/* Parses the kept packet with that PSN into *pkt. Returns false where there is
 * none. pkt->payload points into the slot, and is valid until the packet is
 * dropped. */
bool ur_ooo_find(struct ur_qp *qp, u32 psn, struct ur_pkt *pkt);
/* Frees the slot of the packet with that PSN, if there is one. */
void ur_ooo_drop(struct ur_qp *qp, u32 psn);
/* Frees all slots of the queue pair. */
void ur_ooo_drop_all(struct ur_qp *qp);
/* Returns whether packets ahead of the expected PSN are kept. Frees the slots
 * of those that are not ahead any more. */
bool ur_ooo_waiting(struct ur_qp *qp);

#endif

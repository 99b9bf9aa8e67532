/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reading work requests out of rings that an untrusted client writes.
 *
 * The rules, which hold for every function here: each field of shared memory
 * is read once; an index or length is checked after it was copied to private
 * memory and never before; the device keeps its own copy of every index that
 * it writes and of the geometry; prod - cons may not exceed the size of the
 * ring. What is found wrong is the client's fault and is reported as -EINVAL.
 */
#ifndef UR_DEVICE_RING_IO_H
#define UR_DEVICE_RING_IO_H

#include "kernel-abi/uroce-ring.h"
#include "transport/transport.h"
#include "util/bytes.h"

struct ur_ring {
	struct uroce_ring_hdr *hdr;
	u8 *base;
	u32 size; /* units, power of two */
	u32 unit; /* bytes, power of two */
	u32 next; /* index of the next unit to read */
	u32 cons; /* as published */
	u32 prod; /* last seen, checked */
};

/* Begin at index first (0 for a new ring); publishes cons and no flags. */
void ur_ring_init(struct ur_ring *ring, struct uroce_ring_hdr *hdr, u8 *base,
		  u32 size, u32 unit, u32 first);

/* Units posted and not read yet, looking at the producer index [C1];
 * -EINVAL: the index is impossible. */
s64 ur_ring_avail(struct ur_ring *ring);

/* Like that, but looks only when nothing is known to be there. */
static inline s64 ur_ring_avail_cached(struct ur_ring *ring)
{
	u32 n = ring->prod - ring->next;

	return n ? n : ur_ring_avail(ring);
}

/* Publish cons [R1]. */
static inline void ur_ring_retire(struct ur_ring *ring, u32 cons)
{
	ring->cons = cons;
	__atomic_store_n(&ring->hdr->cons, cons, __ATOMIC_RELEASE);
}

/* Forget what is posted: cons = prod (the client's, whatever it says). */
void ur_ring_drop(struct ur_ring *ring);

/*
 * The next send WQE. has_av: an address vector segment follows the control
 * segment (UD, XRC); its AH number goes to *ah. wr->av is left NULL.
 * 1 and *wr filled, 0 none, -EINVAL.
 */
int ur_ring_read_send(struct ur_ring *ring, bool has_av, struct ur_send_wr *wr,
		      u32 *ah);

/* The next receive WQE; advances and publishes cons. As above. */
int ur_ring_read_recv(struct ur_ring *ring, struct ur_recv_wr *wr);

#endif

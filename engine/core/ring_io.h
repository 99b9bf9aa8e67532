/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reading work requests out of rings that an untrusted client writes.
 *
 * Every function here keeps these rules. It reads each field of shared memory
 * once. It checks an index or length after it has copied it to private memory,
 * and never before. The device keeps its own copy of the geometry and of every
 * index that it writes. prod - cons may not exceed the size of the ring. A ring
 * that breaks a rule is the client's fault: the function returns -EINVAL.
 *
 * The labels in brackets are those of kernel-abi/uroce-ring.h. Everything runs
 * as the engine.
 */
#ifndef UR_ENGINE_CORE_RING_IO_H
#define UR_ENGINE_CORE_RING_IO_H

#include "kernel-abi/uroce-ring.h"
#include "transport/transport.h"
#include "util/bytes.h"

struct ur_ring {
	struct uroce_ring_hdr *hdr;
	u8 *base;
	u32 size; /* units, power of two */
	u32 unit; /* bytes, power of two */
	u32 next; /* index of the next unit to read */
	u32 cons; /* last published */
	u32 prod; /* last read and checked */
};

/* Makes a ring of size units of unit bytes, both powers of two, that begins at
 * index first (0 for a new ring). Publishes cons, and no flags. */
void ur_ring_init(struct ur_ring *ring, struct uroce_ring_hdr *hdr, u8 *base,
		  u32 size, u32 unit, u32 first);

/* Reads the producer index [C1]. Returns the number of posted units not read yet,
 * or -EINVAL if the index is impossible. */
s64 ur_ring_avail(struct ur_ring *ring);

/* Returns the same, but reads the index only if no posted unit is known. */
static inline s64 ur_ring_avail_cached(struct ur_ring *ring)
{
	u32 n = ring->prod - ring->next;

	return n ? n : ur_ring_avail(ring);
}

/* Publishes cons [R1]: the client may write the units before it again. */
static inline void ur_ring_retire(struct ur_ring *ring, u32 cons)
{
	ring->cons = cons;
	__atomic_store_n(&ring->hdr->cons, cons, __ATOMIC_RELEASE);
}

/* Drops all posted units: cons becomes the client's prod, whatever its value. */
void ur_ring_drop(struct ur_ring *ring);

/*
 * Reads the next send WQE into *wr, with av NULL. has_av: an address vector
 * segment follows the control segment (UD, XRC); the number of its address
 * handle goes to *ah. Returns 1, 0 where none is posted, or -EINVAL.
 */
int ur_ring_read_send(struct ur_ring *ring, bool has_av, struct ur_send_wr *wr,
		      u32 *ah);

/* Reads the next receive WQE into *wr, and publishes cons behind it. Returns 1, 0
 * where none is posted, or -EINVAL. */
int ur_ring_read_recv(struct ur_ring *ring, struct ur_recv_wr *wr);

#endif

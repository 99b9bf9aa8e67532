// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Maps the rings of a completion queue. */
#include <errno.h>
#include <stdlib.h>

#include "uroce.h"

int ur_cq_ring_map(struct ibv_context *context, enum ur_whose whose,
		   const struct uroce_cq_layout *p, struct uroce_cq_ring *ring)
{
	u8 *map;

	if (!p->entries || (p->entries & (p->entries - 1)) ||
	    p->hdr_off + sizeof(struct uroce_cq_hdr) > p->map_len ||
	    p->cqe_off + (u64)p->entries * sizeof(struct uroce_cqe) >
		    p->map_len)
		return EPROTO;
	map = whose == UR_OF_HERE
		      ? ur_map(context, p->map_off, p->map_len)
		      : ur_map_at(context, whose, p->map_off, p->map_len);
	if (!map)
		return errno;
	ur_unmap(ring->map, ring->map_len);
	ring->map = map;
	ring->map_len = p->map_len;
	ring->hdr = (void *)(map + p->hdr_off);
	ring->cqes = (void *)(map + p->cqe_off);
	ring->mask = p->entries - 1;
	ring->shift = (u32)__builtin_ctz(p->entries);
	return 0;
}

int ur_cq_move_ring(const struct uroce_cq *cq, enum ur_whose whose,
		    const struct uroce_cq_layout *layout,
		    struct uroce_cq_ring *ring)
{
	u32 arm = ring->hdr->arm, next = ring->hdr->arm_next;
	int err = ur_cq_ring_map(cq->vcq.cq.context, whose, layout, ring);

	if (err)
		return err;
	__atomic_store_n(&ring->hdr->arm_next, next, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->hdr->arm, arm, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->hdr->cons, ring->cons, __ATOMIC_RELEASE);
	return 0;
}

/* Arms both rings: a completion in either triggers the event. */
int ur_cq_add_shared_ring(struct uroce_cq *cq,
			  const struct uroce_cq_layout *layout)
{
	struct uroce_cq_ring *ring = calloc(1, sizeof(*ring));
	int err;

	if (!ring)
		return ENOMEM;
	err = ur_cq_ring_map(cq->vcq.cq.context, UR_OF_SHARED, layout, ring);
	if (err) {
		free(ring);
		return err;
	}
	ring->hdr->arm_next = cq->ring.hdr->arm_next;
	__atomic_store_n(&ring->hdr->arm, cq->ring.hdr->arm, __ATOMIC_SEQ_CST);
	cq->shared_ring = ring;
	return 0;
}

void ur_cq_end_shared_ring(struct uroce_cq *cq)
{
	if (cq->shared_ring)
		ur_unmap(cq->shared_ring->map, cq->shared_ring->map_len);
	free(cq->shared_ring);
}

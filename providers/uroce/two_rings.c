// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues of a context with its own engine. Other engines may have a ring of such a
 * queue: the device, for raw packet queue pairs beside an engine process, and the shared
 * engine, for SRQs of XRC domains of files. From the first such queue on, that ring is polled,
 * armed and resized with the own one.
 */
#include <errno.h>

#include "completions.h"
#include "guest.h"

/* Arms all rings: a completion in any ring triggers the event. */
int ur_cq_add_ring(struct uroce_cq *cq, enum ur_whose whose,
		   const struct uroce_cq_place *place,
		   struct uroce_cq_ring **ret)
{
	struct uroce_cq_ring *ring = calloc(1, sizeof(*ring));
	int err;

	if (!ring)
		return ENOMEM;
	err = ur_cq_ring_map(cq->vcq.cq.context, whose, place, ring);
	if (err) {
		free(ring);
		return err;
	}
	ring->hdr->arm_next = cq->ring.hdr->arm_next;
	__atomic_store_n(&ring->hdr->arm, cq->ring.hdr->arm, __ATOMIC_SEQ_CST);
	*ret = ring;
	return 0;
}

static void end_ring(struct uroce_cq_ring *ring)
{
	if (ring)
		ur_unmap(ring->map, ring->map_len);
	free(ring);
}

void ur_cq_end_others(struct uroce_cq *cq)
{
	end_ring(cq->device);
	end_ring(cq->shared_ring);
}

int ur_cq_use_device(struct ibv_cq *ibcq)
{
	struct uroce_cq *cq;
	int err = 0;

	if (!ibcq || !ur_to_cq(ibcq)->guest)
		return 0;
	if (!ur_guest_is_here(ur_to_ctx(ibcq->context)))
		return EIO;
	cq = ur_to_cq(ibcq);
	ur_lock_get(&cq->lock);
	if (!cq->device)
		err = ur_cq_add_ring(cq, UR_OF_DEVICE, &cq->device_place,
				     &cq->device);
	ur_lock_put(&cq->lock);
	if (!err)
		__atomic_add_fetch(&cq->device_users, 1, __ATOMIC_RELAXED);
	return err;
}

void ur_cq_unuse_device(struct ibv_cq *ibcq)
{
	if (ibcq && ur_to_cq(ibcq)->guest)
		__atomic_sub_fetch(&ur_to_cq(ibcq)->device_users, 1,
				   __ATOMIC_RELAXED);
}

int ur_cq_resized_device(struct uroce_cq *cq,
			 const struct uroce_cq_place *place)
{
	cq->device_place = *place;
	return cq->device ? ur_cq_move_ring(cq, UR_OF_DEVICE, place, cq->device)
			  : 0;
}

/* ---- polling ---- */

#define RINGS 3u

/* Returns the number of rings. Each comes first in turn, so that a busy ring
 * does not starve the others. Lock held. */
static u32 rings_of(struct uroce_cq *cq, struct uroce_cq_ring *rings[RINGS])
{
	struct uroce_cq_ring *all[RINGS] = {&cq->ring, cq->device,
					    cq->shared_ring};
	u32 n = 0, first;

	for (u32 i = 0; i < RINGS; i++)
		if (all[i])
			all[n++] = all[i];
	first = cq->turn++ % n;
	for (u32 i = 0; i < n; i++)
		rings[i] = all[(first + i) % n];
	return n;
}

static bool has_others(const struct uroce_cq *cq)
{
	return __builtin_expect(cq->device || cq->shared_ring, 0);
}

static int take_of_all(struct uroce_cq *cq, int num_entries, struct ibv_wc *wc,
		       u32 *bytes)
{
	struct uroce_cq_ring *rings[RINGS];
	u32 many;
	int n = 0;

	ur_lock_get(&cq->lock);
	if (!has_others(cq)) {
		n = ur_take_from(cq, &cq->ring, num_entries, wc, bytes);
		ur_lock_put(&cq->lock);
		return n;
	}
	many = rings_of(cq, rings);
	for (u32 i = 0; i < many; i++)
		n += ur_take_from(cq, rings[i], num_entries - n, wc + n, bytes);
	ur_lock_put(&cq->lock);
	return n;
}

int uroce_guest_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 bytes = 0;
	int n;

	if (ur_cq_is_dead(ctx, cq))
		return -EIO;
	n = take_of_all(cq, num_entries, wc, &bytes);
	if (!n && ctx->guest) {
		ctx->door->poll(ctx->guest);
		n = take_of_all(cq, num_entries, wc, &bytes);
	}
	return ur_polled(ctx, n, bytes);
}

/* Returns the next CQE of all rings, with its ring in cq->cur_ring. */
static struct uroce_cqe *next_of_all(struct uroce_cq *cq)
{
	struct uroce_cq_ring *rings[RINGS];
	struct uroce_cqe *cqe = NULL;
	u32 many;

	cq->cur_ring = &cq->ring;
	if (!has_others(cq))
		return ur_next_cqe(&cq->ring);
	many = rings_of(cq, rings);
	for (u32 i = 0; !cqe && i < many; i++) {
		cq->cur_ring = rings[i];
		cqe = ur_next_cqe(cq->cur_ring);
	}
	return cqe;
}

/* Publishes all rings, since forgotten CQEs were skipped too. */
static void publish_all(const struct uroce_cq *cq)
{
	ur_publish_cons(&cq->ring);
	if (cq->device)
		ur_publish_cons(cq->device);
	if (cq->shared_ring)
		ur_publish_cons(cq->shared_ring);
}

int uroce_guest_start_poll(struct ibv_cq_ex *ibcq,
			   struct ibv_poll_cq_attr *attr)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	if (attr->comp_mask)
		return EINVAL;
	if (ur_cq_is_dead(ctx, cq))
		return EIO;
	ur_lock_get(&cq->lock);
	cqe = next_of_all(cq);
	if (!cqe && ctx->guest) {
		ctx->door->poll(ctx->guest);
		cqe = next_of_all(cq);
	}
	if (!cqe) {
		publish_all(cq);
		ur_lock_put(&cq->lock);
		return ur_poller_empty(ctx) ? EIO : ENOENT;
	}
	ur_poller_found(ctx, cqe->byte_len);
	ur_take_cqe(cq, cq->cur_ring, cqe);
	return 0;
}

static void guest_done(struct uroce_cq *cq)
{
	if (!cq->cur)
		return;
	cq->cur_ring->cons++;
	cq->cur = NULL;
}

int uroce_guest_next_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	guest_done(cq);
	cqe = next_of_all(cq);
	if (!cqe)
		return ENOENT;
	ur_take_cqe(cq, cq->cur_ring, cqe);
	return 0;
}

void uroce_guest_end_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);

	guest_done(cq);
	publish_all(cq);
	ur_lock_put(&cq->lock);
}

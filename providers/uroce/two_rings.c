// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues of a context whose engine is in this process. The device has a ring
 * for each of them too, which it writes to for queue pairs that it has itself: those of
 * types that an engine in a program does not have, and those of imported protection
 * domains. From the first such queue pair on, both rings are polled, armed, resized.
 */
#include <errno.h>

#include "completions.h"
#include "guest.h"

/* An event that was asked for comes for completions in either ring. Lock held. */
static int map_device(struct uroce_cq *cq)
{
	struct uroce_cq_ring *ring = calloc(1, sizeof(*ring));
	int err;

	if (!ring)
		return ENOMEM;
	err = ur_cq_ring_map(cq->vcq.cq.context, true, &cq->device_place, ring);
	if (err) {
		free(ring);
		return err;
	}
	ring->hdr->arm_next = cq->ring.hdr->arm_next;
	__atomic_store_n(&ring->hdr->arm, cq->ring.hdr->arm, __ATOMIC_SEQ_CST);
	cq->device = ring;
	return 0;
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
		err = map_device(cq);
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
	return cq->device ? ur_cq_move_ring(cq, true, place, cq->device) : 0;
}

/* ---- polling ---- */

/* Each of the rings comes first in turn: one that is never empty is in nobody's
 * way. */
static int take_both(struct uroce_cq *cq, int num_entries, struct ibv_wc *wc,
		     u32 *bytes)
{
	struct uroce_cq_ring *first = &cq->ring, *second;
	int n;

	ur_lock_get(&cq->lock);
	second = cq->device;
	if (__builtin_expect(second != NULL, 0)) {
		cq->device_first = !cq->device_first;
		if (cq->device_first) {
			first = second;
			second = &cq->ring;
		}
	}
	n = ur_take_from(cq, first, num_entries, wc, bytes);
	if (second)
		n += ur_take_from(cq, second, num_entries - n, wc + n, bytes);
	ur_lock_put(&cq->lock);
	return n;
}

int uroce_guest_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 bytes = 0;
	int n;

	if (cq->guest && ur_doorbell_is_dead(&ctx->db))
		return -EIO;
	n = take_both(cq, num_entries, wc, &bytes);
	if (!n && ctx->guest) {
		ctx->door->poll(ctx->guest);
		n = take_both(cq, num_entries, wc, &bytes);
	}
	return ur_polled(ctx, n, bytes);
}

/* The next of both rings, in cq->cur_ring. */
static struct uroce_cqe *next_of_both(struct uroce_cq *cq)
{
	struct uroce_cqe *cqe = NULL;

	cq->cur_ring = &cq->ring;
	if (!cq->device)
		return ur_next_cqe(&cq->ring);
	cq->device_first = !cq->device_first;
	for (u32 i = 0; !cqe && i < 2; i++) {
		cq->cur_ring =
			(i == 0) == cq->device_first ? cq->device : &cq->ring;
		cqe = ur_next_cqe(cq->cur_ring);
	}
	return cqe;
}

/* Those that were skipped are given back too. */
static void publish_both(const struct uroce_cq *cq)
{
	ur_publish_cons(&cq->ring);
	if (cq->device)
		ur_publish_cons(cq->device);
}

int uroce_guest_start_poll(struct ibv_cq_ex *ibcq,
			   struct ibv_poll_cq_attr *attr)
{
	struct uroce_context *ctx = ur_to_ctx(ibcq->context);
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);
	struct uroce_cqe *cqe;

	if (attr->comp_mask)
		return EINVAL;
	if (cq->guest && ur_doorbell_is_dead(&ctx->db))
		return EIO;
	ur_lock_get(&cq->lock);
	cqe = next_of_both(cq);
	if (!cqe && ctx->guest) {
		ctx->door->poll(ctx->guest);
		cqe = next_of_both(cq);
	}
	if (!cqe) {
		publish_both(cq);
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
	cqe = next_of_both(cq);
	if (!cqe)
		return ENOENT;
	ur_take_cqe(cq, cq->cur_ring, cqe);
	return 0;
}

void uroce_guest_end_poll(struct ibv_cq_ex *ibcq)
{
	struct uroce_cq *cq = ur_to_cq_ex(ibcq);

	guest_done(cq);
	publish_both(cq);
	ur_lock_put(&cq->lock);
}

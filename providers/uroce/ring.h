/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The client's side of the rings: private copies of the geometry and of the
 * index that we own. The device's index is cached until the ring looks full.
 * Every function here needs the queue's lock. Labels as in
 * kernel-abi/uroce-ring.h.
 */
#ifndef UR_PROVIDERS_UROCE_RING_H
#define UR_PROVIDERS_UROCE_RING_H

#include <errno.h>

#include "kernel-abi/uroce-ring.h"
#include "lock.h"
#include "util/bytes.h"

/* A posted send: its blocks, and whether it will complete by a CQE. */
struct ur_sq_slot {
	u32 start;
	u16 bbs;
	u16 signaled;
};

/*
 * Send queue. A WQE takes 1..16 building blocks, which are free when the device
 * is done with it. Its place among the max_wqes is free when its CQE, if it has
 * one, has been polled too. So a completion queue as large as its send queues
 * never overruns.
 */
struct ur_sq {
	struct ur_lock lock;
	struct uroce_ring_hdr *hdr;
	u8 *base;
	u32 bytes_mask; /* ring bytes - 1 */
	u32 bbs;	/* blocks of the ring; 0: no send queue */
	u32 max_wqes;
	u32 next; /* first free block; hdr->prod follows when published */
	u32 cons; /* last seen hdr->cons */
	u32 head; /* WQEs written, free running */
	u32 tail; /* WQEs whose place is free again */
	u32 slots_mask;
	struct ur_sq_slot *slots;
	/* first block of the last WQE whose CQE was polled; atomic, written
	 * under the completion queue's lock */
	u32 polled;
};

/* Receive queue of a QP, or SRQ. */
struct ur_rq {
	struct ur_lock lock;
	struct uroce_ring_hdr *hdr;
	u8 *base;
	u32 mask; /* entries - 1 */
	u32 stride;
	u32 max_wqes; /* 0: no receive queue */
	u32 max_sge;
	u32 prod;
	u32 cons; /* last seen hdr->cons of an SRQ, or polled of a QP */
	bool is_srq;
	/* Number of polled receive CQEs of a QP; atomic, as in ur_sq. */
	u32 polled;
};

/* Returns whether the device is done with the WQE and its CQE, if it has one,
 * was polled. polled: a copy of sq->polled. */
static inline bool ur_sq_slot_free(const struct ur_sq *sq,
				   const struct ur_sq_slot *slot, u32 polled)
{
	if ((s32)(sq->cons - (slot->start + slot->bbs)) < 0)
		return false;
	return !slot->signaled || (s32)(polled - slot->start) >= 0;
}

/* Frees the places of completed WQEs. */
static inline void ur_sq_retire(struct ur_sq *sq)
{
	u32 polled = __atomic_load_n(&sq->polled, __ATOMIC_RELAXED);

	sq->cons = __atomic_load_n(&sq->hdr->cons, __ATOMIC_ACQUIRE); /* [R2] */
	while (sq->tail != sq->head &&
	       ur_sq_slot_free(sq, &sq->slots[sq->tail & sq->slots_mask],
			       polled))
		sq->tail++;
}

/* Returns 0 where one more WQE of bbs blocks fits, or -ENOMEM. */
static inline int ur_sq_room(struct ur_sq *sq, u32 bbs)
{
	if (sq->head - sq->tail < sq->max_wqes &&
	    sq->next + bbs - sq->cons <= sq->bbs)
		return 0;
	ur_sq_retire(sq);
	if (sq->head - sq->tail < sq->max_wqes &&
	    sq->next + bbs - sq->cons <= sq->bbs)
		return 0;
	return -ENOMEM;
}

/* Adds the complete WQE at sq->next, of bbs blocks, to the queue. */
static inline void ur_sq_commit(struct ur_sq *sq, u32 bbs, bool signaled)
{
	sq->slots[sq->head++ & sq->slots_mask] = (struct ur_sq_slot){
		.start = sq->next,
		.bbs = (u16)bbs,
		.signaled = signaled,
	};
	sq->next += bbs;
}

/* Shows the device all WQEs so far. The caller then rings the doorbell. */
static inline void ur_sq_publish(struct ur_sq *sq)
{
	__atomic_store_n(&sq->hdr->prod, sq->next, __ATOMIC_RELEASE); /* [P1] */
}

/* Forgets what was in the ring, which the device has dropped (RESET). */
static inline void ur_sq_reset(struct ur_sq *sq)
{
	sq->cons = sq->next;
	sq->tail = sq->head;
	__atomic_store_n(&sq->polled, sq->next - 1, __ATOMIC_RELAXED);
}

/* Returns segment n (16 bytes) of the WQE that starts at block bb. */
static inline void *ur_sq_seg(const struct ur_sq *sq, u32 bb, u32 n)
{
	return sq->base + ((bb * UROCE_SQ_BB + n * 16) & sq->bytes_mask);
}

/* Copies len bytes to byte off of the WQE that starts at block bb, around the
 * ring's end if need be. */
static inline void ur_sq_copy(const struct ur_sq *sq, u32 bb, u32 off,
			      const void *src, u32 len)
{
	u32 at = (bb * UROCE_SQ_BB + off) & sq->bytes_mask;
	u32 first = ur_min_u32(len, sq->bytes_mask + 1 - at);

	memcpy(sq->base + at, src, first);
	if (first < len)
		memcpy(sq->base, (const u8 *)src + first, len - first);
}

/* Returns 0 where one more receive fits, or -ENOMEM. */
static inline int ur_rq_room(struct ur_rq *rq)
{
	if (rq->prod - rq->cons < rq->max_wqes)
		return 0;
	rq->cons = rq->is_srq ? __atomic_load_n(&rq->hdr->cons,
						__ATOMIC_ACQUIRE) /* [R2] */
			      : __atomic_load_n(&rq->polled, __ATOMIC_ACQUIRE);
	return rq->prod - rq->cons < rq->max_wqes ? 0 : -ENOMEM;
}

/* Publishes all receives so far. Returns whether the device wants a doorbell
 * for them. The exchange is both the release [P1] and the full barrier before
 * the load of the flags [K1]. */
static inline bool ur_rq_publish(struct ur_rq *rq)
{
	__atomic_exchange_n(&rq->hdr->prod, rq->prod, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&rq->hdr->flags, __ATOMIC_SEQ_CST) &
	       UROCE_RING_F_NEED_DB;
}

#endif

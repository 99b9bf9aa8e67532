// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues: CQEs written with the phase bit last, overrun, resize.
 * Their events are in cq_event.c.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine/faults/adverse.h"
#include "engine/core/engine_impl.h"
#include "util/assert.h"
#include "util/os/clock.h"

#define CQE_OFF		      128u /* behind the header; a multiple of the CQE's size */
#define CREATE_TIMESTAMP      (1u << 0) /* IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION */
#define CREATE_IGNORE_OVERRUN (1u << 1) /* IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN */
#define MAX_ENTRIES	      (1u << 24)

_Static_assert(CQE_OFF % sizeof(struct uroce_cqe) == 0, "CQEs are aligned");

static u8 owner_of(const struct ur_ecq *cq, u32 index)
{
	return (index / cq->entries & 1) ^ 1;
}

const char *ur_ecq_check(const struct ur_ecq *cq)
{
	if (!cq->entries || (cq->entries & (cq->entries - 1)))
		return "a completion queue's size is a power of two";
	if (cq->prod - cq->cons > cq->entries && !cq->ignore_overrun)
		return "no completion is written over one that is unread";
	if (ur_list_empty(&cq->mod_node) != (cq->mod_deadline == UR_NEVER))
		return "an event waits for a time exactly while it is listed";
	if ((cq->mod_deadline != UR_NEVER || cq->due) && !cq->chan)
		return "an event that waits has a channel";
	if (ur_list_empty(&cq->due_node) != !cq->due)
		return "an event is due exactly while it is listed";
	return NULL;
}

/* ---- the data path ---- */

int ur_ecq_overrun(struct ur_ecq *cq)
{
	if (!cq->overrun) {
		cq->overrun = true;
		__atomic_store_n(&cq->hdr->overrun, 1, __ATOMIC_RELEASE);
		if (cq->async)
			ur_evsock_send(&cq->async->sock, &cq->async_src,
				       UR_EVENT_CQ_ERR);
	}
	return -ENOSPC;
}

/* Only programs that asked for time stamps read them. */
static u64 timestamp(const struct ur_ecq *cq)
{
	return cq->stamped ? ur_clock_ns(CLOCK_MONOTONIC_RAW) : 0;
}

/* A relaxed store keeps the compiler from merging it with its neighbours. */
#define PUT(field, value) __atomic_store_n(&to->field, value, __ATOMIC_RELAXED)

/*
 * Writes all but the owner bit, field by field, as the transport stored *wc. A load that is larger than
 * the stores before it waits until these, and all earlier stores, are in the cache: those of a message's
 * bytes miss the cache.
 */
static inline void write_cqe(struct uroce_cqe *to, const struct ur_wc *wc,
			     u64 timestamp_ns)
{
	/* The mark and the reserved bytes. */
	memset((u8 *)to + offsetof(struct uroce_cqe, wc_flags), 0,
	       offsetof(struct uroce_cqe, owner) -
		       offsetof(struct uroce_cqe, wc_flags));
	PUT(wr_id, wc->wr_id);
	PUT(qpn, wc->qpn);
	PUT(src_qp, wc->src_qp);
	PUT(byte_len, wc->byte_len);
	PUT(imm_inv, wc->imm_inv);
	PUT(timestamp_ns, timestamp_ns);
	PUT(wqe_counter, wc->wqe_counter);
	PUT(srqn, wc->srqn);
	PUT(vendor_err, wc->vendor_err);
	PUT(pkey_index, wc->pkey_index);
	PUT(opcode, wc->opcode);
	PUT(status, wc->status);
	PUT(wc_flags, wc->wc_flags);
	PUT(sl, wc->sl);
	PUT(syndrome, wc->syndrome);
}

int ur_cq_push(void *cq_ctx, const struct ur_wc *wc)
{
	struct ur_ecq *cq = cq_ctx;
	struct uroce_cqe *slot;

	if (cq->overrun)
		return -ENOSPC;
	if (cq->prod - cq->cons >= cq->entries) {
		u32 cons = __atomic_load_n(&cq->hdr->cons, __ATOMIC_ACQUIRE);

		/* [Q4]; an impossible index counts as full */
		if (cq->prod - cons <= cq->entries)
			cq->cons = cons;
		if (cq->prod - cons >= cq->entries && !cq->ignore_overrun)
			return ur_ecq_overrun(cq);
	}
	slot = &cq->cqes[cq->prod & (cq->entries - 1)];
	write_cqe(slot, wc, timestamp(cq));
	__atomic_store_n(&slot->owner, owner_of(cq, cq->prod),
			 __ATOMIC_RELEASE); /* [Q1] */
	cq->prod++;
	cq->ectx->engine->inproc.cqes++;
	__atomic_store_n(&cq->hdr->prod, cq->prod, __ATOMIC_RELAXED);
	if (cq->chan)
		ur_ecq_completed(cq, wc);
	ur_assert_rules_hot(ur_ecq_check(cq));
	return 0;
}

/* ---- create, resize, destroy ---- */

/* Marks every slot as not valid for the next lap. New memory needs no mark for the
 * first lap. */
static void mark_free(const struct ur_block *block, u32 entries, u32 first)
{
	struct uroce_cqe *cqes = (struct uroce_cqe *)(block->ptr + CQE_OFF);

	if (!first && !block->dirty)
		return;
	for (u32 i = first; i != first + entries; i++)
		cqes[i & (entries - 1)].owner = i / entries & 1;
}

/* Makes a ring of entries CQEs that starts at index first. Its pages are made
 * present, since the engine writes all of it in one lap. */
static int make_ring(struct ur_ecq *cq, u32 entries, u32 first,
		     struct ur_block *block)
{
	u64 bytes = CQE_OFF + (u64)entries * sizeof(struct uroce_cqe);
	int err = ur_ectx_alloc(cq->ectx, bytes, block);

	if (err)
		return err;
	err = ur_block_populate(block);
	if (!err)
		mark_free(block, entries, first);
	if (err)
		ur_arena_free(&cq->ectx->arena, block);
	return err;
}

static void place_ring(struct ur_ecq *cq, const struct ur_block *block,
		       u32 entries)
{
	ur_assert(entries && !(entries & (entries - 1)));
	cq->block = *block;
	cq->hdr = (struct uroce_cq_hdr *)block->ptr;
	cq->cqes = (struct uroce_cqe *)(block->ptr + CQE_OFF);
	cq->entries = entries;
}

static void fill_resp(const struct ur_ecq *cq, struct uroce_create_cq_resp *r)
{
	memset(r, 0, sizeof(*r));
	r->entries = cq->entries;
	r->map_off = cq->block.off;
	r->map_len = cq->block.len;
	r->hdr_off = 0;
	r->cqe_off = CQE_OFF;
}

/* The engine first sees the queue with the first queue pair that uses it. */
static int begin_ring(struct ur_ecq *cq, u32 entries)
{
	struct ur_block block;
	int err;

	err = make_ring(cq, entries, 0, &block);
	if (err)
		return err;
	place_ring(cq, &block, entries);
	memset(block.ptr, 0, CQE_OFF);
	return 0;
}

int ur_ecq_create(struct ur_ectx *ectx, const struct ur_ecq_init *init,
		  struct ur_ecq **ret_cq, struct uroce_create_cq_resp *resp)
{
	struct ur_ecq *cq;
	int err;

	if (!init->entries || init->entries > MAX_ENTRIES)
		return -EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->ectx = ectx;
	cq->chan = init->chan;
	cq->async = init->async;
	cq->ignore_overrun = init->flags & CREATE_IGNORE_OVERRUN;
	cq->stamped = init->flags & CREATE_TIMESTAMP;
	cq->mod_deadline = UR_NEVER;
	ur_list_init(&cq->mod_node);
	ur_list_init(&cq->due_node);
	ur_evsrc_init(&cq->comp_src, init->user_handle);
	ur_evsrc_init(&cq->async_src, init->user_handle);
	err = ur_adverse_make_cq(cq);
	if (!err)
		err = begin_ring(cq, ur_roundup_pow2(init->entries));
	if (err) {
		ur_adverse_free_cq(cq);
		free(cq);
		return err;
	}
	fill_resp(cq, resp);
	*ret_cq = cq;
	return 0;
}

/* *block: the new ring's; on return the old one's. The client does not poll meanwhile, so its index is still the one that the
 * new ring was made for. */
static int resize(struct ur_engine *engine, struct ur_ecq *cq, u32 entries,
		  u32 first, struct ur_block *block)
{
	struct ur_ecq old;
	u32 cons = __atomic_load_n(&cq->hdr->cons, __ATOMIC_ACQUIRE);
	u32 arm = __atomic_load_n(&cq->hdr->arm, __ATOMIC_ACQUIRE);
	u32 next = __atomic_load_n(&cq->hdr->arm_next, __ATOMIC_RELAXED);

	ur_assert(cq->ectx->engine == engine);
	ur_adverse_flush_cq(cq);
	old = *cq;
	if (cons != first || cq->prod - cons > entries ||
	    cq->prod - cons > cq->entries)
		return -EINVAL;
	place_ring(cq, block, entries);
	*block = old.block;
	memset(cq->hdr, 0, CQE_OFF);
	cq->hdr->cons = cons;
	cq->hdr->arm_next = next;
	cq->hdr->arm = arm;
	cq->hdr->prod = cq->prod;
	cq->hdr->overrun = cq->overrun;
	cq->cons = cons;
	for (u32 i = cons; i != cq->prod; i++) {
		struct uroce_cqe *to = &cq->cqes[i & (cq->entries - 1)];

		*to = old.cqes[i & (old.entries - 1)];
		to->owner = owner_of(cq, i);
	}
	ur_assert_rules_hot(ur_ecq_check(cq));
	return 0;
}
UR_ENGINE_CALL(4, resize, struct ur_ecq *, u32, u32, struct ur_block *);

static int change_ring(struct ur_ecq *cq, u32 entries)
{
	struct ur_block block;
	u32 first = __atomic_load_n(&cq->hdr->cons, __ATOMIC_ACQUIRE);
	int err;

	err = make_ring(cq, entries, first, &block);
	if (err)
		return err;
	err = call_resize(cq->ectx->engine, cq, entries, first, &block);
	ur_arena_free(&cq->ectx->arena, &block);
	return err;
}

int ur_ecq_resize(struct ur_ecq *cq, u32 entries,
		  struct uroce_resize_cq_resp *resp)
{
	struct uroce_create_cq_resp r;
	int err;

	if (!entries || entries > MAX_ENTRIES)
		return -EINVAL;
	err = change_ring(cq, ur_roundup_pow2(entries));
	if (err)
		return err;
	fill_resp(cq, &r);
	memset(resp, 0, sizeof(*resp));
	resp->map_off = r.map_off;
	resp->map_len = r.map_len;
	resp->hdr_off = r.hdr_off;
	resp->cqe_off = r.cqe_off;
	resp->entries = r.entries;
	return 0;
}

static int modify(struct ur_engine *engine, struct ur_ecq *cq, u16 count,
		  u16 period_us)
{
	ur_assert(cq->ectx->engine == engine);
	cq->mod_count = count;
	cq->mod_period_us = period_us;
	if (cq->mod_deadline != UR_NEVER)
		ur_ecq_event(cq);
	ur_assert_rules_hot(ur_ecq_check(cq));
	return 0;
}
UR_ENGINE_CALL(3, modify, struct ur_ecq *, u16, u16);

int ur_ecq_modify(struct ur_ecq *cq, u16 count, u16 period_us)
{
	return call_modify(cq->ectx->engine, cq, count, period_us);
}

static int destroy_cq(struct ur_engine *engine, struct ur_ecq *cq,
		      struct ur_events_left *comp, struct ur_events_left *async)
{
	ur_assert(cq->ectx->engine == engine);
	if (cq->users)
		return -EBUSY;
	ur_adverse_flush_cq(cq);
	if (cq->chan)
		ur_evsock_forget(&cq->chan->sock, &cq->comp_src, comp);
	if (cq->async)
		ur_evsock_forget(&cq->async->sock, &cq->async_src, async);
	ur_list_del(&cq->mod_node);
	ur_list_del(&cq->due_node);
	return 0;
}
UR_ENGINE_CALL(3, destroy_cq, struct ur_ecq *, struct ur_events_left *,
	       struct ur_events_left *);

int ur_ecq_destroy(struct ur_ecq *cq, struct ur_events_left *comp,
		   struct ur_events_left *async)
{
	int err;

	*comp = *async = (struct ur_events_left){0};
	err = call_destroy_cq(cq->ectx->engine, cq, comp, async);
	if (err)
		return err;
	ur_arena_free(&cq->ectx->arena, &cq->block);
	ur_adverse_free_cq(cq);
	free(cq);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared receive queues between control and the transport: created, resized,
 * limited and destroyed, with their ring.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/limits.h"
#include "util/assert.h"

#define RING_OFF 128u
#define MAX_WR	 UR_MAX_SRQ_WR

static void on_doorbell(struct ur_db_client *db_client)
{
	ur_rq_ring(&ur_container_of(db_client, struct ur_esrq, db_client)->rq);
}

static void fill_resp(const struct ur_esrq *srq,
		      struct uroce_create_srq_resp *r)
{
	memset(r, 0, sizeof(*r));
	r->max_wqes = srq->max_wr;
	r->srqn = ur_srq_number(srq->srq);
	r->map_off = srq->block.off;
	r->map_len = srq->block.len;
	r->hdr_off = 0;
	r->wqe_off = RING_OFF;
	r->entries = srq->rq.ring.size;
	r->stride = srq->stride;
	r->db_slot = srq->db_client.slot;
}

static int take_ring(struct ur_esrq *srq, u32 max_wr, struct ur_block *block)
{
	u64 entries = ur_roundup_pow2(max_wr);

	return ur_ectx_alloc(srq->ectx, RING_OFF + entries * srq->stride,
			     block);
}

static void place_ring(struct ur_esrq *srq, const struct ur_block *block,
		       u32 max_wr, u32 first)
{
	struct uroce_ring_hdr *hdr = (struct uroce_ring_hdr *)block->ptr;

	memset(block->ptr, 0, RING_OFF);
	srq->block = *block;
	srq->max_wr = max_wr;
	hdr->prod = first;
	ur_ring_init(&srq->rq.ring, hdr, block->ptr + RING_OFF,
		     ur_roundup_pow2(max_wr), srq->stride, first);
}

static int create_srq(struct ur_engine *engine, struct ur_esrq *srq,
		      const struct ur_esrq_init *init)
{
	struct ur_srq_attr attr = {
		.pd = init->pd,
		.xrc = init->xrc,
		.xrcd = init->xrcd,
		.srqn = init->srqn,
		.cq_ctx = init->cq,
		.rq_ctx = &srq->rq,
		.ctx = srq,
	};
	int err = ur_srq_create(engine->port, &attr, &srq->srq);

	ur_assert(srq->ectx->engine == engine);
	if (err)
		return err;
	if (srq->cq)
		srq->cq->users++;
	ur_ectx_add_db_client(srq->ectx, &srq->db_client);
	return 0;
}
UR_ENGINE_CALL(2, create_srq, struct ur_esrq *, const struct ur_esrq_init *);

static int begin_ring(struct ur_esrq *srq, u32 max_wr)
{
	struct ur_block block;
	int err;

	srq->max_wr = max_wr;
	err = take_ring(srq, max_wr, &block);
	if (err)
		return err;
	place_ring(srq, &block, max_wr, 0);
	return 0;
}

int ur_esrq_create(struct ur_ectx *ectx, const struct ur_esrq_init *init,
		   struct ur_esrq **ret_srq, struct uroce_create_srq_resp *resp)
{
	struct ur_esrq *srq;
	int err;

	if (!init->max_wr || init->max_wr > MAX_WR ||
	    init->max_sge > UR_MAX_SGE)
		return -EINVAL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->ectx = ectx;
	srq->db_client.ring = on_doorbell;
	srq->max_sge = init->max_sge ? init->max_sge : 1;
	srq->stride = ur_roundup_pow2(
		(u32)(sizeof(struct uroce_recv_wqe) +
		      srq->max_sge * sizeof(struct uroce_wqe_data)));
	srq->cq = init->cq;
	srq->async = init->async;
	ur_evsrc_init(&srq->async_src, init->user_handle);
	ur_rq_init(&srq->rq, ectx);
	srq->rq.srq = srq;
	err = begin_ring(srq, init->max_wr);
	if (err)
		goto err_free;
	err = call_create_srq(ectx->engine, srq, init);
	if (err)
		goto err_ring;
	fill_resp(srq, resp);
	*ret_srq = srq;
	return 0;
err_ring:
	ur_arena_free(&ectx->arena, &srq->block);
err_free:
	free(srq);
	return err;
}

/* *block: the new ring's; on return the old one's. */
static int resize(struct ur_engine *engine, struct ur_esrq *srq, u32 max_wr,
		  struct ur_block *block)
{
	struct ur_ring old = srq->rq.ring;
	struct ur_block old_block = srq->block;
	s64 waiting = ur_ring_avail(&srq->rq.ring);

	ur_assert(srq->ectx->engine == engine);
	if (waiting < 0 || waiting > max_wr)
		return -EINVAL;
	place_ring(srq, block, max_wr, old.next);
	*block = old_block;
	for (u32 i = 0; i < (u32)waiting; i++) {
		u32 index = old.next + i;

		memcpy(srq->rq.ring.base +
			       (size_t)(index & (srq->rq.ring.size - 1)) *
				       srq->stride,
		       old.base +
			       (size_t)(index & (old.size - 1)) * srq->stride,
		       srq->stride);
	}
	srq->rq.ring.hdr->prod = old.next + (u32)waiting;
	if (srq->rq.want_kick)
		srq->rq.ring.hdr->flags = UROCE_RING_F_NEED_DB;
	return 0;
}
UR_ENGINE_CALL(3, resize, struct ur_esrq *, u32, struct ur_block *);

static int change_ring(struct ur_esrq *srq, u32 max_wr)
{
	struct ur_block block;
	int err;

	err = take_ring(srq, max_wr, &block);
	if (err)
		return err;
	/* Populated, since the engine copies into it. */
	err = ur_block_populate(&block);
	if (!err)
		err = call_resize(srq->ectx->engine, srq, max_wr, &block);
	ur_arena_free(&srq->ectx->arena, &block);
	return err;
}

int ur_esrq_resize(struct ur_esrq *srq, u32 max_wr,
		   struct uroce_create_srq_resp *resp)
{
	int err;

	if (!max_wr || max_wr > MAX_WR)
		return -EINVAL;
	err = change_ring(srq, max_wr);
	if (!err)
		fill_resp(srq, resp);
	return err;
}

static int set_limit(struct ur_engine *engine, struct ur_esrq *srq, u32 limit)
{
	ur_assert(srq->ectx->engine == engine);
	if (limit > srq->max_wr)
		return -EINVAL;
	ur_srq_set_limit(srq->srq, limit);
	return 0;
}
UR_ENGINE_CALL(2, set_limit, struct ur_esrq *, u32);

int ur_esrq_set_limit(struct ur_esrq *srq, u32 limit)
{
	return call_set_limit(srq->ectx->engine, srq, limit);
}

static int get_limit(struct ur_engine *engine, const struct ur_esrq *srq,
		     u32 *limit)
{
	ur_assert(srq->ectx->engine == engine);
	*limit = ur_srq_limit(srq->srq);
	return 0;
}
UR_ENGINE_CALL(2, get_limit, const struct ur_esrq *, u32 *);

u32 ur_esrq_limit(const struct ur_esrq *srq)
{
	u32 limit;

	call_get_limit(srq->ectx->engine, srq, &limit);
	return limit;
}

static int destroy_srq(struct ur_engine *engine, struct ur_esrq *srq,
		       struct ur_events_left *async)
{
	int err = ur_srq_destroy(srq->srq);

	if (err)
		return err;
	ur_list_del(&srq->rq.kick_node);
	ur_assert(srq->ectx && srq->ectx->engine == engine);
	ur_ectx_del_db_client(srq->ectx, &srq->db_client);
	if (srq->cq) {
		ur_assert(srq->cq->users);
		srq->cq->users--;
	}
	if (srq->async)
		ur_evsock_forget(&srq->async->sock, &srq->async_src, async);
	return 0;
}
UR_ENGINE_CALL(2, destroy_srq, struct ur_esrq *, struct ur_events_left *);

int ur_esrq_destroy(struct ur_esrq *srq, struct ur_events_left *async)
{
	int err;

	*async = (struct ur_events_left){0};
	err = call_destroy_srq(srq->ectx->engine, srq, async);
	if (err)
		return err;
	ur_arena_free(&srq->ectx->arena, &srq->block);
	free(srq);
	return 0;
}

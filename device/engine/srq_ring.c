// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include "device/engine/engine_impl.h"

#define RING_OFF 128u
#define MAX_WR	 (1u << 20)

static void on_doorbell(struct ur_db_client *db_client)
{
	ur_rq_ring(&ur_container_of(db_client, struct ur_esrq, db_client)->rq);
}

static void fill_resp(const struct ur_esrq *srq,
		      struct uroce_create_srq_resp *r)
{
	memset(r, 0, sizeof(*r));
	r->map_off = srq->block.off;
	r->map_len = srq->block.len;
	r->hdr_off = 0;
	r->wqe_off = RING_OFF;
	r->entries = srq->rq.ring.size;
	r->stride = srq->stride;
	r->max_wqes = srq->max_wr;
	r->db_slot = srq->db_client.slot;
	r->srqn = ur_srq_number(srq->srq);
}

static int take_ring(struct ur_esrq *srq, u32 max_wr, struct ur_block *block)
{
	u64 entries = ur_roundup_pow2(max_wr);

	return ur_arena_alloc(&srq->ectx->arena,
			      RING_OFF + entries * srq->stride, block);
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

struct create_args {
	struct ur_esrq *srq;
	const struct ur_esrq_init *init;
	struct uroce_create_srq_resp *resp;
	struct ur_block block; /* of a new ring; then of the old one */
	u32 max_wr;
};

static int create(struct ur_engine *engine, void *arg)
{
	struct create_args *a = arg;
	struct ur_esrq *srq = a->srq;
	struct ur_srq_attr attr = {
		.pd = a->init->pd,
		.limit = a->init->limit,
		.xrc = a->init->xrc,
		.xrcd = a->init->xrcd,
		.cq_ctx = a->init->cq,
		.rq_ctx = &srq->rq,
		.ctx = srq,
	};
	int ret = ur_srq_create(engine->port, &attr, &srq->srq);

	if (ret)
		return ret;
	if (srq->cq)
		srq->cq->users++;
	ur_ectx_add_db_client(srq->ectx, &srq->db_client);
	fill_resp(srq, a->resp);
	return 0;
}

int ur_esrq_create(struct ur_ectx *ectx, const struct ur_esrq_init *init,
		   struct ur_esrq **ret_srq, struct uroce_create_srq_resp *resp)
{
	struct create_args a = {.init = init, .resp = resp};
	struct ur_esrq *srq;
	int ret;

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
	a.srq = srq;
	ret = take_ring(srq, init->max_wr, &a.block);
	if (ret)
		goto err_free;
	place_ring(srq, &a.block, init->max_wr, 0);
	ret = ur_engine_call(ectx->engine, create, &a);
	if (ret)
		goto err_ring;
	*ret_srq = srq;
	return 0;
err_ring:
	ur_arena_free(&ectx->arena, &srq->block);
err_free:
	free(srq);
	return ret;
}

static int resize(struct ur_engine *engine, void *arg)
{
	struct create_args *a = arg;
	struct ur_esrq *srq = a->srq;
	struct ur_ring old = srq->rq.ring;
	struct ur_block old_block = srq->block;
	s64 waiting = ur_ring_avail(&srq->rq.ring);

	if (waiting < 0 || waiting > a->max_wr)
		return -EINVAL;
	place_ring(srq, &a->block, a->max_wr, old.next);
	a->block = old_block;
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
	fill_resp(srq, a->resp);
	return 0;
}

int ur_esrq_resize(struct ur_esrq *srq, u32 max_wr,
		   struct uroce_create_srq_resp *resp)
{
	struct create_args a = {.srq = srq, .resp = resp, .max_wr = max_wr};
	int ret;

	if (!max_wr || max_wr > MAX_WR)
		return -EINVAL;
	ret = take_ring(srq, max_wr, &a.block);
	if (ret)
		return ret;
	/* The engine copies into it. */
	ur_ectx_unlock(srq->ectx);
	ret = ur_block_populate(&a.block);
	ur_ectx_relock(srq->ectx);
	if (!ret)
		ret = ur_engine_call(srq->ectx->engine, resize, &a);
	ur_arena_free(&srq->ectx->arena, &a.block);
	return ret;
}

struct limit_args {
	struct ur_esrq *srq;
	u32 limit;
};

static int set_limit(struct ur_engine *engine, void *arg)
{
	struct limit_args *a = arg;

	if (a->limit > a->srq->max_wr)
		return -EINVAL;
	ur_srq_set_limit(a->srq->srq, a->limit);
	return 0;
}

int ur_esrq_set_limit(struct ur_esrq *srq, u32 limit)
{
	struct limit_args a = {srq, limit};

	return ur_engine_call(srq->ectx->engine, set_limit, &a);
}

static int get_limit(struct ur_engine *engine, void *arg)
{
	struct limit_args *a = arg;

	a->limit = ur_srq_limit(a->srq->srq);
	return 0;
}

void ur_esrq_query(struct ur_esrq *srq, u32 *max_wr, u32 *max_sge, u32 *limit)
{
	struct limit_args a = {srq, 0};

	ur_engine_call(srq->ectx->engine, get_limit, &a);
	*max_wr = srq->max_wr;
	*max_sge = srq->max_sge;
	*limit = a.limit;
}

struct destroy_args {
	struct ur_esrq *srq;
	u32 events;
};

static int destroy(struct ur_engine *engine, void *arg)
{
	struct destroy_args *a = arg;
	struct ur_esrq *srq = a->srq;
	int ret = ur_srq_destroy(srq->srq);

	if (ret)
		return ret;
	ur_list_del(&srq->rq.kick_node);
	ur_ectx_del_db_client(srq->ectx, &srq->db_client);
	if (srq->cq)
		srq->cq->users--;
	if (srq->async)
		a->events = ur_evsock_purge(&srq->async->sock, &srq->async_src);
	return 0;
}

int ur_esrq_destroy(struct ur_esrq *srq, u32 *async_events)
{
	struct destroy_args a = {.srq = srq};
	int ret = ur_engine_call(srq->ectx->engine, destroy, &a);

	if (ret)
		return ret;
	ur_arena_free(&srq->ectx->arena, &srq->block);
	*async_events = a.events;
	free(srq);
	return 0;
}

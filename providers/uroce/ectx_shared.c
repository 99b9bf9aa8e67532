// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The shared engine, which contexts of several processes of one user use, in that user's engine
 * process. A context whose own engine is elsewhere joins it when it opens an XRC domain of a file.
 * It has the target queue pairs and SRQs of such domains, with rings for their completion queues,
 * and all regions of the context. It is the own engine of imported contexts. So a context whose file
 * was imported joins it, too, with its regions.
 */
#include <string.h>
#include <unistd.h>

#include "ectx.h"

/* After fork the objects are the parent's. */
static bool is_here(const struct uroce_context *ctx)
{
	return ctx->shared && *ctx->shared_db.own;
}

static void no_take_over(void *arg)
{
}

/* ---- joining ---- */

static int ask(struct uroce_context *ctx, struct uroce_engine_apart *resp)
{
	const u32 slot = 0;

	return ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_SHARE,
			    UROCE_ATTR_ENGINE_SHARE_SLOT, sizeof(slot), slot,
			    UROCE_ATTR_ENGINE_SHARE_RESP, resp, sizeof(*resp));
}

static int map_doorbell(struct uroce_context *ctx,
			const struct uroce_ectx_info *info)
{
	if (info->db_map_len < sizeof(struct uroce_db_page))
		return EPROTO;
	ctx->shared_fd = info->fd;
	ctx->shared_db = (struct ur_doorbell){
		.page = ur_map_at(&ctx->ibv, UR_OF_SHARED, info->db_map_off,
				  info->db_map_len),
		.wake_fd = info->wake_fd,
		.slots = UROCE_DB_SLOTS,
		.arg = ctx,
		.own = info->own,
		.take_over = no_take_over,
	};
	ctx->shared_db_len = info->db_map_len;
	return ctx->shared_db.page ? 0 : errno;
}

static void end(struct uroce_context *ctx)
{
	ur_unmap(ctx->shared_db.page, ctx->shared_db_len);
	ur_apart_ops.close(ctx->shared);
	ctx->shared = NULL;
}

/* Returns whether another context has imported the file of this one. */
static bool is_imported(const struct uroce_context *ctx)
{
	return !ctx->imported && !ctx->recoveries &&
	       __atomic_load_n(&ctx->device_page->imported, __ATOMIC_SEQ_CST);
}

/* An importer cannot have what only an engine in this process reaches. */
static bool is_only_here(const struct uroce_context *ctx,
			 const struct uroce_mr *mr)
{
	return is_imported(ctx) &&
	       (mr->engine_init.flags & (UROCE_EMR_GPU | UROCE_EMR_DMABUF));
}

static int reg(struct uroce_context *ctx, struct uroce_mr *mr)
{
	if (is_only_here(ctx, mr) ||
	    (mr->engine_init.flags & UROCE_EMR_PARENTS))
		return 0;
	return ur_engine_reg_mr(ctx->shared, &mr->engine_init, &mr->shared);
}

static int reg_all(struct uroce_context *ctx)
{
	int err = 0;

	ur_list_for_each(it, &ctx->regions)
		if (!err)
			err = reg(ctx,
				  ur_list_entry(it, struct uroce_mr, node));
	if (!err)
		return 0;
	ur_list_for_each(it, &ctx->regions) {
		struct uroce_mr *mr = ur_list_entry(it, struct uroce_mr, node);

		if (mr->shared)
			ur_engine_tell(mr->shared, UROCE_CALL_DEREG_MR, 0);
		mr->shared = NULL;
	}
	return err;
}

static int use_shared_engine(struct uroce_context *ctx,
			     const struct uroce_engine_apart *resp)
{
	struct uroce_call claimed = {.msg.op = UROCE_CALL_CLAIMED};
	struct uroce_ectx_info info;
	int err;

	ctx->shared_slot = resp->slot;
	err = -ur_apart_ops.open(NULL, resp->fd, &ctx->shared, &info);
	if (err)
		return err;
	err = map_doorbell(ctx, &info);
	if (!err)
		err = reg_all(ctx);
	if (!err)
		err = ur_engine_call(ctx->shared, &claimed);
	if (err)
		end(ctx);
	return err;
}

static int open_shared(struct uroce_context *ctx)
{
	struct uroce_engine_apart resp;
	u32 seen;
	int err;

	do {
		seen = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
		err = ask(ctx, &resp);
	} while (err == EIO && ur_ectx_reattach(ctx, seen));
	return err ? err : use_shared_engine(ctx, &resp);
}

int ur_shared_open(struct uroce_context *ctx)
{
	int err;

	if (!ur_ectx_makes_here(ctx))
		return EIO;
	err = ur_ectx_set_async(ctx);
	if (err)
		return err;
	pthread_mutex_lock(&ctx->shares);
	if (!ctx->shared)
		err = open_shared(ctx);
	pthread_mutex_unlock(&ctx->shares);
	return err;
}

void ur_shared_close(struct uroce_context *ctx)
{
	if (ctx->shared)
		end(ctx);
}

/* ---- completion queues ---- */

static int create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		     struct uroce_cq_layout *layout)
{
	const struct ibv_comp_channel *channel = cq->vcq.cq.channel;
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_CREATE_CQ,
			.cq = {.entries = cq->ring.mask + 1,
			       .flags = cq->flags,
			       .user_handle = (uintptr_t)&cq->vcq.cq,
			       .channel = (uintptr_t)channel}},
		.fds = {-1, channel ? channel->fd : -1},
	};
	const struct uroce_create_cq_resp *resp = &call.reply.new_cq;
	int err, tx = -1;

	if (channel &&
	    ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_CQ, UROCE_METHOD_ENGINE_CQ,
			 UROCE_ATTR_ENGINE_CQ_HANDLE, 0, cq->vcq.cq.handle,
			 UROCE_ATTR_ENGINE_CQ_RESP, &tx, sizeof(tx)))
		return EOPNOTSUPP;
	call.fds[0] = tx;
	err = ur_engine_call(ctx->shared, &call);
	if (tx >= 0)
		close(tx);
	if (err)
		return err;
	cq->shared = call.it;
	if (cq->moderation)
		ur_engine_tell(cq->shared, UROCE_CALL_MODIFY_CQ,
			       cq->moderation);
	*layout = (struct uroce_cq_layout){resp->map_off, resp->map_len,
					   resp->hdr_off, resp->cqe_off,
					   resp->entries};
	return 0;
}

static void undo_cq(struct uroce_cq *cq)
{
	ur_engine_tell(cq->shared, UROCE_CALL_DESTROY_CQ, 0);
	cq->shared = NULL;
}

static int use_shared(struct uroce_context *ctx, struct uroce_cq *cq)
{
	struct uroce_cq_layout layout;
	int err = create_cq(ctx, cq, &layout);

	if (err)
		return err;
	ur_lock_get(&cq->lock);
	err = ur_cq_add_shared_ring(cq, &layout);
	ur_lock_put(&cq->lock);
	if (err)
		undo_cq(cq);
	return err;
}

int ur_cq_use_shared(struct ibv_cq *ibcq)
{
	struct uroce_cq *cq = ibcq ? ur_to_cq(ibcq) : NULL;
	struct uroce_context *ctx;
	int err = 0;

	if (!cq || !cq->engine)
		return 0;
	ctx = ur_to_ctx(ibcq->context);
	if (!ur_ectx_is_here(ctx) || !is_here(ctx))
		return EIO;
	pthread_mutex_lock(&ctx->shares);
	if (!cq->shared)
		err = use_shared(ctx, cq);
	pthread_mutex_unlock(&ctx->shares);
	if (!err)
		__atomic_add_fetch(&cq->shared_users, 1, __ATOMIC_RELAXED);
	return err;
}

void ur_cq_unuse_shared(struct ibv_cq *cq)
{
	if (cq && ur_to_cq(cq)->engine)
		__atomic_sub_fetch(&ur_to_cq(cq)->shared_users, 1,
				   __ATOMIC_RELAXED);
}

int ur_shared_resize_cq(struct uroce_cq *cq, u32 entries)
{
	struct uroce_resize_cq_resp resp;
	struct uroce_cq_layout layout;
	int err;

	if (!cq->shared)
		return 0;
	err = ur_engine_resize_cq(cq->shared, entries, &resp);
	if (err)
		return err;
	layout = (struct uroce_cq_layout){resp.map_off, resp.map_len,
					  resp.hdr_off, resp.cqe_off,
					  resp.entries};
	return ur_cq_move_ring(cq, UR_OF_SHARED, &layout, cq->shared_ring);
}

int ur_shared_modify_cq(struct uroce_cq *cq, u32 moderation)
{
	struct uroce_context *ctx = ur_to_ctx(cq->vcq.cq.context);
	int err = 0;

	pthread_mutex_lock(&ctx->shares);
	cq->moderation = moderation;
	if (cq->shared)
		err = ur_engine_tell(cq->shared, UROCE_CALL_MODIFY_CQ,
				     moderation);
	pthread_mutex_unlock(&ctx->shares);
	return err;
}

int ur_shared_destroy_cq(struct uroce_cq *cq, u32 events[2])
{
	int err;

	if (!cq->shared)
		return 0;
	err = ur_engine_destroy(cq->shared, UROCE_CALL_DESTROY_CQ, events);
	if (!err)
		cq->shared = NULL;
	return err;
}

/* ---- regions ---- */

/* Without uroced, or if this fails, the regions that it registered in this process's place end. */
void ur_shared_claim(struct uroce_context *ctx)
{
	struct uroce_engine_apart resp;

	if (!ctx->engine || !*ctx->db.own || !is_imported(ctx))
		return;
	pthread_mutex_lock(&ctx->shares);
	if (!ctx->shared && !ask(ctx, &resp))
		use_shared_engine(ctx, &resp);
	pthread_mutex_unlock(&ctx->shares);
}

int ur_shared_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr)
{
	int err = 0;

	ur_shared_claim(ctx);

	pthread_mutex_lock(&ctx->shares);
	if (is_here(ctx))
		err = reg(ctx, mr);
	if (!err)
		ur_list_add_tail(&ctx->regions, &mr->node);
	pthread_mutex_unlock(&ctx->shares);
	return err;
}

int ur_shared_rereg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		       u32 flags)
{
	struct uroce_emr_init init = mr->engine_init;
	int err = 0;

	/* Without other memory the file stays. */
	init.flags &= ~UROCE_EMR_FILE;
	ur_shared_claim(ctx);
	pthread_mutex_lock(&ctx->shares);
	if (mr->shared)
		err = ur_engine_rereg_mr(mr->shared, flags, &init);
	pthread_mutex_unlock(&ctx->shares);
	return err;
}

void ur_shared_dereg_mr(struct uroce_context *ctx, struct uroce_mr *mr)
{
	pthread_mutex_lock(&ctx->shares);
	if (mr->shared)
		ur_engine_tell(mr->shared, UROCE_CALL_DEREG_MR, 0);
	mr->shared = NULL;
	ur_list_del(&mr->node);
	pthread_mutex_unlock(&ctx->shares);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands of a context with its own engine after uroced was killed, which had its own copies of
 * the process's objects. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "ectx.h"
#include "poller.h"
#include "util/os/high_fd.h"

int ur_ectx_call(struct ibv_context *context, u16 object, u16 method, u16 in_id,
		 u32 in_len, u64 in, u16 out_id, void *out, u16 out_len)
{
	UR_CMDB(2) b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff}};
	struct ib_uverbs_ioctl_hdr hdr = {.object_id = object,
					  .method_id = method};
	struct ib_uverbs_attr *a = b.attr;

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	if (in_id != UR_ECTX_NO_IN)
		*a++ = (struct ib_uverbs_attr){
			.attr_id = in_id,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.len = (u16)in_len,
			.data = in,
		};
	*a++ = (struct ib_uverbs_attr){
		.attr_id = out_id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = out_len,
		.data = (uintptr_t)out,
	};
	b.cmdb.next_attr = b.cmdb.last_attr = a;
	return ur_ectx_execute(context, &b.cmdb);
}

/* Both engines send asynchronous events to the file that the program got from
 * the device. */
int ur_ectx_set_async(struct uroce_context *ctx)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct uroce_engine_async async = {
		.tx = -1, .liveness = -1, .destroy_hint = -1};
	struct uroce_call call = {.msg.op = UROCE_CALL_SET_ASYNC};
	int err = 0;

	pthread_mutex_lock(&lock);
	if (ctx->engine_async)
		goto out;
	err = ur_ectx_call(
		&ctx->ibv, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_ASYNC,
		ctx->imported ? UROCE_ATTR_ENGINE_ASYNC_FILE : UR_ECTX_NO_IN, 0,
		(u32)ctx->ibv.async_fd, UROCE_ATTR_ENGINE_ASYNC_RESP, &async,
		sizeof(async));
	if (err)
		goto out;
	memcpy(call.fds, (int[]){async.tx, ctx->ibv.async_fd, async.liveness},
	       sizeof(call.fds));
	call.n_fds = async.liveness < 0 ? 2 : 3;
	err = ur_engine_call(ctx->engine, &call);
	close(async.tx);
	if (async.liveness >= 0)
		close(async.liveness);
	ctx->destroy_hint_fd = ur_high_fd(async.destroy_hint);
	ctx->hints = async.hints;
	ctx->engine_async = !err;
out:
	pthread_mutex_unlock(&lock);
	return err;
}

/* Ignores an error: the context's first object here meets it again and returns it. While the
 * context is being opened the library has no event file yet, so the call does nothing. */
void ur_ectx_begin(struct uroce_context *ctx)
{
	if (ctx->engine && !ctx->engine_async && ctx->ibv.async_fd >= 0 &&
	    *ctx->db.own)
		ur_ectx_set_async(ctx);
}

/* Returns whether the handle is of an earlier uroced, which the next one does
 * not know. */
static bool is_unknown(const struct uroce_context *ctx, int err)
{
	return ctx->recoveries && (err == EINVAL || err == ENOENT);
}

int ur_ectx_forgive(const struct uroce_context *ctx, int err)
{
	if (!err || (err != EIO && !is_unknown(ctx, err)))
		return err;
	return ctx->engine && ctx->engine_async && *ctx->db.own &&
			       !ur_poller_is_gone(ctx)
		       ? 0
		       : err;
}

int ur_ectx_forgive_unused(const struct uroce_context *ctx, int err, u32 users)
{
	int left = ur_ectx_forgive(ctx, err);

	return err && !left && users ? EBUSY : left;
}

/* Returns whether only this process still has the queue pair. err: uroced's reply. */
static bool is_left(const struct uroce_context *ctx, const struct uroce_qp *qp,
		    int err, u32 made)
{
	return err && qp->engine && ur_ectx_owns(ctx, qp->engine) &&
	       !ur_ectx_forgive(ctx, err) &&
	       (err == EIO || made != ctx->recoveries);
}

static bool is_stop(enum ibv_qp_state state, int mask)
{
	return mask == IBV_QP_STATE &&
	       (state == IBV_QPS_ERR || state == IBV_QPS_RESET);
}

/* For other attributes uroced finds the path or checks rights and addresses, and first makes the
 * queue pair again. */
#define LEFT_MASK                                                             \
	(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS |              \
	 IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT | \
	 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY)

/* The engine checks the transition and the values. */
static int modify_left(const struct uroce_qp *qp,
		       const struct ibv_qp_attr *attr, int mask)
{
	const struct uroce_engine_qp to = {
		.state = attr->qp_state,
		.cur_state = (u8)attr->cur_qp_state,
		.access = (u32)attr->qp_access_flags,
		.en_sqd_async_notify = attr->en_sqd_async_notify,
		.min_rnr_timer = attr->min_rnr_timer,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
	};

	return ur_engine_modify_qp(qp, &to, mask);
}

/* Returns whether datagrams may arrive at addresses for which the engine has no
 * socket yet. */
static bool needs_device(const struct uroce_qp *qp,
			 const struct ibv_qp_attr *attr, int mask)
{
	return (mask & ~LEFT_MASK) ||
	       (qp->qpt_bit == UR_SENDS_UD && (mask & IBV_QP_STATE) &&
		attr->qp_state == IBV_QPS_RTR);
}

int ur_ectx_modify_left(struct uroce_context *ctx, struct uroce_qp *qp,
			const struct ibv_qp_attr *attr, int mask, int err,
			u32 made)
{
	const struct uroce_engine_qp to = {.state = attr->qp_state};

	if (is_stop(attr->qp_state, mask))
		return !qp->engine || !ur_ectx_owns(ctx, qp->engine) ||
				       ur_ectx_forgive(ctx, err)
			       ? err
			       : ur_engine_modify_qp(qp, &to, IBV_QP_STATE);
	return needs_device(qp, attr, mask) || !is_left(ctx, qp, err, made)
		       ? err
		       : modify_left(qp, attr, mask);
}

static void show_path(struct ibv_ah_attr *to,
		      const struct uroce_engine_qp *from)
{
	memcpy(&to->grh.dgid, from->dgid, sizeof(from->dgid));
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = (u8)from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->sl = from->sl;
	to->is_global = 1;
	to->port_num = 1;
}

void ur_ectx_show_qp(const struct uroce_engine_qp *now,
		     struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
		.qp_state = (enum ibv_qp_state)now->state,
		.cur_qp_state = (enum ibv_qp_state)now->state,
		.path_mtu =
			now->path_mtu ? __builtin_ctz(now->path_mtu) - 7 : 0,
		.qkey = now->qkey,
		.rq_psn = now->rq_psn,
		.sq_psn = now->sq_psn,
		.dest_qp_num = now->dest_qpn,
		.qp_access_flags = now->access,
		.en_sqd_async_notify = now->en_sqd_async_notify,
		.sq_draining = now->sq_draining,
		.max_rd_atomic = now->max_rd_atomic,
		.max_dest_rd_atomic = now->max_dest_rd_atomic,
		.min_rnr_timer = now->min_rnr_timer,
		.port_num = 1,
		.timeout = now->timeout,
		.retry_cnt = now->retry_cnt,
		.rnr_retry = now->rnr_retry,
		.rate_limit = now->rate_limit,
	};
	if (now->have_path)
		show_path(&attr->ah_attr, now);
}

struct ibv_qp_cap ur_ectx_cap(const struct uroce_qp *qp)
{
	return (struct ibv_qp_cap){
		.max_send_wr = qp->sq.max_wqes,
		.max_recv_wr = qp->rq.max_wqes,
		.max_send_sge = qp->max_send_sge,
		.max_recv_sge = qp->rq.max_sge,
		.max_inline_data = qp->max_inline,
	};
}

int ur_ectx_query_left(struct uroce_context *ctx, const struct uroce_qp *qp,
		       struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init,
		       int err, u32 made)
{
	struct uroce_engine_qp now;

	if (!is_left(ctx, qp, err, made))
		return err;
	now = ur_engine_qp(qp);
	*init = (struct ibv_qp_init_attr){
		.qp_context = qp->ibv.qp_context,
		.send_cq = qp->ibv.send_cq,
		.recv_cq = qp->ibv.recv_cq,
		.srq = qp->ibv.srq,
		.cap = ur_ectx_cap(qp),
		.qp_type = qp->ibv.qp_type,
		.sq_sig_all = qp->sq_sig_all,
	};
	ur_ectx_show_qp(&now, attr);
	attr->cap = init->cap;
	return 0;
}

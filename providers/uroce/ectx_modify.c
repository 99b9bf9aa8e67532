// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MODIFY_QP of a queue pair in an engine of this process. uroced finds the path and the owner of
 * the peer's number: a command executes the change there and replies with what the engine needs.
 * The engine alone checks changes to INIT, RTS and ERR, and shows the state to uroced. uroced gets these
 * changes with the next command about the queue pair, if there is one.
 */
#include <string.h>

#include "ectx.h"

#define RIGHTS                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)

static bool reports_late(const struct uroce_context *ctx)
{
	return __atomic_load_n(&ctx->reports_late, __ATOMIC_RELAXED);
}

/* Returns whether uroced can take this change without the deferred ones. A move to RESET is possible
 * from every state. A move to ERR is possible from every state but RESET, where uroced still has the
 * queue pair if INIT was deferred. */
static bool is_end(const struct uroce_qp *qp, const struct ibv_qp_attr *attr,
		   int mask)
{
	return mask == IBV_QP_STATE &&
	       (attr->qp_state == IBV_QPS_RESET ||
		(attr->qp_state == IBV_QPS_ERR && qp->owed != IBV_QPS_INIT));
}

/* Returns whether uroced would accept these values; it gets them from the engine later. */
static bool is_plain(const struct uroce_context *ctx, const struct uroce_qp *qp,
		     const struct ibv_qp_attr *attr, int mask)
{
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		return mask == ur_ectx_mask_to(qp, IBV_QPS_INIT) &&
		       attr->port_num == 1 && !attr->pkey_index &&
		       !(attr->qp_access_flags & ~RIGHTS);
	case IBV_QPS_RTS:
		return mask == ur_ectx_mask_to(qp, IBV_QPS_RTS) &&
		       ((mask & IBV_QP_MAX_QP_RD_ATOMIC) == 0 ||
			attr->max_rd_atomic <= ctx->max_rd_atomic);
	case IBV_QPS_ERR:
		return is_end(qp, attr, mask);
	default:
		return false;
	}
}

/* Returns whether the change may be reported later. Targets of XRC may be open elsewhere, and a UD
 * queue pair's key may need a right. uroced refuses a handle that the program has overwritten. */
static bool may_owe(struct uroce_context *ctx, const struct uroce_qp *qp,
		    const struct ibv_qp_attr *attr, int mask)
{
	struct uroce_engine_qp now;

	if (!reports_late(ctx) || qp->ibv.handle != qp->handle ||
	    !(qp->qpt_bit & (UR_SENDS_RC | UR_SENDS_UC)) ||
	    !(mask & IBV_QP_STATE) || !is_plain(ctx, qp, attr, mask))
		return false;
	now = ur_engine_qp(qp);
	return now.cur_state == UROCE_ENGINE_QP_SHOWN;
}

static int modify_here(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_attr *attr, int mask)
{
	struct uroce_engine_qp to = {.state = attr->qp_state};
	int err;

	/* Programs fill in no attributes but those of the mask; an engine process checks all. */
	if (mask & IBV_QP_ACCESS_FLAGS)
		to.access = attr->qp_access_flags;
	if (mask & IBV_QP_SQ_PSN)
		to.sq_psn = attr->sq_psn & 0xffffff;
	if (mask & IBV_QP_TIMEOUT)
		to.timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to.retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to.rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to.max_rd_atomic = attr->max_rd_atomic;
	err = ur_engine_modify_qp(qp, &to, mask);
	if (!err)
		qp->owed = (u8)attr->qp_state;
	return err;
}

/* Fills the command as the library does. */
static struct ib_uverbs_modify_qp command_of(const struct ibv_qp_attr *attr,
					     int mask)
{
	const struct ibv_ah_attr *ah = &attr->ah_attr;
	struct ib_uverbs_modify_qp m = {
		.attr_mask = (u32)mask,
		.qkey = attr->qkey,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qp_num = attr->dest_qp_num,
		.qp_access_flags = attr->qp_access_flags,
		.pkey_index = attr->pkey_index,
		.alt_pkey_index = attr->alt_pkey_index,
		.qp_state = (u8)attr->qp_state,
		.cur_qp_state = (u8)attr->cur_qp_state,
		.path_mtu = (u8)attr->path_mtu,
		.path_mig_state = (u8)attr->path_mig_state,
		.en_sqd_async_notify = attr->en_sqd_async_notify,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.port_num = attr->port_num,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.alt_port_num = attr->alt_port_num,
		.alt_timeout = attr->alt_timeout,
		.dest = {.flow_label = ah->grh.flow_label,
			 .dlid = ah->dlid,
			 .sgid_index = ah->grh.sgid_index,
			 .hop_limit = ah->grh.hop_limit,
			 .traffic_class = ah->grh.traffic_class,
			 .sl = ah->sl,
			 .src_path_bits = ah->src_path_bits,
			 .static_rate = ah->static_rate,
			 .is_global = ah->is_global,
			 .port_num = ah->port_num},
	};

	memcpy(m.dest.dgid, &ah->grh.dgid, sizeof(m.dest.dgid));
	return m;
}

/* Returns the command for the changes since the last report to uroced. */
static struct ib_uverbs_modify_qp owed_command(const struct uroce_qp *qp)
{
	const struct uroce_engine_qp now = ur_engine_qp(qp);
	struct ibv_qp_attr attr;

	ur_ectx_show_qp(&now, &attr);
	attr.qp_state = (enum ibv_qp_state)qp->owed;
	return command_of(&attr, ur_ectx_mask_to(qp, attr.qp_state));
}

/* Gives ENGINE_QP with n changes. */
static int give_changes(struct ibv_qp *ibv, const struct ib_uverbs_modify_qp *m,
			size_t count, struct uroce_engine_qp *answer)
{
	const struct ib_uverbs_ioctl_hdr hdr = {.object_id = UVERBS_OBJECT_QP,
						.method_id =
							UROCE_METHOD_ENGINE_QP};
	UR_CMDB(3)
	b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff},
	     .attr = {{.attr_id = UROCE_ATTR_ENGINE_QP_HANDLE,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = ibv->handle},
		      {.attr_id = UROCE_ATTR_ENGINE_QP_RESP,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .len = sizeof(*answer),
		       .data = (uintptr_t)answer},
		      {.attr_id = UROCE_ATTR_ENGINE_QP_MODIFY,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .len = (u16)(count * sizeof(*m)),
		       .data = (uintptr_t)m}}};

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	b.cmdb.next_attr = b.cmdb.last_attr = b.attr + (count ? 3 : 2);
	return ur_ectx_execute(ibv->context, &b.cmdb);
}

/* Gives the command together with the owed one. ctx->modifies held. */
static int send_with_owed(struct uroce_context *ctx, struct uroce_qp *qp,
			  const struct ibv_qp_attr *attr, int mask,
			  struct uroce_engine_qp *answer)
{
	struct ib_uverbs_modify_qp m[UROCE_ENGINE_QP_MODIFIES];
	size_t count = 0;
	int err;

	/* A move to RESET or ERR needs no earlier change. */
	if (qp->owed && !(attr && is_end(qp, attr, mask)))
		m[count++] = owed_command(qp);
	if (attr)
		m[count++] = command_of(attr, mask);
	err = give_changes(&qp->ibv, m, count, answer);
	if (!err)
		qp->owed = 0;
	return err;
}

int ur_ectx_flush_qp(struct uroce_context *ctx, struct uroce_qp *qp)
{
	struct uroce_engine_qp answer;
	int err = 0;

	if (!qp->engine || !ur_ectx_has(ctx, qp->engine))
		return 0;
	pthread_mutex_lock(&ctx->modifies);
	if (qp->owed)
		err = send_with_owed(ctx, qp, NULL, 0, &answer);
	pthread_mutex_unlock(&ctx->modifies);
	return err;
}

/* Attributes with a command of their own: a key or a rate. */
#define OWN_COMMAND (IBV_QP_QKEY | IBV_QP_RATE_LIMIT)

static int send_separately(struct uroce_context *ctx, struct uroce_qp *qp,
			   struct ibv_qp_attr *attr, int mask,
			   struct uroce_engine_qp *answer)
{
	int err = ur_ectx_flush_qp(ctx, qp);

	if (!err)
		err = ur_qp_cmd_modify(&qp->ibv, attr, mask);
	return err || !qp->engine || !ur_ectx_has(ctx, qp->engine)
		       ? err
		       : give_changes(&qp->ibv, NULL, 0, answer);
}

static int send_together(struct uroce_context *ctx, struct uroce_qp *qp,
			 const struct ibv_qp_attr *attr, int mask,
			 struct uroce_engine_qp *answer)
{
	int err;

	pthread_mutex_lock(&ctx->modifies);
	err = send_with_owed(ctx, qp, attr, mask, answer);
	pthread_mutex_unlock(&ctx->modifies);
	return err;
}

static bool owes(struct uroce_context *ctx, struct uroce_qp *qp,
		 const struct ibv_qp_attr *attr, int mask, int *err)
{
	bool owes;

	pthread_mutex_lock(&ctx->modifies);
	owes = may_owe(ctx, qp, attr, mask);
	if (owes)
		*err = modify_here(ctx, qp, attr, mask);
	pthread_mutex_unlock(&ctx->modifies);
	return owes;
}

int ur_ectx_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		      struct ibv_qp_attr *attr, int mask)
{
	u32 made = __atomic_load_n(&qp->recoveries, __ATOMIC_ACQUIRE);
	struct uroce_engine_qp answer;
	int err, judged = mask;
	bool here = qp->engine && ur_ectx_has(ctx, qp->engine);

	if (!ur_ectx_owns(ctx, qp->engine))
		return EIO;
	err = ur_ectx_may_modify_qp(ctx, qp, attr, &judged);
	if (err)
		return err;
	if (here && owes(ctx, qp, attr, mask, &err))
		return err;
	err = here && reports_late(ctx) && !(mask & OWN_COMMAND)
		      ? send_together(ctx, qp, attr, judged, &answer)
		      : send_separately(ctx, qp, attr, judged, &answer);
	if (err)
		return ur_ectx_modify_left(ctx, qp, attr, mask, err, made);
	if (!ur_ectx_is_here(ctx))
		return EIO;
	return qp->engine ? ur_ectx_modified_qp(ctx, qp, attr, mask, &answer)
			  : EINVAL;
}

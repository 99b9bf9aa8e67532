// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: life, arming, resizing. Polling is in poll.c. */
#include "ectx.h"
#include "uroce.h"

/* The features that ibv_create_cq_ex offers; the rest is EOPNOTSUPP. */
#define WC_FLAGS_SUPPORTED                                                     \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |                        \
	 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | \
	 IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |                   \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                                 \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct uroce_cq_layout created_at(const struct uroce_create_cq_resp *r)
{
	return (struct uroce_cq_layout){r->map_off, r->map_len, r->hdr_off,
					r->cqe_off, r->entries};
}

static struct uroce_cq_layout resized_to(const struct uroce_resize_cq_resp *r)
{
	return (struct uroce_cq_layout){r->map_off, r->map_len, r->hdr_off,
					r->cqe_off, r->entries};
}

static int cmd_destroy_cq(struct uroce_cq *cq)
{
	return cq->engine ? ur_ectx_destroy_cq(cq)
			  : ibv_cmd_destroy_cq(&cq->vcq.cq);
}

/* Maps the ring of a new CQ; destroys the CQ if that fails. */
static int setup_cq(struct ibv_context *context, struct uroce_cq *cq,
		    struct ibv_comp_channel *channel, u32 flags,
		    struct uroce_create_cq_resp *resp)
{
	struct uroce_cq_layout layout;
	int err;

	cq->recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					 __ATOMIC_ACQUIRE);
	err = ur_ectx_create_cq(ur_to_ctx(context), cq, channel, flags, resp);
	layout = created_at(resp);
	if (!err)
		err = ur_cq_ring_map(context, UR_OF_HERE, &layout, &cq->ring);
	if (err)
		cmd_destroy_cq(cq);
	return err;
}

/* Returns the flags for an engine in this process. */
static u32 engine_flags(const struct ibv_cq_init_attr_ex *attr, u32 flags)
{
	u32 ret = 0;

	if (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		ret |= UROCE_ECQ_IGNORE_OVERRUN;
	if (attr->wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		ret |= UROCE_ECQ_STAMPED;
	return ret;
}

struct ibv_cq *uroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int vector)
{
	UR_REQ(ib_uverbs_create_cq, struct uroce_create_cq_req drv) req = {0};
	UR_RESP(ib_uverbs_create_cq_resp, struct uroce_create_cq_resp drv)
	resp = {0};
	struct uroce_cq *cq;
	int err;

	if (cqe < 1)
		return ur_fail(NULL, EINVAL);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	ur_ectx_makes_here(ur_to_ctx(context));
	err = UR_ECTX_TRY(context, NULL,
			  ibv_cmd_create_cq(context, cqe, channel, vector,
					    &cq->vcq.cq, &req, sizeof(req),
					    &resp, sizeof(resp)));
	if (!err)
		err = setup_cq(context, cq, channel, 0, &resp.drv);
	if (err)
		return ur_fail(cq, err);
	return &cq->vcq.cq;
}

static int check_cq_attr(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->cqe < 1)
		return EINVAL;
	if (attr->wc_flags & ~(u64)WC_FLAGS_SUPPORTED)
		return EOPNOTSUPP;
	if (attr->comp_mask &
	    ~(u32)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & ~(u32)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
				  IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr->parent_domain || !ur_to_pd(attr->parent_domain)->contained))
		return EINVAL;
	return 0;
}

struct ibv_cq_ex *uroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr)
{
	UR_REQ_EX(ib_uverbs_ex_create_cq, struct uroce_create_cq_req drv)
	req = {0};
	UR_RESP(ib_uverbs_ex_create_cq_resp, struct uroce_create_cq_resp drv)
	resp = {0};
	struct uroce_cq *cq;
	u32 flags =
		attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	int err = check_cq_attr(attr);

	if (err)
		return ur_fail(NULL, err);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		cq->lock.elided = true;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    ur_pd_single_threaded(attr->parent_domain))
		cq->lock.elided = true;
	ur_ectx_makes_here(ur_to_ctx(context));
	err = UR_ECTX_TRY(context, NULL,
			  ur_cmd_create_cq_ex(ur_to_ctx(context)->layout,
					      context, attr, &cq->vcq, &req,
					      sizeof(req), &resp, sizeof(resp),
					      0));
	if (!err)
		err = setup_cq(context, cq, attr->channel,
			       engine_flags(attr, flags), &resp.drv);
	if (err)
		return ur_fail(cq, err);
	ur_cq_set_methods(cq, (u32)attr->wc_flags);
	return &cq->vcq.cq_ex;
}

/* Resizes uroced's object. *at: the entries that it is to have. Lock held. */
static int resize_device(struct uroce_cq *cq, int cqe,
			 struct uroce_resize_cq_resp *at)
{
	UR_REQ(ib_uverbs_resize_cq, ) req = {0};
	UR_RESP(ib_uverbs_resize_cq_resp, struct uroce_resize_cq_resp drv)
	resp = {0};
	int err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &req, sizeof(req), &resp,
				    sizeof(resp));

	*at = resp.drv;
	return err;
}

/* Resizes uroced's object, the shared engine's ring and the own engine's. *at: the new place of the
 * last. If one refuses, the others are resized back. */
static int resize_all(struct uroce_cq *cq, int cqe,
		      struct uroce_resize_cq_resp *at)
{
	int before = cq->vcq.cq.cqe, err = resize_device(cq, cqe, at);
	struct uroce_resize_cq_resp back;

	if (err)
		return err;
	err = ur_shared_resize_cq(cq, at->entries);
	if (!err) {
		err = ur_ectx_resize_cq(cq, at);
		if (err)
			ur_shared_resize_cq(cq, (u32)before);
	}
	if (err)
		resize_device(cq, before, &back);
	return err;
}

static int resize_cq(struct uroce_cq *cq, int cqe)
{
	struct uroce_resize_cq_resp at;
	struct uroce_cq_layout layout;
	int err;

	/* The device copies the CQEs that were not polled, so nobody may poll
	 * meanwhile. */
	ur_lock_get(&cq->lock);
	err = resize_all(cq, cqe, &at);
	if (!err) {
		layout = resized_to(&at);
		err = ur_cq_move_ring(cq, UR_OF_HERE, &layout, &cq->ring);
	}
	ur_lock_put(&cq->lock);
	return err;
}

int uroce_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);

	return cqe < 1 ? EINVAL
		       : UR_ECTX_OLD(ur_ectx_old_cq(cq), resize_cq(cq, cqe));
}

int uroce_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	UR_REQ_EX(ib_uverbs_ex_modify_cq, ) req = {0};
	struct uroce_cq *cq = ur_to_cq(ibcq);
	int err = UR_ECTX_OLD(ur_ectx_old_cq(cq),
			      ibv_cmd_modify_cq(ibcq, attr, &req, sizeof(req)));

	return err ? err : ur_ectx_modify_cq(cq, attr);
}

int uroce_destroy_cq(struct ibv_cq *ibcq)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);
	int err = cmd_destroy_cq(cq);

	if (err)
		return err;
	ur_unmap(cq->ring.map, cq->ring.map_len);
	ur_cq_end_shared_ring(cq);
	free(cq);
	return 0;
}

/* A request for the next completion that is this old has had its event. Without
 * a limit the serials would wrap around to it. */
#define ARM_NEXT_AGE_MAX (1u << 30)

static void arm_ring(const struct uroce_cq_ring *ring, u32 arm)
{
	struct uroce_cq_hdr *hdr = ring->hdr;

	if ((arm & UROCE_ARM_MASK) == UROCE_ARM_NEXT)
		__atomic_store_n(&hdr->arm_next, arm, __ATOMIC_RELAXED);
	else if (arm - hdr->arm_next > ARM_NEXT_AGE_MAX)
		__atomic_store_n(&hdr->arm_next, 0, __ATOMIC_RELAXED);
	/* [A1]. An exchange would be no barrier for the caller's next poll,
	 * which is an acquire load. */
	__atomic_store_n(&hdr->arm, arm, __ATOMIC_RELEASE);
}

int uroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 how = solicited_only ? UROCE_ARM_SOLICITED : UROCE_ARM_NEXT;
	u32 arm;

	if (ur_cq_is_dead(ur_to_ctx(ibcq->context), cq))
		return EIO;
	ur_lock_get(&cq->lock);
	arm = (++cq->arm_serial << 2) | how;
	arm_ring(&cq->ring, arm);
	if (cq->shared_ring)
		arm_ring(cq->shared_ring, arm);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ur_lock_put(&cq->lock);
	if (cq->engine && ibcq->channel && ur_to_ctx(ibcq->context)->engine)
		ur_to_ctx(ibcq->context)
			->engine_ops->armed(ur_to_ctx(ibcq->context)->engine);
	return 0;
}

/* CQEs of a queue pair that is gone are marked in the ring and skipped when
 * their turn comes: moving the others would race with the device. */
static void forget_in(struct uroce_cq_ring *ring, u32 qpn)
{
	ring->last_qp = NULL;
	for (u32 i = ring->cons, n = 0; n <= ring->mask; i++, n++) {
		struct uroce_cqe *cqe = &ring->cqes[i & ring->mask];

		/* [Q2] */
		if (__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) !=
		    (((i >> ring->shift) & 1) ^ 1))
			break;
		if (cqe->qpn == qpn)
			cqe->mark = UR_CQE_DEAD;
	}
}

void ur_cq_forget_qp(struct ibv_cq *ibcq, u32 qpn)
{
	struct uroce_cq *cq;

	if (!ibcq)
		return;
	cq = ur_to_cq(ibcq);
	ur_lock_get(&cq->lock);
	forget_in(&cq->ring, qpn);
	if (cq->shared_ring)
		forget_in(cq->shared_ring, qpn);
	ur_lock_put(&cq->lock);
}

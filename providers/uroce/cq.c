// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: life, arming, resizing. Polling is in poll.c. */
#include "guest.h"
#include "uroce.h"

/* The features that ibv_create_cq_ex offers; the rest is EOPNOTSUPP. */
#define WC_FLAGS_SUPPORTED                                                     \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |                        \
	 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | \
	 IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |                   \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                                 \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

struct ring_geometry {
	u64 map_off, map_len;
	u32 hdr_off, cqe_off, entries;
};

/* Maps a ring of that geometry in place of what the CQ has. */
static int map_cq(struct ibv_context *context, struct uroce_cq *cq,
		  const struct ring_geometry *g)
{
	u8 *map;

	if (!g->entries || (g->entries & (g->entries - 1)) ||
	    g->hdr_off + sizeof(struct uroce_cq_hdr) > g->map_len ||
	    g->cqe_off + (u64)g->entries * sizeof(struct uroce_cqe) >
		    g->map_len)
		return EPROTO;
	map = ur_map(context, g->map_off, g->map_len);
	if (!map)
		return errno;
	ur_unmap(cq->map, cq->map_len);
	cq->map = map;
	cq->map_len = g->map_len;
	cq->hdr = (void *)(map + g->hdr_off);
	cq->cqes = (void *)(map + g->cqe_off);
	cq->mask = g->entries - 1;
	cq->shift = (u32)__builtin_ctz(g->entries);
	return 0;
}

/* The ring of a CQ just created, which is destroyed again if that fails. */
static int setup_cq(struct ibv_context *context, struct uroce_cq *cq,
		    struct ibv_comp_channel *channel, u32 flags,
		    struct uroce_create_cq_resp *resp)
{
	int err = ur_guest_create_cq(ur_to_ctx(context), cq, channel, flags,
				     resp);
	struct ring_geometry g = {resp->map_off, resp->map_len, resp->hdr_off,
				  resp->cqe_off, resp->entries};

	if (!err)
		err = map_cq(context, cq, &g);
	if (!err)
		return 0;
	ur_guest_destroy_cq(cq);
	ibv_cmd_destroy_cq(&cq->vcq.cq);
	return err;
}

/* Returns the flags for an engine in this process. */
static u32 guest_flags(const struct ibv_cq_init_attr_ex *attr, u32 flags)
{
	u32 ret = 0;

	if (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		ret |= UROCE_GUEST_CQ_IGNORE_OVERRUN;
	if (attr->wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		ret |= UROCE_GUEST_CQ_STAMPED;
	return ret;
}

static void *fail_cq(struct uroce_cq *cq, int err)
{
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *uroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int vector)
{
	UR_REQ(ib_uverbs_create_cq, struct uroce_create_cq_req drv) req = {0};
	UR_RESP(ib_uverbs_create_cq_resp, struct uroce_create_cq_resp drv)
	resp = {0};
	struct uroce_cq *cq;
	int err;

	if (cqe < 1) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq(context, cqe, channel, vector, &cq->vcq.cq,
				&req, sizeof(req), &resp, sizeof(resp));
	if (!err)
		err = setup_cq(context, cq, channel, 0, &resp.drv);
	if (err)
		return fail_cq(cq, err);
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

	if (err) {
		errno = err;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		cq->lock.elided = true;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    ur_pd_single_threaded(attr->parent_domain))
		cq->lock.elided = true;
	err = ur_cmd_create_cq_ex(ur_to_ctx(context)->layout, context, attr,
				  &cq->vcq, &req, sizeof(req), &resp,
				  sizeof(resp), 0);
	if (!err)
		err = setup_cq(context, cq, attr->channel,
			       guest_flags(attr, flags), &resp.drv);
	if (err)
		return fail_cq(cq, err);
	ur_cq_set_methods(cq, (u32)attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int uroce_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	UR_REQ(ib_uverbs_resize_cq, ) req = {0};
	UR_RESP(ib_uverbs_resize_cq_resp, struct uroce_resize_cq_resp drv)
	resp = {0};
	struct uroce_cq *cq = ur_to_cq(ibcq);
	int err;

	if (cqe < 1)
		return EINVAL;
	/* The device copies what we have not taken: take nothing meanwhile. */
	ur_lock_get(&cq->lock);
	err = ibv_cmd_resize_cq(ibcq, cqe, &req, sizeof(req), &resp,
				sizeof(resp));
	if (!err)
		err = ur_guest_resize_cq(cq, &resp.drv);
	if (!err) {
		struct ring_geometry g = {resp.drv.map_off, resp.drv.map_len,
					  resp.drv.hdr_off, resp.drv.cqe_off,
					  resp.drv.entries};
		u32 arm = cq->hdr->arm, next = cq->hdr->arm_next;

		err = map_cq(ibcq->context, cq, &g);
		if (!err) {
			__atomic_store_n(&cq->hdr->arm_next, next,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&cq->hdr->arm, arm, __ATOMIC_SEQ_CST);
			__atomic_store_n(&cq->hdr->cons, cq->cons,
					 __ATOMIC_RELEASE);
		}
	}
	ur_lock_put(&cq->lock);
	return err;
}

int uroce_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	UR_REQ_EX(ib_uverbs_ex_modify_cq, ) req = {0};
	int err = ibv_cmd_modify_cq(cq, attr, &req, sizeof(req));

	return err ? err : ur_guest_modify_cq(ur_to_cq(cq), attr);
}

int uroce_destroy_cq(struct ibv_cq *ibcq)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);
	/* The device counts no events of it. */
	int err = ur_guest_destroy_cq(cq);

	if (!err)
		err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	ur_unmap(cq->map, cq->map_len);
	free(cq);
	return 0;
}

/* A request for the next completion that is so old has had its event, or the
 * serials would wrap around to before it. */
#define ARM_NEXT_AGE_MAX (1u << 30)

int uroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct uroce_cq *cq = ur_to_cq(ibcq);
	u32 how = solicited_only ? UROCE_ARM_SOLICITED : UROCE_ARM_NEXT;
	u32 arm;

	if (ur_doorbell_is_dead(&ur_to_ctx(ibcq->context)->db))
		return EIO;
	ur_lock_get(&cq->lock);
	arm = (++cq->arm_serial << 2) | how;
	if (!solicited_only)
		__atomic_store_n(&cq->hdr->arm_next, arm, __ATOMIC_RELAXED);
	else if (arm - cq->hdr->arm_next > ARM_NEXT_AGE_MAX)
		__atomic_store_n(&cq->hdr->arm_next, 0, __ATOMIC_RELAXED);
	/* [A1]. An exchange is no barrier for the caller's next poll, which
	 * is an acquire load. */
	__atomic_store_n(&cq->hdr->arm, arm, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ur_lock_put(&cq->lock);
	if (cq->guest && ibcq->channel)
		ur_to_ctx(ibcq->context)
			->door->armed(ur_to_ctx(ibcq->context)->guest);
	return 0;
}

/* CQEs of a queue pair that is gone are marked in the ring and skipped when
 * their turn comes: moving the others would race with the device. */
void ur_cq_forget_qp(struct ibv_cq *ibcq, u32 qpn)
{
	struct uroce_cq *cq;

	if (!ibcq)
		return;
	cq = ur_to_cq(ibcq);
	ur_lock_get(&cq->lock);
	cq->last_qp = NULL;
	for (u32 i = cq->cons, n = 0; n <= cq->mask; i++, n++) {
		struct uroce_cqe *cqe = &cq->cqes[i & cq->mask];

		/* [Q2] */
		if (__atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE) !=
		    (((i >> cq->shift) & 1) ^ 1))
			break;
		if (cqe->qpn == qpn)
			cqe->mark = UR_CQE_DEAD;
	}
	ur_lock_put(&cq->lock);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks values that a program sends to its engine. */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/socket.h>
#include "device/apart/apart.h"
#include "engine/engine.h"
#include "engine/ground/limits.h"

#define QPN_BITS 24
#define MASK_ALL ((UR_QP_ATTR_RATE_LIMIT << 1) - 1)
#define ACCESS_ALL    \
	((1u << 10) - \
	 1) /* of enum ib_uverbs_access_flags, without optional ones */

static bool is_in_slot(u32 qpn, u32 slot)
{
	return qpn < 1u << QPN_BITS && ur_slot_of(qpn) == slot;
}

static bool sizes_are_good(const struct uroce_eqp_init *qp)
{
	return qp->max_send_wr <= UR_MAX_QP_WR &&
	       qp->max_recv_wr <= UR_MAX_QP_WR &&
	       qp->max_send_sge <= UR_MAX_SGE_COUNT &&
	       qp->max_recv_sge <= UR_MAX_SGE_COUNT &&
	       qp->max_inline <= UR_MAX_INLINE;
}

/* Refuses fields of other types: their pointers would be the program's. */
bool ur_apart_qp_is_good(const struct uroce_eqp_init *qp, u32 slot)
{
	if (qp->rss || qp->wq || qp->xrcdn)
		return false;
	if (qp->type != IB_UVERBS_QPT_RC && qp->type != IB_UVERBS_QPT_UC &&
	    qp->type != IB_UVERBS_QPT_UD && qp->type != IB_UVERBS_QPT_XRC_INI)
		return false;
	if (qp->type == IB_UVERBS_QPT_XRC_INI &&
	    (qp->srq || qp->max_recv_wr || qp->max_recv_sge))
		return false;
	return is_in_slot(qp->qpn, slot) && sizes_are_good(qp);
}

/* A queue without completion queue is empty. */
bool ur_apart_raw_is_good(const struct uroce_eqp_init *qp, u32 n_wqs, u32 slot)
{
	bool sends = qp->max_send_wr, receives = qp->max_recv_wr || qp->srq;

	if (qp->type != IB_UVERBS_QPT_RAW_PACKET || qp->wq > 1 || qp->xrcdn ||
	    (qp->wq && (n_wqs || qp->srq || sends || qp->send_cq)))
		return false;
	if (n_wqs ? n_wqs > UROCE_CALL_WQS || n_wqs & (n_wqs - 1) || receives ||
			    qp->recv_cq
		  : !qp->recv_cq)
		return false;
	if (!qp->send_cq && ((!n_wqs && !qp->wq) || sends))
		return false;
	return is_in_slot(qp->qpn, slot) && sizes_are_good(qp);
}

bool ur_apart_flow_is_good(const struct uroce_engine_flow *flow)
{
	return flow->type <= UR_FLOW_SNIFFER && flow->dont_trap <= 1 &&
	       flow->allow_loop_back <= 1 && flow->drop <= 1;
}

bool ur_apart_is_packet_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return fd >= 0 &&
	       !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) &&
	       domain == AF_PACKET && type == SOCK_RAW;
}

bool ur_apart_target_is_good(const struct uroce_eqp_init *qp, u32 slot)
{
	return qp->type == IB_UVERBS_QPT_XRC_TGT && qp->xrcdn && !qp->rss &&
	       is_in_slot(qp->qpn, slot);
}

static bool is_mtu(u32 mtu)
{
	return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 ||
	       mtu == 4096;
}

bool ur_apart_states_are_good(const struct uroce_call_modify *m)
{
	return !(m->mask & ~MASK_ALL) && m->attr.state <= UR_QP_ERR &&
	       m->attr.cur_state <= UR_QP_ERR;
}

bool ur_apart_modify_is_good(const struct uroce_call_modify *m)
{
	const struct uroce_engine_qp *a = &m->attr;

	if (!ur_apart_states_are_good(m))
		return false;
	if ((m->mask & UR_QP_ATTR_PATH_MTU) && !is_mtu(a->path_mtu))
		return false;
	return a->dest_qpn < 1u << QPN_BITS && a->rq_psn < 1u << 24 &&
	       a->sq_psn < 1u << 24 && a->timeout < 32 &&
	       a->min_rnr_timer < 32 && a->retry_cnt < 8 && a->rnr_retry < 8 &&
	       a->flow_label < 1u << 20 && a->sl < 16 &&
	       a->rate_limit <= UR_MAX_RATE_KBPS;
}

bool ur_apart_mr_is_good(const struct uroce_emr_init *mr)
{
	u32 known = UROCE_EMR_ON_DEMAND | UROCE_EMR_IMPLICIT | UROCE_EMR_NULL |
		    UROCE_EMR_PARENTS | UROCE_EMR_FILE;

	if (mr->flags & UROCE_EMR_FILE)
		known = UROCE_EMR_FILE;
	if ((mr->flags & ~known) || (mr->access & ~ACCESS_ALL))
		return false;
	if (mr->flags & (UROCE_EMR_IMPLICIT | UROCE_EMR_NULL))
		return mr->length == UINT64_MAX && !mr->addr;
	return mr->addr + mr->length >= mr->addr &&
	       mr->iova + mr->length >= mr->iova;
}

bool ur_apart_cq_is_good(const struct uroce_call_cq *cq)
{
	u32 known = UROCE_ECQ_IGNORE_OVERRUN | UROCE_ECQ_STAMPED;

	return cq->entries && cq->entries <= UR_MAX_CQE &&
	       !(cq->flags & ~known);
}

bool ur_apart_srq_is_good(const struct uroce_esrq_init *srq, bool xrc)
{
	return !xrc == !srq->xrcdn && !xrc == !srq->srqn && srq->max_wr &&
	       srq->srqn < 1u << QPN_BITS && srq->max_wr <= UR_MAX_SRQ_WR &&
	       srq->max_sge <= UR_MAX_SGE_COUNT;
}

bool ur_apart_file_is_good(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The attributes of an object, in the kernel's order. */
#include <stdlib.h>
#include "device/nldev/res.h"
#include "device/ucma/ucma.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"

#define RANGE_QPS 256 /* maximum number per SRQ, lowest numbers first */
#define SRQ_BASIC 0   /* enum ib_srq_type */
#define SRQ_XRC	  1

static void put_pid(struct ur_nl_msg *m, const struct ur_session *s)
{
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (u32)s->pid);
}

static void put_owner(struct ur_nl_msg *m, const struct ur_object *obj)
{
	put_pid(m, obj->file->session);
}

static void put_ctx(struct ur_nl_msg *m, const struct ur_object *obj)
{
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, (u32)obj->file->id);
}

static void put_pdn(struct ur_nl_msg *m, const struct ur_obj_pd *pd)
{
	if (pd)
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, pd->pdn);
}

bool ur_nl_fill_qp(const struct ur_nl_request *r, struct ur_nl_msg *m,
		   const struct ur_nl_object *o)
{
	const struct ur_obj_qp *qp = ur_obj_qp_of(o->obj);
	bool connected = qp->type == UR_QPT_RC || qp->type == UR_QPT_UC;
	struct ur_qp_attr attr;

	ur_qpc_look(qp->qpc, &attr);
	/* A queue pair has a port from INIT on. */
	if (r->port && attr.state == UR_QP_RESET)
		return false;
	if (attr.state != UR_QP_RESET)
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, o->number);
	put_pdn(m, qp->pd);
	put_owner(m, o->obj);
	if (connected) {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_RQPN, attr.dest_qpn);
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr.rq_psn);
	}
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr.sq_psn);
	if (qp->type != UR_QPT_UD)
		ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
			     attr.path_mig_state);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, (u8)qp->type);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, (u8)attr.state);
	return true;
}

bool ur_nl_fill_cq(const struct ur_nl_request *r, struct ur_nl_msg *m,
		   const struct ur_nl_object *o)
{
	const struct ur_obj_cq *cq = ur_obj_cq_of(o->obj);

	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CQE, cq->entries);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, cq->obj.users);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, o->number);
	put_ctx(m, o->obj);
	put_owner(m, o->obj);
	return true;
}

bool ur_nl_fill_mr(const struct ur_nl_request *r, struct ur_nl_msg *m,
		   const struct ur_nl_object *o)
{
	const struct ur_obj_mr *mr = ur_obj_mr_of(o->obj);

	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_RKEY, mr->key);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_LKEY, mr->key);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_RES_MRLEN, mr->range.length);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_MRN, o->number);
	put_pdn(m, mr->pd);
	put_owner(m, o->obj);
	return true;
}

bool ur_nl_fill_stat_mr(const struct ur_nl_request *r, struct ur_nl_msg *m,
			const struct ur_nl_object *o)
{
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_MRN, o->number);
	return true;
}

bool ur_nl_fill_pd(const struct ur_nl_request *r, struct ur_nl_msg *m,
		   const struct ur_nl_object *o)
{
	/* There is no such key, as in rxe's user domains. */
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, 0);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, o->obj->users);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, o->number);
	put_ctx(m, o->obj);
	put_owner(m, o->obj);
	return true;
}

bool ur_nl_fill_ctx(const struct ur_nl_request *r, struct ur_nl_msg *m,
		    const struct ur_nl_object *o)
{
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, o->number);
	put_pid(m, o->ctx->session);
	return true;
}

/* ---- shared receive queues, with the numbers of their queue pairs ---- */

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Finds at most RANGE_QPS of the queue pairs that use it. */
static u32 find_qps(const struct ur_obj_srq *srq, u32 *qpns)
{
	const struct ur_handles *h = &srq->obj.file->handles;
	u32 n = 0;

	if (!srq->obj.users)
		return 0;
	for (u32 i = 0; i < h->size && n < RANGE_QPS; i++) {
		const struct ur_obj_qp *qp = (const void *)h->slot[i];

		if (qp && qp->obj.type->id == UVERBS_OBJECT_QP && qp->qpc &&
		    qp->srq == srq && !ur_destroy_is_hinted(&qp->obj))
			qpns[n++] = qp->qpc->qpn;
	}
	qsort(qpns, n, sizeof(*qpns), by_number);
	return n;
}

static void put_range(struct ur_nl_msg *m, u32 first, u32 last)
{
	u32 nest = ur_nl_nest(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED);

	if (first == last) {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, first);
	} else {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_MIN_RANGE, first);
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	}
	ur_nl_nest_end(m, nest);
}

static void put_qps(struct ur_nl_msg *m, const struct ur_obj_srq *srq)
{
	u32 nest = ur_nl_nest(m, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED);
	u32 qpns[RANGE_QPS], n = find_qps(srq, qpns), first = 0;

	for (u32 i = 0; i < n; i++) {
		if (i + 1 < n && qpns[i + 1] == qpns[i] + 1)
			continue;
		put_range(m, qpns[first], qpns[i]);
		first = i + 1;
	}
	ur_nl_nest_end(m, nest);
}

bool ur_nl_fill_srq(const struct ur_nl_request *r, struct ur_nl_msg *m,
		    const struct ur_nl_object *o)
{
	const struct ur_obj_srq *srq = ur_obj_srq_of(o->obj);

	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_SRQN, o->number);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE,
		     srq->xrcd ? SRQ_XRC : SRQ_BASIC);
	put_pdn(m, srq->pd);
	if (srq->cq)
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, srq->cq->obj.number);
	put_qps(m, srq);
	put_owner(m, o->obj);
	return true;
}

/* ---- ids of rdma_cm ---- */

static u8 cm_state(const struct ucma_id *id)
{
	static const u8 states[] = {
		/* enum rdma_cm_state */
		[UCMA_IDLE] = 0,	   [UCMA_BOUND] = 7,
		[UCMA_ADDR_QUERY] = 1,	   [UCMA_ADDR_RESOLVED] = 2,
		[UCMA_ROUTE_RESOLVED] = 4, [UCMA_CONNECT] = 5,
		[UCMA_DISCONNECT] = 6,	   [UCMA_LISTEN] = 8,
	};

	return id->lost ? 9 : states[id->state];
}

static void put_sa(struct ur_nl_msg *m, u16 type, const union ur_sa *sa)
{
	if (sa->sa.sa_family)
		ur_nl_put(m, type, &sa->ss, sizeof(sa->ss));
}

bool ur_nl_fill_cm_id(const struct ur_nl_request *r, struct ur_nl_msg *m,
		      const struct ur_nl_object *o)
{
	const struct ucma_id *id = o->id;
	union ur_sa dst = id->dst;

	/* In the kernel dst gets its family with the source address. */
	if (!dst.sa.sa_family)
		dst.sa.sa_family = id->src.sa.sa_family;
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (id->qp_num) {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, id->qp_num);
		ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, id->qp_type);
	}
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_PS, id->ps);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, cm_state(id));
	put_sa(m, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &id->src);
	put_sa(m, RDMA_NLDEV_ATTR_RES_DST_ADDR, &dst);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_RES_CM_IDN, o->number);
	put_pid(m, id->file->session);
	return true;
}

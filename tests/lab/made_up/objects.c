// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The made-up libibverbs: what has the same layout in all releases. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lab/made_up/made_up.h"

#undef ibv_reg_mr

static uint32_t keys = 0x100;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	return pd;
}

/* handle counts its users. */
int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (pd->handle)
		return EBUSY;
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct made_mr *mr = calloc(1, sizeof(*mr));

	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE)) {
		free(mr);
		errno = EINVAL;
		return NULL;
	}
	mr->ib.context = pd->context;
	mr->ib.pd = pd;
	mr->ib.addr = addr;
	mr->ib.length = length;
	mr->ib.lkey = keys += 0x100;
	mr->ib.rkey = mr->ib.lkey + 1;
	mr->access = (unsigned int)access;
	mr->next = made_mrs;
	made_mrs = mr;
	pd->handle++;
	return &mr->ib;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *ibmr)
{
	struct made_mr **at = &made_mrs;

	while (*at != (struct made_mr *)ibmr)
		at = &(*at)->next;
	*at = (*at)->next;
	ibmr->pd->handle--;
	free(ibmr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct made_channel *channel = calloc(1, sizeof(*channel));
	int fds[2];

	if (pipe(fds))
		return NULL;
	channel->ib.context = context;
	channel->ib.fd = fds[0];
	channel->tell = fds[1];
	return &channel->ib;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	if (channel->refcnt)
		return EBUSY;
	close(channel->fd);
	close(((struct made_channel *)channel)->tell);
	free(channel);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **cq_context)
{
	if (read(channel->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*cq_context = (*cq)->cq_context;
	made_cq_of(*cq)->got++;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	made_cq_of(cq)->got -= n;
}

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	struct made_event told;

	if (read(context->async_fd, &told, sizeof(told)) != sizeof(told))
		return -1;
	event->event_type = told.type;
	event->element.srq = told.element;
	made_srq_of(told.element)->got++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	made_srq_of(event->element.srq)->got--;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct made_srq *srq = calloc(1, sizeof(*srq));

	srq->ib.context = pd->context;
	srq->ib.pd = pd;
	pd->handle++;
	return &srq->ib;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	made_srq_of(srq)->limit = attr->srq_limit;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	while (__atomic_load_n(&made_srq_of(srq)->got, __ATOMIC_RELAXED))
		usleep(1000);
	srq->pd->handle--;
	free(made_srq_of(srq));
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	ah->context = pd->context;
	ah->pd = pd;
	pd->handle++;
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	ah->pd->handle--;
	free(ah);
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
		  union ibv_gid *gid)
{
	static const union ibv_gid first = {
		.raw = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}};

	*gid = first;
	return index ? ENODATA : 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	memset(entry, 0, size);
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	return ibv_query_gid(context, (uint8_t)port, (int)index, &entry->gid);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_attr *kept = &made_qp_of(qp)->attr;

	if (mask & IBV_QP_STATE && attr->qp_state > IBV_QPS_INIT &&
	    attr->qp_state <= IBV_QPS_RTS && qp->state + 1 != attr->qp_state)
		return EINVAL;
	if (mask & IBV_QP_AV && attr->ah_attr.grh.sgid_index)
		return EINVAL;
	if (mask & IBV_QP_DEST_QPN)
		kept->dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_RNR_RETRY)
		kept->rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_ACCESS_FLAGS)
		kept->qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		kept->qkey = attr->qkey;
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	memset(init, 0, sizeof(*init));
	init->cap = made_qp_of(qp)->cap;
	attr->qp_state = qp->state;
	return 0;
}

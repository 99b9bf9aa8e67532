// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The made-up provider: posting, which does what is posted. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/lab/made_up/made_up.h"

struct ibv_qp *made_qps;
struct made_mr *made_mrs;

void made_tell(int fd, const void *event, size_t size)
{
	if (write(fd, event, size) != (ssize_t)size)
		_exit(3);
}

static struct made_mr *find_mr(uint32_t key, bool remote, uint64_t addr,
			       uint64_t length)
{
	struct made_mr *mr = made_mrs;

	while (mr && (remote ? mr->ib.rkey : mr->ib.lkey) != key)
		mr = mr->next;
	return mr && addr >= (uintptr_t)mr->ib.addr &&
			       addr + length <=
				       (uintptr_t)mr->ib.addr + mr->ib.length
		       ? mr
		       : NULL;
}

static struct ibv_qp *find_qp(uint32_t number)
{
	struct ibv_qp *qp = made_qps;

	while (qp && qp->qp_num != number)
		qp = made_qp_of(qp)->next;
	return qp;
}

static void complete(struct ibv_cq *ibcq, const struct made_done *done)
{
	struct made_cq *cq = made_cq_of(ibcq);

	cq->done[(cq->head + cq->used++) % 1024] = *done;
	if (!cq->armed || !ibcq->channel)
		return;
	cq->armed = false;
	made_tell(((struct made_channel *)ibcq->channel)->tell, &ibcq,
		  sizeof(ibcq));
}

static void fail(struct ibv_qp *qp)
{
	if (qp->qp_type != IBV_QPT_UD)
		qp->state = IBV_QPS_ERR;
}

static enum ibv_wc_opcode opcode_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_SEND;
	}
}

static void sent(struct ibv_qp *qp, const struct made_work *work,
		 enum ibv_wc_status status)
{
	struct made_done done = {.wc = {.wr_id = work->wr_id,
					.status = status,
					.opcode = opcode_of(work->opcode),
					.qp_num = qp->qp_num},
				 .qp = qp,
				 .seq = work->seq};

	if (status != IBV_WC_SUCCESS)
		fail(qp);
	if (work->signaled || status != IBV_WC_SUCCESS)
		complete(qp->send_cq, &done);
}

static void received(struct ibv_qp *qp, const struct made_work *work,
		     enum ibv_wc_status status, uint32_t length)
{
	struct made_done done = {.wc = {.wr_id = work->wr_id,
					.status = status,
					.opcode = IBV_WC_RECV,
					.byte_len = length,
					.qp_num = qp->qp_num}};

	if (status != IBV_WC_SUCCESS)
		fail(qp);
	complete(qp->recv_cq, &done);
}

static uint32_t length_of(const struct made_work *work)
{
	uint32_t length = work->length;

	for (int i = 0; i < work->sges && !work->is_inline; i++)
		length += work->sge[i].length;
	return length;
}

/* Copies between a request's elements, from byte skip on, and bytes. */
static void copy(struct made_work *work, uint32_t skip, char *bytes, uint32_t n,
		 bool to_elements)
{
	if (work->is_inline) {
		memcpy(bytes, work->inlined, n);
		return;
	}
	for (int i = 0; i < work->sges && n; i++) {
		struct ibv_sge *sge = &work->sge[i];
		uint32_t part = sge->length > skip ? sge->length - skip : 0;
		char *at = (char *)(uintptr_t)sge->addr + skip;

		part = part < n ? part : n;
		skip = skip > sge->length ? skip - sge->length : 0;
		if (to_elements)
			memcpy(at, bytes, part);
		else
			memcpy(bytes, at, part);
		bytes += part;
		n -= part;
	}
}

static char bytes[1 << 20];

static struct made_work *take(struct made_ring *ring)
{
	struct made_work *work = &ring->work[ring->head];

	if (!ring->used)
		return NULL;
	ring->head = (ring->head + 1) % MADE_WRS;
	ring->used--;
	return work;
}

static struct made_work *take_receive(struct ibv_qp *qp)
{
	struct made_srq *srq = qp->srq ? made_srq_of(qp->srq) : NULL;
	struct made_work *work = take(srq ? &srq->recv : &made_qp_of(qp)->recv);
	struct made_event event = {IBV_EVENT_SRQ_LIMIT_REACHED, qp->srq};

	if (work && srq && srq->recv.used < srq->limit) {
		srq->limit = 0;
		made_tell(qp->context->num_comp_vectors, &event, sizeof(event));
	}
	return work;
}

/* Returns false where the message has to wait for a receive. */
static bool send_message(struct ibv_qp *qp, struct made_work *work)
{
	bool ud = qp->qp_type == IBV_QPT_UD;
	const struct ibv_qp_attr *attr = &made_qp_of(qp)->attr;
	struct ibv_qp *peer =
		find_qp(ud ? work->remote_qpn : attr->dest_qp_num);
	uint32_t length = length_of(work), grh = ud ? 40 : 0;
	struct made_work *recv;

	if (ud && (!peer || made_qp_of(peer)->attr.qkey != work->qkey)) {
		sent(qp, work, IBV_WC_SUCCESS);
		return true;
	}
	recv = peer ? take_receive(peer) : NULL;
	if (!recv && !ud && attr->rnr_retry == 7)
		return false;
	if (!recv) {
		sent(qp, work, ud ? IBV_WC_SUCCESS : IBV_WC_RNR_RETRY_EXC_ERR);
	} else if (length_of(recv) < length + grh) {
		received(peer, recv, IBV_WC_LOC_LEN_ERR, 0);
		sent(qp, work, ud ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR);
	} else {
		copy(work, 0, bytes, length, false);
		copy(recv, grh, bytes, length, true);
		received(peer, recv, IBV_WC_SUCCESS, length + grh);
		sent(qp, work, IBV_WC_SUCCESS);
	}
	return true;
}

static void remote(struct ibv_qp *qp, struct made_work *work)
{
	uint32_t length = length_of(work);
	char *there = (char *)(uintptr_t)work->remote_addr;
	struct ibv_qp *peer = find_qp(made_qp_of(qp)->attr.dest_qp_num);
	bool atomic = work->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t before;

	if (peer && !made_qp_of(peer)->attr.qp_access_flags) {
		sent(qp, work, IBV_WC_REM_INV_REQ_ERR);
		return;
	}
	if (!find_mr(work->rkey, true, work->remote_addr, length)) {
		sent(qp, work, IBV_WC_REM_ACCESS_ERR);
		return;
	}
	if (atomic && work->remote_addr % 8) {
		sent(qp, work, IBV_WC_REM_INV_REQ_ERR);
		return;
	}
	if (work->opcode == IBV_WR_RDMA_WRITE) {
		copy(work, 0, there, length, false);
	} else {
		memcpy(bytes, there, length);
		copy(work, 0, bytes, length, true);
	}
	if (atomic) {
		memcpy(&before, there, 8);
		before += work->add;
		memcpy(there, &before, 8);
	}
	sent(qp, work, IBV_WC_SUCCESS);
}

static void add(struct made_ring *ring, const struct made_work *work)
{
	ring->work[(ring->head + ring->used++) % MADE_WRS] = *work;
}

static void work_on(struct ibv_qp *qp, struct made_work *work)
{
	struct made_qp *made = made_qp_of(qp);

	work->seq = ++made->posted;
	if (qp->state == IBV_QPS_ERR)
		sent(qp, work, IBV_WC_WR_FLUSH_ERR);
	else if (work->opcode != IBV_WR_SEND)
		remote(qp, work);
	else if (made->waiting.used || !send_message(qp, work))
		add(&made->waiting, work);
}

int made_post(struct ibv_qp *qp, struct made_work *work, uint32_t sges)
{
	struct made_qp *made = made_qp_of(qp);

	if (qp->state < IBV_QPS_RTS || sges > made->cap.max_send_sge ||
	    (work->is_inline && work->length > made->cap.max_inline_data))
		return EINVAL;
	if (made->posted - made->polled >= made->cap.max_send_wr)
		return ENOMEM;
	work_on(qp, work);
	return 0;
}

void made_fill_elements(struct made_work *work, const struct ibv_sge *sge,
			int sges)
{
	work->sges = sges < MADE_SGES ? sges : MADE_SGES;
	for (int i = 0; i < work->sges; i++)
		work->sge[i] = sge[i];
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		struct made_work work = {
			.wr_id = wr->wr_id,
			.opcode = wr->opcode,
			.signaled = made_qp_of(qp)->sq_sig_all ||
				    wr->send_flags & IBV_SEND_SIGNALED};

		*bad = wr;
		made_fill_elements(&work, wr->sg_list, wr->num_sge);
		if (wr->send_flags & IBV_SEND_INLINE) {
			uint32_t n = length_of(&work);

			copy(&work, 0, (char *)work.inlined, n < 256 ? n : 256,
			     false);
			work.length = n;
			work.is_inline = true;
		}
		if (qp->qp_type == IBV_QPT_UD) {
			if (!wr->wr.ud.ah || length_of(&work) > 4096)
				return EINVAL;
			work.remote_qpn = wr->wr.ud.remote_qpn;
			work.qkey = wr->wr.ud.remote_qkey;
		} else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			work.remote_addr = wr->wr.atomic.remote_addr;
			work.rkey = wr->wr.atomic.rkey;
			work.add = wr->wr.atomic.compare_add;
		} else {
			work.remote_addr = wr->wr.rdma.remote_addr;
			work.rkey = wr->wr.rdma.rkey;
		}
		err = made_post(qp, &work, (uint32_t)wr->num_sge);
	}
	return err;
}

/* Sends of peers that waited for one. */
static void wake(struct ibv_qp *qp)
{
	struct ibv_qp *peer = made_qps;

	for (; peer; peer = made_qp_of(peer)->next) {
		struct made_ring *waiting = &made_qp_of(peer)->waiting;

		if (made_qp_of(peer)->attr.dest_qp_num != qp->qp_num ||
		    !waiting->used)
			continue;
		if (send_message(peer, &waiting->work[waiting->head]))
			take(waiting);
	}
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	struct made_qp *made = made_qp_of(qp);

	for (; wr; wr = wr->next) {
		struct made_work work = {.wr_id = wr->wr_id, .receive = true};

		*bad = wr;
		if (made->recv.used >= made->cap.max_recv_wr)
			return ENOMEM;
		made_fill_elements(&work, wr->sg_list, wr->num_sge);
		add(&made->recv, &work);
		wake(qp);
	}
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct made_work work = {.wr_id = wr->wr_id, .receive = true};

		*bad = wr;
		made_fill_elements(&work, wr->sg_list, wr->num_sge);
		add(&made_srq_of(srq)->recv, &work);
	}
	return 0;
}

void made_fill_context(struct ibv_context *context)
{
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.post_srq_recv = post_srq_recv;
	context->ops.poll_cq = made_poll_cq;
	context->ops.req_notify_cq = made_req_notify_cq;
}

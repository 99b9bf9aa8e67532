// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks requests before they are posted: elements, regions, state, and what a
 * datagram needs. */
#include <sys/uio.h>
#include <unistd.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/report.h"
#include "check/vendor.h"
#include "util/verbs_words.h"

/* Only some pieces of longer elements are summed, the first and the last bytes
 * included: a full sum would take as long as sending. */
#define SUM_MAX	   65536
#define SUM_PIECES 16
#define SUM_PIECE  (SUM_MAX / SUM_PIECES)

void ur_request_sges(struct ur_request *request, const struct ibv_sge *sge,
		     int sges)
{
	request->sges = sges;
	request->length = 0;
	for (int i = 0; i < sges; i++) {
		if (i < UR_REQUEST_SGES)
			request->sge[i] = sge[i];
		request->length += sge[i].length;
	}
}

static void judge_region(const struct ur_watched *queue, const void *pd,
			 const struct ibv_sge *sge, bool device_writes)
{
	const struct ur_watched_mr *mr =
		ur_watched_number(UR_KIND_MR, queue->context, sge->lkey);
	unsigned long long addr = sge->addr;

	if (!mr) {
		mr = ur_dead_mr(queue->context, sge->lkey);
		/* Vendors' functions may have created another region with that
		 * key. */
		if (mr && !ur_vendor_linked())
			ur_report(
				UR_CHECK_LKEY, &mr->o,
				"element at 0x%llx of %u bytes: the region of "
				"its lkey 0x%x was deregistered",
				addr, sge->length, sge->lkey);
		return;
	}
	if (mr->length == SIZE_MAX)
		return;
	if (sge->addr < mr->iova || sge->length > mr->length ||
	    sge->addr - mr->iova > mr->length - sge->length)
		ur_report(UR_CHECK_LKEY, &mr->o,
			  "element at 0x%llx of %u bytes: the region of its "
			  "lkey 0x%x is 0x%llx to 0x%llx",
			  addr, sge->length, sge->lkey,
			  (unsigned long long)mr->iova,
			  (unsigned long long)(mr->iova + mr->length - 1));
	else if (device_writes && !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		ur_report(UR_CHECK_LKEY, &mr->o,
			  "element at 0x%llx of %u bytes: the device is to "
			  "write there, and the region has no "
			  "IBV_ACCESS_LOCAL_WRITE",
			  addr, sge->length);
	else if (pd && mr->o.needs[0] && mr->o.needs[0] != pd)
		ur_report(UR_CHECK_LKEY, &mr->o,
			  "element at 0x%llx of %u bytes: its region is of "
			  "another protection domain",
			  addr, sge->length);
}

void ur_request_regions(const struct ur_watched *queue, const void *pd,
			const struct ur_request *request, bool device_writes)
{
	for (int i = 0; i < request->sges && i < UR_REQUEST_SGES; i++)
		if (request->sge[i].length)
			judge_region(queue, pd, &request->sge[i],
				     device_writes);
}

/* FNV-1a over 64-bit words and the rest. */
static uint32_t sum_of(uint32_t sum, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

bool ur_mr_others_write(const struct ur_watched_mr *mr)
{
	return mr->access & (IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
}

static bool sum_piece(uint32_t *sum, uint64_t addr, size_t n)
{
	static unsigned char bytes[SUM_MAX];
	struct iovec to = {bytes, n};
	struct iovec from = {(void *)(uintptr_t)addr, n};

	/* Unmapped memory is an error here, not a fault. */
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n)
		return false;
	*sum = sum_of(*sum, bytes, n);
	return true;
}

static bool sum_element(uint32_t *sum, const struct ibv_sge *sge)
{
	uint64_t step = (sge->length - SUM_PIECE) / (SUM_PIECES - 1);

	if (sge->length <= SUM_MAX)
		return sum_piece(sum, sge->addr, sge->length);
	for (int i = 0; i < SUM_PIECES - 1; i++)
		if (!sum_piece(sum, sge->addr + i * step, SUM_PIECE))
			return false;
	return sum_piece(sum, sge->addr + sge->length - SUM_PIECE, SUM_PIECE);
}

bool ur_request_sum(const struct ur_watched *queue,
		    const struct ur_request *request, uint32_t *sum)
{
	uint32_t s = 2166136261u;

	if (!request->length || request->sges > UR_REQUEST_SGES)
		return false;
	for (int i = 0; i < request->sges; i++) {
		const struct ibv_sge *sge = &request->sge[i];
		const struct ur_watched_mr *mr = ur_watched_number(
			UR_KIND_MR, queue->context, sge->lkey);

		if (!mr || !mr->readable || ur_mr_others_write(mr) ||
		    !sum_element(&s, sge))
			return false;
	}
	*sum = s;
	return true;
}

/* Returns whether two requests share bytes. */
static bool overlap(const struct ur_request *a, const struct ur_request *b)
{
	for (int i = 0; i < a->sges && i < UR_REQUEST_SGES; i++)
		for (int k = 0; k < b->sges && k < UR_REQUEST_SGES; k++)
			if (a->sge[i].addr <
				    b->sge[k].addr + b->sge[k].length &&
			    b->sge[k].addr < a->sge[i].addr + a->sge[i].length)
				return true;
	return false;
}

/* Returns whether the device also writes to one of the request's buffers. */
static bool also_received(struct ur_watched_qp *qp,
			  const struct ur_request *request)
{
	struct ur_queue *recv = qp->srq ? &qp->srq->recv : &qp->recv;

	for (uint32_t i = 0; i < recv->used; i++)
		if (overlap(ur_queue_at(recv, i), request))
			return true;
	return false;
}

/* Returns a request of @qp that is still to fetch some of these bytes, or
 * NULL. */
static const struct ur_request *not_there(struct ur_watched_qp *qp,
					  const struct ur_request *request)
{
	const struct ur_request *r;

	for (uint32_t i = 0;
	     qp->send.fetches && (r = ur_queue_at(&qp->send, i)); i++)
		if (!r->done && ur_request_fetches(r) && overlap(r, request))
			return r;
	return NULL;
}

/* Reports bytes of the request that a queue pair is still to fetch; a fence
 * covers only its own queue pair's. Returns whether there are any. */
static bool judge_early(const struct ur_watched_qp *qp,
			const struct ur_request *request)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_QP);
	const struct ur_request *r = NULL;
	struct ur_stack_frame posted;

	while (o && (o->context != qp->o.context ||
		     !(r = not_there((struct ur_watched_qp *)o, request))))
		o = o->older;
	if (!o)
		return false;
	if (o == &qp->o && request->fenced)
		return true;
	ur_place_frame(&r->place, &posted);
	ur_report(UR_CHECK_TARGET_EARLY, o,
		  "request wr_id 0x%llx sends bytes that wr_id 0x%llx, posted "
		  "at %s (%s:%d), is to fetch and whose completion was not "
		  "polled%s",
		  (unsigned long long)request->wr_id,
		  (unsigned long long)r->wr_id, posted.function,
		  posted.file[0] ? posted.file : posted.module, posted.line,
		  o == &qp->o ? ", without a fence"
			      : "; of another queue pair");
	return true;
}

/* Drops the sums of requests with these bytes, which the device may change
 * before those requests complete. */
static void forget_sums(struct ur_watched_qp *qp,
			const struct ur_request *request)
{
	struct ur_request *r;

	for (uint32_t i = 0; (r = ur_queue_at(&qp->send, i)); i++)
		if (r->has_sum && overlap(r, request))
			r->has_sum = false;
}

static bool reads_memory(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void judge_datagram(struct ur_watched_qp *qp,
			   const struct ur_request *request, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	const struct ur_watched_qp *to;

	if (!ah)
		ur_report(UR_CHECK_UD_AH, &qp->o,
			  "request wr_id 0x%llx has no wr.ud.ah",
			  (unsigned long long)request->wr_id);
	if (request->length > 4096)
		ur_report(UR_CHECK_UD_LONG, &qp->o,
			  "request wr_id 0x%llx has %u bytes; no MTU is above "
			  "4096",
			  (unsigned long long)request->wr_id, request->length);
	/* The receiver may be in this process; but its number may also be of
	 * another device. */
	to = ur_watched_number(UR_KIND_QP, qp->o.context, remote_qpn);
	if (to && to->type == IBV_QPT_UD && !(remote_qkey >> 31) &&
	    to->attr_mask & IBV_QP_QKEY && to->attr.qkey != remote_qkey)
		ur_report(UR_CHECK_UD_QKEY, &to->o,
			  "request wr_id 0x%llx to queue pair 0x%06x has Q_Key "
			  "0x%x; the receiver's is 0x%x",
			  (unsigned long long)request->wr_id, remote_qpn,
			  remote_qkey, to->attr.qkey);
}

void ur_request_judge_built(struct ur_watched_qp *qp,
			    struct ur_request *request)
{
	unsigned long long wr_id = request->wr_id;

	if (request->inlined && request->length > qp->cap.max_inline_data)
		ur_report(UR_CHECK_INLINE_LONG, &qp->o,
			  "request wr_id 0x%llx has %u bytes inline; the queue "
			  "pair takes %u",
			  wr_id, request->length, qp->cap.max_inline_data);
	if ((uint32_t)request->sges > qp->cap.max_send_sge && !request->inlined)
		ur_report(
			UR_CHECK_SGE_MANY, &qp->o,
			"request wr_id 0x%llx has %d elements; the queue pair "
			"takes %u",
			wr_id, request->sges, qp->cap.max_send_sge);
	if (qp->state < IBV_QPS_RTS && !qp->o.inherited)
		ur_report(UR_CHECK_SQ_STATE, &qp->o,
			  "request wr_id 0x%llx was posted in state %s", wr_id,
			  ur_qp_state_name(qp->state));
	if ((request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	     request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) &&
	    request->remote_addr % 8)
		ur_report(UR_CHECK_ATOMIC_ALIGN, &qp->o,
			  "request wr_id 0x%llx is for address 0x%llx", wr_id,
			  (unsigned long long)request->remote_addr);
	if (request->inlined)
		return;
	ur_request_regions(&qp->o, qp->o.needs[0], request,
			   ur_request_fetches(request));
	if (ur_request_fetches(request))
		forget_sums(qp, request);
	if (reads_memory(request->opcode) && !judge_early(qp, request) &&
	    !also_received(qp, request))
		request->has_sum =
			ur_request_sum(&qp->o, request, &request->sum);
}

void ur_request_judge(struct ur_watched_qp *qp, struct ur_request *request,
		      const struct ibv_sge *sge, int sges, struct ibv_ah *ah,
		      uint32_t remote_qpn, uint32_t remote_qkey)
{
	ur_request_sges(request, sge, sges);
	if (qp->type == IBV_QPT_UD)
		judge_datagram(qp, request, ah, remote_qpn, remote_qkey);
	ur_request_judge_built(qp, request);
}

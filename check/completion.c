// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks a request when the program gets its completion. */

#include "check/front.h"
#include "check/queue.h"
#include "check/report.h"
#include "check/touch.h"

static void less(struct ur_watched_cq *cq)
{
	if (cq->expected)
		cq->expected--;
}

/* Ends the request. A failed completion does not tell a receive from a send. */
static bool end_request(struct ur_watched_cq *cq, struct ur_watched_qp *qp,
			const struct ibv_wc *wc, bool opcode_known,
			struct ur_request *request)
{
	struct ur_queue *recv = qp->srq ? &qp->srq->recv : &qp->recv;
	bool may_send = qp->send_cq == cq, may_recv = qp->recv_cq == cq;
	bool succeeded = wc->status == IBV_WC_SUCCESS;
	struct ur_request *first;

	if (opcode_known && succeeded) {
		if (wc->opcode & IBV_WC_RECV)
			may_send = false;
		else
			may_recv = false;
	}
	/* If both fit, it is the receive if that is the next one, and the send
	 * is not. */
	first = ur_queue_oldest(&qp->send);
	if (may_send && may_recv && !(first && first->wr_id == wc->wr_id) &&
	    ur_queue_complete(recv, wc->wr_id, succeeded, request))
		return true;
	if (may_send &&
	    ur_queue_complete(&qp->send, wc->wr_id, succeeded, request))
		return true;
	return may_recv &&
	       ur_queue_complete(recv, wc->wr_id, succeeded, request);
}

/* Finds the queue pair if wc.qp_num is missing or misleads: an extended CQ need
 * not report it, and with XRC it names a queue pair that only receives. Picks
 * the queue pair of this CQ that has a matching request. */
static struct ur_watched_qp *guess(struct ur_watched_cq *cq,
				   const struct ibv_wc *wc, bool opcode_known,
				   struct ur_request *request)
{
	struct ur_watched *o = ur_watched_newest(UR_KIND_QP);

	while (o && !end_request(cq, (struct ur_watched_qp *)o, wc,
				 opcode_known, request))
		o = o->older;
	return (struct ur_watched_qp *)o;
}

static void changed(const struct ur_watched_qp *qp,
		    const struct ur_request *request)
{
	struct ur_stack place;
	uint32_t sum;

	if (!request->has_sum || !ur_request_sum(&qp->o, request, &sum) ||
	    sum == request->sum)
		return;
	ur_stack_of(&place, &request->place);
	ur_report_at(UR_CHECK_SEND_CHANGED, &qp->o, &place,
		     "request wr_id 0x%llx of %u bytes at 0x%llx, posted here, "
		     "has other bytes at its completion than at its posting",
		     (unsigned long long)request->wr_id, request->length,
		     (unsigned long long)request->sge[0].addr);
}

/* Returns the peer's queue pair, if it is in this process. */
static struct ur_watched_qp *peer_of(const struct ur_watched_qp *qp)
{
	return ur_watched_number(UR_KIND_QP, NULL, qp->attr.dest_qp_num);
}

static bool is_send(const struct ur_request *request)
{
	return !request->receive && (request->opcode == IBV_WR_SEND ||
				     request->opcode == IBV_WR_SEND_WITH_IMM ||
				     request->opcode == IBV_WR_SEND_WITH_INV);
}

/* Reports a receive that was too short: if the failed request is that receive,
 * or its message, and the other is the peer's next. Not all drivers say which
 * of their statuses means that. */
static void judge_lengths(const struct ur_watched_qp *qp,
			  const struct ur_request *request)
{
	struct ur_watched_qp *peer = peer_of(qp);
	const struct ur_request *other, *receive;
	struct ur_stack place;

	if (!peer)
		return;
	other = ur_queue_oldest(request->receive ? &peer->send
				: peer->srq	 ? &peer->srq->recv
						 : &peer->recv);
	if (!other || !is_send(request->receive ? other : request))
		return;
	receive = request->receive ? request : other;
	if (receive->length >= (request->receive ? other : request)->length)
		return;
	ur_stack_of(&place, &receive->place);
	ur_report_at(
		UR_CHECK_RECV_SHORT, &(request->receive ? qp : peer)->o, &place,
		"receive wr_id 0x%llx, posted here, has room for %u bytes, "
		"and the message has %u",
		(unsigned long long)receive->wr_id, receive->length,
		(request->receive ? other : request)->length);
}

static void failed(const struct ur_watched_qp *qp,
		   const struct ur_request *request, enum ibv_wc_status status)
{
	const struct ur_watched_qp *peer;
	char text[700];
	struct ur_stack place;

	ur_stack_of(&place, &request->place);
	switch (status) {
	case IBV_WC_RNR_RETRY_EXC_ERR:
		ur_report_at(UR_CHECK_RNR, &qp->o, &place,
			     "request wr_id 0x%llx, posted here, found no "
			     "receive of queue pair 0x%06x (tries: %d, "
			     "rnr_retry %d)",
			     (unsigned long long)request->wr_id,
			     qp->attr.dest_qp_num, qp->attr.rnr_retry + 1,
			     qp->attr.rnr_retry);
		break;
	case IBV_WC_LOC_LEN_ERR:
		ur_report_at(
			UR_CHECK_RECV_SHORT, &qp->o, &place,
			"%s wr_id 0x%llx, posted here, has room for %u "
			"bytes%s",
			request->receive ? "receive" : "request",
			(unsigned long long)request->wr_id, request->length,
			qp->type == IBV_QPT_UD ? ", 40 of them the GRH's" : "");
		break;
	case IBV_WC_LOC_PROT_ERR:
		ur_access_local(qp, request, text, sizeof(text));
		ur_report_at(UR_CHECK_LKEY, &qp->o, &place,
			     "%s wr_id 0x%llx, posted here: %s",
			     request->receive ? "receive" : "request",
			     (unsigned long long)request->wr_id, text);
		break;
	case IBV_WC_REM_ACCESS_ERR:
		ur_access_remote(qp, request, text, sizeof(text));
		ur_report_at(
			UR_CHECK_REMOTE_ACCESS, &qp->o, &place,
			"request wr_id 0x%llx, posted here, of %u bytes at "
			"0x%llx with rkey 0x%x: %s",
			(unsigned long long)request->wr_id, request->length,
			(unsigned long long)request->remote_addr, request->rkey,
			text);
		break;
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_REM_OP_ERR:
		judge_lengths(qp, request);
		break;
	case IBV_WC_REM_INV_REQ_ERR:
		/* For a peer in another process, a device of ours has the
		 * explanation. */
		judge_lengths(qp, request);
		peer = peer_of(qp);
		if (peer && qp->attr_mask & IBV_QP_MAX_QP_RD_ATOMIC &&
		    qp->attr.max_rd_atomic > peer->attr.max_dest_rd_atomic &&
		    (request->opcode == IBV_WR_RDMA_READ ||
		     request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		     request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD))
			ur_report_at(UR_CHECK_RD_ATOMIC, &qp->o, &place,
				     "the peer refused request wr_id 0x%llx, "
				     "posted here; max_rd_atomic is %u here, "
				     "and max_dest_rd_atomic %u there",
				     (unsigned long long)request->wr_id,
				     qp->attr.max_rd_atomic,
				     peer->attr.max_dest_rd_atomic);
		break;
	default:
		break;
	}
}

/* Notes a received message; of an extended queue byte_len may not have been
 * read yet. */
static void received(struct ur_watched_cq *cq, struct ur_watched_qp *qp,
		     const struct ur_request *request, const struct ibv_wc *wc)
{
	if (wc->byte_len) {
		qp->not_empty = true;
	} else if (qp->not_empty && request->length && cq->ex &&
		   !(wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))) {
		cq->empty_unread = true;
		cq->empty_qpn = wc->qp_num;
	}
	ur_touch_rest(qp, request, wc->byte_len);
}

bool ur_completion_failed(const struct ibv_wc *wc)
{
	return wc->status != IBV_WC_SUCCESS &&
	       wc->status != IBV_WC_WR_FLUSH_ERR;
}

void ur_completed(struct ur_watched_cq *cq, const struct ibv_wc *wc,
		  bool opcode_known, bool length_known)
{
	struct ur_request request;
	struct ur_watched_qp *qp =
		ur_watched_number(UR_KIND_QP, cq->o.context, wc->qp_num);

	if (!qp) {
		qp = guess(cq, wc, opcode_known, &request);
		if (!qp)
			return;
	} else if (!end_request(cq, qp, wc, opcode_known, &request)) {
		return;
	}
	if (request.signaled && !(request.receive && qp->srq))
		less(cq);
	if (ur_request_fetches(&request))
		ur_touch_target_done(qp, &request);
	if (!request.receive && wc->status == IBV_WC_SUCCESS)
		changed(qp, &request);
	if (request.receive && wc->status == IBV_WC_SUCCESS && length_known &&
	    wc->opcode == IBV_WC_RECV)
		received(cq, qp, &request, wc);
	if (ur_completion_failed(wc))
		failed(qp, &request, wc->status);
	if (wc->status != IBV_WC_SUCCESS && qp->type != IBV_QPT_UD)
		qp->state = IBV_QPS_ERR;
}

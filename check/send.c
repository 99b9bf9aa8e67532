// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_post_send(), ibv_post_recv(), ibv_post_srq_recv(). */
#include <errno.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/report.h"
#include "check/touch.h"

int ur_outstanding_any;

/* Reports why there was no room: nothing signaled, nothing polled, or too much
 * posted. */
static void judge_full(struct ur_watched_qp *qp, bool unpolled,
		       const struct ur_code_place *place)
{
	struct ur_stack at;

	ur_stack_of(&at, place);
	if (!qp->send.signaled && qp->send.count)
		ur_report_at(
			UR_CHECK_SQ_UNSIGNALED, &qp->o, &at,
			"%u requests are outstanding in a queue of %u, and "
			"no completion will come for any of them",
			qp->send.count, qp->cap.max_send_wr);
	else if (unpolled)
		ur_report_at(
			UR_CHECK_SQ_NOT_POLLED, &qp->o, &at,
			"%u requests are outstanding in a queue of %u, and "
			"its completion queue holds completions",
			qp->send.count, qp->cap.max_send_wr);
	else
		ur_report_at(UR_CHECK_SQ_TOO_DEEP, &qp->o, &at,
			     "%u requests are outstanding in a queue of %u, %u "
			     "of them signaled, and none has completed",
			     qp->send.count, qp->cap.max_send_wr,
			     qp->send.signaled);
}

void ur_request_enter(struct ur_watched_qp *qp,
		      const struct ur_request *request)
{
	if (qp->unseen)
		return;
	__atomic_store_n(&ur_outstanding_any, 1, __ATOMIC_RELAXED);
	if (!ur_queue_add(&qp->send, request))
		return;
	if (request->signaled && ur_request_fetches(request))
		ur_touch_target(qp, request);
	if (!qp->send.signaled && qp->send.count > qp->cap.max_send_wr &&
	    qp->state == IBV_QPS_RTS)
		judge_full(qp, false, &request->place);
	if (!request->signaled || !qp->send_cq)
		return;
	qp->send_cq->expected++;
	ur_cq_judge_room(qp->send_cq);
}

void ur_cq_judge_room(struct ur_watched_cq *cq)
{
	if (cq->expected > (uint32_t)cq->cqe)
		ur_report(UR_CHECK_CQ_ROOM, &cq->o,
			  "%u completions can come of what is posted and not "
			  "polled; it has room for %d",
			  cq->expected, cq->cqe);
}

void ur_cq_expect_less(struct ur_watched_cq *cq, uint32_t n)
{
	if (cq)
		cq->expected -= n < cq->expected ? n : cq->expected;
}

void ur_request_refused(struct ur_watched_qp *qp, uint32_t n)
{
	uint32_t before = qp->send.signaled;

	ur_queue_refused(&qp->send, n);
	ur_touch_forget(qp);
	ur_cq_expect_less(qp->send_cq, before - qp->send.signaled);
}

static uint32_t enter_sends(struct ur_watched_qp *qp,
			    const struct ibv_send_wr *wr,
			    const struct ur_code_place *place)
{
	uint32_t n = 0;

	for (; wr; wr = wr->next, n++) {
		struct ur_request request = {
			.wr_id = wr->wr_id,
			.place = *place,
			.opcode = wr->opcode,
			.signaled = qp->sq_sig_all ||
				    wr->send_flags & IBV_SEND_SIGNALED,
			.inlined = wr->send_flags & IBV_SEND_INLINE,
			.fenced = wr->send_flags & IBV_SEND_FENCE,
		};

		if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			request.remote_addr = wr->wr.atomic.remote_addr;
			request.rkey = wr->wr.atomic.rkey;
		} else if (qp->type != IBV_QPT_UD) {
			request.remote_addr = wr->wr.rdma.remote_addr;
			request.rkey = wr->wr.rdma.rkey;
		}
		ur_request_judge(
			qp, &request, wr->sg_list, wr->num_sge,
			qp->type == IBV_QPT_UD ? wr->wr.ud.ah : NULL,
			qp->type == IBV_QPT_UD ? wr->wr.ud.remote_qpn : 0,
			qp->type == IBV_QPT_UD ? wr->wr.ud.remote_qkey : 0);
		ur_request_enter(qp, &request);
	}
	return n;
}

/* Evaluates to how many requests of a list were refused, from @bad on; all if the
 * provider did not set @bad. */
#define REFUSED(bad, all)                                           \
	({                                                          \
		uint32_t n_ = 0;                                    \
                                                                    \
		for (__auto_type wr_ = (bad); wr_; wr_ = wr_->next) \
			n_++;                                       \
		n_ &&n_ < (all) ? n_ : (all);                       \
	})

void ur_send_full(struct ibv_qp *ibqp, int err,
		  const struct ur_code_place *place)
{
	bool unpolled = false;
	struct ur_watched_qp *qp;
	struct ur_watched_cq *cq = NULL;

	if (err != ENOMEM)
		return;
	ur_table_lock();
	qp = ur_watched(UR_KIND_QP, ibqp);
	/* ENOMEM may have another reason, reported before. */
	if (qp && qp->send.count >= qp->cap.max_send_wr)
		cq = qp->send_cq;
	ur_table_unlock();
	if (!cq)
		return;
	unpolled = ur_cq_peek(cq, ibqp->send_cq);
	ur_table_lock();
	judge_full(qp, unpolled, place);
	ur_table_unlock();
}

void ur_send_over(struct ibv_qp *ibqp, const struct ur_code_place *place)
{
	struct ur_watched_qp *qp;
	bool over;

	ur_table_lock();
	qp = ur_watched(UR_KIND_QP, ibqp);
	over = qp && qp->state == IBV_QPS_RTS && qp->send.signaled &&
	       qp->send.count > qp->cap.max_send_wr;
	ur_table_unlock();
	if (over)
		ur_send_full(ibqp, ENOMEM, place);
}

int ur_front_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad)
{
	const struct ur_watched_context *real;
	struct ur_code_place place;
	struct ur_watched_qp *qp;
	uint32_t n = 0;
	int err;

	ur_place_take(&place);
	ur_table_lock();
	real = ur_watched(UR_KIND_CONTEXT, ibqp->context);
	qp = ur_watched(UR_KIND_QP, ibqp);
	if (qp)
		n = enter_sends(qp, wr, &place);
	ur_table_unlock();
	err = real->ops.post_send(ibqp, wr, bad);
	if (!qp)
		return err;
	if (!err) {
		ur_send_over(ibqp, &place);
		return 0;
	}
	ur_table_lock();
	ur_request_refused(qp, REFUSED(*bad, n));
	ur_table_unlock();
	ur_send_full(ibqp, err, &place);
	return err;
}

static uint32_t enter_receives(const struct ur_watched *owner,
			       struct ur_queue *queue, struct ur_watched_cq *cq,
			       uint32_t max_sge, bool datagrams, bool unseen,
			       const struct ibv_recv_wr *wr,
			       const struct ur_code_place *place)
{
	const void *pd = owner->needs[0];
	uint32_t n = 0;

	__atomic_store_n(&ur_outstanding_any, 1, __ATOMIC_RELAXED);
	for (; wr; wr = wr->next, n++) {
		struct ur_request request = {
			.wr_id = wr->wr_id,
			.place = *place,
			.receive = true,
			.signaled = true,
		};

		ur_request_sges(&request, wr->sg_list, wr->num_sge);
		if ((uint32_t)wr->num_sge > max_sge)
			ur_report(UR_CHECK_SGE_MANY, owner,
				  "receive wr_id 0x%llx has %d elements; the "
				  "queue takes %u",
				  (unsigned long long)wr->wr_id, wr->num_sge,
				  max_sge);
		if (datagrams && request.length < 40)
			ur_report(UR_CHECK_GRH_ROOM, owner,
				  "receive wr_id 0x%llx has room for %u bytes",
				  (unsigned long long)wr->wr_id,
				  request.length);
		ur_request_regions(owner, pd, &request, true);
		if (!unseen && ur_queue_add(queue, &request) && cq) {
			cq->expected++;
			ur_cq_judge_room(cq);
		}
	}
	return n;
}

/* Takes back the last @n receives: the provider refused them with @err. */
static void receives_refused(const struct ur_watched *owner,
			     struct ur_queue *queue, struct ur_watched_cq *cq,
			     uint32_t n, int err, uint32_t max_wr)
{
	uint32_t before = queue->signaled;

	ur_table_lock();
	ur_queue_refused(queue, n);
	ur_cq_expect_less(cq, before - queue->signaled);
	if (err == ENOMEM && queue->count >= max_wr)
		ur_report(UR_CHECK_SQ_TOO_DEEP, owner,
			  "%u receives are outstanding in a queue of %u",
			  queue->count, max_wr);
	ur_table_unlock();
}

int ur_front_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	const struct ur_watched_context *real;
	struct ur_code_place place;
	struct ur_watched_qp *qp;
	uint32_t n = 0;
	int err;

	ur_place_take(&place);
	ur_table_lock();
	real = ur_watched(UR_KIND_CONTEXT, ibqp->context);
	qp = ur_watched(UR_KIND_QP, ibqp);
	if (qp) {
		if (qp->state == IBV_QPS_RESET && !qp->o.inherited)
			ur_report(UR_CHECK_SQ_STATE, &qp->o,
				  "receive wr_id 0x%llx was posted in state "
				  "RESET",
				  (unsigned long long)wr->wr_id);
		n = enter_receives(&qp->o, &qp->recv, qp->recv_cq,
				   qp->cap.max_recv_sge, qp->type == IBV_QPT_UD,
				   qp->unseen, wr, &place);
	}
	ur_table_unlock();
	err = real->ops.post_recv(ibqp, wr, bad);
	if (err && qp)
		receives_refused(&qp->o, &qp->recv, qp->recv_cq,
				 REFUSED(*bad, n), err, qp->cap.max_recv_wr);
	return err;
}

int ur_front_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad)
{
	const struct ur_watched_context *real;
	struct ur_code_place place;
	struct ur_watched_srq *srq;
	uint32_t n = 0;
	int err;

	ur_place_take(&place);
	ur_table_lock();
	real = ur_watched(UR_KIND_CONTEXT, ibsrq->context);
	srq = ur_watched(UR_KIND_SRQ, ibsrq);
	if (srq)
		n = enter_receives(&srq->o, &srq->recv, NULL, srq->max_sge,
				   false, srq->unseen, wr, &place);
	ur_table_unlock();
	err = real->ops.post_srq_recv(ibsrq, wr, bad);
	if (err && srq)
		receives_refused(&srq->o, &srq->recv, NULL, REFUSED(*bad, n),
				 err, srq->max_wr);
	return err;
}

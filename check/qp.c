// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: creation and destruction. */

#include "check/front.h"
#include "check/queue.h"
#include "check/real.h"
#include "check/report.h"
#include "check/touch.h"

static struct ur_watched_qp *made(struct ibv_qp *ibqp,
				  const struct ibv_qp_cap *cap, bool sq_sig_all,
				  const struct ur_stack *here)
{
	struct ur_watched_qp *qp;

	/* A queue pair of an unwatched context is posted to unseen. */
	if (!ur_watched(UR_KIND_CONTEXT, ibqp->context))
		return NULL;
	qp = ur_watch(UR_KIND_QP, sizeof(*qp), ibqp, ibqp->context,
		      ibqp->qp_num, here);
	if (!qp)
		return NULL;
	qp->type = ibqp->qp_type;
	qp->state = IBV_QPS_RESET;
	qp->cap = *cap;
	qp->sq_sig_all = sq_sig_all;
	qp->of_cm = ur_inside_cm;
	qp->send_cq = ur_watched(UR_KIND_CQ, ibqp->send_cq);
	qp->recv_cq = ur_watched(UR_KIND_CQ, ibqp->recv_cq);
	qp->srq = ur_watched(UR_KIND_SRQ, ibqp->srq);
	ur_watch_needs(&qp->o, ur_watched(UR_KIND_PD, ibqp->pd));
	ur_watch_needs(&qp->o, qp->send_cq ? &qp->send_cq->o : NULL);
	ur_watch_needs(&qp->o, qp->recv_cq ? &qp->recv_cq->o : NULL);
	ur_watch_needs(&qp->o, qp->srq ? &qp->srq->o : NULL);
	/* An unwatched queue's completions are polled unseen. */
	if ((ibqp->send_cq && (!qp->send_cq || qp->send_cq->unseen)) ||
	    (ibqp->recv_cq && (!qp->recv_cq || qp->recv_cq->unseen)) ||
	    (ibqp->srq && (!qp->srq || qp->srq->unseen)))
		ur_qp_unseen(qp);
	return qp;
}

void ur_qp_unseen(struct ur_watched_qp *qp)
{
	if (!qp || qp->unseen)
		return;
	qp->unseen = true;
	ur_qp_clear(qp);
	ur_srq_unseen(qp->srq);
}

UR_FRONT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd,
				      struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = ur_real(UR_VERBS, ibv_create_qp)(pd, attr);
	struct ur_stack here;

	if (!qp)
		return NULL;
	ur_stack_take(&here);
	ur_table_lock();
	made(qp, &attr->cap, attr->sq_sig_all, &here);
	ur_table_unlock();
	return qp;
}

struct ibv_qp *ur_front_create_qp_ex(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *ibqp =
		ur_front_real(context)->verbs.create_qp_ex(context, attr);
	struct ur_stack here;
	struct ur_watched_qp *qp;

	if (!ibqp)
		return NULL;
	ur_stack_take(&here);
	ur_table_lock();
	qp = made(ibqp, &attr->cap, attr->sq_sig_all, &here);
	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp->ex = ur_real(UR_VERBS, ibv_qp_to_qp_ex)(ibqp);
		if (qp->ex)
			ur_wr_front(qp);
	}
	ur_table_unlock();
	return ibqp;
}

void ur_qp_clear(struct ur_watched_qp *qp)
{
	ur_cq_expect_less(qp->send_cq, qp->send.signaled);
	ur_cq_expect_less(qp->recv_cq, qp->recv.signaled);
	ur_touch_forget(qp);
	ur_queue_clear(&qp->send);
	ur_queue_clear(&qp->recv);
}

void ur_qp_judge_end(struct ur_watched_qp *qp, const char *verb)
{
	struct ur_request *request = NULL;
	struct ur_stack_frame frame;

	if (!qp->send.signaled || qp->state != IBV_QPS_RTS || qp->o.inherited)
		return;
	for (uint32_t i = 0; (request = ur_queue_at(&qp->send, i)); i++)
		if (!request->done && request->signaled)
			break;
	if (!request)
		return;
	ur_place_frame(&request->place, &frame);
	ur_report(UR_CHECK_QP_OUTSTANDING, &qp->o,
		  "it is %s with %u signaled sends outstanding; the oldest is "
		  "wr_id 0x%llx, posted at %s (%s:%d)",
		  verb, qp->send.signaled, (unsigned long long)request->wr_id,
		  frame.function, frame.file[0] ? frame.file : frame.module,
		  frame.line);
}

UR_FRONT int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct ur_watched_qp *qp;
	int err;

	ur_table_lock();
	qp = ur_watched(UR_KIND_QP, ibqp);
	if (qp) {
		ur_qp_judge_end(qp, "destroyed");
		ur_judge_unacked(&qp->o);
		if (qp->of_cm && !ur_inside_cm)
			ur_report(UR_CHECK_CM_QP_FOREIGN, &qp->o,
				  "rdma_create_qp() made it");
		ur_watch_out(&qp->o);
	}
	ur_table_unlock();
	err = ur_real(UR_VERBS, ibv_destroy_qp)(ibqp);
	if (qp && !err) {
		ur_table_lock();
		ur_qp_clear(qp);
		ur_table_unlock();
	}
	ur_watch_ended(qp ? &qp->o : NULL, err);
	return err;
}

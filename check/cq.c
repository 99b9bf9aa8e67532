// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: creation, destruction, polling, arming. */
#include <errno.h>

#include "check/front.h"
#include "check/real.h"
#include "check/report.h"
#include "check/touch.h"
#include "check/why.h"

struct ur_watched_cq *ur_cq_watch(struct ibv_cq *ibcq,
				  const struct ur_stack *made)
{
	struct ur_watched_cq *cq;

	/* A queue of an unwatched context is polled unseen. */
	if (!ur_watched(UR_KIND_CONTEXT, ibcq->context))
		return NULL;
	cq = ur_watch(UR_KIND_CQ, sizeof(*cq), ibcq, ibcq->context,
		      ibcq->handle, made);
	if (!cq)
		return NULL;
	pthread_mutex_init(&cq->poll, NULL);
	cq->cqe = ibcq->cqe;
	cq->channel = ibcq->channel;
	ur_watch_needs(&cq->o, ur_watched(UR_KIND_CONTEXT, ibcq->context));
	ur_watch_needs(&cq->o, ur_watched(UR_KIND_CHANNEL, ibcq->channel));
	return cq;
}

UR_FRONT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
				      void *cq_context,
				      struct ibv_comp_channel *channel,
				      int comp_vector)
{
	struct ibv_cq *cq = ur_real(UR_VERBS, ibv_create_cq)(
		context, cqe, cq_context, channel, comp_vector);
	struct ur_stack here;

	if (!cq)
		return NULL;
	ur_stack_take(&here);
	ur_table_lock();
	ur_cq_watch(cq, &here);
	ur_table_unlock();
	return cq;
}

struct ibv_cq_ex *ur_front_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *ex =
		ur_front_real(context)->verbs.create_cq_ex(context, attr);
	struct ur_stack here;
	struct ur_watched_cq *cq;

	if (!ex)
		return NULL;
	ur_stack_take(&here);
	ur_table_lock();
	cq = ur_cq_watch(ibv_cq_ex_to_cq(ex), &here);
	if (cq) {
		cq->ex = ex;
		ur_cq_ex_front(cq);
	}
	ur_table_unlock();
	return ex;
}

UR_FRONT int ibv_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	int err = ur_real(UR_VERBS, ibv_resize_cq)(ibcq, cqe);
	struct ur_watched_cq *cq;

	if (err)
		return err;
	ur_table_lock();
	cq = ur_watched(UR_KIND_CQ, ibcq);
	if (cq)
		cq->cqe = ibcq->cqe;
	ur_table_unlock();
	return 0;
}

void ur_cq_unseen(struct ur_watched_cq *cq)
{
	struct ur_watched *o = cq ? ur_watched_newest(UR_KIND_QP) : NULL;

	if (cq)
		cq->unseen = true;
	for (; o; o = o->older) {
		struct ur_watched_qp *qp = (struct ur_watched_qp *)o;

		if (qp->send_cq == cq || qp->recv_cq == cq)
			ur_qp_unseen(qp);
	}
}

static void judge_end(const struct ur_watched_cq *cq)
{
	if (cq->events_unacked)
		ur_report(UR_CHECK_CQ_UNACKED, &cq->o,
			  "%u events of it were got by ibv_get_cq_event() and "
			  "not acknowledged",
			  cq->events_unacked);
	ur_judge_unacked(&cq->o);
}

UR_FRONT int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct ur_watched_cq *cq;
	int err;

	ur_table_lock();
	cq = ur_watched(UR_KIND_CQ, ibcq);
	if (cq) {
		if (!cq->o.users)
			judge_end(cq);
		ur_watch_out(&cq->o);
	}
	ur_table_unlock();
	err = ur_real(UR_VERBS, ibv_destroy_cq)(ibcq);
	ur_watch_ended(cq ? &cq->o : NULL, err);
	return err;
}

bool ur_cq_peek(struct ur_watched_cq *cq, struct ibv_cq *ibcq)
{
	const struct ur_watched_context *real = ur_front_real(ibcq->context);
	bool found;

	if (cq->ex || cq->unseen)
		return false;
	pthread_mutex_lock(&cq->poll);
	if (!cq->has_kept)
		cq->has_kept = real->ops.poll_cq(ibcq, 1, &cq->kept) == 1;
	found = cq->has_kept;
	pthread_mutex_unlock(&cq->poll);
	return found;
}

/* Gives fields that a failed completion does not have conspicuous values. */
static void poison(struct ibv_wc *wc)
{
	wc->opcode = (enum ibv_wc_opcode)0x5eed0bad;
	wc->byte_len = 0xdeadbeef;
	wc->imm_data = 0xdeadbeef;
	wc->src_qp = 0xdeadbeef;
	wc->wc_flags = 0xdeadbeef;
	wc->slid = 0xdead;
	wc->sl = 0xde;
	wc->dlid_path_bits = 0xde;
}

int ur_front_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc)
{
	const struct ur_watched_context *real;
	int n = 0, more = 0;
	bool failed = false;
	struct ur_watched_cq *cq;

	ur_touch_polls();
	ur_table_lock();
	real = ur_watched(UR_KIND_CONTEXT, ibcq->context);
	cq = ur_watched(UR_KIND_CQ, ibcq);
	ur_table_unlock();
	if (!cq)
		return real->ops.poll_cq(ibcq, entries, wc);
	pthread_mutex_lock(&cq->poll);
	if (cq->has_kept && entries > 0) {
		wc[n++] = cq->kept;
		cq->has_kept = false;
	}
	if (n < entries || entries <= 0)
		more = real->ops.poll_cq(ibcq, entries - n, wc + n);
	pthread_mutex_unlock(&cq->poll);
	if (more < 0 && !n)
		return more;
	if (more > 0)
		n += more;
	ur_table_lock();
	if (n < entries)
		cq->polled_since = true;
	for (int i = 0; i < n; i++) {
		ur_completed(cq, &wc[i], true, true);
		cq->empty_unread = false;
		failed |= ur_completion_failed(&wc[i]);
		if (wc[i].status != IBV_WC_SUCCESS)
			poison(&wc[i]);
	}
	ur_table_unlock();
	for (int i = 0; failed && i < n; i++)
		if (ur_completion_failed(&wc[i]))
			ur_check_why(ibcq->context, wc[i].qp_num);
	return n;
}

int ur_front_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	const struct ur_watched_context *real;
	struct ur_watched_cq *cq;

	ur_table_lock();
	real = ur_watched(UR_KIND_CONTEXT, ibcq->context);
	cq = ur_watched(UR_KIND_CQ, ibcq);
	if (cq) {
		cq->armed = true;
		cq->armed_solicited = solicited_only;
		cq->polled_since = false;
		ur_stack_take(&cq->arm_place);
	}
	ur_table_unlock();
	return real->ops.req_notify_cq(ibcq, solicited_only);
}

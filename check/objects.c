// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains, address handles, memory windows, shared receive queues:
 * creation and destruction. */
#include <errno.h>

#include "check/front.h"
#include "check/queue.h"
#include "check/real.h"
#include "check/report.h"

UR_FRONT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = ur_real(UR_VERBS, ibv_alloc_pd)(context);

	if (pd)
		ur_watch_made(UR_KIND_PD, sizeof(struct ur_watched), pd,
			      context, UR_KIND_CONTEXT, context);
	return pd;
}

struct ibv_pd *
ur_front_alloc_parent_domain(struct ibv_context *context,
			     struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd = ur_front_real(context)->verbs.alloc_parent_domain(
		context, attr);

	if (pd)
		ur_watch_made(UR_KIND_PD, sizeof(struct ur_watched), pd,
			      context, UR_KIND_PD, attr->pd);
	return pd;
}

UR_FRONT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct ur_watched *object = ur_watch_ending(UR_KIND_PD, pd);
	int err = ur_real(UR_VERBS, ibv_dealloc_pd)(pd);

	ur_watch_ended(object, err);
	return err;
}

UR_FRONT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd,
				      struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = ur_real(UR_VERBS, ibv_create_ah)(pd, attr);

	if (ah)
		ur_watch_made(UR_KIND_AH, sizeof(struct ur_watched), ah,
			      pd->context, UR_KIND_PD, pd);
	return ah;
}

UR_FRONT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd,
					      struct ibv_wc *wc,
					      struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah *ah =
		ur_real(UR_VERBS, ibv_create_ah_from_wc)(pd, wc, grh, port);
	bool known;

	if (!ah)
		return NULL;
	/* The library may have called our ibv_create_ah() itself. */
	ur_table_lock();
	known = ur_watched(UR_KIND_AH, ah);
	ur_table_unlock();
	if (!known)
		ur_watch_made(UR_KIND_AH, sizeof(struct ur_watched), ah,
			      pd->context, UR_KIND_PD, pd);
	return ah;
}

UR_FRONT int ibv_destroy_ah(struct ibv_ah *ah)
{
	struct ur_watched *object = ur_watch_ending(UR_KIND_AH, ah);
	int err = ur_real(UR_VERBS, ibv_destroy_ah)(ah);

	ur_watch_ended(object, err);
	return err;
}

struct ibv_mw *ur_front_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ur_front_real(pd->context)->ops.alloc_mw(pd, type);

	if (mw)
		ur_watch_made(UR_KIND_MW, sizeof(struct ur_watched), mw,
			      pd->context, UR_KIND_PD, pd);
	return mw;
}

int ur_front_dealloc_mw(struct ibv_mw *mw)
{
	const struct ur_watched_context *real = ur_front_real(mw->context);
	struct ur_watched *object = ur_watch_ending(UR_KIND_MW, mw);
	int err = real->ops.dealloc_mw(mw);

	ur_watch_ended(object, err);
	return err;
}

static void srq_made(struct ibv_srq *ibsrq, const struct ibv_srq_attr *attr)
{
	struct ur_watched_srq *srq =
		ur_watch_made(UR_KIND_SRQ, sizeof(*srq), ibsrq, ibsrq->context,
			      UR_KIND_PD, ibsrq->pd);

	if (!srq)
		return;
	srq->max_wr = attr->max_wr;
	srq->max_sge = attr->max_sge;
}

void ur_srq_unseen(struct ur_watched_srq *srq)
{
	if (!srq || srq->unseen)
		return;
	srq->unseen = true;
	ur_queue_clear(&srq->recv);
}

UR_FRONT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
					struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = ur_real(UR_VERBS, ibv_create_srq)(pd, attr);

	if (srq)
		srq_made(srq, &attr->attr);
	return srq;
}

struct ibv_srq *ur_front_create_srq_ex(struct ibv_context *context,
				       struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq =
		ur_front_real(context)->verbs.create_srq_ex(context, attr);

	if (srq)
		srq_made(srq, &attr->attr);
	return srq;
}

UR_FRONT int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct ur_watched *object = ur_watch_ending(UR_KIND_SRQ, srq);
	int err;

	ur_table_lock();
	ur_judge_unacked(object);
	ur_table_unlock();
	err = ur_real(UR_VERBS, ibv_destroy_srq)(srq);
	ur_watch_ended(object, err);
	return err;
}

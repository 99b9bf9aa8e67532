// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes objects of an earlier uroced again in the next one, when a command uses or changes them;
 * the engine of this process has had them all the time. The kernel's ordinary commands make them,
 * with all their checks.
 */
#include <fcntl.h>
#include <string.h>

#include "ectx.h"

static pthread_mutex_t renewals = PTHREAD_MUTEX_INITIALIZER;

int ur_ectx_renew_once(struct ibv_context *context, u32 *made,
		       pthread_mutex_t *lock, int (*make)(void *object),
		       void *object)
{
	u32 recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					 __ATOMIC_ACQUIRE);
	int err = 0;

	if (__atomic_load_n(made, __ATOMIC_ACQUIRE) == recoveries)
		return 0;
	pthread_mutex_lock(lock);
	if (*made != recoveries)
		err = make(object);
	if (!err)
		__atomic_store_n(made, recoveries, __ATOMIC_RELEASE);
	pthread_mutex_unlock(lock);
	return err;
}

static int make_pd(void *object)
{
	UR_REQ(ib_uverbs_alloc_pd, ) req = {0};
	UR_RESP(ib_uverbs_alloc_pd_resp, struct uroce_alloc_pd_resp drv)
	resp = {0};
	struct ibv_pd *pd = object;

	return ibv_cmd_alloc_pd(pd->context, pd, &req, sizeof(req), &resp,
				sizeof(resp));
}

int ur_ectx_renew_pd(struct ibv_pd *ibpd)
{
	struct uroce_pd *pd = ur_to_pd(ibpd);
	int err;

	if (pd->contained) {
		err = ur_ectx_renew_pd(&pd->contained->ibv);
		ibpd->handle = pd->contained->ibv.handle;
		return err;
	}
	return ur_ectx_renew_once(ibpd->context, &pd->recoveries, &renewals,
				  make_pd, ibpd);
}

static int make_cq(void *object)
{
	UR_REQ(ib_uverbs_create_cq, struct uroce_create_cq_req drv) req = {0};
	UR_RESP(ib_uverbs_create_cq_resp, struct uroce_create_cq_resp drv)
	resp = {0};
	struct ibv_cq *cq = object;
	int entries = cq->cqe;
	int err = ibv_cmd_create_cq(cq->context, entries, NULL, 0, cq, &req,
				    sizeof(req), &resp, sizeof(resp));

	cq->cqe = entries;
	if (!err)
		ur_to_cq(cq)->handle = cq->handle;
	return err;
}

int ur_ectx_renew_cq(struct ibv_cq *cq)
{
	if (!ur_ectx_owns(ur_to_ctx(cq->context), ur_to_cq(cq)->engine))
		return EINVAL;
	return ur_ectx_renew_once(cq->context, &ur_to_cq(cq)->recoveries,
				  &renewals, make_cq, cq);
}

static int make_xrcd(void *object)
{
	UR_REQ(ib_uverbs_open_xrcd, ) req = {0};
	UR_RESP(ib_uverbs_open_xrcd_resp, struct uroce_open_xrcd_resp drv)
	resp = {0};
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = ((struct uroce_xrcd *)object)->file,
		.oflags = O_CREAT,
	};
	struct uroce_xrcd *xrcd = object;

	return ibv_cmd_open_xrcd(xrcd->vxrcd.xrcd.context, &xrcd->vxrcd,
				 sizeof(xrcd->vxrcd), &init, &req, sizeof(req),
				 &resp, sizeof(resp));
}

int ur_ectx_renew_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct uroce_xrcd *xrcd = ur_to_xrcd(ibxrcd);

	return ur_ectx_renew_once(ibxrcd->context, &xrcd->recoveries, &renewals,
				  make_xrcd, xrcd);
}

static int create_basic(struct ibv_srq *ibsrq, struct uroce_srq *made,
			const struct ibv_srq_attr *attr)
{
	UR_REQ(ib_uverbs_create_srq, ) req = {0};
	UR_RESP(ib_uverbs_create_srq_resp, struct uroce_create_srq_resp drv)
	resp = {0};
	struct ibv_srq_init_attr init = {.attr = *attr};

	return ibv_cmd_create_srq(ur_to_srq(ibsrq)->pd, &made->vsrq.srq, &init,
				  &req, sizeof(req), &resp, sizeof(resp));
}

/* uroced gives the renewed SRQ another number: packets carry the engine's. */
static int create_xrc(struct ibv_srq *ibsrq, struct uroce_srq *made,
		      const struct ibv_srq_attr *attr)
{
	UR_REQ(ib_uverbs_create_xsrq, ) req = {0};
	UR_RESP(ib_uverbs_create_srq_resp, struct uroce_create_srq_resp drv)
	resp = {0};
	const struct verbs_srq *vsrq = &ur_to_srq(ibsrq)->vsrq;
	struct ibv_srq_init_attr_ex init = {
		.attr = *attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = ur_to_srq(ibsrq)->pd,
		.xrcd = &vsrq->xrcd->xrcd,
		.cq = vsrq->cq,
	};

	return ibv_cmd_create_srq_ex(ibsrq->context, &made->vsrq, &init, &req,
				     sizeof(req), &resp, sizeof(resp));
}

static bool is_xrc(const struct uroce_srq *srq)
{
	return srq->vsrq.srq_type == IBV_SRQT_XRC;
}

/* Without a limit: only the engine has it. */
static int make_srq(void *object)
{
	struct ibv_srq *ibsrq = object;
	struct uroce_srq *srq = ur_to_srq(ibsrq), *made;
	const struct ibv_srq_attr attr = {.max_wr = srq->rq.max_wqes,
					  .max_sge = srq->rq.max_sge};
	int err;

	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	err = is_xrc(srq) ? create_xrc(ibsrq, made, &attr)
			  : create_basic(ibsrq, made, &attr);
	if (!err)
		ibsrq->handle = srq->handle = made->vsrq.srq.handle;
	free(made);
	return err;
}

int ur_ectx_renew_srq(struct ibv_srq *ibsrq)
{
	struct uroce_context *ctx = ur_to_ctx(ibsrq->context);
	struct uroce_srq *srq = ur_to_srq(ibsrq);
	int err;

	if (!ur_ectx_owns(ctx, srq->engine))
		return EINVAL;
	/* Its parts are renewed only if the SRQ itself must be. */
	if (!srq->engine ||
	    __atomic_load_n(&srq->recoveries, __ATOMIC_ACQUIRE) ==
		    __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE))
		return 0;
	err = ur_ectx_renew_pd(srq->pd);
	if (!err && is_xrc(srq))
		err = ur_ectx_renew_cq(srq->vsrq.cq);
	if (!err && is_xrc(srq))
		err = ur_ectx_renew_xrcd(&srq->vsrq.xrcd->xrcd);
	return err ? err
		   : ur_ectx_renew_once(ibsrq->context, &srq->recoveries,
					&renewals, make_srq, ibsrq);
}

int ur_ectx_renew_parts(struct ibv_pd *pd, struct ibv_cq *send_cq,
			struct ibv_cq *recv_cq, struct ibv_srq *srq)
{
	int err = ur_ectx_renew_pd(pd);

	if (!err && send_cq)
		err = ur_ectx_renew_cq(send_cq);
	if (!err && recv_cq)
		err = ur_ectx_renew_cq(recv_cq);
	if (!err && srq)
		err = ur_ectx_renew_srq(srq);
	return err;
}

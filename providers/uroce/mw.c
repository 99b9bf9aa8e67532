// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows; binding type 1 is a send that the library offers as a
 * verb. */
#include "ectx.h"
#include "uroce.h"

static int try_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct uroce_mw *mw)
{
	UR_REQ(ib_uverbs_alloc_mw, ) req = {0};
	UR_RESP(ib_uverbs_alloc_mw_resp, ) resp = {0};
	int err =
		UR_ECTX_TRY(pd->context, pd,
			    ibv_cmd_alloc_mw(pd, type, &mw->ibv, &req,
					     sizeof(req), &resp, sizeof(resp)));

	if (err)
		return err;
	/* The library sets these only afterwards. */
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	err = ur_ectx_alloc_mw(ur_to_ctx(pd->context), mw);
	if (err)
		ibv_cmd_dealloc_mw(&mw->ibv);
	return err;
}

struct ibv_mw *uroce_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct uroce_mw *mw = calloc(1, sizeof(*mw));
	int err;

	if (!mw)
		return NULL;
	err = UR_ECTX_NUMBERED(try_mw(pd, type, mw));
	if (!err) {
		mw->pd = ur_pd_get(pd);
		return &mw->ibv;
	}
	return ur_fail(mw, err);
}

int uroce_dealloc_mw(struct ibv_mw *ibmw)
{
	struct uroce_mw *mw = ur_to_mw(ibmw);
	int err;

	if (mw->engine && ibmw->handle != mw->handle)
		return ur_unknown_handle();
	/* Another window may get the key as soon as the device has freed it. */
	ur_ectx_dealloc_mw(mw);
	err = ur_ectx_forgive(ur_to_ctx(ibmw->context),
			      ibv_cmd_dealloc_mw(ibmw));
	if (err)
		return err;
	ur_pd_put(mw->pd);
	free(mw);
	return 0;
}

int uroce_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
	};
	struct ibv_send_wr *bad;

	if (!bind->bind_info.mr &&
	    (bind->bind_info.addr || bind->bind_info.length))
		return EINVAL;
	if (mw->pd != qp->pd)
		return EPERM;
	if (bind->bind_info.mr && bind->bind_info.mr->pd != mw->pd)
		return EPERM;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	return uroce_post_send(qp, &wr, &bad);
}

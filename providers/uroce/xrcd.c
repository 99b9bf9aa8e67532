// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC domains. */
#include <unistd.h>

#include "ectx.h"
#include "uroce.h"
#include "util/os/high_fd.h"

/* Other processes may open the domain of a file. */
static int share(struct uroce_context *ctx,
		 const struct ibv_xrcd_init_attr *attr)
{
	if (ctx->imported || !(attr->comp_mask & IBV_XRCD_INIT_ATTR_FD) ||
	    attr->fd == -1)
		return 0;
	return ur_shared_open(ctx);
}

struct ibv_xrcd *uroce_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr)
{
	UR_REQ(ib_uverbs_open_xrcd, ) req = {0};
	UR_RESP(ib_uverbs_open_xrcd_resp, struct uroce_open_xrcd_resp drv)
	resp = {0};
	struct uroce_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	int err;

	if (!xrcd)
		return NULL;
	ur_ectx_makes_here(ur_to_ctx(context));
	err = share(ur_to_ctx(context), attr);
	if (!err)
		err = UR_ECTX_TRY(context, NULL,
				  ibv_cmd_open_xrcd(context, &xrcd->vxrcd,
						    sizeof(xrcd->vxrcd), attr,
						    &req, sizeof(req), &resp,
						    sizeof(resp)));
	if (err)
		return ur_fail(xrcd, err);
	ur_ectx_begin(ur_to_ctx(context));
	xrcd->file = -1;
	xrcd->recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					   __ATOMIC_ACQUIRE);
	xrcd->shared = (resp.drv.flags & UROCE_XRCD_F_SHARED) &&
		       !ur_to_ctx(context)->imported;
	if (resp.drv.flags & UROCE_XRCD_F_SHARED) {
		xrcd->number = resp.drv.number;
		xrcd->file = ur_high_fd_copy(attr->fd);
	} else if (resp.drv.number)
		xrcd->number =
			ur_ectx_domain(resp.drv.number, xrcd->recoveries);
	return &xrcd->vxrcd.xrcd;
}

int uroce_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct uroce_xrcd *xrcd = ur_to_xrcd(ibxrcd);
	int err = ibv_cmd_close_xrcd(&xrcd->vxrcd);

	/* The domain of a file ends with its uroced. */
	if (err && xrcd->number)
		err = ur_ectx_forgive_unused(
			ur_to_ctx(ibxrcd->context), err,
			__atomic_load_n(&xrcd->objects, __ATOMIC_RELAXED));
	if (err)
		return err;
	if (xrcd->file >= 0)
		close(xrcd->file);
	free(xrcd);
	return 0;
}

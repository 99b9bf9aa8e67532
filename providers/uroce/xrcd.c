// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC domains. */
#include "uroce.h"

struct ibv_xrcd *uroce_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr)
{
	UR_REQ(ib_uverbs_open_xrcd, ) req = {0};
	UR_RESP(ib_uverbs_open_xrcd_resp, ) resp = {0};
	struct verbs_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	int err;

	if (!xrcd)
		return NULL;
	err = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &req,
				sizeof(req), &resp, sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}
	return &xrcd->xrcd;
}

int uroce_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd =
		ur_container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command that makes a context. */
#include "uroce.h"

int ur_context_get(struct uroce_context *ctx,
		   const struct uroce_alloc_ucontext_req *asked,
		   struct uroce_alloc_ucontext_resp *got)
{
	UR_REQ(ib_uverbs_get_context, struct uroce_alloc_ucontext_req drv)
	req = {.drv = *asked};
	UR_RESP(ib_uverbs_get_context_resp,
		struct uroce_alloc_ucontext_resp drv)
	resp = {.drv.wake_fd = -1};
	int err = ur_cmd_get_context(ctx->layout, ur_vctx(ctx), &req,
				     sizeof(req), &resp, sizeof(resp));

	*got = resp.drv;
	return err;
}

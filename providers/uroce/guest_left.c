// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroced was killed, and the engine of this process goes on: what there was of its objects
 * in uroced is gone with it. */
#include <errno.h>
#include "guest.h"
#include "poller.h"

int ur_guest_forgive(const struct uroce_context *ctx, int err)
{
	if (err != EIO || !ctx->guest || !ctx->guest_async || !*ctx->db.own)
		return err;
	return ur_poller_is_gone(ctx) ? err : 0;
}

int ur_guest_stop_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		     enum ibv_qp_state state, int mask, int err)
{
	const struct uroce_engine_qp attr = {.state = state};

	if (mask != IBV_QP_STATE || !qp->guest ||
	    (state != IBV_QPS_ERR && state != IBV_QPS_RESET) ||
	    ur_guest_forgive(ctx, err))
		return err;
	return -ctx->door->modify_qp(qp->guest, &attr, IBV_QP_STATE);
}

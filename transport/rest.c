// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Overwrites the rest of a receive buffer behind its message, for a host that
 * plays a hostile card. No clause allows it, and none forbids it. */
#include "transport/internal.h"

/* More would delay other queue pairs. */
#define REST_BYTES 256u

void ur_rest_write(struct ur_qp *qp, u32 used)
{
	struct ur_responder *resp = &qp->resp;
	struct ur_cursor cur = {0};
	u8 bytes[REST_BYTES];
	u32 len;

	if (used >= resp->rqe.length)
		return;
	len = ur_min_u32(resp->rqe.length - used, REST_BYTES);
	memset(bytes, 0xa5, len);
	/* A bad element here is not the program's fault. */
	(void)ur_mem_scatter(qp->port, resp->rqe.pd, resp->rqe_sge,
			     resp->rqe.num_sge, &cur, used, bytes, len, false);
}

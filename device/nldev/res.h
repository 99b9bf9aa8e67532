/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects that `rdma resource` lists, by class. A client that is no administrator sees
 * of other users' objects only their number, and the owners of contexts (ur_may_see()). */
#ifndef UR_DEVICE_NLDEV_RES_H
#define UR_DEVICE_NLDEV_RES_H

#include "device/nldev/nldev.h"

struct ur_ufile;
struct ur_object;
struct ucma_id;

/* An object: the pointer of its class is set, the others are NULL. */
struct ur_nl_object {
	struct ur_object *obj;
	struct ur_ufile *ctx;
	struct ucma_id *id;
	u32 number; /* its id in requests */
};

/* Write one object with the attributes of the kernel's nldev, in the same order
 * (res_fill.c). Return false if the object is not on the requested port. */
typedef bool ur_nl_fill(const struct ur_nl_request *r, struct ur_nl_msg *m,
			const struct ur_nl_object *o);
ur_nl_fill ur_nl_fill_qp, ur_nl_fill_cq, ur_nl_fill_mr, ur_nl_fill_pd,
	ur_nl_fill_ctx, ur_nl_fill_srq, ur_nl_fill_cm_id, ur_nl_fill_stat_mr;

#endif

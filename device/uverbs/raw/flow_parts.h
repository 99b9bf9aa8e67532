/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of a flow rule as a command has them, and the key and mask that
 * they make. */
#ifndef UR_DEVICE_UVERBS_RAW_FLOW_PARTS_H
#define UR_DEVICE_UVERBS_RAW_FLOW_PARTS_H

#include <rdma/ib_user_verbs.h>
#include "engine/engine.h"

struct ur_flow_parts {
	struct ur_flow_key key, mask;
	bool drop;    /* IBV_FLOW_SPEC_ACTION_DROP */
	bool counted; /* IBV_FLOW_SPEC_ACTION_COUNT, by that handle */
	u32 counters;
};

/* Reads attr->num_of_specs parts, which take attr->size bytes, to *out. Returns
 * 0, -EINVAL (not well formed, or parts that contradict each other), or
 * -EOPNOTSUPP (a part that this device has not). */
int ur_flow_parts_read(struct ur_flow_parts *out,
		       const struct ib_uverbs_flow_attr *attr, const u8 *parts);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses the specs of a flow rule from a command into a key and a mask. */
#ifndef UR_DEVICE_UVERBS_RAW_FLOW_PARTS_H
#define UR_DEVICE_UVERBS_RAW_FLOW_PARTS_H

#include <rdma/ib_user_verbs.h>
#include "engine/engine.h"

struct ur_flow_parts {
	struct ur_flow_key key, mask;
	bool drop;    /* IBV_FLOW_SPEC_ACTION_DROP */
	bool counted; /* IBV_FLOW_SPEC_ACTION_COUNT, with handle counters */
	u32 counters;
};

/* Parses attr->num_of_specs specs, of attr->size bytes together, to *out. Returns 0,
 * -EINVAL (malformed or contradictory specs), or -EOPNOTSUPP (unsupported spec). */
int ur_flow_parts_read(struct ur_flow_parts *out,
		       const struct ib_uverbs_flow_attr *attr, const u8 *parts);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Deadlines, one for each id. The heap is allocated at creation, so arming
 * cannot fail. cm.c handles what is due.
 */
#include "cm/conn.h"

/* 2^(t-8) ms. 1 << 16 s and more can only come from hostile MADs, so the
 * exponent is capped at 24 (65 s), the most that rdma_cm itself requests in an
 * MRA. */
#define EXPONENT_MAX 24

u64 ur_cm_time_ns(u8 exponent)
{
	if (exponent > EXPONENT_MAX)
		exponent = EXPONENT_MAX;
	return 1000000ull << (exponent > 8 ? exponent - 8 : 0);
}

void ur_cm_disarm(struct ur_cm_id *id)
{
	ur_heap_remove(&id->cm->deadlines, &id->due);
}

void ur_cm_arm(struct ur_cm_id *id, u64 deadline)
{
	ur_cm_disarm(id);
	ur_assert(id->cm->deadlines.count < id->cm->config.max_ids);
	ur_heap_add(&id->cm->deadlines, &id->due, deadline);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sizes of work requests (kernel-abi/uroce-ring.h). Pure; any thread. ur_qp_caps_grant() is in
 * engine_queues.h. */
#ifndef UR_ENGINE_CORE_QP_CAPS_H
#define UR_ENGINE_CORE_QP_CAPS_H

#include "engine/engine_queues.h"

/* Returns the basic blocks of a queue pair's send ring; 0: it has none. */
u32 ur_sq_bbs(enum ur_qp_type type, const struct ur_qp_caps *caps);
/* Returns whether it has a receive ring of its own. */
bool ur_qp_has_rq(enum ur_qp_type type, bool has_srq,
		  const struct ur_qp_caps *caps);
/* Returns the bytes of a receive of so many elements in a ring. */
u32 ur_recv_stride(u32 max_sge);

#endif

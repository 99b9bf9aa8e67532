/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The modify table of queue pairs as data.
 */
#ifndef UR_TRANSPORT_QP_STATE_H
#define UR_TRANSPORT_QP_STATE_H

#include "transport/transport.h"

#define UR_QP_STATES (UR_QP_ERR + 1)
#define UR_QP_TYPES  (UR_QPT_XRC_TGT + 1)

/* One cell: whether the transition exists, and which UR_QP_ATTR_* it requires
 * and allows, for each enum ur_qp_type. */
struct ur_qp_transition {
	bool valid;
	u32 required[UR_QP_TYPES];
	u32 optional[UR_QP_TYPES];
};

extern const struct ur_qp_transition ur_qp_transitions[UR_QP_STATES]
						      [UR_QP_STATES];

/* Returns whether a QP of that type may go from cur to next with these
 * attributes. */
bool ur_qp_modify_allowed(enum ur_qp_state cur, enum ur_qp_state next,
			  enum ur_qp_type type, u32 mask);

#endif

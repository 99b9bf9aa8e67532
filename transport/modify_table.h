/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The modify table of queue pairs as data, and the checks of MODIFY_QP that need no
 * queue pair of a port. Pure; any thread.
 */
#ifndef UR_TRANSPORT_MODIFY_TABLE_H
#define UR_TRANSPORT_MODIFY_TABLE_H

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
/* Returns whether a QP of that type in state cur may be modified so. mask: UR_QP_ATTR_*;
 * the values of other attributes than the states are ignored. */
bool ur_qp_may(enum ur_qp_state cur, enum ur_qp_type type,
	       const struct ur_qp_attr *attr, u32 mask);
/* Returns whether the values of these attributes are possible, on a port whose active MTU is
 * max_mtu bytes. The address vector is ignored. */
bool ur_qp_values_valid(u32 max_mtu, const struct ur_qp_attr *attr, u32 mask);
/* Leaves out attributes that the half of XRC does not have, as the kernel does: programs set
 * those of RC on both halves. Returns the others. */
u32 ur_qp_own_attrs(enum ur_qp_type type, u32 mask);
/* Copies the attributes of mask, but for the states and the address vector. */
void ur_qp_attr_take(struct ur_qp_attr *to, const struct ur_qp_attr *attr,
		     u32 mask);

#endif

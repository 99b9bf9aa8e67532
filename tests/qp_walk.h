/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A queue pair's way through its states with what the modify table requires
 * for each step and no more; that the table is right is unit.transport's to say
 * (test_qp_state.c).
 */
#ifndef UR_TESTS_QP_WALK_H
#define UR_TESTS_QP_WALK_H

#include "transport/qp.h"
#include "transport/modify_table.h"

/* Makes one step, to values->state. Returns the result of ur_qp_modify(). */
static inline int qp_walk(struct ur_qp *qp, ur_time now,
			  const struct ur_qp_attr *values)
{
	const struct ur_qp_transition *t =
		&ur_qp_transitions[qp->state][values->state];

	return ur_qp_modify(qp, now, values,
			    UR_QP_ATTR_STATE | t->required[qp->init.type]);
}

/* From RESET to INIT, RTR and on to RTS, or as far as last says. */
static inline int qp_walk_to(struct ur_qp *qp, ur_time now,
			     const struct ur_qp_attr *values,
			     enum ur_qp_state last)
{
	struct ur_qp_attr a = *values;
	int err = 0;

	for (a.state = UR_QP_INIT; a.state <= last && !err; a.state++)
		err = qp_walk(qp, now, &a);
	return err;
}

#endif

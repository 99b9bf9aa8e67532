/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What most tests create and connect queue pairs with, and a queue pair's way
 * through its states with what the modify table requires for each step and no
 * more; that the table is right is unit.transport's to say (test_qp_state.c).
 */
#ifndef UR_TESTS_QP_WALK_H
#define UR_TESTS_QP_WALK_H

#include "transport/qp.h"
#include "transport/modify_table.h"

/* Returns what to create a queue pair with; all its callbacks get ctx. */
static inline struct ur_qp_init qp_init_of(enum ur_qp_type type, u32 pd,
					   void *ctx)
{
	return (struct ur_qp_init){
		.type = type,
		.pd = pd,
		.max_send_wr = 64,
		.max_recv_wr = 64,
		.max_send_sge = 4,
		.max_recv_sge = 4,
		.send_cq_ctx = ctx,
		.recv_cq_ctx = ctx,
		.ctx = ctx,
		.rq_ctx = ctx,
	};
}

/* Returns the attributes for the whole way to RTS: PSNs from 0, MTU 1024, reads
 * 4, rnr timer 12 (640 us), timeout 14, retries 7. Takes no reference to av. */
static inline struct ur_qp_attr qp_attr_to(u32 dest_qpn, struct ur_av *av)
{
	return (struct ur_qp_attr){
		.port_num = 1,
		.access = UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ |
			  UR_ACCESS_REMOTE_ATOMIC,
		.path_mtu = 1024,
		.dest_qpn = dest_qpn,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.av = av,
	};
}

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

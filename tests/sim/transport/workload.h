/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The applications: they post a random mix of everything the transport knows,
 * keep receives posted, and connect again after errors.
 */
#ifndef UR_TESTS_SIM_TRANSPORT_WORKLOAD_H
#define UR_TESTS_SIM_TRANSPORT_WORKLOAD_H

#include "tests/sim/transport/world.h"

u32 workload_flow_target(struct sim_world *w);
/* A queue pair is ready: post until the target of its flow is reached. */
void workload_qp_start(struct sim_qp *qp);
/* Room in the send queue. */
void workload_qp_room(struct sim_qp *qp);
/* A receive was taken or is free again: post another one later. */
void workload_rq_taken(struct sim_rq *rq);
void workload_op_done(struct sim_flow *f, struct sim_op *op);
/* An error was reported for a pair: close it, later connect it again. */
void workload_pair_broken(struct sim_pair *p);
/* Everything posted has ended and nothing more will be. */
bool workload_idle(struct sim_world *w);
/* Start over with a pair that is closed and whose hosts are up. */
void workload_pair_reopen(struct sim_pair *p);

#endif

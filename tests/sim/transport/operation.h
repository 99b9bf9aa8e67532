/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Drawing one operation; part of the workload. */
#ifndef UR_TESTS_SIM_TRANSPORT_OPERATION_H
#define UR_TESTS_SIM_TRANSPORT_OPERATION_H

#include "tests/sim/transport/world.h"

/* Add a random operation to the flow, which has room for it. */
void operation_make(struct sim_flow *f);

#endif

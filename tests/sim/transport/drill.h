/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Recovery quality: how much longer work takes on a lossy line than on a
 * perfect one.
 */
#ifndef UR_TESTS_SIM_TRANSPORT_DRILL_H
#define UR_TESTS_SIM_TRANSPORT_DRILL_H

#include "tests/sim/transport/world.h"

/* Runs every kind of operation at every loss rate with that many seeds; prints
 * a table. 0, or 1 when one of its numbers is beyond its bound. */
int drill_run(const struct sim_options *options, u32 seeds);
/* One run of one of them, for a look at its trace. name: "READ", "WRITE",
 * "SEND"; drop per million packets. */
int drill_one(const struct sim_options *options, const char *name, u32 drop);

#endif

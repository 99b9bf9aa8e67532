/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The faults of a run: some kinds of them, with intensities orders of magnitude
 * apart, because a bug that needs calm and one fault hides in uniform chaos. */
#ifndef UR_TESTS_SIM_TRANSPORT_FAULTS_H
#define UR_TESTS_SIM_TRANSPORT_FAULTS_H

#include "tests/sim/transport/world.h"

/* Draw w->faults; print what was drawn. */
void faults_draw(struct sim_world *w, bool print);
/* Schedule the first of each kind. */
void faults_start(struct sim_world *w);
/* All faults end: partitions heal, hosts wake, stalled queues are polled. */
void faults_stop(struct sim_world *w);
/* Reasons for a pair to break that follow from what was drawn. */
u32 faults_reasons(const struct sim_world *w);

/* A host's objects that are not a pair's: words and shared queues. */
void faults_host_up(struct sim_host *h);
void faults_host_down(struct sim_host *h);

#endif

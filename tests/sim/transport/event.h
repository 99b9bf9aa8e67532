/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The event queue: a heap ordered by (time, sequence number), so that events
 * of one instant run in the order in which they were added.
 */
#ifndef UR_TESTS_SIM_TRANSPORT_EVENT_H
#define UR_TESTS_SIM_TRANSPORT_EVENT_H

#include "transport/transport.h"

struct sim_world;
typedef void sim_event_fn(struct sim_world *w, void *arg, u64 n);

struct sim_event {
	ur_time at;
	u64 seq;
	sim_event_fn *run;
	void *arg;
	u64 n;
};

struct sim_events {
	struct sim_event *heap;
	u32 count, room;
	u64 seq;
};

/* Takes no reference of arg: what an event points at must outlive it. */
void sim_event_add(struct sim_events *q, ur_time at, sim_event_fn *run,
		   void *arg, u64 n);
/* Earliest event, removed; false when none is left. */
bool sim_event_pop(struct sim_events *q, struct sim_event *ret);
void sim_event_fini(struct sim_events *q);

#endif

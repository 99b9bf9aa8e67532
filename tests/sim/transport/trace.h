/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The events of a run: a hash over every one, and one readable line for each on
 * request. Two runs of one seed must give the same hash. */
#ifndef UR_TESTS_SIM_TRANSPORT_TRACE_H
#define UR_TESTS_SIM_TRANSPORT_TRACE_H

#include "util/bytes.h"

struct sim_trace {
	u64 hash;
	u64 events;
	bool print;
};

void sim_trace_init(struct sim_trace *t, bool print);

/* One event: four numbers whose meaning belongs to what. */
void sim_trace(struct sim_trace *t, u64 now, const char *what, u64 a, u64 b,
	       u64 c, u64 d);

/* A packet at a place ("tx", "rx", "drop"): src and dst are host numbers. */
void sim_trace_packet(struct sim_trace *t, u64 now, const char *what, u32 src,
		      u32 dst, const u8 *bth, u32 len);

#endif

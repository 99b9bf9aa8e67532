/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A line in the log for packets that were refused: why, and how many. At most
 * one a second. A packet for a queue pair that has just gone, which every end
 * of a connection brings, is logged with --verbose only.
 */
#ifndef UR_ENGINE_RECORD_REFUSED_H
#define UR_ENGINE_RECORD_REFUSED_H

#include "util/bytes.h"

struct ur_engine;

#define UR_REFUSED_KINDS 10

struct ur_refused {
	u64 said; /* sum of the counters at the last line */
	u64 seen[UR_REFUSED_KINDS];
	u64 next; /* no line before */
};

/* Logs what the port's counters show as refused since the last line. Engine
 * thread, after packets came. */
void ur_refused_look(struct ur_engine *engine);

#endif

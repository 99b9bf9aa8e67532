/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Logs refused packets: the reasons and the numbers, at most one line a second.
 * Packets for a queue pair that was just destroyed, which are usual at the end of a
 * connection, are logged with --verbose only.
 */
#ifndef UR_ENGINE_RECORD_REFUSED_H
#define UR_ENGINE_RECORD_REFUSED_H

#include "util/bytes.h"

struct ur_engine;

#define UR_REFUSED_KINDS 10

struct ur_refused {
	u64 said; /* sum of the counters at the last line */
	u64 seen[UR_REFUSED_KINDS];
	u64 next; /* earliest time of the next line */
};

/* Logs the packets refused since the last line, by the port's counters. Engine
 * thread, after receiving. */
void ur_refused_log(struct ur_engine *engine);

#endif

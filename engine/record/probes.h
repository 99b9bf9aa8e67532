/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The static probes (USDT) of the engine, for bpftrace, perf and gdb; doc/record.md
 * lists them. Each has a semaphore, which a tool increments while it uses the probe.
 * Only then does the engine compute the arguments.
 */
#ifndef UR_ENGINE_RECORD_PROBES_H
#define UR_ENGINE_RECORD_PROBES_H

#include <stdbool.h>

/* clang-format off */
#define UR_PROBES(X) \
	X(work_request) X(receive) X(packet_out) X(packet_in) X(retransmit) \
	X(completion) X(qp_state)
/* clang-format on */

#ifdef UROCE_PROBES

#define X(name) extern volatile unsigned short uroce_##name##_semaphore;
UR_PROBES(X)
#undef X

/* Returns whether a tool uses any of the probes. */
static inline bool ur_probes_used(void)
{
	unsigned int n = 0;

#define X(name) n |= uroce_##name##_semaphore;
	UR_PROBES(X)
#undef X
	return n;
}

#else

static inline bool ur_probes_used(void)
{
	return false;
}

#endif
#endif

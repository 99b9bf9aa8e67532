/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Moves the thread of an engine in a program to the processor of the program's threads, if these
 * sleep for events and other threads share the engine's processor. Program and engine take turns
 * anyway, and each finds the other's data in the caches. A thread that has a processor alone stays
 * there. The thread is not bound: the scheduler may move it again.
 */
#ifndef UR_ENGINE_CORE_CPU_PLACEMENT_H
#define UR_ENGINE_CORE_CPU_PLACEMENT_H

#include <stdatomic.h>
#include "transport/transport.h"

/* Initially zero. */
struct ur_cpu_placement {
	_Atomic u32 cpu; /* where the program last armed a queue, plus one */
	u32 away;	 /* long yields on another processor, in a row */
	ur_time moved_at;
};

/* Records the calling thread's processor: it arms a queue and is about to sleep. Any thread of the
 * program. */
void ur_cpu_placement_armed(struct ur_cpu_placement *placement);
/* Returns whether the engine's thread, on processor here, should move after a yield of ns
 * nanoseconds. */
bool ur_cpu_placement_check(struct ur_cpu_placement *placement, u32 here,
			    ur_time now, u64 ns);
/* Does the same for the calling thread, and moves it. */
void ur_cpu_placement_yielded(struct ur_cpu_placement *placement, ur_time now,
			      u64 ns);

#endif

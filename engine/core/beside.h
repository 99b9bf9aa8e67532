/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Moves the thread of an engine in a program that sleeps to the program's processor while other
 * threads share its own. The two take turns anyway, with each other's data in the caches; beside the
 * thread of another program it would wait for that, too. A thread that has a processor alone
 * stays there. It is not bound: the scheduler may move it again.
 */
#ifndef UR_ENGINE_CORE_BESIDE_H
#define UR_ENGINE_CORE_BESIDE_H

#include <stdatomic.h>
#include "transport/transport.h"

/* All zero: nothing is known. */
struct ur_beside {
	_Atomic u32 cpu; /* where the program armed a queue last, plus one */
	u32 apart;	 /* times that another thread ran here, and not there */
	ur_time moved_at;
};

/* The program arms a queue, and is about to sleep. Any of its threads. */
void ur_beside_armed(struct ur_beside *beside);
/* The engine's thread, on processor here, has yielded for so long. Returns whether it is to move. */
bool ur_beside_look(struct ur_beside *beside, u32 here, ur_time now, u64 ns);
/* The same, for the calling thread, and moves it. */
void ur_beside_yielded(struct ur_beside *beside, ur_time now, u64 ns);

#endif

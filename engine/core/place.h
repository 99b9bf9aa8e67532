/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chooses the processor that the engine runs on. If its programs sleep until a
 * completion event, the engine runs where they do: program and engine take
 * turns anyway, and waking each other on another processor, a virtual one above
 * all, takes several times as long as the work. If its programs poll for
 * completions, it runs on another processor, as the scheduler finds it. Engine
 * thread.
 */
#ifndef UR_ENGINE_CORE_PLACE_H
#define UR_ENGINE_CORE_PLACE_H

#include "transport/transport.h"
#include "util/os/follow.h"

struct ur_place {
	struct ur_follow follow;
	u32 cpu;   /* of the program that woke the engine, plus one; 0: none */
	bool told; /* a completion event was sent since the last wake-up */
	ur_time told_at;
	u32 untold; /* wake-ups since then */
	/* Thread id of the engine while it follows a program's processor, else 0.
	 * Atomic. */
	u32 thread;
};

/* Records that a completion event was sent to a program. */
static inline void ur_place_told(struct ur_place *place)
{
	place->told = true;
}
/* Records that a program on processor cpu - 1 woke the engine. */
static inline void ur_place_called(struct ur_place *place, u32 cpu)
{
	place->cpu = cpu;
}
/* Moves the engine off the program's processor, since a caller waits for it. Any
 * thread, while the engine runs. */
void ur_place_release(struct ur_place *place);
/* Choose the processor after the engine has woken; when it has nothing to do. */
void ur_place_woken(struct ur_place *place, ur_time now);
void ur_place_idle(struct ur_place *place, ur_time now);

#endif

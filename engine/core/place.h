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
	bool told; /* of a completion, since the last wake-up */
	ur_time told_at;
	u32 untold; /* wake-ups since */
	u32 thread; /* atomic: the engine's while it is there, else 0 */
};

/* A program has got a completion event. */
static inline void ur_place_told(struct ur_place *place)
{
	place->told = true;
}
/* A program has woken the engine from its processor, cpu - 1. */
static inline void ur_place_called(struct ur_place *place, u32 cpu)
{
	place->cpu = cpu;
}
/* Somebody waits for the engine: it is to run on another processor. Any thread,
 * while the engine runs. */
void ur_place_release(struct ur_place *place);
/* The engine has woken, or has nothing to do. */
void ur_place_woken(struct ur_place *place, ur_time now);
void ur_place_idle(struct ur_place *place, ur_time now);

#endif

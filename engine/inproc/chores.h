/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chores: work for which a thread of the program has neither the time nor the stack. It may post and poll on 16 KiB, and
 * its turns take no longer in a program that has more of anything. So a turn leaves to the engine's own thread all that
 * reads /proc, maps or unmaps what is large, or looks at what there may be many of.
 *
 * All functions: under the owner lock.
 */
#ifndef UR_ENGINE_INPROC_CHORES_H
#define UR_ENGINE_INPROC_CHORES_H

#include "util/bytes.h"
#include "util/list.h"

struct ur_engine;

/* Embedded in what it is about. Zeroes, but for run, are one that nobody has asked for. */
struct ur_chore {
	struct ur_list
		node; /* among those that wait; next is NULL: it is none */
	/* On the engine's own thread, between two turns: a step of 0.3 ms at most while the lock is held. It asks again for the
	 * next one. */
	void (*run)(struct ur_engine *engine, struct ur_chore *chore);
};

struct ur_chores {
	struct ur_list waiting;
	struct ur_chore *runs; /* NULL: none, or it was forgotten */
};

void ur_chores_init(struct ur_chores *chores);
/* Asks for it, if nobody has. Whoever runs the engine in the thread's place wakes it when the turn ends. */
void ur_chore_ask(struct ur_engine *engine, struct ur_chore *chore);
/* The object that it is about is to go, or is another by now: it will not run, and what runs of it is in vain. */
void ur_chore_forget(struct ur_engine *engine, struct ur_chore *chore);
/* Returns whether one waits. */
bool ur_chores_wait(const struct ur_engine *engine);
/* Runs one, if one waits. Returns whether one did. The engine's own thread. */
bool ur_chores_run(struct ur_engine *engine);
/* A child of fork has the engine: what another thread ran in the parent begins anew. */
void ur_chores_resume(struct ur_engine *engine);

/* The one that runs releases the lock, for what takes long, and acquires it again. Returns whether it was not forgotten
 * meanwhile: else what it is about may be gone. */
void ur_chore_steps_aside(struct ur_engine *engine);
bool ur_chore_steps_back(struct ur_engine *engine);

#endif

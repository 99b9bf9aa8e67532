/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Chores: work that takes too much time or stack for a thread of the program. Such a thread may have a stack of 16 KiB, and
 * the time of a turn must not grow with the size of the program. So a turn leaves to the engine's own thread what reads /proc,
 * maps or unmaps large memory, or iterates over many objects.
 *
 * All functions: under the owner lock.
 */
#ifndef UR_ENGINE_INPROC_CHORES_H
#define UR_ENGINE_INPROC_CHORES_H

#include "util/bytes.h"
#include "util/list.h"

struct ur_engine;

/* Embedded in the object that it is about. Initially zero, except run. */
struct ur_chore {
	struct ur_list node; /* in the waiting list; next NULL: not in it */
	/* Does a step of at most 0.3 ms, with the lock held, and calls ur_chore_ask() if there is more to do. The engine's
	 * own thread, between two turns. */
	void (*run)(struct ur_engine *engine, struct ur_chore *chore);
};

struct ur_chores {
	struct ur_list waiting;
	struct ur_chore *runs; /* the running one; NULL: none, or forgotten */
};

void ur_chores_init(struct ur_chores *chores);
/* Asks for the chore, unless it waits already. A thread of the program wakes the engine's thread when its turn ends. */
void ur_chore_ask(struct ur_engine *engine, struct ur_chore *chore);
/* Forgets the chore, since its object is about to end or has changed: it will not run. If it runs now, its result is
 * dropped. */
void ur_chore_forget(struct ur_engine *engine, struct ur_chore *chore);
/* Returns whether a chore waits. */
bool ur_chores_wait(const struct ur_engine *engine);
/* Runs one waiting chore. Returns whether there was one. The engine's own thread. */
bool ur_chores_run(struct ur_engine *engine);
/* In a child of fork: restarts the chore that a thread of the parent was running. */
void ur_chores_restart(struct ur_engine *engine);

/* Called by a running chore: release the lock for long work, and acquire it again. ur_chore_steps_back() returns false if the
 * chore was forgotten meanwhile: then its object may be gone. */
void ur_chore_steps_aside(struct ur_engine *engine);
bool ur_chore_steps_back(struct ur_engine *engine);

#endif

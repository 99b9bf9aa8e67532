/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Threads that run several engines each. An engine process has an engine for each context. With a thread for
 * each engine, two programs and their engines would be four threads that poll, on two processors perhaps. So half as
 * many threads as processors take the turns of all engines.
 *
 * An engine whose turn does not end, since its program's memory does not answer, keeps the thread. Another one
 * takes over the other engines.
 */
#ifndef UR_ENGINE_INPROC_SHARED_THREAD_H
#define UR_ENGINE_INPROC_SHARED_THREAD_H

#include "engine/core/idle.h"
#include "util/list.h"

struct ur_engine;
struct ur_shared_thread;

/* An engine's place at its thread. */
struct ur_shared_place {
	struct ur_list node;
	struct ur_shared_thread *thread; /* NULL: none */
	/* Only the thread has these: */
	enum ur_idle_mode mode; /* how it wants to wait for its next turn */
	const struct ur_shared_thread *began_at; /* where it has taken turns */
};

/* Gives the engine to a thread, and starts one if there is none or few. Returns 0 or -errno. Any thread. */
int ur_shared_thread_start(struct ur_engine *engine);
/* Waits until its thread has left the engine, whose stop is set. Any thread but those. */
void ur_shared_thread_stop(struct ur_engine *engine);

#endif

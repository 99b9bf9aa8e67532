/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fork of a program with an engine. The child has a copy of the engine, its descriptors and the
 * same rings, but does not see what the parent's engine does from then on. So the copy may run only
 * if the parent's engine has done nothing since the fork: a counter in shared memory says so.
 *
 * After a fork the engine's thread pauses, so that the child of a daemon's parent, which ends at once, can
 * take over. After 5 ms it checks whether the thread that forked has gone on to something else; after
 * 40 ms at most it continues. It continues sooner if a thread of the program uses the engine, or if the
 * child runs another program, and does not pause if the program forks again and again.
 *
 * A part of engine.h. The caller keeps control's calls away meanwhile.
 */
#ifndef UR_ENGINE_INPROC_INPROC_FORK_H
#define UR_ENGINE_INPROC_INPROC_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include "util/bytes.h"

struct ur_engine;

/* Makes the engine count its actions in *acts, which stays the caller's. Call it before the engine does anything. */
void ur_engine_count_acts(struct ur_engine *engine, _Atomic u64 *acts);
/* Stops the engine until ur_engine_thaw(). Returns false if a thread runs it for 0.1 s or more; then it is not stopped. Any
 * thread. */
bool ur_engine_freeze(struct ur_engine *engine);
void ur_engine_thaw(struct ur_engine *engine);
/* In the parent, on the thread that forked, with the engine stopped: the engine's thread pauses, until fd hangs up at the
 * latest. fd becomes the engine's; it may be -1. */
void ur_engine_pause(struct ur_engine *engine, int fd);
/* In the child: starts the copy. Returns 0 or -errno. */
int ur_engine_restart(struct ur_engine *engine);

#endif

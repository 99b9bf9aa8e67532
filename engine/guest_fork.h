/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program that forks. The child has a copy of the engine, its descriptors, and
 * the same rings; what the parent's engine does afterwards the copy does not know of. So the copy may
 * go on only if the parent's engine has done nothing since, which a count in memory of both says.
 * For a moment after a fork the engine's own thread does nothing, so that this is so where the
 * parent ends at once, as a daemon's does: it looks after 5 ms whether the thread that forked has gone on
 * to something else, and after 40 at the latest it goes on itself. It does so before where a thread of
 * the program has something to do, where the child runs another program, and at once where the
 * program forks again and again.
 *
 * A part of engine.h. The caller keeps control's calls away meanwhile.
 */
#ifndef UR_ENGINE_GUEST_FORK_H
#define UR_ENGINE_GUEST_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include "util/bytes.h"

struct ur_engine;

/* Makes the engine count what it does there, which stays the caller's. Before it does anything. */
void ur_engine_count_acts(struct ur_engine *engine, _Atomic u64 *acts);
/* Nobody runs the engine any more until ur_engine_let_go(). Returns false where somebody has
 * run it for too long: then it is not held. Any thread. */
bool ur_engine_hold(struct ur_engine *engine);
void ur_engine_let_go(struct ur_engine *engine);
/* In the parent, held, on the thread that has forked: the engine's thread does nothing for a moment, or until
 * fd hangs up, which becomes the engine's. fd may be -1. */
void ur_engine_rest(struct ur_engine *engine, int fd);
/* In the child: makes the copy run. Returns 0 or -errno. */
int ur_engine_resume(struct ur_engine *engine);

#endif

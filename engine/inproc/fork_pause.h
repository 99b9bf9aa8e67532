/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The length of the pause after a fork (inproc_fork.h): 5 ms, then until the thread that forked has gone on
 * to something else, 40 ms at most. A thread that waits for a processor may still be about to end the
 * program, as a daemon's parent does.
 */
#ifndef UR_ENGINE_INPROC_FORK_PAUSE_H
#define UR_ENGINE_INPROC_FORK_PAUSE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include "util/bytes.h"

/* Interval of the checks of the thread that forked, and the shortest pause. */
#define UR_FORK_PAUSE_NS 5000000u

struct ur_fork_pause {
	bool on;
	u64 since;	 /* time of the fork */
	pid_t forker;	 /* the thread that forked */
	clockid_t clock; /* processor time of that thread */
	u64 clock_since; /* its value at the fork */
	u64 stayed;	 /* when the program was last seen to go on; 0: never */
};

/* Records that the calling thread has forked. Returns whether the engine pauses: not if the program has just gone on after
 * another fork, or if the pause after another fork is not over. */
bool ur_fork_pause_begins(struct ur_fork_pause *pause);
/* Returns whether the program has gone on; if so remembers when. Any thread. */
bool ur_fork_pause_is_over(struct ur_fork_pause *pause);
/* Ends the pause, since the program has used the engine. */
void ur_fork_pause_used(struct ur_fork_pause *pause, u64 now);

#endif

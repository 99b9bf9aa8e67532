/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How long an engine in a program does nothing after a fork (guest_fork.h): for 5 ms, and then until
 * the thread that forked is seen to have gone on to something else, or 40 ms are over. A thread that waits for
 * a processor may still be about to end the program, as a daemon's parent does.
 */
#ifndef UR_ENGINE_FORK_REST_H
#define UR_ENGINE_FORK_REST_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include "util/bytes.h"

/* How often to look whether it is over. */
#define UR_FORK_REST_NS 5000000u

struct ur_fork_rest {
	bool on;
	u64 since;	 /* the fork */
	pid_t forker;	 /* the thread that forked */
	clockid_t clock; /* of its processor time */
	u64 clock_since;
	u64 stayed; /* when the program was found to go on; 0: never */
};

/* The calling thread has forked. Returns whether the engine is to rest: not where the program has just gone on
 * after another fork, or did not wait for the end of that one's rest. */
bool ur_fork_rest_begins(struct ur_fork_rest *rest);
/* Returns whether the program has gone on, and notes it. Any thread. */
bool ur_fork_rest_is_over(struct ur_fork_rest *rest);
/* The program has used the engine, and so goes on. */
void ur_fork_rest_used(struct ur_fork_rest *rest, u64 now);

#endif

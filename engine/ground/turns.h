/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A lock whose waiters take turns by user. The next turn goes to the user who has
 * waited longest since his last turn. So the wait of a thread grows with the number
 * of other users, not with the number of their threads.
 *
 * A turn lasts until none of the user's threads waits, or for turn_ns. At its begin
 * the lock is handed to the user's first waiter. During the turn any thread of the
 * user may take it: if it were handed to a sleeping thread each time, it would be
 * idle most of the time until that thread runs.
 *
 * A holder that runs on its client's processor (util/os/follow.h) may get little
 * processor time. A waiter of another user moves it away after a millisecond.
 *
 * Without waiters, taking and releasing cost one atomic operation each, as with a
 * mutex.
 */
#ifndef UR_ENGINE_GROUND_TURNS_H
#define UR_ENGINE_GROUND_TURNS_H

#include <pthread.h>
#include "util/bytes.h"

struct ur_turns_waiter;

struct ur_turns {
	u64 word;		       /* atomic: the user and the state */
	pthread_mutex_t list_lock;     /* guards the rest; a leaf */
	struct ur_turns_waiter *users; /* waiters, by user */
	u64 turn_ns, since_ns;
};

/* Initializes a free lock. With waiters, a turn lasts turn_ns nanoseconds. */
void ur_turns_init(struct ur_turns *turns, u64 turn_ns);

/* Takes the lock for that user, identified by any unique number. Waits until it is
 * the caller's turn. Not recursive. */
void ur_turns_take(struct ur_turns *turns, u32 user);
/* Releases the lock to the user whose turn it is. Called by the holder. */
void ur_turns_give(struct ur_turns *turns);
/* Returns the number of waiting threads of that user. Any thread. */
u32 ur_turns_waiting(struct ur_turns *turns, u32 user);

#endif

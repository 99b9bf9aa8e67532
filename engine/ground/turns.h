/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A lock whose waiters take turns by user. From a user's threads it goes to
 * those of the user who has waited longest since his last turn. So what a thread
 * waits for grows with the number of other users, not with the number of their
 * threads.
 *
 * A turn lasts until none of the user's threads waits, or for turn_ns. When it
 * begins, the lock is handed to the first of them that waits. During the turn
 * any thread of the user may take it, since a lock that is handed to a sleeping
 * thread is of no use until that runs: with a turn for each piece of work it
 * would be idle most of the time.
 *
 * A holder that runs on its client's processor (util/os/follow.h) may get little
 * of it. A thread of another user that has waited for a millisecond makes it
 * leave.
 *
 * Taken and given while nobody waits, it is an atomic operation each, as a
 * mutex is.
 */
#ifndef UR_ENGINE_GROUND_TURNS_H
#define UR_ENGINE_GROUND_TURNS_H

#include <pthread.h>
#include "util/bytes.h"

struct ur_turns_waiter;

struct ur_turns {
	u64 word;		       /* atomic: whose, and how it is */
	pthread_mutex_t list_lock;     /* of the rest; a leaf */
	struct ur_turns_waiter *users; /* who waits, by user */
	u64 turn_ns, since_ns;
};

/* Makes a lock that nobody has. A turn lasts turn_ns (CLOCK_MONOTONIC) where
 * somebody waits. */
void ur_turns_init(struct ur_turns *turns, u64 turn_ns);
/* Ends it. Nobody may have it or wait for it. */
void ur_turns_fini(struct ur_turns *turns);

/* Takes the lock for that user: any number that is different for each user.
 * Waits until it is the caller's turn. Not recursive. */
void ur_turns_take(struct ur_turns *turns, u32 user);
/* Releases the lock to the user whose turn it is. Called by the thread that has
 * it. */
void ur_turns_give(struct ur_turns *turns);
/* Returns how many threads of that user wait. Any thread. */
u32 ur_turns_waiting(struct ur_turns *turns, u32 user);

#endif

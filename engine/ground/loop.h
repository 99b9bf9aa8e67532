/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control loop: descriptors, timers and work posted by other threads, all
 * run under the control lock. One thread runs descriptors and timers. Posted work
 * runs on that thread, or on a thread that is about to release the lock. So a
 * datagram of a connection between two programs of this device needs no thread
 * switch.
 *
 * The control lock guards everything of the control half: sessions, object
 * tables, GID tables, CM state, the sysfs tree. Callbacks of the loop run with
 * it held. The thread of a connection takes it around each command and releases
 * it while it waits for its client.
 *
 * Users take turns at the lock (engine/ground/turns.h); the control thread counts as
 * one more user. A waiter gets the lock before its last holder gets it again, so work
 * in many pieces that releases the lock in between delays nobody.
 */
#ifndef UR_ENGINE_GROUND_LOOP_H
#define UR_ENGINE_GROUND_LOOP_H

#include <sys/types.h>
#include "util/bytes.h"

struct ur_loop;

struct ur_loop_timer {
	void (*fn)(void *arg);
	void *arg;
	u64 deadline_ns; /* CLOCK_MONOTONIC; 0: not armed */
	struct ur_loop_timer *next;
};

/* Posted work that takes no allocation. Stays the caller's, until it has run. */
struct ur_loop_call {
	void (*fn)(void *arg);
	void *arg;
	/* the loop's: */
	struct ur_loop_call *next;
	bool to_free;
};

/* Makes a loop in *loop. Returns 0 or -errno. */
int ur_loop_create(struct ur_loop **loop);
/* Frees it. Nothing may be watched, armed or posted any more. */
void ur_loop_destroy(struct ur_loop *loop);

/* Sets the user for whom the calling thread takes the lock from now on. Without
 * this a thread takes it for the daemon itself. */
void ur_loop_act_for(uid_t uid);
/* Returns whether the calling thread has the control lock. For asserts. */
bool ur_loop_mine(const struct ur_loop *loop);
/* Takes the control lock when the turn of the thread's user comes. */
void ur_loop_lock(struct ur_loop *loop);
/* Releases the control lock. First runs the calls that were posted meanwhile; after
 * the release runs those of ur_loop_after(). */
void ur_loop_unlock(struct ur_loop *loop);

/* Releases the lock if the thread acts for a user, so that only this user waits
 * for long work. Returns whether it did; then the caller takes it again. The
 * daemon's own threads keep it, since they may be in the middle of a change. */
bool ur_loop_step_aside(struct ur_loop *loop);

/* Work to do after the lock was released; embedded in the object it is about. */
struct ur_loop_after {
	void (*fn)(struct ur_loop_after *after);
	struct ur_loop_after *next;
};

/* Makes the thread that holds the lock call fn(after) as soon as it has released
 * the lock. For work that may take long or wait, such as closing a client's file.
 * fn may free the object that contains after. Lock held. */
void ur_loop_after(struct ur_loop *loop, struct ur_loop_after *after,
		   void (*fn)(struct ur_loop_after *after));

/* Makes the loop call fn(arg, events) when fd has EPOLL* events. fd stays the
 * caller's. Call ur_loop_del() before closing it. Lock held. Returns 0 or
 * -errno. */
int ur_loop_add(struct ur_loop *loop, int fd, u32 events,
		void (*fn)(void *arg, u32 events), void *arg);
/* Removes fd from the loop. Lock held. */
void ur_loop_del(struct ur_loop *loop, int fd);

/* Posts fn(arg), to be run soon with the lock held, in the order posted. Any
 * thread, with or without the lock; never blocks. Returns 0 or -ENOMEM. */
int ur_loop_post(struct ur_loop *loop, void (*fn)(void *arg), void *arg);
/* Does the same without a chance of failure. call must not be posted already. */
void ur_loop_post_call(struct ur_loop *loop, struct ur_loop_call *call);

/* Arm or rearm the timer for a time of CLOCK_MONOTONIC; disarm it. The timer stays
 * the caller's. Lock held. */
void ur_loop_timer_set(struct ur_loop *loop, struct ur_loop_timer *timer,
		       u64 deadline_ns);
void ur_loop_timer_clear(struct ur_loop *loop, struct ur_loop_timer *timer);

/* Returns the nanoseconds of CLOCK_MONOTONIC. */
u64 ur_loop_now(void);

/* Runs the loop on this thread until ur_loop_stop(). Takes the lock itself.
 * Returns 0. */
int ur_loop_serve(struct ur_loop *loop);
/* Makes ur_loop_serve() return. Any thread, with or without the lock. */
void ur_loop_stop(struct ur_loop *loop);
/* Drops all work posted from now on, since its objects may be gone. Lock held. */
void ur_loop_close(struct ur_loop *loop);

#endif

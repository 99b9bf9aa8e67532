/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control loop: descriptors, timers and work posted by other threads, all
 * run under the control lock. One thread runs descriptors and timers. Whoever
 * has the lock runs posted work: that thread, or one that is about to release
 * the lock. So a datagram of a connection between two programs of this device
 * needs no switch between threads.
 *
 * The control lock guards everything of the control half: sessions, object
 * tables, GID tables, CM state, the sysfs tree. Callbacks of the loop run with
 * it held. The thread of a connection takes it around each command and releases
 * it while it waits for its client.
 *
 * Users take turns at it (engine/ground/turns.h), and the control thread is one more
 * user. So the lock is handed to whoever waits before its last holder can have
 * it again, and work in many pieces, released between two, holds up nobody.
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

/* Work that is posted without memory: the caller's until it is run. */
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
/* Releases the control lock. Before that it runs the calls that were posted
 * meanwhile; after it, without the lock, those of ur_loop_after(). */
void ur_loop_unlock(struct ur_loop *loop);

/* Releases the lock if the thread acts for a user, so that only this user waits
 * for work that takes long. Returns whether it did; the caller takes it again.
 * The daemon's own threads keep it: they may be in the middle of anything. */
bool ur_loop_step_aside(struct ur_loop *loop);

/* Work that is left to do without the lock; a member of what the work is
 * about. */
struct ur_loop_after {
	void (*fn)(struct ur_loop_after *after);
	struct ur_loop_after *next;
};

/* Makes the thread that holds the lock call fn(after) as soon as it has
 * released it. It is for what may take long or wait for somebody, such as the
 * end of a client's file. fn may free what after is a member of. Lock held. */
void ur_loop_after(struct ur_loop *loop, struct ur_loop_after *after,
		   void (*fn)(struct ur_loop_after *after));

/* Makes the loop call fn(arg, events) when fd has EPOLL* events. fd stays the
 * caller's, who removes it before closing it. Lock held. Returns 0 or
 * -errno. */
int ur_loop_add(struct ur_loop *loop, int fd, u32 events,
		void (*fn)(void *arg, u32 events), void *arg);
/* Ends that. Lock held. */
void ur_loop_del(struct ur_loop *loop, int fd);

/* Posts fn(arg), to be run soon with the lock held, in the order posted. Any
 * thread, with or without the lock; never blocks. Returns 0 or -ENOMEM. */
int ur_loop_post(struct ur_loop *loop, void (*fn)(void *arg), void *arg);
/* Does the same for what must not fail. call must not be posted already. */
void ur_loop_post_call(struct ur_loop *loop, struct ur_loop_call *call);

/* Arm the timer, again too, for a time of CLOCK_MONOTONIC, or disarm it. The
 * timer stays the caller's. Lock held. */
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
/* Drops everything that is posted from here on, since what it names may be
 * gone. Lock held. */
void ur_loop_close(struct ur_loop *loop);

#endif

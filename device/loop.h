/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control loop: descriptors, timers and work posted by other threads, all
 * run under the control lock. Descriptors and timers are run by one thread;
 * posted work by whoever has the lock: that thread, or one that is about to
 * let go of it. A datagram of a connection between two programs of this device
 * is dealt with without a switch between threads.
 *
 * The control lock guards everything of the control half: sessions, object
 * tables, GID tables, CM state, the sysfs tree. Callbacks of the loop run with
 * it held; the thread of a connection takes it around each command and lets go
 * of it while it waits for its client.
 */
#ifndef UR_DEVICE_LOOP_H
#define UR_DEVICE_LOOP_H

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

/* 0 or -errno. */
int ur_loop_create(struct ur_loop **loop);
void ur_loop_destroy(struct ur_loop *loop);

void ur_loop_lock(struct ur_loop *loop);
/* Runs first what was posted meanwhile, and then, without the lock, what is to
 * be done after it. */
void ur_loop_unlock(struct ur_loop *loop);

/* What is left to do without the lock; a member of what it is about. */
struct ur_loop_after {
	void (*fn)(struct ur_loop_after *after);
	struct ur_loop_after *next;
};

/* fn(after) is called by the thread that holds the lock, as soon as it has let
 * go of it: for what may take long or wait for somebody, such as the end of a
 * client's file. fn may free what after is a member of. Lock held. */
void ur_loop_after(struct ur_loop *loop, struct ur_loop_after *after,
		   void (*fn)(struct ur_loop_after *after));

/* Between two of many pieces of work, without the lock: who has been waiting for
 * it gets it first, which a thread that takes it again at once would not let
 * happen. */
void ur_loop_others_first(struct ur_loop *loop);

/* Call fn(arg, events) when fd has EPOLL* events. Lock held; fd stays the
 * caller's, who removes it before closing. 0 or -errno. */
int ur_loop_add(struct ur_loop *loop, int fd, u32 events,
		void (*fn)(void *arg, u32 events), void *arg);
void ur_loop_del(struct ur_loop *loop, int fd);

/* Run fn(arg) soon, lock held. From any thread, with or without the lock; never
 * blocks. Calls run in the order posted. -ENOMEM. */
int ur_loop_post(struct ur_loop *loop, void (*fn)(void *arg), void *arg);
/* The same for what must not fail; not again before it has run. */
void ur_loop_post_call(struct ur_loop *loop, struct ur_loop_call *call);

/* Arm (again) or disarm. Lock held. The timer stays the caller's. */
void ur_loop_timer_set(struct ur_loop *loop, struct ur_loop_timer *timer,
		       u64 deadline_ns);
void ur_loop_timer_clear(struct ur_loop *loop, struct ur_loop_timer *timer);

u64 ur_loop_now(void); /* CLOCK_MONOTONIC in nanoseconds */

/* Until ur_loop_stop; takes the lock. Returns 0. */
int ur_loop_serve(struct ur_loop *loop);
/* Lock held. */
void ur_loop_stop(struct ur_loop *loop);
/* From here on nothing posted is run: what it names may be gone. Lock held. */
void ur_loop_close(struct ur_loop *loop);

#endif

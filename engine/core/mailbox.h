/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries calls from control to the engine (call.h, call.c): one function at a
 * time, run by the engine's thread or, while that sleeps, by the caller. */
#ifndef UR_ENGINE_CORE_MAILBOX_H
#define UR_ENGINE_CORE_MAILBOX_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "util/bytes.h"

struct ur_engine;

struct ur_mailbox {
	int (*fn)(struct ur_engine *engine, void *arg);
	void *arg;
	int ret;
	u64 spent_ns;	     /* ground/hold_time.h */
	_Atomic int pending; /* set by control, cleared by the engine */
	sem_t done;
	pthread_mutex_t lock; /* one caller at a time */
	/* The owner lock. Its holder runs the engine: the engine's thread while
	 * awake, a caller while that thread sleeps. */
	pthread_mutex_t owner;
};

/* Initializes a mailbox. Returns 0 or -errno. */
int ur_mailbox_init(struct ur_mailbox *box);
/* Ends a mailbox. No call may be in progress. */
void ur_mailbox_fini(struct ur_mailbox *box);
/* Ends the engine's sleep. Any thread. */
void ur_mailbox_wake(struct ur_engine *engine);
/* Returns whether a call waits to be run. A check of the doorbells after this finds all
 * that clients rang before they made the call. Engine thread. */
bool ur_mailbox_waits(struct ur_engine *engine);
/* Runs the waiting call. Returns whether there was one. Engine thread. */
bool ur_mailbox_run(struct ur_engine *engine);
/* Releases the owner lock: until ur_mailbox_acquire(), callers may run the engine.
 * Engine thread, before the system call that it sleeps in. */
void ur_mailbox_release(struct ur_engine *engine);
/* Acquires the owner lock again. Other threads may have run the engine meanwhile, and
 * made or destroyed objects. Engine thread. */
void ur_mailbox_acquire(struct ur_engine *engine);

#endif

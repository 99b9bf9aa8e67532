/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries calls from control to the engine: one function at a time, run by the
 * engine's thread or, while that sleeps, by the caller (call.c; calls are made
 * by call.h). Orders are calls that do not wait for an engine that is held up; they
 * come before a call that was made after them. */
#ifndef UR_ENGINE_CORE_MAILBOX_H
#define UR_ENGINE_CORE_MAILBOX_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "util/bytes.h"

struct ur_engine;
struct ur_order;

struct ur_mailbox {
	int (*fn)(struct ur_engine *engine, void *arg);
	void *arg;
	int ret;
	u64 spent_ns;	     /* ground/hold_time.h */
	_Atomic int pending; /* UR_MAILBOX_*: set by control, cleared by the
				engine */
	sem_t done;
	pthread_mutex_t lock; /* one caller at a time */
	/* Held by whoever is the engine: its thread while awake, a caller while
	 * it sleeps. */
	pthread_mutex_t owner;
	pthread_mutex_t orders_lock; /* of the next; a leaf */
	struct ur_order *orders, **orders_tail;
	u64 late_ns; /* when one was not run in time; 0: never. Control */
};

enum {
	UR_MAILBOX_CALL = 1,
	UR_MAILBOX_ORDERS = 2,
};

/* Returns 0 or -errno. */
int ur_mailbox_init(struct ur_mailbox *box);
/* Frees it. Nobody may be in a call. */
void ur_mailbox_fini(struct ur_mailbox *box);
/* Ends the engine's sleep. Any thread. */
void ur_mailbox_wake(struct ur_engine *engine);
/* Returns whether a function waits to be run. A look at the doorbells after
 * this finds all that clients rang before they asked for it. Engine thread. */
bool ur_mailbox_waits(struct ur_engine *engine);
/* Runs the function that waits. Returns whether there was one. Engine
 * thread. */
bool ur_mailbox_run(struct ur_engine *engine);
/* Releases the owner lock: until ur_mailbox_acquire(), callers may be the
 * engine. Engine thread, before the system call that it sleeps in. */
void ur_mailbox_release(struct ur_engine *engine);
/* Acquires the owner lock again: a caller, or a thread of the program that polls, may
 * have been the engine meanwhile, so that objects have come and gone. Engine thread. */
void ur_mailbox_acquire(struct ur_engine *engine);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program. The program's threads run it: one that posts sends at
 * once, one that polls an empty queue takes a whole turn (ur_engine_drive()).
 * It has a thread of its own all the same, for peers whose packets come while
 * nobody polls; while somebody does, that thread only looks now and then
 * whether it is still so. After packets that nobody polled for it stays awake for 100 us, as
 * the device's engine does, since the next ones would find it asleep: a wake-up costs more
 * than they do. A program that sleeps until a completion channel has
 * an event polls for moments only: for some time after it has armed a queue the
 * thread waits for packets itself.
 *
 * The thread that runs the engine holds the owner lock of the mailbox. The
 * program's threads only ever try that lock: one that does not get it leaves
 * the work to the holder. Sleep race: the program rings a doorbell, tries the
 * lock and then reads asleep; the thread sets asleep and then reads the
 * doorbells, with a full barrier between the two on both sides.
 */
#ifndef UR_ENGINE_GUEST_H
#define UR_ENGINE_GUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include "engine/beside.h"
#include "engine/fork_rest.h"
#include "engine/post_batch.h"
#include "engine/watch.h"
#include "util/bytes.h"
#include "util/list.h"

struct ur_engine;

struct ur_guest_state {
	_Atomic u32 turns; /* by threads of the program */
	u32 seen;	   /* of them, by the thread */
	int nap_fd;	   /* epoll: call_fd alone */
	_Atomic bool naps; /* asleep, but not for packets, since somebody polls
			    */
	_Atomic bool
		waits; /* the thread, for the lock that others take and take */
	bool drives;   /* the turn is by a thread that polls */
	_Atomic pthread_t
		driver;	  /* the program's thread that has the lock; 0: none */
	u64 kept;	  /* since when an answer is kept; 0: none is */
	u32 cqes, before; /* completions written, and before this turn */
	_Atomic u32 arms; /* of queues with a channel, by the program */
	u32 arms_seen;	  /* of them, by the thread */
	u64 armed_at;	  /* when it saw the last; 0: none */
	struct ur_beside beside;
	struct ur_post_batch batch;
	struct ur_list chans;	  /* ur_echan: borrowed (lend_events.c) */
	struct ur_easync *async;  /* borrowed; NULL: none */
	struct ur_watch device;	  /* hangs up with the device */
	void (*ended)(void *arg); /* is called then, with ended_arg */
	void *ended_arg;
	int device_fd; /* -1: none */
	ino_t device_ino;
	bool device_gone; /* the next turn gives its addresses up */
	dev_t file_dev;	  /* config.file's */
	ino_t file_ino;
	_Atomic bool closed;		  /* by the program, all descriptors */
	struct ur_counter_page *counters; /* the device's memory */
	u64 *sl_refused;		  /* of it: ur_engine_sl_refused() */
	const struct ur_settings_page *settings;
	u32 settings_seen;	    /* their generation */
	u32 classes_seen;	    /* of traffic: struct ur_settings_lent */
	struct ur_lent_rule *rules; /* a copy of the device's fault rules */
	u32 gids_seen;		    /* the generation of its addresses */
	struct ur_recorder_ring *record; /* the device's memory */
	u32 record_run;			 /* the last that it saw */
	/* guest_fork.h: what it does counts there; NULL: nobody asks. */
	_Atomic u64 *acts;
	struct ur_fork_rest rest;
	int rest_fd;	/* hangs up with the child; -1: none */
	u64 end_looked; /* by the thread: guest_end.h */
};

/* Prepare an engine that is in a program, or do nothing for another one. Return
 * 0 or -errno. */
int ur_guest_init(struct ur_engine *engine);
void ur_guest_fini(struct ur_engine *engine);
/* Starts its thread. Returns 0 or -errno. */
int ur_guest_start(struct ur_engine *engine);

/* A system call on a descriptor of the engine ended with that error. In a program
 * that may say that the program has closed it, with all others: the engine does
 * nothing more then. Engine thread, or in its place. */
void ur_guest_look(struct ur_engine *engine, int error);
/* The same where the program has closed its file of the device: the slot may soon be another
 * program's. */
void ur_guest_look_at_file(struct ur_engine *engine);
/* Takes over the settings of the device where they have changed; nothing where the engine is
 * in no program. Under the owner lock. */
void ur_guest_follow(struct ur_engine *engine);
/* It has done something, or is about to, and so rests no more. Under the owner lock. */
void ur_guest_acted(struct ur_engine *engine);
/* Ends its rest after a fork (guest_fork.h). Under the owner lock. */
void ur_guest_rested(struct ur_engine *engine);
/* Until the turn ends, copies may be the processor's: for who is in none and hands in packets. As
 * ur_guest_turn_begins() otherwise. */
void ur_guest_copies_begin(struct ur_engine *engine);
/* A turn begins, and ends, in the same thread, which runs no code of the program in
 * between. Under the owner lock. */
void ur_guest_turn_begins(struct ur_engine *engine);
void ur_guest_turn_ends(struct ur_engine *engine);
/* Until it steps back, threads of the program may be the engine, but for commands. The
 * engine's own thread, between two steps of its turn. */
void ur_guest_steps_aside(struct ur_engine *engine);
void ur_guest_steps_back(struct ur_engine *engine);
/* Returns whether packets may wait for the next turn: the polling program is
 * about to get a completion, and the request that it posts then takes the
 * acknowledgement along. True for a short time only. Under the owner lock. */
bool ur_guest_keeps_answer(struct ur_engine *engine);

#endif

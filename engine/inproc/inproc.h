/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program. The program's threads run it: a post sends at once, and a poll of an empty queue
 * takes a whole turn (ur_engine_drive()). The engine has a thread of its own for packets that come
 * while nobody polls. While somebody polls, that thread naps, and receives once a millisecond; more often where
 * packets had been left to it, since a program that spins on its memory polls only between two messages. After
 * packets that nobody polled for it stays awake for 100 us, since a wake-up costs more than the next
 * packets do. For some time after the program has armed a queue the thread waits for packets itself: such a
 * program sleeps soon.
 *
 * The running thread holds the owner lock of the mailbox. A thread of the program only tries that lock; on
 * failure it leaves the work to the holder. Sleep race: the program rings a doorbell, tries the lock, then
 * reads "asleep"; the engine's thread sets "asleep", then reads the doorbells; both have a full barrier in
 * between.
 */
#ifndef UR_ENGINE_INPROC_INPROC_H
#define UR_ENGINE_INPROC_INPROC_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include "engine/core/cpu_placement.h"
#include "engine/inproc/fork_pause.h"
#include "engine/core/post_batch.h"
#include "engine/core/watch.h"
#include "engine/inproc/shared_thread.h"
#include "util/bytes.h"
#include "util/list.h"

struct ur_engine;

enum {
	UR_INPROC_WAITS =
		1, /* the engine's thread waits for the owner lock, which others keep taking */
	UR_INPROC_ALONE = 2, /* ur_inproc_alone() */
};

/* Data of nap_fd's events; 0: a call. */
enum {
	UR_NAP_CHILD = 1, /* it has ended, or runs another program */
	UR_NAP_DEVICE,	  /* it has gone */
};

struct ur_inproc {
	_Atomic u32 turns; /* turns taken by threads of the program */
	u32 seen;	   /* "turns" when the engine's thread last checked */
	u32 met;	   /* "turns" after its last turn with work */
	int nap_fd; /* epoll descriptor of call_fd, and of the ends of child and device */
	_Atomic bool
		naps; /* the thread sleeps without watching sockets: somebody polls */
	_Atomic u32
		waits; /* UR_INPROC_*: the program's threads leave the engine alone */
	bool drives; /* a polling thread takes this turn */
	_Atomic pthread_t
		driver; /* the program's thread that holds the lock; 0: none */
	u64 deferred_at; /* when an acknowledgement was first held back; 0: none is */
	u32 cqes, before; /* completions written in all; before this turn */
	_Atomic u32
		arms;  /* how often the program armed a queue with a channel */
	u32 arms_seen; /* "arms" when the thread last checked */
	u64 armed_at;  /* when the thread saw the last one; 0: never */
	bool polls; /* the engine's thread takes this turn between two naps */
	u32 nap_ns; /* length of the next nap */
	struct ur_cpu_placement placement;
	struct ur_post_batch batch;
	struct ur_list chans;  /* ur_echan of the program (program_events.c) */
	struct ur_list asyncs; /* ur_easync, the same */
	struct ur_watch
		device; /* of device_fd, which hangs up with the device */
	void (*ended)(void *arg); /* called then, with ended_arg */
	void *ended_arg;
	int device_fd; /* -1: none */
	ino_t device_ino;
	bool device_ends; /* a nap has found that its descriptor hangs up */
	bool device_gone; /* the next turn drops the device's addresses */
	dev_t file_dev;	  /* identity of config.file */
	ino_t file_ino;
	_Atomic bool closed; /* the program has closed all descriptors */
	struct ur_counter_page *counters; /* shared with the device */
	u64 *sl_refused;		  /* in it: ur_engine_sl_refused() */
	const struct ur_settings_page *settings;
	u32 settings_seen; /* generation of the settings in use */
	u32 classes_seen; /* generation of the traffic classes (struct ur_program_settings) */
	struct ur_program_rule *rules; /* a copy of the device's fault rules */
	u32 gids_seen;		       /* generation of the addresses */
	struct ur_recorder_ring *record; /* shared with the device */
	u32 record_run;			 /* number of the recording in use */
	/* Counts the engine's actions (inproc_fork.h), or NULL. */
	_Atomic u64 *acts;
	struct ur_fork_pause pause;
	int pause_fd;		      /* hangs up with the child; -1: none */
	struct ur_shared_place place; /* with config.apart */
	u64 end_checked; /* time of the thread's last ur_inproc_end_is() */
};

/* Prepare and release this part of an engine. They do nothing in uroced's engine. ur_inproc_init() returns 0 or -errno. */
int ur_inproc_init(struct ur_engine *engine);
void ur_inproc_fini(struct ur_engine *engine);
/* Starts its thread. Returns 0 or -errno. */
int ur_inproc_start(struct ur_engine *engine);

/* Handles an error of a system call on a descriptor of the engine. The program may have closed all descriptors; the engine then
 * does nothing more. Engine thread, or in its place. */
void ur_inproc_check_error(struct ur_engine *engine, int error);
/* Checks whether the program has closed its device file: its slot may soon be granted to another program. */
void ur_inproc_check_file(struct ur_engine *engine);
/* Applies changed settings of the device. Does nothing in uroced's engine. Under the owner lock. */
void ur_inproc_follow(struct ur_engine *engine);
/* Counts an action of the engine, and ends the pause after a fork. Under the owner lock. */
void ur_inproc_acted(struct ur_engine *engine);
/* Ends the pause after a fork (inproc_fork.h). Under the owner lock. */
void ur_inproc_end_pause(struct ur_engine *engine);
/* Allows direct copies outside a turn, for a caller that injects packets; otherwise as ur_inproc_turn_begins(). */
void ur_inproc_copies_begin(struct ur_engine *engine);
/* alone: from now on the engine's thread alone takes turns and runs commands, since what it does may wait for what threads of the
 * program hold (gpu/gpu.h). The first turn after this. Under the owner lock. */
void ur_inproc_alone(struct ur_engine *engine, bool alone);
bool ur_inproc_is_alone(const struct ur_engine *engine);
/* Begin and end a turn in one thread, which runs no code of the program in between. Under the owner lock. */
void ur_inproc_turn_begins(struct ur_engine *engine);
void ur_inproc_turn_ends(struct ur_engine *engine);
/* Release and retake the owner lock in the middle of a turn: threads of the program may run the engine meanwhile, commands may
 * not. The engine's own thread. */
void ur_inproc_steps_aside(struct ur_engine *engine);
void ur_inproc_steps_back(struct ur_engine *engine);
/* Returns whether acknowledgements may wait for the next turn: the polling program is about to get a completion, and they leave
 * with the request that it then posts. True for a short time only. Under the owner lock. */
bool ur_inproc_defers_ack(struct ur_engine *engine);

#endif

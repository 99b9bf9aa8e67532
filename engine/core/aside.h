/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Bursts that are sent without the owner lock. Where several threads of a program run its engine, a
 * thread fills a burst buffer in its turn, ends the turn, and then computes the ICRCs and makes the
 * system call, while another thread has its turn. The queue pairs of such a burst are inactive until
 * it was sent (ur_tx.senders), so their packets stay in order. A thread gets the same buffer each time,
 * which its processor's caches may still have.
 *
 * The next turn, of any thread, finishes a burst that was sent. Until then no command runs: it could
 * destroy a queue pair, region or socket that the burst uses. While a command waits, no further burst is
 * put aside.
 *
 * All functions: under the owner lock, unless a comment says otherwise.
 */
#ifndef UR_ENGINE_CORE_ASIDE_H
#define UR_ENGINE_CORE_ASIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include "engine/inproc/chores.h"
#include "transport/transport.h"
#include "util/list.h"

struct ur_engine;
struct ur_udp_pack;

/* Most bursts aside at once. */
#define UR_ASIDES 8u

struct ur_aside {
	/* The burst's packets; if there is no burst, an empty buffer, which a fill exchanges for
	 * engine->tx. */
	struct ur_tx tx;
	struct ur_udp_pack *pack;
	pthread_t user; /* the thread that had it last */
	struct ur_list senders;
	u32 done;	   /* packets that have left */
	_Atomic u32 state; /* aside.c */
};

struct ur_asides {
	struct ur_aside *set[UR_ASIDES];
	u32 n;	   /* buffers */
	u32 away;  /* bursts that are not finished */
	u64 count; /* all bursts so far; for tests */
	/* The burst that this turn's thread sends after its turn. */
	struct ur_aside *mine;
	bool may;	    /* this turn's thread can send without the lock */
	bool stopped;	    /* no further burst until all are finished */
	_Atomic bool quiet; /* a fork waits for that */
	_Atomic u32 left;   /* bursts that were sent and are to be finished */
	/* How many more bursts are put aside, since two threads wanted the lock lately. */
	_Atomic u32 meetings;
	struct ur_chore more; /* allocates a further buffer */
};

void ur_asides_init(struct ur_engine *engine);
void ur_asides_fini(struct ur_engine *engine);

/* Records that a thread of the program found another thread running the engine. Any thread. */
void ur_aside_met(struct ur_engine *engine);
/* Prepares a fill to be put aside: exchanges engine->tx, which is empty, for the buffer of a free entry.
 * Returns the entry, or NULL: the fill must be sent in this turn. The entry stays free until
 * ur_aside_take(). */
struct ur_aside *ur_aside_begin(struct ur_engine *engine);
/* Puts the fill in engine->tx aside, and restores engine->tx. Returns false if that is not possible: the
 * fill must be sent in this turn. */
bool ur_aside_take(struct ur_engine *engine, struct ur_aside *aside);
/* Sends the burst. Called by the thread that put it aside, without the owner lock. */
void ur_aside_send(struct ur_engine *engine, struct ur_aside *aside);
/* Finishes bursts that were sent. Returns how many were not yet sent. */
u32 ur_asides_end(struct ur_engine *engine);
/* Returns whether bursts were sent and wait for a turn to finish them. Any thread. */
static inline bool ur_asides_wait(const struct ur_asides *asides)
{
	return atomic_load_explicit(&asides->left, memory_order_relaxed);
}

#endif

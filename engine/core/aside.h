/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Bursts that leave without the owner lock. Where several threads of a program run its engine, one
 * fills a buffer of its own, ends its turn, and computes the ICRCs and makes the system call after that,
 * while another thread has its own turn. The queue pairs of such a burst are not active until it has left
 * (ur_tx.senders), so their packets stay in order. A thread has the same buffer each time, since its
 * processor's caches have that.
 *
 * The next turn, of whatever thread, ends a burst that has left. No command runs before that: it could
 * end a queue pair, a region or a socket of the burst's. For the same reason no burst begins to leave
 * aside while a command waits.
 *
 * All functions without another remark: under the owner lock.
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
	/* The burst; else an empty buffer, which a fill exchanges for engine->tx. */
	struct ur_tx tx;
	struct ur_udp_pack *pack;
	pthread_t user; /* the thread that had it last */
	struct ur_list senders;
	u32 done;	   /* packets that have left */
	_Atomic u32 state; /* aside.c */
};

struct ur_asides {
	struct ur_aside *set[UR_ASIDES];
	u32 n;	   /* sets */
	u32 away;  /* bursts that have not been ended */
	u64 count; /* bursts that have left aside. For the tests */
	/* The burst that this turn's thread sends after it. */
	struct ur_aside *mine;
	bool may;	    /* that thread can */
	bool stopped;	    /* the engine waits until all are ended */
	_Atomic bool quiet; /* a fork waits for that */
	_Atomic u32 left;   /* bursts that have left, and not been looked at */
	/* Bursts that may leave aside, since threads have met lately. */
	_Atomic u32 meetings;
	struct ur_chore more; /* makes a set */
};

void ur_asides_init(struct ur_engine *engine);
void ur_asides_fini(struct ur_engine *engine);

/* Notes that a thread of the program has found another one running the engine. Any thread. */
void ur_aside_met(struct ur_engine *engine);
/* Returns a set for the next fill, whose buffer is in engine->tx then, which was empty; or NULL: the fill
 * is sent in this turn. The fill need not be taken: the set is still free. */
struct ur_aside *ur_aside_begin(struct ur_engine *engine);
/* The fill, which is in engine->tx, leaves aside, and engine->tx is the empty buffer that it was before.
 * Or returns false, and the fill has to be sent. */
bool ur_aside_take(struct ur_engine *engine, struct ur_aside *aside);
/* Sends the burst. The thread whose turn took it, without the owner lock. */
void ur_aside_send(struct ur_engine *engine, struct ur_aside *aside);
/* Ends bursts that have left. Returns how many have not. */
u32 ur_asides_end(struct ur_engine *engine);
/* Returns whether bursts have left, and wait for a turn. Any thread. */
static inline bool ur_asides_wait(const struct ur_asides *asides)
{
	return atomic_load_explicit(&asides->left, memory_order_relaxed);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Bursts that leave without the owner lock: their sets, and their ends. */
#include "engine/core/aside.h"

#include <stdlib.h>
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"

/* Bursts that may leave aside after a meeting of two threads. */
#define MEETING 256u
/* Shorter ones are sent at once: the system call is most of what they cost. */
#define LEAST_BYTES 512u

/* Of a set. Only LEAVES becomes LEFT without the owner lock. */
enum {
	FREE,
	LEAVES,
	LEFT,
	STUCK, /* it has left in part; the rest waits for engine->tx */
};

/* Returns the one wire that may pack. */
static struct ur_wire *wire_of(const struct ur_engine *e)
{
	return e->wires[UR_GID_ROCE_V2];
}

static void free_set(struct ur_aside *a)
{
	if (!a)
		return;
	free(a->tx.buf);
	free(a->tx.desc);
	free(a->pack);
	free(a);
}

static struct ur_aside *new_set(const struct ur_engine *e)
{
	struct ur_aside *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->tx.cap = e->tx.cap;
	a->tx.max_desc = e->tx.max_desc;
	a->pack = wire_of(e)->packing->pack_new();
	a->tx.desc = calloc(a->tx.max_desc, sizeof(*a->tx.desc));
	if (!a->pack || !a->tx.desc ||
	    posix_memalign((void **)&a->tx.buf, 4096, a->tx.cap)) {
		a->tx.buf = NULL;
		free_set(a);
		return NULL;
	}
	ur_list_init(&a->senders);
	return a;
}

/* A thread of the program must not allocate memory: it may be in a signal handler. */
static void make_set(struct ur_engine *e, struct ur_chore *chore)
{
	struct ur_asides *s = &e->asides;

	if (s->n == UR_ASIDES)
		return;
	s->set[s->n] = new_set(e);
	if (s->set[s->n])
		s->n++;
}

void ur_asides_init(struct ur_engine *e)
{
	e->asides.more.run = make_set;
}

void ur_asides_fini(struct ur_engine *e)
{
	for (u32 i = 0; i < e->asides.n; i++)
		free_set(e->asides.set[i]);
}

void ur_aside_met(struct ur_engine *e)
{
	_Atomic u32 *meetings = &e->asides.meetings;

	if (atomic_load_explicit(meetings, memory_order_relaxed) < MEETING / 2)
		atomic_store_explicit(meetings, MEETING, memory_order_relaxed);
}

static bool may_begin(struct ur_engine *e)
{
	const struct ur_wire *wire = wire_of(e);
	const struct ur_asides *s = &e->asides;

	return wire && wire->packing->pack && s->may && !s->mine &&
	       !s->stopped && !atomic_load(&s->quiet) && !e->faults &&
	       !e->tx_little &&
	       !atomic_load_explicit(&e->mailbox.pending, memory_order_relaxed);
}

/* Returns the free set that this thread had last, whose buffer its processor's caches may have; else
 * one that another thread had; NULL: none is free. */
static struct ur_aside *free_one(const struct ur_asides *s)
{
	struct ur_aside *free = NULL;

	for (u32 i = 0; i < s->n; i++) {
		struct ur_aside *a = s->set[i];

		if (atomic_load_explicit(&a->state, memory_order_relaxed) !=
		    FREE)
			continue;
		free = a;
		if (pthread_equal(a->user, pthread_self()))
			break;
	}
	return free;
}

static void swap_tx(struct ur_engine *e, struct ur_aside *a)
{
	struct ur_tx tx = e->tx;

	e->tx = a->tx;
	a->tx = tx;
}

struct ur_aside *ur_aside_begin(struct ur_engine *e)
{
	struct ur_asides *s = &e->asides;
	u32 meetings = atomic_load_explicit(&s->meetings, memory_order_relaxed);
	struct ur_aside *a;

	if (!meetings || !may_begin(e))
		return NULL;
	atomic_store_explicit(&s->meetings, meetings - 1, memory_order_relaxed);
	a = free_one(s);
	if (a) {
		a->user = pthread_self();
		swap_tx(e, a);
	} else if (s->n < UR_ASIDES) {
		ur_chore_ask(e, &s->more);
	}
	return a;
}

bool ur_aside_take(struct ur_engine *e, struct ur_aside *a)
{
	struct ur_wire *wire = wire_of(e);
	struct ur_tx *tx = &a->tx;

	if (e->tx.used < LEAST_BYTES ||
	    !wire->packing->pack(wire, &e->tx, a->pack))
		return false;
	swap_tx(e, a);
	for (u32 i = 0; i < tx->n_desc; i++)
		ur_av_get((struct ur_av *)tx->desc[i].av);
	atomic_store_explicit(&a->state, LEAVES, memory_order_relaxed);
	e->asides.away++;
	e->asides.count++;
	e->asides.mine = a;
	return true;
}

void ur_aside_send(struct ur_engine *e, struct ur_aside *a)
{
	a->done = wire_of(e)->packing->pack_send(a->pack, &a->tx);
	atomic_store(&a->state, LEFT);
	atomic_fetch_add(&e->asides.left, 1);
}

static void end(struct ur_engine *e, struct ur_aside *a)
{
	wire_of(e)->packing->pack_end(a->pack);
	ur_port_go_on(e->port, &a->senders);
	atomic_store_explicit(&a->state, FREE, memory_order_relaxed);
	e->asides.away--;
}

static void put_avs(const struct ur_tx *tx)
{
	for (u32 i = 0; i < tx->n_desc; i++)
		ur_av_put((struct ur_av *)tx->desc[i].av);
}

/* What found no room, or was refused, is sent by the next turns as their own. */
static void take_back(struct ur_engine *e, struct ur_aside *a)
{
	if (e->tx_blocked)
		return;
	swap_tx(e, a);
	e->tx_blocked = true;
	e->tx_sent = a->done;
	e->tx_wait_fd = -1;
	end(e, a);
}

u32 ur_asides_end(struct ur_engine *e)
{
	struct ur_asides *s = &e->asides;

	for (u32 i = 0; s->away && i < s->n; i++) {
		struct ur_aside *a = s->set[i];
		u32 state = atomic_load(&a->state);

		if (state == LEFT) {
			atomic_fetch_sub(&s->left, 1);
			state = STUCK;
			atomic_store(&a->state, STUCK);
			if (a->done == a->tx.n_desc) {
				put_avs(&a->tx);
				a->tx.n_desc = a->tx.used = 0;
				end(e, a);
				continue;
			}
		}
		if (state == STUCK)
			take_back(e, a);
	}
	return s->away;
}

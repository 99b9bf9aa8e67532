// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The other engines of a process whose thread polls. A program with two contexts that waits for
 * one of them waits for the other as well, where they talk to each other: on few processors the
 * thread of that engine would have to take this one from who polls, or find it a millisecond
 * later that nobody polls there any more. So who has polled in vain for a while takes turns for
 * those engines that nobody else polls.
 *
 * No lock is held meanwhile: who visits an engine is counted, and who ends it waits for the
 * visitors. In a child of fork a visitor may be a thread that is not there: nobody visits or
 * waits there.
 */
#include <sched.h>
#include <stdatomic.h>
#include "engine/inproc/door/process.h"

/* Engines beyond these are left to their threads. */
#define SEATS 8u
/* One of so many polls in vain visits. */
#define VISIT_EVERY 8u

static struct seat {
	_Atomic(struct uroce_guest *) guest;
	_Atomic u32 visitors;
	_Atomic u32 turns; /* of its program's threads, at the last visit */
} seats[SEATS];
static _Atomic u32 taken;
static _Atomic bool is_child;

void ur_process_others_forked(void)
{
	atomic_store(&is_child, true);
}

void ur_process_others_add(struct uroce_guest *g)
{
	for (u32 i = 0; i < SEATS; i++) {
		struct uroce_guest *none = NULL;

		if (!atomic_compare_exchange_strong(&seats[i].guest, &none, g))
			continue;
		atomic_fetch_add(&taken, 1);
		return;
	}
}

void ur_process_others_del(const struct uroce_guest *g)
{
	for (u32 i = 0; i < SEATS; i++) {
		if (atomic_load(&seats[i].guest) != g)
			continue;
		atomic_store(&seats[i].guest, NULL);
		atomic_fetch_sub(&taken, 1);
		while (atomic_load(&seats[i].visitors) &&
		       !atomic_load(&is_child))
			sched_yield();
	}
}

static void visit(struct seat *p, const struct uroce_guest *from)
{
	struct uroce_guest *g;

	atomic_fetch_add(&p->visitors, 1);
	g = atomic_load(&p->guest);
	if (g && g != from && *g->own) {
		if (atomic_load(&p->turns) == ur_engine_turns(g->engine))
			ur_engine_drive(g->engine, false);
		atomic_store(&p->turns, ur_engine_turns(g->engine));
	}
	atomic_fetch_sub(&p->visitors, 1);
}

/* Where several threads poll, a count may be lost. */
static bool has_patience(struct uroce_guest *g)
{
	u32 n = atomic_load_explicit(&g->vain, memory_order_relaxed) + 1;

	atomic_store_explicit(&g->vain, n, memory_order_relaxed);
	return n % VISIT_EVERY;
}

void ur_process_visit_others(struct uroce_guest *from)
{
	if (atomic_load_explicit(&taken, memory_order_relaxed) < 2 ||
	    has_patience(from) ||
	    atomic_load_explicit(&is_child, memory_order_relaxed))
		return;
	for (u32 i = 0; i < SEATS; i++)
		visit(&seats[i], from);
}

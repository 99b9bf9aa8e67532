// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The other engines of a process whose thread polls. If two contexts of a program talk to each
 * other, a thread that polls one of them waits for the other's engine too. On few processors the
 * own thread of that engine would have to take the processor from the polling thread, and may
 * notice only after a millisecond that nobody polls there. So a thread that has polled in vain for
 * a while takes turns for engines that nobody else polls.
 *
 * No lock is held meanwhile: visitors of an engine are counted, and its end waits for them. In a
 * child of fork a counted visitor may be a thread of the parent, so nobody visits or waits there.
 */
#include <sched.h>
#include <stdatomic.h>
#include "engine/inproc/ops/process.h"

/* Most engines that are visited; others are left to their own threads. */
#define SEATS 8u
/* Polls in vain between two visits. */
#define VISIT_EVERY 8u

static struct seat {
	_Atomic(struct uroce_ectx *) ctx;
	_Atomic u32 visitors;
	_Atomic u32 turns; /* ur_engine_turns() at the last visit */
} seats[SEATS];
static _Atomic u32 taken;
static _Atomic bool is_child;

void ur_process_cross_poll_forked(void)
{
	atomic_store(&is_child, true);
}

void ur_process_cross_poll_add(struct uroce_ectx *g)
{
	for (u32 i = 0; i < SEATS; i++) {
		struct uroce_ectx *none = NULL;

		if (!atomic_compare_exchange_strong(&seats[i].ctx, &none, g))
			continue;
		atomic_fetch_add(&taken, 1);
		return;
	}
}

void ur_process_cross_poll_del(const struct uroce_ectx *g)
{
	for (u32 i = 0; i < SEATS; i++) {
		if (atomic_load(&seats[i].ctx) != g)
			continue;
		atomic_store(&seats[i].ctx, NULL);
		atomic_fetch_sub(&taken, 1);
		while (atomic_load(&seats[i].visitors) &&
		       !atomic_load(&is_child))
			sched_yield();
	}
}

static void visit(struct seat *p, const struct uroce_ectx *from)
{
	struct uroce_ectx *g;

	atomic_fetch_add(&p->visitors, 1);
	g = atomic_load(&p->ctx);
	if (g && g != from && *g->own) {
		if (atomic_load(&p->turns) == ur_engine_turns(g->engine))
			ur_engine_drive(g->engine, false);
		atomic_store(&p->turns, ur_engine_turns(g->engine));
	}
	atomic_fetch_sub(&p->visitors, 1);
}

/* Counts a poll. If several threads poll, a count may be lost, which does no harm. */
static bool has_patience(struct uroce_ectx *g)
{
	u32 n = atomic_load_explicit(&g->vain, memory_order_relaxed) + 1;

	atomic_store_explicit(&g->vain, n, memory_order_relaxed);
	return n % VISIT_EVERY;
}

void ur_process_cross_poll(struct uroce_ectx *from)
{
	if (atomic_load_explicit(&taken, memory_order_relaxed) < 2 ||
	    has_patience(from) ||
	    atomic_load_explicit(&is_child, memory_order_relaxed))
		return;
	for (u32 i = 0; i < SEATS; i++)
		visit(&seats[i], from);
}

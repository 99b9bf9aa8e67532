// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fault rules for engines in programs: both sides. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/program_page.h"
#include "util/assert.h"

/* Limit of a believable count, so that sums do not overflow. */
#define COUNT_MAX (1ull << 48)

struct ur_program_fault {
	struct ur_engine *engine;
	u32 place;
	u64 id;
	struct ur_fault_rule rule;
	struct ur_shown_fault gone;	      /* sums of ended programs */
	struct ur_shown_fault seen[UR_SLOTS]; /* highest values read */
};

int ur_program_fault_add(struct ur_engine *engine,
			 const struct ur_fault_rule *rule,
			 struct ur_program_fault **ret)
{
	struct ur_program_fault *f;
	u32 place = 0;

	while (place < UR_PROGRAM_FAULTS && engine->program_faults[place])
		place++;
	if (place == UR_PROGRAM_FAULTS)
		return -ENOSPC;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->engine = engine;
	f->place = place;
	f->id = ++engine->last_program_fault;
	f->rule = *rule;
	engine->program_faults[place] = f;
	*ret = f;
	return 0;
}

void ur_program_fault_del(struct ur_program_fault *fault)
{
	if (!fault)
		return;
	ur_assert(fault->engine->program_faults[fault->place] == fault);
	fault->engine->program_faults[fault->place] = NULL;
	free(fault);
}

void ur_program_faults_fini(struct ur_engine *engine)
{
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++)
		ur_program_fault_del(engine->program_faults[i]);
}

static void see_count(u64 *seen, const u64 *shown)
{
	u64 now = ur_shown_value(shown);

	if (now > *seen && now < COUNT_MAX)
		*seen = now;
}

static void look_at(struct ur_program_fault *f, u32 slot)
{
	const struct ur_counter_page *page = ur_counters_page(f->engine, slot);
	const struct ur_shown_fault *shown;

	if (!page)
		return;
	shown = &page->fault[f->place];
	if (ur_shown_value(&shown->id) != f->id)
		return;
	see_count(&f->seen[slot].matched, &shown->matched);
	see_count(&f->seen[slot].done, &shown->done);
}

void ur_program_fault_counts(struct ur_program_fault *f, u64 *matched,
			     u64 *done)
{
	*matched += f->gone.matched;
	*done += f->gone.done;
	for (u32 slot = 1; slot < UR_SLOTS; slot++) {
		look_at(f, slot);
		*matched += f->seen[slot].matched;
		*done += f->seen[slot].done;
	}
}

void ur_program_faults_end(struct ur_engine *engine, u32 slot)
{
	ur_assert(slot && slot < UR_SLOTS);
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++) {
		struct ur_program_fault *f = engine->program_faults[i];

		if (!f)
			continue;
		look_at(f, slot);
		f->gone.matched += f->seen[slot].matched;
		f->gone.done += f->seen[slot].done;
		f->seen[slot] = (struct ur_shown_fault){0};
	}
}

void ur_program_fault_rules(struct ur_engine *engine,
			    struct ur_program_rule *rules)
{
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++) {
		struct ur_program_fault *f = engine->program_faults[i];
		struct ur_program_rule *r = &rules[i];

		if (!f)
			continue;
		r->id = f->id;
		r->rule = f->rule;
		ur_program_fault_counts(f, &r->matched, &r->done);
	}
}

/* ---- the program ---- */

static void put_count(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

void ur_faults_show_new(struct ur_counter_page *page, u32 place, u64 id)
{
	put_count(&page->fault[place].id, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	ur_faults_show(page, place, 0, 0);
	__atomic_store_n(&page->fault[place].id, id, __ATOMIC_RELEASE);
}

void ur_faults_show(struct ur_counter_page *page, u32 place, u64 matched,
		    u64 done)
{
	ur_assert(place < UR_PROGRAM_FAULTS);
	put_count(&page->fault[place].matched, matched);
	put_count(&page->fault[place].done, done);
}

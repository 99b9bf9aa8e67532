// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The fault rules of an engine: their list, and in a program those of the device. */
#include <errno.h>
#include <stdlib.h>
#include "engine/faults/faults.h"
#include "engine/grant/program_faults.h"
#include "engine/core/engine_impl.h"

int ur_faults_begin(struct ur_engine *e)
{
	struct ur_faults *faults;

	if (e->faults)
		return 0;
	faults = calloc(1, sizeof(*faults));
	if (!faults)
		return -ENOMEM;
	faults->spoiled = calloc((e->tx.max_desc + 63) / 64, sizeof(u64));
	if (!faults->spoiled) {
		free(faults);
		return -ENOMEM;
	}
	ur_list_init(&faults->rules);
	ur_list_init(&faults->held);
	ur_list_init(&faults->held_in);
	ur_list_init(&faults->late_cqs);
	ur_list_init(&faults->waiting);
	ur_list_init(&faults->ordered);
	e->faults = faults;
	return 0;
}

static int fault_add(struct ur_engine *e, struct ur_efault *f)
{
	int err = ur_faults_begin(e);

	ur_list_init(&f->node);
	if (err)
		return err;
	ur_list_add_tail(&e->faults->rules, &f->node);
	e->kind->ruled(e);
	return 0;
}
UR_ENGINE_CALL(1, fault_add, struct ur_efault *);

static int fault_del(struct ur_engine *e, struct ur_efault *f)
{
	ur_list_del(&f->node);
	free(f);
	if (e->faults)
		e->kind->ruled(e);
	return 0;
}
UR_ENGINE_CALL(1, fault_del, struct ur_efault *);

int ur_engine_fault_add(struct ur_engine *engine,
			const struct ur_fault_rule *rule,
			struct ur_efault **fault)
{
	struct ur_efault *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->engine = engine;
	f->rule = *rule;
	ur_fault_begin(&f->state, rule);
	err = call_fault_add(engine, f);
	if (err) {
		free(f);
		return err;
	}
	err = ur_program_fault_add(engine, rule, &f->program);
	if (err) {
		ur_engine_fault_del(engine, f);
		return err;
	}
	ur_settings_show(engine);
	*fault = f;
	return 0;
}

void ur_engine_fault_del(struct ur_engine *engine, struct ur_efault *fault)
{
	if (!fault)
		return;
	ur_program_fault_del(fault->program);
	ur_settings_show(engine);
	call_fault_del(engine, fault);
}

/* ---- in a program ---- */

static bool has_rule(const struct ur_engine *e, u64 id)
{
	if (!e->faults)
		return false;
	ur_list_for_each(it, &e->faults->rules)
		if (ur_list_entry(it, struct ur_efault, node)->id == id)
			return true;
	return false;
}

/* Continues the counts of earlier programs, so that after, nth and count hold across programs. Without
 * memory the program has no such rule, which shows in its counts. */
static void begin_granted(struct ur_engine *e,
			  const struct ur_program_rule *published, u32 place)
{
	struct ur_efault *f = calloc(1, sizeof(*f));

	if (!f)
		return;
	f->engine = e;
	f->rule = published->rule;
	f->id = published->id;
	f->place = place;
	ur_fault_begin(&f->state, &f->rule);
	f->since[0] = f->state.matched = published->matched;
	f->since[1] = f->state.done = published->done;
	if (fault_add(e, f)) {
		free(f);
		return;
	}
	ur_faults_show_new(e->inproc.counters, place, f->id);
}

static void end_granted(struct ur_engine *e,
			const struct ur_program_rule *rules)
{
	ur_list_for_each_safe(it, &e->faults->rules) {
		struct ur_efault *f = ur_list_entry(it, struct ur_efault, node);

		if (rules[f->place].id != f->id)
			fault_del(e, f);
	}
}

void ur_faults_follow(struct ur_engine *e, const struct ur_program_rule *rules)
{
	if (e->faults)
		end_granted(e, rules);
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++)
		if (rules[i].id && !has_rule(e, rules[i].id))
			begin_granted(e, &rules[i], i);
}

/* ---- counts ---- */

void ur_efault_counts(const struct ur_efault *fault, u64 *matched, u64 *done)
{
	*matched = *done = 0;
	if (!fault)
		return;
	if (fault->program)
		ur_program_fault_counts(fault->program, matched, done);
	*matched += __atomic_load_n(&fault->state.matched, __ATOMIC_RELAXED);
	*done += __atomic_load_n(&fault->state.done, __ATOMIC_RELAXED);
}

void ur_faults_fini(struct ur_engine *e)
{
	struct ur_faults *faults = e->faults;

	if (!faults)
		return;
	ur_faults_drop_held(e);
	while (!ur_list_empty(&faults->rules)) {
		struct ur_efault *f =
			ur_list_first(&faults->rules, struct ur_efault, node);

		ur_list_del(&f->node);
		free(f);
	}
	free(faults->spoiled);
	free(faults);
	e->faults = NULL;
}

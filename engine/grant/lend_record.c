// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The flight recorder of engines in programs: their rings, by slots. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/lend_record.h"
#include "engine/grant/lend_settings.h"
#include "engine/ground/lent_record.h"
#include "util/assert.h"
#include "util/os/clock.h"

static void forget(struct ur_engine *e, u32 slot)
{
	ur_lent_record_put(e->record_loans[slot]);
	e->record_loans[slot] = NULL;
}

int ur_record_lend(struct ur_engine *engine, u32 slot, uid_t uid, pid_t pid,
		   int *fd)
{
	const struct ur_record_whose whose = {
		.first_qpn = ur_slot_first(slot),
		.last_qpn = ur_slot_first(slot) +
			    (1u << (24 - ur_slot_bits(slot))) - 1,
		.small = ur_slot_is_small(slot),
		.uid = uid,
		.pid = pid,
		.since = ur_clock_ns(CLOCK_MONOTONIC),
	};
	int err;

	ur_assert(slot && slot < UR_SLOTS);
	forget(engine, slot);
	err = ur_lent_record_create(&whose, &engine->record_loans[slot]);
	if (!err)
		*fd = ur_lent_record_fd(engine->record_loans[slot]);
	return err;
}

void ur_record_lend_end(struct ur_engine *engine, u32 slot)
{
	struct ur_lent_record *rec;

	ur_assert(slot && slot < UR_SLOTS);
	rec = engine->record_loans[slot];
	if (!rec)
		return;
	if (engine->shown_record_kib)
		ur_lent_record_close(rec);
	else
		forget(engine, slot);
}

void ur_record_lend_begin(struct ur_engine *engine, u32 kib)
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		if (engine->record_loans[slot] &&
		    ur_lent_record_fd(engine->record_loans[slot]) < 0)
			forget(engine, slot);
	engine->shown_record_kib = kib;
	engine->shown_record_run++;
	ur_settings_show(engine);
}

void ur_record_lend_fini(struct ur_engine *engine)
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		forget(engine, slot);
}

u32 ur_engine_record_lent(const struct ur_engine *engine,
			  struct ur_lent_record *list[UR_SLOTS], u32 *run)
{
	u32 n = 0;

	*run = engine->shown_record_run;
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		if (!engine->record_loans[slot])
			continue;
		ur_lent_record_keep(engine->record_loans[slot]);
		list[n++] = engine->record_loans[slot];
	}
	return n;
}

bool ur_engine_record_failed(struct ur_engine *engine)
{
	bool any = false;

	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		if (engine->record_loans[slot])
			any |= ur_lent_record_failed(
				engine->record_loans[slot]);
	return any;
}

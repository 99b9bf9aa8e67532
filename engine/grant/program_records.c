// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The flight recorder of engines in programs: their rings, by slots. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_records.h"
#include "engine/grant/program_settings.h"
#include "engine/ground/program_record.h"
#include "util/assert.h"
#include "util/os/clock.h"

static void forget(struct ur_engine *e, u32 slot)
{
	ur_program_record_put(e->program_records[slot]);
	e->program_records[slot] = NULL;
}

int ur_record_grant(struct ur_engine *engine, u32 slot, uid_t uid, pid_t pid,
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
	err = ur_program_record_create(&whose, &engine->program_records[slot]);
	if (!err)
		*fd = ur_program_record_fd(engine->program_records[slot]);
	return err;
}

void ur_record_grant_end(struct ur_engine *engine, u32 slot)
{
	struct ur_program_record *rec;

	ur_assert(slot && slot < UR_SLOTS);
	rec = engine->program_records[slot];
	if (!rec)
		return;
	if (engine->shown_record_kib)
		ur_program_record_close(rec);
	else
		forget(engine, slot);
}

void ur_record_grant_begin(struct ur_engine *engine, u32 kib)
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		if (engine->program_records[slot] &&
		    ur_program_record_fd(engine->program_records[slot]) < 0)
			forget(engine, slot);
	engine->shown_record_kib = kib;
	engine->shown_record_run++;
	ur_settings_show(engine);
}

void ur_record_grant_fini(struct ur_engine *engine)
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		forget(engine, slot);
}

u32 ur_engine_program_records(const struct ur_engine *engine,
			      struct ur_program_record *list[UR_SLOTS],
			      u32 *run)
{
	u32 n = 0;

	*run = engine->shown_record_run;
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		if (!engine->program_records[slot])
			continue;
		ur_program_record_keep(engine->program_records[slot]);
		list[n++] = engine->program_records[slot];
	}
	return n;
}

bool ur_engine_record_failed(struct ur_engine *engine)
{
	bool any = false;

	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		if (engine->program_records[slot])
			any |= ur_program_record_failed(
				engine->program_records[slot]);
	return any;
}

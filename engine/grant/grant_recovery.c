// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The grants of a device outlive uroced: the next one restores them here. */
#include <errno.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/program_counters.h"
#include "engine/grant/slot_numbers.h"
#include "engine/grant/program_settings.h"
#include "engine/wire/udp_local.h"
#include "engine/wire/wire.h"

void ur_engine_left(int ports)
{
	ur_udp_local_left(ports);
}

/* Restores a slot. Returns the descriptor that hangs up with its program, or -1: the grant must end. */
static int inherit_slot(struct ur_engine *engine, u32 slot,
			struct ur_kept_liveness *liveness)
{
	struct ur_kept what = ur_grant_liveness(engine, slot);
	int fd = ur_keep_take(&what);

	if (fd < 0)
		return -1;
	*liveness = (struct ur_kept_liveness){fd, (uid_t)(what.value >> 32),
					      (pid_t)(u32)what.value};
	if (slot >= UR_SLOT_FIRST && engine->numbers &&
	    !ur_counters_inherit(engine, slot)) {
		engine->granted_to[slot] = liveness->uid;
		return fd;
	}
	ur_keep_drop(&what);
	close(fd);
	return -1;
}

void ur_engine_inherit(struct ur_engine *engine, struct ur_slot_set *slots,
		       struct ur_kept_liveness liveness[UR_SLOTS])
{
	ur_assert(!ur_slot_set_any(&engine->slots));
	*slots = (struct ur_slot_set){0};
	if (!engine->local_device || !engine->settings)
		return;
	ur_slot_numbers_inherit(engine);
	for (u32 slot = 1; slot < UR_SLOTS; slot++) {
		if (inherit_slot(engine, slot, &liveness[slot]) >= 0)
			ur_slot_set_add(slots, slot);
		else if (slot >= UR_SLOT_FIRST &&
			 (slot < UR_SHARED_FIRST || ur_slot_is_small(slot)))
			ur_grant_unuse(engine, slot);
	}
	engine->slots = *slots;
}

int ur_engine_gid_at(const struct ur_engine *engine, const u8 gid[16])
{
	return engine->inherits ? ur_settings_gid_at(engine, gid) : -1;
}

bool ur_engine_gid_known(const struct ur_engine *engine, u32 index)
{
	static const u8 none[16];

	return engine->inherits &&
	       !ur_program_gids_has(ur_settings_gids(engine->settings), index,
				    none);
}

static int end_leftovers(struct ur_engine *engine)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	wire->granting->recovery_done(wire, &engine->slots);
	return 0;
}
UR_ENGINE_CALL(0, end_leftovers);

void ur_engine_recovery_done(struct ur_engine *engine)
{
	if (!engine->local_device)
		return;
	call_end_leftovers(engine);
	if (engine->inherits)
		ur_settings_recovery_done(engine);
}

void ur_engine_recovery_done_all(void)
{
	ur_udp_local_recovery_done();
	ur_keep_forget();
}

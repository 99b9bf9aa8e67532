// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The grants of a device outlive uroced: the next one restores them here. */
#include <errno.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/lend_counters.h"
#include "engine/grant/lend_numbers.h"
#include "engine/grant/lend_settings.h"
#include "engine/wire/udp_own.h"
#include "engine/wire/wire.h"

void ur_engine_left(int ports)
{
	ur_udp_own_left(ports);
}

/* Restores a slot. Returns the descriptor that hangs up with its program, or -1: the grant must end. */
static int inherit_slot(struct ur_engine *engine, u32 slot,
			struct ur_kept_life *life)
{
	struct ur_kept what = ur_lend_life(engine, slot);
	int fd = ur_keep_take(&what);

	if (fd < 0)
		return -1;
	*life = (struct ur_kept_life){fd, (uid_t)(what.value >> 32),
				      (pid_t)(u32)what.value};
	if (slot >= UR_LEND_FIRST && engine->numbers &&
	    !ur_counters_inherit(engine, slot)) {
		engine->lent_to[slot] = life->uid;
		return fd;
	}
	ur_keep_drop(&what);
	close(fd);
	return -1;
}

void ur_engine_inherit(struct ur_engine *engine, struct ur_slot_set *slots,
		       struct ur_kept_life life[UR_SLOTS])
{
	ur_assert(!ur_slot_set_any(&engine->slots));
	*slots = (struct ur_slot_set){0};
	if (!engine->lent_device || !engine->settings)
		return;
	ur_lent_numbers_inherit(engine);
	for (u32 slot = 1; slot < UR_SLOTS; slot++) {
		if (inherit_slot(engine, slot, &life[slot]) >= 0)
			ur_slot_set_add(slots, slot);
		else if (slot >= UR_LEND_FIRST &&
			 (slot < UR_SHARED_FIRST || ur_slot_is_small(slot)))
			ur_lend_rest(engine, slot);
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
	       !ur_lent_gids_has(ur_settings_gids(engine->settings), index,
				 none);
}

static int end_leftovers(struct ur_engine *engine)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	wire->lending->settle(wire, &engine->slots);
	return 0;
}
UR_ENGINE_CALL(0, end_leftovers);

void ur_engine_recovery_done(struct ur_engine *engine)
{
	if (!engine->lent_device)
		return;
	call_end_leftovers(engine);
	if (engine->inherits)
		ur_settings_recovery_done(engine);
}

void ur_engine_recovery_done_all(void)
{
	ur_udp_own_settle();
	ur_keep_forget();
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Grants of slots and sockets: the device's side and the program's. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/program_counters.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/slot_numbers.h"
#include "engine/grant/program_records.h"
#include "engine/grant/program_settings.h"
#include "engine/wire/udp_local.h"
#include "engine/wire/wire.h"

_Static_assert(UR_PLACES <= 32, "large slots are bits of 32");

static int grant_port(struct ur_engine *engine, struct ur_grant *grant)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->granting->grant_port(wire, grant);
}
UR_ENGINE_CALL(1, grant_port, struct ur_grant *);

static int grant_relay(struct ur_engine *engine, struct ur_grant *grant,
		       bool far)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->granting->grant_relay(wire, grant, far);
}
UR_ENGINE_CALL(2, grant_relay, struct ur_grant *, bool);

u32 ur_engine_grant_room(const struct ur_engine *engine)
{
	return UR_SHARED_FIRST - UR_SLOT_FIRST;
}

/* Returns the slot that has been free longest, since packets of its last holder may not be
 * read yet. Returns 0 if none is free. */
static u32 free_slot(const struct ur_engine *engine, bool small)
{
	return small ? ur_slot_numbers_oldest(engine->numbers, &engine->slots,
					      UR_SMALL_FIRST, UR_SLOTS)
		     : ur_slot_numbers_oldest(engine->numbers, &engine->slots,
					      UR_SLOT_FIRST, UR_SHARED_FIRST);
}

int ur_engine_grant(struct ur_engine *engine, uid_t uid, pid_t pid, bool small,
		    enum ur_grant_mode mode, struct ur_grant *grant)
{
	int err;

	err = ur_slot_numbers_make(engine);
	if (err)
		return err;
	*grant = (struct ur_grant){.slot = free_slot(engine, small),
				   .realm = engine->config.isolated ? uid + 1
								    : 0,
				   .off = ur_engine_options_off(&engine->opt),
				   .tx_bytes = engine->opt.tx_bytes,
				   .v1 = {-1, -1, -1, -1, -1, -1},
				   .relay = -1,
				   .relay_words = -1,
				   .outbox = -1,
				   .wake_fd = -1,
				   .bell = -1};
	if (!grant->slot)
		return -EBUSY;
	ur_assert(!small || mode != UR_GRANT_SOCKETS);
	ur_slot_numbers_begin(engine->numbers, grant->slot);
	err = call_grant_port(engine, grant);
	if (err)
		return err;
	err = ur_counters_grant(engine, grant->slot, &grant->counters);
	if (!err)
		err = ur_record_grant(engine, grant->slot, uid, pid,
				      &grant->record);
	if (!err)
		err = ur_settings_grant(engine, &grant->settings);
	if (!err && mode != UR_GRANT_SOCKETS)
		err = call_grant_relay(engine, grant, mode == UR_GRANT_FAR);
	if (!err && engine->config.roce_v1)
		err = ur_wire_v1_grant(engine, grant->slot, grant->v1);
	if (err)
		return err;
	ur_slot_set_add(&engine->slots, grant->slot);
	engine->granted_to[grant->slot] = uid;
	return 0;
}

bool ur_engine_granted_number(const struct ur_engine *engine, u32 slot,
			      u32 number)
{
	ur_assert(ur_slot_set_has(&engine->slots, slot));
	return ur_slot_of(number) == slot &&
	       ur_slot_numbers_has(engine->numbers, number);
}

u32 ur_engine_granted_realm(const struct ur_engine *engine, u32 slot)
{
	const struct ur_udp_local *own = ur_udp_local_mine();

	return own ? ur_udp_local_realm(
			     own, engine->local_device, slot,
			     ur_udp_local_grant_id(own, engine->local_device,
						   slot))
		   : 0;
}

uid_t ur_engine_granted_to(const struct ur_engine *engine, u32 slot)
{
	ur_assert(ur_slot_set_has(&engine->slots, slot));
	return engine->granted_to[slot];
}

struct ur_kept ur_grant_liveness(const struct ur_engine *engine, u32 slot)
{
	return (struct ur_kept){.kind = UR_KEPT_LIVENESS,
				.device = engine->local_device,
				.place = slot};
}

int ur_engine_keep_liveness(struct ur_engine *engine, u32 slot,
			    const struct ur_kept_liveness *liveness)
{
	struct ur_kept what = ur_grant_liveness(engine, slot);

	what.value = ur_kept_process(liveness->pid, liveness->uid);
	return ur_keep_put(&what, liveness->fd);
}

void ur_engine_pass_liveness_on(struct ur_engine *engine, u32 slot,
				const struct ur_kept_liveness *liveness)
{
	struct ur_kept what = ur_grant_liveness(engine, slot);

	what.value = ur_kept_process(liveness->pid, liveness->uid);
	ur_keep_renumber(&what, liveness->fd);
}

static int unuse(struct ur_engine *engine, u32 slot)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	wire->granting->grant_end(wire, slot);
	return 0;
}
UR_ENGINE_CALL(1, unuse, u32);

void ur_grant_unuse(struct ur_engine *engine, u32 slot)
{
	call_unuse(engine, slot);
}

void ur_engine_grant_end(struct ur_engine *engine, u32 slot)
{
	const struct ur_kept liveness = ur_grant_liveness(engine, slot);

	ur_slot_set_del(&engine->slots, slot);
	ur_slot_numbers_freed(engine->numbers, slot);
	ur_grant_unuse(engine, slot);
	ur_keep_drop(&liveness);
	ur_program_faults_end(engine, slot);
	ur_counters_grant_end(engine, slot);
	ur_engine_sl_refused(engine);
	ur_record_grant_end(engine, slot);
}

static int grant_socket(struct ur_engine *engine, u32 slot, u32 index, u8 *gid,
			int *fd)
{
	const struct ur_egid *g = &engine->gids[index];
	struct ur_wire *wire;

	if (!g->used)
		return -EINVAL;
	wire = ur_wire_of(engine, g->type == UR_GID_ROCE_V1);
	if (!wire->granting->grant)
		return -EOPNOTSUPP;
	memcpy(gid, g->gid, 16);
	return wire->granting->grant(wire, g->gid, slot, fd);
}
UR_ENGINE_CALL(4, grant_socket, u32, u32, u8 *, int *);

int ur_engine_grant_socket(struct ur_engine *engine, u32 slot, u32 index,
			   u8 gid[16], int *fd)
{
	if (index >= UR_ENGINE_GIDS)
		return -EINVAL;
	return call_grant_socket(engine, slot, index, gid, fd);
}

static int grant_group(struct ur_engine *engine, u32 slot, const u8 *gid,
		       bool joins)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->granting->grant_group(wire, slot, gid, joins);
}
UR_ENGINE_CALL(3, grant_group, u32, const u8 *, bool);

int ur_engine_grant_group(struct ur_engine *engine, u32 slot, const u8 gid[16],
			  bool joins)
{
	return call_grant_group(engine, slot, gid, joins);
}

/* ---- rings between two slots ---- */

static int grant_ring(struct ur_engine *engine, u32 slot, u32 peer,
		      struct ur_granted_ring *ring)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->granting->grant_ring(wire, slot, peer, ring);
}
UR_ENGINE_CALL(3, grant_ring, u32, u32, struct ur_granted_ring *);

int ur_engine_grant_ring(struct ur_engine *engine, u32 slot, u32 peer,
			 struct ur_granted_ring *ring)
{
	if (!slot || !peer || slot == peer || ur_slot_is_small(slot) ||
	    ur_slot_is_small(peer) || !ur_slot_set_has(&engine->slots, peer))
		return -EINVAL;
	return call_grant_ring(engine, slot, peer, ring);
}

u32 ur_engine_peers(const struct ur_engine *engine, const u8 gid[16])
{
	const struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->near->is_here(wire, gid) ? (u32)engine->slots.word[0] : 0;
}

bool ur_engine_is_nobodys(const struct ur_engine *engine, const u8 gid[16],
			  u32 number)
{
	const struct ur_wire *wire = ur_wire_of(engine, false);
	u32 slot = ur_slot_of(number);

	return ur_slot_set_has(&engine->slots, slot) &&
	       !ur_engine_granted_number(engine, slot, number) &&
	       wire->near->is_here(wire, gid);
}

static int use_ring(struct ur_engine *engine,
		    const struct ur_granted_ring *ring)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->near->use_ring(wire, ring);
}
UR_ENGINE_CALL(1, use_ring, const struct ur_granted_ring *);

int ur_engine_use_ring(struct ur_engine *engine,
		       const struct ur_granted_ring *ring)
{
	return call_use_ring(engine, ring);
}

static int has_ring(struct ur_engine *engine, u32 peer)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->near->has_ring(wire, peer);
}
UR_ENGINE_CALL(1, has_ring, u32);

bool ur_engine_has_ring(struct ur_engine *engine, u32 peer)
{
	return call_has_ring(engine, peer);
}

static int use_gid(struct ur_engine *engine, u32 index, const u8 *gid, int fd)
{
	struct ur_egid *g = &engine->gids[index];
	struct ur_wire *wire = ur_wire_of(engine, false);
	int err;

	/* An entry in use is not replaced: queue pairs may use its address. */
	if (g->used)
		return memcmp(g->gid, gid, 16) ? -EBUSY : -EALREADY;
	err = wire->near->use_gid(wire, gid, fd);
	if (err)
		return err;
	g->used = true;
	g->type = UR_GID_ROCE_V2;
	memcpy(g->gid, gid, 16);
	return 0;
}
UR_ENGINE_CALL(3, use_gid, u32, const u8 *, int);

int ur_engine_use_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      int fd)
{
	return index < UR_ENGINE_GIDS ? call_use_gid(engine, index, gid, fd)
				      : -EINVAL;
}

static int has_gid(struct ur_engine *engine, u32 index, const u8 *gid)
{
	const struct ur_egid *g = &engine->gids[index];

	return g->used && !memcmp(g->gid, gid, 16);
}
UR_ENGINE_CALL(2, has_gid, u32, const u8 *);

bool ur_engine_has_gid(struct ur_engine *engine, u32 index, const u8 *gid)
{
	return index < UR_ENGINE_GIDS && call_has_gid(engine, index, gid);
}

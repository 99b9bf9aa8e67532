// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Grants of slots and sockets: the device's side and the program's. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/lend_counters.h"
#include "engine/grant/lend_faults.h"
#include "engine/grant/lend_numbers.h"
#include "engine/grant/lend_record.h"
#include "engine/grant/lend_settings.h"
#include "engine/wire/udp_own.h"
#include "engine/wire/wire.h"

_Static_assert(UR_PLACES <= 32, "large slots are bits of 32");

static int lend_port(struct ur_engine *engine, struct ur_lent *lent)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->lending->lend_port(wire, lent);
}
UR_ENGINE_CALL(1, lend_port, struct ur_lent *);

static int lend_relay(struct ur_engine *engine, struct ur_lent *lent, bool far)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->lending->lend_relay(wire, lent, far);
}
UR_ENGINE_CALL(2, lend_relay, struct ur_lent *, bool);

u32 ur_engine_lend_room(const struct ur_engine *engine)
{
	return UR_SHARED_FIRST - UR_LEND_FIRST;
}

/* Returns the slot that has been free longest, since packets of its last holder may not be
 * read yet. Returns 0 if none is free. */
static u32 free_slot(const struct ur_engine *engine, bool small)
{
	return small ? ur_lent_numbers_rested(engine->numbers, &engine->slots,
					      UR_SMALL_FIRST, UR_SLOTS)
		     : ur_lent_numbers_rested(engine->numbers, &engine->slots,
					      UR_LEND_FIRST, UR_SHARED_FIRST);
}

int ur_engine_lend(struct ur_engine *engine, uid_t uid, pid_t pid, bool small,
		   enum ur_lend_mode mode, struct ur_lent *lent)
{
	int err;

	err = ur_lent_numbers_make(engine);
	if (err)
		return err;
	*lent = (struct ur_lent){.slot = free_slot(engine, small),
				 .realm = engine->config.isolated ? uid + 1 : 0,
				 .off = ur_engine_options_off(&engine->opt),
				 .tx_bytes = engine->opt.tx_bytes,
				 .v1 = {-1, -1, -1, -1, -1, -1},
				 .relay = -1,
				 .relay_words = -1,
				 .outbox = -1,
				 .door = -1,
				 .bell = -1};
	if (!lent->slot)
		return -EBUSY;
	ur_assert(!small || mode != UR_LEND_SOCKETS);
	ur_lent_numbers_begin(engine->numbers, lent->slot);
	err = call_lend_port(engine, lent);
	if (err)
		return err;
	err = ur_counters_lend(engine, lent->slot, &lent->counters);
	if (!err)
		err = ur_record_lend(engine, lent->slot, uid, pid,
				     &lent->record);
	if (!err)
		err = ur_settings_lend(engine, &lent->settings);
	if (!err && mode != UR_LEND_SOCKETS)
		err = call_lend_relay(engine, lent, mode == UR_LEND_FAR);
	if (!err && engine->config.roce_v1)
		err = ur_wire_v1_lend(engine, lent->slot, lent->v1);
	if (err)
		return err;
	ur_slot_set_add(&engine->slots, lent->slot);
	engine->lent_to[lent->slot] = uid;
	return 0;
}

bool ur_engine_lent_number(const struct ur_engine *engine, u32 slot, u32 number)
{
	ur_assert(ur_slot_set_has(&engine->slots, slot));
	return ur_slot_of(number) == slot &&
	       ur_lent_numbers_has(engine->numbers, number);
}

u32 ur_engine_lent_realm(const struct ur_engine *engine, u32 slot)
{
	const struct ur_udp_own *own = ur_udp_own_mine();

	return own ? ur_udp_own_realm(
			     own, engine->lent_device, slot,
			     ur_udp_own_loan(own, engine->lent_device, slot))
		   : 0;
}

uid_t ur_engine_lent_to(const struct ur_engine *engine, u32 slot)
{
	ur_assert(ur_slot_set_has(&engine->slots, slot));
	return engine->lent_to[slot];
}

struct ur_kept ur_lend_life(const struct ur_engine *engine, u32 slot)
{
	return (struct ur_kept){.kind = UR_KEPT_LIFE,
				.device = engine->lent_device,
				.place = slot};
}

int ur_engine_keep_life(struct ur_engine *engine, u32 slot,
			const struct ur_kept_life *life)
{
	struct ur_kept what = ur_lend_life(engine, slot);

	what.value = ur_kept_process(life->pid, life->uid);
	return ur_keep_put(&what, life->fd);
}

void ur_engine_pass_life_on(struct ur_engine *engine, u32 slot,
			    const struct ur_kept_life *life)
{
	struct ur_kept what = ur_lend_life(engine, slot);

	what.value = ur_kept_process(life->pid, life->uid);
	ur_keep_renumber(&what, life->fd);
}

static int rest(struct ur_engine *engine, u32 slot)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	wire->lending->lend_end(wire, slot);
	return 0;
}
UR_ENGINE_CALL(1, rest, u32);

void ur_lend_rest(struct ur_engine *engine, u32 slot)
{
	call_rest(engine, slot);
}

void ur_engine_lend_end(struct ur_engine *engine, u32 slot)
{
	const struct ur_kept life = ur_lend_life(engine, slot);

	ur_slot_set_del(&engine->slots, slot);
	ur_lent_numbers_rest(engine->numbers, slot);
	ur_lend_rest(engine, slot);
	ur_keep_drop(&life);
	ur_faults_lend_end(engine, slot);
	ur_counters_lend_end(engine, slot);
	ur_engine_sl_refused(engine);
	ur_record_lend_end(engine, slot);
}

static int lend_socket(struct ur_engine *engine, u32 slot, u32 index, u8 *gid,
		       int *fd)
{
	const struct ur_egid *g = &engine->gids[index];
	struct ur_wire *wire;

	if (!g->used)
		return -EINVAL;
	wire = ur_wire_of(engine, g->type == UR_GID_ROCE_V1);
	if (!wire->lending->lend)
		return -EOPNOTSUPP;
	memcpy(gid, g->gid, 16);
	return wire->lending->lend(wire, g->gid, slot, fd);
}
UR_ENGINE_CALL(4, lend_socket, u32, u32, u8 *, int *);

int ur_engine_lend_socket(struct ur_engine *engine, u32 slot, u32 index,
			  u8 gid[16], int *fd)
{
	if (index >= UR_ENGINE_GIDS)
		return -EINVAL;
	return call_lend_socket(engine, slot, index, gid, fd);
}

static int lend_group(struct ur_engine *engine, u32 slot, const u8 *gid,
		      bool joins)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->lending->lend_group(wire, slot, gid, joins);
}
UR_ENGINE_CALL(3, lend_group, u32, const u8 *, bool);

int ur_engine_lend_group(struct ur_engine *engine, u32 slot, const u8 gid[16],
			 bool joins)
{
	return call_lend_group(engine, slot, gid, joins);
}

/* ---- rings between two slots ---- */

static int lend_ring(struct ur_engine *engine, u32 slot, u32 peer,
		     struct ur_lent_ring *ring)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->lending->lend_ring(wire, slot, peer, ring);
}
UR_ENGINE_CALL(3, lend_ring, u32, u32, struct ur_lent_ring *);

int ur_engine_lend_ring(struct ur_engine *engine, u32 slot, u32 peer,
			struct ur_lent_ring *ring)
{
	if (!slot || !peer || slot == peer || ur_slot_is_small(slot) ||
	    ur_slot_is_small(peer) || !ur_slot_set_has(&engine->slots, peer))
		return -EINVAL;
	return call_lend_ring(engine, slot, peer, ring);
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
	       !ur_engine_lent_number(engine, slot, number) &&
	       wire->near->is_here(wire, gid);
}

static int borrow_ring(struct ur_engine *engine,
		       const struct ur_lent_ring *ring)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->near->borrow_ring(wire, ring);
}
UR_ENGINE_CALL(1, borrow_ring, const struct ur_lent_ring *);

int ur_engine_borrow_ring(struct ur_engine *engine,
			  const struct ur_lent_ring *ring)
{
	return call_borrow_ring(engine, ring);
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

static int borrow(struct ur_engine *engine, u32 index, const u8 *gid, int fd)
{
	struct ur_egid *g = &engine->gids[index];
	struct ur_wire *wire = ur_wire_of(engine, false);
	int err;

	/* An entry in use is not replaced: queue pairs may use its address. */
	if (g->used)
		return memcmp(g->gid, gid, 16) ? -EBUSY : -EALREADY;
	err = wire->near->borrow(wire, gid, fd);
	if (err)
		return err;
	g->used = true;
	g->type = UR_GID_ROCE_V2;
	memcpy(g->gid, gid, 16);
	return 0;
}
UR_ENGINE_CALL(3, borrow, u32, const u8 *, int);

int ur_engine_borrow(struct ur_engine *engine, u32 index, const u8 *gid, int fd)
{
	return index < UR_ENGINE_GIDS ? call_borrow(engine, index, gid, fd)
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

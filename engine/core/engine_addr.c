// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's addresses: its GID table and multicast groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/grant/program_settings.h"
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "util/assert.h"

_Static_assert(UR_PROGRAM_GIDS == UR_ENGINE_GIDS, "an entry for each");

bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid)
{
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++)
		if (engine->gids[i].used &&
		    !memcmp(engine->gids[i].gid, gid, 16))
			return true;
	return false;
}

/* Sets an entry; entry.used false removes it. */
static int set_gid(struct ur_engine *engine, u32 index, struct ur_egid entry)
{
	struct ur_egid *g = &engine->gids[index];
	const u8 *gid = entry.used ? entry.gid : NULL;
	enum ur_gid_type type = entry.type;
	struct ur_wire *wire;
	int err;

	if (gid && g->used && g->type == type && !memcmp(g->gid, gid, 16))
		return 0;
	if (gid) {
		wire = ur_wire_of(engine, type == UR_GID_ROCE_V1);
		err = wire ? wire->ops->addr_add(wire, gid) : -EOPNOTSUPP;
		if (err)
			return err;
	}
	if (g->used) {
		wire = ur_wire_of(engine, g->type == UR_GID_ROCE_V1);
		wire->ops->addr_del(wire, g->gid);
	}
	g->used = gid != NULL;
	if (g->used) {
		g->type = type;
		memcpy(g->gid, gid, 16);
	}
	return 0;
}
UR_ENGINE_CALL(2, set_gid, u32, struct ur_egid);

int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type)
{
	struct ur_egid now = {.used = gid, .type = type};
	int err;

	if (index >= UR_ENGINE_GIDS)
		return -EINVAL;
	if (gid)
		memcpy(now.gid, gid, 16);
	err = call_set_gid(engine, index, now);
	if (!err)
		ur_settings_show_gid(engine, index);
	return err;
}

void ur_engine_forget_addrs(struct ur_engine *engine)
{
	ur_wire_udp_end_away(ur_wire_of(engine, false));
}

static void give_up(struct ur_engine *e, struct ur_egid *g)
{
	struct ur_wire *wire = ur_wire_of(e, false);

	wire->ops->addr_del(wire, g->gid);
	g->used = false;
}

void ur_engine_give_up_gids(struct ur_engine *e)
{
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++)
		if (e->gids[i].used)
			give_up(e, &e->gids[i]);
}

bool ur_engine_gids_changed(const struct ur_engine *e,
			    const struct ur_program_gids *gids)
{
	return atomic_load_explicit(&gids->generation, memory_order_relaxed) !=
	       e->inproc.gids_seen;
}

void ur_engine_follow_gids(struct ur_engine *e,
			   const struct ur_program_gids *gids)
{
	u32 generation = atomic_load(&gids->generation);

	if (generation == e->inproc.gids_seen || (generation & 1))
		return;
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++) {
		struct ur_egid *g = &e->gids[i];
		bool stays = !g->used || ur_program_gids_has(gids, i, g->gid);

		/* The addresses are changing again: the next turn retries. */
		if (atomic_load(&gids->generation) != generation)
			return;
		if (!stays)
			give_up(e, g);
	}
	e->inproc.gids_seen = generation;
}

static int gid_free(struct ur_engine *engine, const u8 *gid,
		    enum ur_gid_type type)
{
	struct ur_wire *wire = ur_wire_of(engine, type == UR_GID_ROCE_V1);

	return wire &&
	       (!wire->ops->addr_free || wire->ops->addr_free(wire, gid));
}
UR_ENGINE_CALL(2, gid_free, const u8 *, enum ur_gid_type);

bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type)
{
	return call_gid_free(engine, gid, type);
}

struct join {
	struct ur_list node;
	u8 gid[16];
	u32 count;
};

static struct join *find_join(struct ur_engine *engine, const u8 *gid)
{
	ur_list_for_each(it, &engine->joins) {
		struct join *j = ur_list_entry(it, struct join, node);

		if (!memcmp(j->gid, gid, 16))
			return j;
	}
	return NULL;
}

int ur_engine_join(struct ur_engine *engine, const u8 *gid)
{
	struct join *j = find_join(engine, gid);
	int err;

	if (j) {
		j->count++;
		return 0;
	}
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	err = ur_wire_join(engine, gid);
	if (err) {
		free(j);
		return err;
	}
	memcpy(j->gid, gid, 16);
	j->count = 1;
	ur_list_add_tail(&engine->joins, &j->node);
	return 0;
}

void ur_engine_leave(struct ur_engine *engine, const u8 *gid)
{
	struct join *j = find_join(engine, gid);

	if (!j)
		return;
	ur_assert(j->count);
	if (--j->count)
		return;
	ur_assert(!ur_list_empty(&j->node));
	ur_wire_leave(engine, gid);
	ur_list_del(&j->node);
	free(j);
}

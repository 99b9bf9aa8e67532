// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where the engine can be reached: its GID table and multicast groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/engine/engine_impl.h"
#include "device/wire/wire.h"

bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid)
{
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++)
		if (engine->gids[i].used &&
		    !memcmp(engine->gids[i].gid, gid, 16))
			return true;
	return false;
}

struct gid_args {
	u32 index;
	const u8 *gid;
	enum ur_gid_type type;
};

static int set_gid(struct ur_engine *engine, void *arg)
{
	struct gid_args *a = arg;
	struct ur_egid *g = &engine->gids[a->index];
	struct ur_wire *wire;
	int ret;

	if (a->gid && g->used && g->type == a->type &&
	    !memcmp(g->gid, a->gid, 16))
		return 0;
	if (a->gid) {
		wire = ur_wire_of(engine, a->type == UR_GID_ROCE_V1);
		ret = wire ? wire->ops->addr_add(wire, a->gid) : -EOPNOTSUPP;
		if (ret)
			return ret;
	}
	if (g->used) {
		wire = ur_wire_of(engine, g->type == UR_GID_ROCE_V1);
		wire->ops->addr_del(wire, g->gid);
	}
	g->used = a->gid != NULL;
	if (g->used) {
		g->type = a->type;
		memcpy(g->gid, a->gid, 16);
	}
	return 0;
}

int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type)
{
	struct gid_args a = {index, gid, type};

	if (index >= UR_ENGINE_GIDS)
		return -EINVAL;
	return ur_engine_call(engine, set_gid, &a);
}

static int gid_free(struct ur_engine *engine, void *arg)
{
	struct gid_args *a = arg;
	struct ur_wire *wire = ur_wire_of(engine, a->type == UR_GID_ROCE_V1);

	return wire &&
	       (!wire->ops->addr_free || wire->ops->addr_free(wire, a->gid));
}

bool ur_engine_gid_free(struct ur_engine *engine, const u8 *gid,
			enum ur_gid_type type)
{
	struct gid_args a = {.gid = gid, .type = type};

	return ur_engine_call(engine, gid_free, &a);
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
	int ret;

	if (j) {
		j->count++;
		return 0;
	}
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	ret = ur_wire_join(engine, gid);
	if (ret) {
		free(j);
		return ret;
	}
	memcpy(j->gid, gid, 16);
	j->count = 1;
	ur_list_add_tail(&engine->joins, &j->node);
	return 0;
}

void ur_engine_leave(struct ur_engine *engine, const u8 *gid)
{
	struct join *j = find_join(engine, gid);

	if (!j || --j->count)
		return;
	ur_wire_leave(engine, gid);
	ur_list_del(&j->node);
	free(j);
}

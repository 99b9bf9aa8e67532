// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The wires of an engine as one: the table of backends, and the operations of
 * wire.h on each backend that the engine has.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "engine/raw/wire_raw.h"
#include "transport/frame.h"

const struct ur_packing_ops ur_no_packing;
const struct ur_near_ops ur_no_near;
const struct ur_granting_ops ur_no_granting;

/* The backends, by the type of the GIDs whose packets they carry. */
static const struct {
	int (*create)(struct ur_engine *engine, struct ur_wire **wire);
} backends[UR_WIRES] = {
	[UR_GID_ROCE_V1] = {ur_wire_v1_create},
	[UR_GID_ROCE_V2] = {ur_wire_udp_create},
};

/* The first wire from that type downwards: RoCEv2 comes first. NULL: none. */
static struct ur_wire *next_wire(const struct ur_engine *engine, u32 *type)
{
	while (*type) {
		struct ur_wire *wire = engine->wires[--*type];

		if (wire)
			return wire;
	}
	return NULL;
}

int ur_wire_create(struct ur_engine *engine)
{
	for (u32 type = UR_WIRES; type--;) {
		int err;

		if (type == UR_GID_ROCE_V1 && !engine->config.roce_v1)
			continue;
		err = backends[type].create(engine, &engine->wires[type]);
		if (err)
			return err;
	}
	return 0;
}

struct ur_wire *ur_wire_of(const struct ur_engine *engine, bool v1)
{
	return engine->wires[v1 ? UR_GID_ROCE_V1 : UR_GID_ROCE_V2];
}

static struct ur_wire *wire_for(const struct ur_engine *engine,
				const struct ur_av *av)
{
	return av->raw ? engine->raw : ur_wire_of(engine, av->v1);
}

u32 ur_wire_send(struct ur_engine *engine, u32 first, u32 end, int *wait_fd)
{
	const struct ur_tx *tx = &engine->tx;
	u32 i = first;

	while (i < end) {
		struct ur_wire *wire = wire_for(engine, tx->desc[i].av);
		u32 stop = i, taken;

		while (stop < end &&
		       wire_for(engine, tx->desc[stop].av) == wire)
			stop++;
		taken = wire->ops->send(wire, tx, i, stop, wait_fd);
		i += taken;
		if (i < stop)
			break;
	}
	return i - first;
}

bool ur_wire_poll(struct ur_engine *engine)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;
	bool any = false;

	while ((wire = next_wire(engine, &type)))
		any |= wire->ops->poll(wire);
	if (engine->raw)
		any |= engine->raw->ops->poll(engine->raw);
	return any;
}

bool ur_wire_waits(const struct ur_engine *engine)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	while ((wire = next_wire(engine, &type)))
		if (wire->near->waits && wire->near->waits(wire))
			return true;
	return false;
}

void ur_wire_sleeps(struct ur_engine *engine, bool asleep)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	while ((wire = next_wire(engine, &type)))
		if (wire->near->sleeps)
			wire->near->sleeps(wire, asleep);
}

void ur_wire_retry(struct ur_engine *engine)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	engine->wire_retry_at = UR_NEVER;
	while ((wire = next_wire(engine, &type)))
		if (wire->ops->retry)
			wire->ops->retry(wire);
}

bool ur_wire_forward(struct ur_engine *engine)
{
	struct ur_wire *wire = ur_wire_of(engine, false);

	return wire->granting->forward(wire);
}

void ur_wire_rebind(struct ur_engine *engine)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	while ((wire = next_wire(engine, &type)))
		if (wire->ops->rebind)
			wire->ops->rebind(wire);
	if (engine->raw)
		engine->raw->ops->rebind(engine->raw);
}

int ur_wire_join(struct ur_engine *engine, const u8 gid[16])
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;
	int err;

	while ((wire = next_wire(engine, &type))) {
		err = wire->ops->join(wire, gid);
		if (!err)
			continue;
		while (++type < UR_WIRES) {
			wire = engine->wires[type];
			if (wire)
				wire->ops->leave(wire, gid);
		}
		return err;
	}
	return 0;
}

void ur_wire_leave(struct ur_engine *engine, const u8 gid[16])
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	while ((wire = next_wire(engine, &type)))
		wire->ops->leave(wire, gid);
}

void ur_wire_priority_refused(struct ur_engine *engine)
{
	if (atomic_exchange(&engine->sl_refused, true))
		return;
	fprintf(stderr,
		"uroced: %s: service level 7 takes CAP_NET_ADMIN or "
		"CAP_NET_RAW; its packets leave with the priority of their "
		"traffic class, which is 0 without one\n",
		engine->netdev);
}

void ur_wire_set_priority(struct ur_engine *engine, int fd, u8 sl)
{
	int priority = ur_sl_priority(sl);

	if (!setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority,
			sizeof(priority)))
		return;
	if (engine->config.inproc)
		__atomic_store_n(engine->inproc.sl_refused, 1,
				 __ATOMIC_RELAXED);
	else
		ur_wire_priority_refused(engine);
}

void ur_wire_destroy(struct ur_engine *engine)
{
	u32 type = UR_WIRES;
	struct ur_wire *wire;

	while ((wire = next_wire(engine, &type)))
		wire->ops->destroy(wire);
	if (engine->raw)
		engine->raw->ops->destroy(engine->raw);
}

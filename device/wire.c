// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Both wires of an engine as one. */
#include <sys/socket.h>
#include "device/engine_impl.h"
#include "device/wire.h"

struct ur_wire *ur_wire_of(const struct ur_engine *engine, bool v1)
{
	return v1 ? engine->wire_v1 : engine->wire;
}

u32 ur_wire_send(struct ur_engine *engine, u32 first, u32 end, int *wait_fd)
{
	const struct ur_tx *tx = &engine->tx;
	u32 i = first;

	while (i < end) {
		bool v1 = tx->desc[i].av->v1;
		struct ur_wire *wire = ur_wire_of(engine, v1);
		u32 stop = i, taken;

		while (stop < end && tx->desc[stop].av->v1 == v1)
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
	bool any = engine->wire->ops->poll(engine->wire);

	if (engine->wire_v1)
		any |= engine->wire_v1->ops->poll(engine->wire_v1);
	return any;
}

int ur_wire_join(struct ur_engine *engine, const u8 gid[16])
{
	int ret = engine->wire->ops->join(engine->wire, gid);

	if (ret || !engine->wire_v1)
		return ret;
	ret = engine->wire_v1->ops->join(engine->wire_v1, gid);
	if (ret)
		engine->wire->ops->leave(engine->wire, gid);
	return ret;
}

void ur_wire_leave(struct ur_engine *engine, const u8 gid[16])
{
	engine->wire->ops->leave(engine->wire, gid);
	if (engine->wire_v1)
		engine->wire_v1->ops->leave(engine->wire_v1, gid);
}

void ur_wire_destroy(struct ur_engine *engine)
{
	if (engine->wire_v1)
		engine->wire_v1->ops->destroy(engine->wire_v1);
	if (engine->wire)
		engine->wire->ops->destroy(engine->wire);
}

static void set_buffer(int fd, int forced, int plain, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof(bytes));
}

void ur_wire_rx_buffer(int fd)
{
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, 32 << 20);
}

void ur_wire_tx_buffer(int fd)
{
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, 8 << 20);
}

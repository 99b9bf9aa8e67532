// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes of the engine's netdev that control reports: MTU, index, name, link down. */
#include <stdio.h>
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_settings.h"
#include "engine/wire/udp_local.h"
#include "engine/wire/wire.h"

static int set_mtu(struct ur_engine *engine, u32 mtu_bytes)
{
	engine->config.mtu_bytes = mtu_bytes;
	engine->kind->set_mtu(engine, mtu_bytes);
	return 0;
}
UR_ENGINE_CALL(1, set_mtu, u32);

void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes)
{
	call_set_mtu(engine, mtu_bytes);
	engine->shown_mtu = mtu_bytes;
	ur_settings_show(engine);
}

static int set_ifindex(struct ur_engine *engine, u32 ifindex)
{
	engine->config.ifindex = ifindex;
	ur_wire_rebind(engine);
	return 0;
}
UR_ENGINE_CALL(1, set_ifindex, u32);

void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex)
{
	call_set_ifindex(engine, ifindex);
	ur_udp_local_move(engine->local_device, ifindex);
	ur_settings_show(engine);
}

struct netdev_name {
	char text[sizeof(((struct ur_engine *)0)->netdev)];
};

static int set_netdev(struct ur_engine *engine, struct netdev_name name)
{
	memcpy(engine->netdev, name.text, sizeof(engine->netdev));
	return 0;
}
UR_ENGINE_CALL(1, set_netdev, struct netdev_name);

void ur_engine_set_netdev(struct ur_engine *engine, const char *netdev)
{
	struct netdev_name name;

	snprintf(name.text, sizeof(name.text), "%s", netdev);
	call_set_netdev(engine, name);
}

static int link_downed(struct ur_engine *engine)
{
	ur_engine_tally(engine, UR_CNT_link_downed, 1);
	return 0;
}
UR_ENGINE_CALL(0, link_downed);

void ur_engine_link_downed(struct ur_engine *engine)
{
	call_link_downed(engine);
}

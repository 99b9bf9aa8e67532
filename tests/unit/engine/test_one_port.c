// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs share a source port where there is one path to the peer: not with
 * those of other peers, not where a flow label asks for a path, not where there
 * may be several.
 */
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "transport/frame.h"
#include "transport/sport.h"

static u16 port_to(struct ur_engine *e, const struct ur_epath *path, u32 qpn)
{
	struct ur_av *av;
	u16 port;

	CHECK_EQ(ur_av_make(e, path, qpn, 0x123, &av), 0);
	port = av->udp_sport;
	ur_av_put(av);
	return port;
}

int main(void)
{
	static const u8 here[4] = {10, 77, 0, 1}, there[4] = {10, 77, 0, 2};
	static struct ur_engine e;
	struct ur_epath path = {0}, far, labelled;
	struct ur_wire wire = {0};
	u16 port;

	ur_gid_from_v4(path.sgid, here);
	ur_gid_from_v4(path.dgid, there);
	far = labelled = path;
	far.dgid[15]++;
	labelled.flow_label = 0x12345;
	e.wires[UR_GID_ROCE_V2] = &wire;
	e.config.secret[0] = 0x1234;
	e.opt.one_port = e.config.one_path = true;
	port = port_to(&e, &path, 0x11);
	CHECK(port >= UR_UDP_SPORT_MIN);
	for (u32 i = 1; i < 100; i++)
		CHECK_EQ(port_to(&e, &path, 0x11 + i), port);
	CHECK(port_to(&e, &far, 0x11) != port);
	CHECK_EQ(port_to(&e, &labelled, 0x11), ur_udp_sport(0x12345, 0, 0));
	e.config.secret[0]++;
	CHECK(port_to(&e, &path, 0x11) != port);
	e.config.one_path = false;
	CHECK_EQ(port_to(&e, &path, 0x11), ur_udp_sport(0, 0x11, 0x123));
	e.config.one_path = true;
	e.opt.one_port = false;
	CHECK_EQ(port_to(&e, &path, 0x11), ur_udp_sport(0, 0x11, 0x123));
	return 0;
}

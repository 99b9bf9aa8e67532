// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address vectors from paths. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"
#include "transport/sport.h"
#include "util/assert.h"
#include "util/secret.h"

/*
 * Linux ignores the hop limit of the attributes and uses the route's. Programs
 * rely on that: the ping-pongs of libibverbs ask for one hop. So only a limit
 * above 1 is used.
 */
static u8 hop_limit(const struct ur_epath *path, bool mcast)
{
	if (path->hop_limit > 1 || (mcast && path->hop_limit))
		return path->hop_limit;
	return 64; /* the UDP wire leaves this one to the host's default */
}

/*
 * All queue pairs with the same peer use one source port, so that packets of
 * several of them leave as one UDP_SEGMENT message. Only if no router or switch
 * selects paths by the port, and no flow label asks for one. The port is a keyed
 * hash of the peer's address, so a peer cannot derive the port to another peer. Each
 * engine has another port.
 */
static u16 shared_sport(const struct ur_engine *engine, const u8 *dgid)
{
	const u64 *key = engine->config.secret;
	struct ur_secret secret = {.key = {key[0], ~key[1] ^ engine->shard}};

	for (u32 i = 0; i < 16; i += 4)
		secret.count = secret.count * 0x9e3779b97f4a7c15ull +
			       ur_get_le32(dgid + i);
	return (u16)(UR_UDP_SPORT_MIN | (ur_secret_u64(&secret) & 0x3fff));
}

static u16 choose_sport(const struct ur_engine *engine, const struct ur_av *av,
			u32 lqpn, u32 rqpn)
{
	if (engine->opt.one_port && engine->config.one_path && !av->flow_label)
		return shared_sport(engine, av->dgid);
	return ur_udp_sport(av->flow_label, lqpn, rqpn);
}

int ur_av_make(struct ur_engine *engine, const struct ur_epath *path, u32 lqpn,
	       u32 rqpn, struct ur_av **ret_av)
{
	bool mcast = ur_gid_is_mcast(path->dgid);
	struct ur_av *av;

	if (ur_gid_is_v4(path->sgid) != ur_gid_is_v4(path->dgid) &&
	    !(path->v1 && mcast))
		return -EINVAL;
	if (!ur_wire_of(engine, path->v1))
		return -EOPNOTSUPP;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -ENOMEM;
	memcpy(av->sgid, path->sgid, 16);
	memcpy(av->dgid, path->dgid, 16);
	av->sgid_index = path->sgid_index;
	av->flow_label = path->flow_label & 0xfffff;
	av->udp_sport = choose_sport(engine, av, lqpn, rqpn);
	av->traffic_class = path->traffic_class;
	av->hop_limit = hop_limit(path, mcast);
	av->sl = path->sl;
	av->v4 = ur_gid_is_v4(path->sgid);
	av->v1 = path->v1;
	av->mcast = mcast;
	av->loop = !mcast && ur_engine_own_gid(engine, path->dgid);
	av->refs = 1;
	*ret_av = av;
	return 0;
}

/* CNPs lower the window of an RC path, and the rate of a UC or UD queue pair. Where
 * neither follows CNPs, only programs that ask for ECN get it. */
void ur_av_set_ecn(const struct ur_engine *engine, struct ur_av *av,
		   enum ur_qp_type type)
{
	u8 own = av->traffic_class & UR_ECN_MASK;
	bool windowless = type == UR_QPT_UC || type == UR_QPT_UD;

	av->ecn = 0;
	if (av->v1 || av->mcast || own == UR_ECN_CE)
		return;
	if (own) {
		av->ecn = own;
		return;
	}
	if (!engine->ecn ||
	    (!windowless && !engine->opt.path && !engine->cc.enable))
		return;
	av->ecn = UR_ECN_ECT0;
	if (!windowless || engine->ecn == UR_ECN_ALL)
		av->traffic_class |= UR_ECN_ECT0;
}

void ur_av_set_class(struct ur_av *av, const struct ur_epath *path)
{
	ur_assert(av->refs);
	av->traffic_class = path->traffic_class;
	av->hop_limit = hop_limit(path, av->mcast);
	av->wire = 0;
}

int ur_av_create(struct ur_engine *engine, const struct ur_epath *path,
		 u32 lqpn, u32 rqpn, struct ur_av **ret_av)
{
	struct ur_wire *wire = ur_wire_of(engine, path->v1);
	struct ur_av *av;
	int err = ur_av_make(engine, path, lqpn, rqpn, &av);

	if (err)
		return err;
	err = av->loop ? 0 : wire->ops->check(wire, av);
	if (err)
		ur_av_put(av);
	else
		*ret_av = av;
	return err;
}

static int check_path(struct ur_engine *engine, const struct ur_epath *path)
{
	struct ur_av *av;
	int err = ur_av_create(engine, path, 0, 0, &av);

	if (!err)
		ur_av_put(av);
	return err;
}
UR_ENGINE_CALL(1, check_path, const struct ur_epath *);

int ur_engine_check_path(struct ur_engine *engine, const struct ur_epath *path)
{
	return call_check_path(engine, path);
}

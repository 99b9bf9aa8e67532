// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes address vectors from paths, and keeps the address handles of a context. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/limits.h"
#include "engine/core/transmit.h"
#include "engine/wire/wire.h"
#include "transport/frame.h"
#include "transport/sport.h"
#include "util/assert.h"
#include "util/secret.h"

static void free_av(struct ur_av *av)
{
	free(av);
}

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
	av->free = free_av;
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
		free_av(av);
	else
		*ret_av = av;
	return err;
}

struct ur_av *ur_ah_lookup(struct ur_ectx *ectx, u32 number, u32 pd)
{
	struct ur_eah *ah;

	if (!number || number > ectx->ah_cap)
		return NULL;
	ah = ectx->ahs[number - 1];
	return ah && ah->pd == pd ? ah->av : NULL;
}

static int grow_table(struct ur_ectx *ectx)
{
	u32 cap = ectx->ah_cap ? 2 * ectx->ah_cap : 64;
	struct ur_eah **p;

	if (cap > UR_MAX_AH)
		return -ENOMEM;
	p = realloc(ectx->ahs, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + ectx->ah_cap, 0, (cap - ectx->ah_cap) * sizeof(*p));
	ectx->ah_hint = ectx->ah_cap;
	ectx->ahs = p;
	ectx->ah_cap = cap;
	return 0;
}

static int place_ah(struct ur_ectx *ectx, struct ur_eah *ah)
{
	int err;

	while (ectx->ah_hint < ectx->ah_cap && ectx->ahs[ectx->ah_hint])
		ectx->ah_hint++;
	if (ectx->ah_hint == ectx->ah_cap) {
		err = grow_table(ectx);
		if (err)
			return err;
	}
	ectx->ahs[ectx->ah_hint] = ah;
	ah->number = ++ectx->ah_hint;
	return 0;
}

static int create_ah(struct ur_engine *engine, struct ur_eah *ah,
		     const struct ur_epath *path)
{
	int err = ur_av_create(engine, path, 0, 0, &ah->av);

	ur_assert(ah->ectx->engine == engine);
	if (err)
		return err;
	/* Once a program has set ECN bits, it controls them for all its handles. */
	if (ah->av->traffic_class & UR_ECN_MASK)
		ah->ectx->own_ecn = true;
	if (!ah->ectx->own_ecn || ah->av->traffic_class & UR_ECN_MASK)
		ur_av_set_ecn(engine, ah->av, UR_QPT_UD);
	ah->av->realm = ah->ectx->realm;
	err = place_ah(ah->ectx, ah);
	if (err)
		ur_av_put(ah->av);
	return err;
}
UR_ENGINE_CALL(2, create_ah, struct ur_eah *, const struct ur_epath *);

int ur_eah_create(struct ur_ectx *ectx, u32 pd, const struct ur_epath *path,
		  struct ur_eah **ah)
{
	struct ur_eah *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->ectx = ectx;
	h->pd = pd;
	err = call_create_ah(ectx->engine, h, path);
	if (err) {
		free(h);
		return err;
	}
	*ah = h;
	return 0;
}

u32 ur_eah_number(const struct ur_eah *ah)
{
	return ah->number;
}

void ur_eah_path(const struct ur_eah *ah, struct ur_epath *path)
{
	const struct ur_av *av = ah->av; /* these fields never change */

	*path = (struct ur_epath){
		.sgid_index = av->sgid_index,
		.flow_label = av->flow_label,
		.traffic_class = av->traffic_class,
		.hop_limit = av->hop_limit,
		.sl = av->sl,
		.v1 = av->v1,
	};
	memcpy(path->sgid, av->sgid, sizeof(path->sgid));
	memcpy(path->dgid, av->dgid, sizeof(path->dgid));
}

static int destroy_ah(struct ur_engine *engine, struct ur_eah *ah, u64 *run)
{
	ur_assert(ah->ectx->engine == engine);
	if (ur_transmit_settle_all(engine, ah->ectx, run))
		return -EAGAIN;
	ah->ectx->ahs[ah->number - 1] = NULL;
	if (ah->number - 1 < ah->ectx->ah_hint)
		ah->ectx->ah_hint = ah->number - 1;
	ur_av_put(ah->av);
	return 0;
}
UR_ENGINE_CALL(2, destroy_ah, struct ur_eah *, u64 *);

void ur_eah_destroy(struct ur_eah *ah)
{
	u64 run = 0;

	while (call_destroy_ah(ah->ectx->engine, ah, &run) == -EAGAIN)
		ur_ectx_pause(ah->ectx);
	free(ah);
}

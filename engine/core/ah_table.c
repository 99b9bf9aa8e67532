// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The address handles of a context. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/limits.h"
#include "engine/core/transmit.h"
#include "util/assert.h"

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

static int destroy_ah(struct ur_engine *engine, struct ur_eah *ah, u64 *run)
{
	ur_assert(ah->ectx->engine == engine);
	if (ur_transmit_drain_all(engine, ah->ectx, run))
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
		;
	free(ah);
}

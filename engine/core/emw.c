// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory windows between control and the transport: allocated and freed. A send
 * request binds them.
 */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"
#include "util/assert.h"

struct ur_emw {
	struct ur_ectx *ectx;
	struct ur_mw *mw;
	u32 rkey, pd;
	int type;
};

static int alloc(struct ur_engine *engine, struct ur_emw *mw)
{
	int err = ur_mw_create_as(engine->port, mw->pd, mw->type, mw->rkey,
				  mw->ectx, &mw->mw);

	ur_assert(mw->ectx->engine == engine);
	if (!err)
		mw->rkey = ur_mw_rkey(mw->mw);
	return err;
}
UR_ENGINE_CALL(1, alloc, struct ur_emw *);

int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, u32 key,
		 struct ur_emw **ret_mw)
{
	struct ur_emw *mw = calloc(1, sizeof(*mw));
	int err;

	if (!mw)
		return -ENOMEM;
	mw->ectx = ectx;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = key;
	err = call_alloc(ectx->engine, mw);
	if (err) {
		free(mw);
		return err;
	}
	*ret_mw = mw;
	return 0;
}

static int dealloc(struct ur_engine *engine, struct ur_emw *mw)
{
	ur_assert(mw->ectx->engine == engine);
	ur_mw_destroy(mw->mw);
	return 0;
}
UR_ENGINE_CALL(1, dealloc, struct ur_emw *);

int ur_emw_dealloc(struct ur_emw *mw)
{
	call_dealloc(mw->ectx->engine, mw);
	free(mw);
	return 0;
}

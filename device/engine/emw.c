// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows, between control and the transport. */
#include <errno.h>
#include <stdlib.h>
#include "device/engine/engine_impl.h"

struct ur_emw {
	struct ur_ectx *ectx;
	struct ur_mw *mw;
	u32 rkey, pd;
	int type;
};

static int alloc_mw(struct ur_engine *engine, void *arg)
{
	struct ur_emw *mw = arg;
	int ret = ur_mw_create(engine->port, mw->pd, mw->type, &mw->mw);

	if (!ret)
		mw->rkey = ur_mw_rkey(mw->mw);
	return ret;
}

int ur_emw_alloc(struct ur_ectx *ectx, u32 pd, int type, struct ur_emw **ret_mw)
{
	struct ur_emw *mw = calloc(1, sizeof(*mw));
	int ret;

	if (!mw)
		return -ENOMEM;
	mw->ectx = ectx;
	mw->pd = pd;
	mw->type = type;
	ret = ur_engine_call(ectx->engine, alloc_mw, mw);
	if (ret) {
		free(mw);
		return ret;
	}
	*ret_mw = mw;
	return 0;
}

u32 ur_emw_rkey(const struct ur_emw *mw)
{
	return mw->rkey;
}

static int dealloc_mw(struct ur_engine *engine, void *arg)
{
	ur_mw_destroy(((struct ur_emw *)arg)->mw);
	return 0;
}

int ur_emw_dealloc(struct ur_emw *mw)
{
	ur_engine_call(mw->ectx->engine, dealloc_mw, mw);
	free(mw);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device memory: a piece of the context's arena that regions can be made of. */
#include <errno.h>
#include <stdlib.h>
#include "engine/core/engine_impl.h"

int ur_edm_alloc(struct ur_ectx *ectx, u64 length, u32 log_align,
		 struct ur_edm **ret_dm, struct uroce_alloc_dm_resp *resp)
{
	struct ur_edm *dm;
	int err;

	if (!length || log_align > 12)
		return -EINVAL;
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return -ENOMEM;
	dm->ectx = ectx;
	dm->length = length;
	err = ur_ectx_alloc(ectx, length, &dm->block);
	if (err) {
		free(dm);
		return err;
	}
	ur_ectx_unlock(ectx);
	memset(dm->block.ptr, 0, dm->block.len);
	ur_ectx_relock(ectx);
	resp->map_off = dm->block.off;
	resp->map_len = dm->block.len;
	*ret_dm = dm;
	return 0;
}

int ur_edm_free(struct ur_edm *dm)
{
	if (dm->users)
		return -EBUSY;
	ur_arena_free(&dm->ectx->arena, &dm->block);
	free(dm);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

static int destroy_mw(struct ur_object *obj)
{
	struct ur_obj_mw *mw = ur_obj_mw_of(obj);

	ur_table_remove(&obj->file->dev->keys, mw->rkey >> 8);
	ur_object_unuse(mw->pd);
	return 0;
}

static const struct ur_object_type mw_type = {
	.id = UVERBS_OBJECT_MW,
	.name = "memory windows",
	.size = sizeof(struct ur_obj_mw),
	.destroy = destroy_mw,
};

int ur_w_alloc_mw(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_alloc_mw *req = in;
	struct ib_uverbs_alloc_mw_resp *resp = out;
	struct ur_obj_pd *pd =
		ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
	struct ur_obj_mw *mw;
	int err;

	if (!pd || (req->mw_type != 1 && req->mw_type != 2))
		return -EINVAL;
	mw = ur_object_new(cmd->file, &mw_type);
	if (!mw)
		return -ENOMEM;
	err = ur_key_new(cmd->dev, &mw->obj, &mw->rkey);
	if (err) {
		ur_object_abort(&mw->obj);
		return err;
	}
	mw->pd = pd;
	ur_object_use(pd);
	cmd->created = &mw->obj;
	resp->mw_handle = mw->obj.handle;
	resp->rkey = mw->rkey;
	return 0;
}

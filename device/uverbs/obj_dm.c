// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device memory. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>
#include "engine/ground/limits.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

static int destroy_dm(struct ur_object *obj)
{
	const struct ur_obj_dm *dm = ur_obj_dm_of(obj);

	ur_quota_give(&obj->file->dev->dm_bytes, obj->file->uid,
		      (u32)dm->length);
	return 0;
}

static const struct ur_object_type dm_type = {
	.id = UVERBS_OBJECT_DM,
	.size = sizeof(struct ur_obj_dm),
	.destroy = destroy_dm,
};

/* Places it in the context's sparse file, in a range that had none before, so it is zero. uroced neither maps it nor
 * touches its pages; the provider gives them back at the end. */
static int place(struct ur_ufile *file, struct ur_obj_dm *dm, u64 length)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);

	length = ur_align_up(length, page);
	if (length > UR_UFILE_BYTES - file->dm_next)
		return -ENOMEM;
	dm->map.map_off = file->dm_next;
	dm->map.map_len = length;
	file->dm_next += length;
	return 0;
}

int ur_m_alloc_dm(struct ur_cmd *cmd)
{
	u64 length = ur_attr_u64(cmd, UVERBS_ATTR_ALLOC_DM_LENGTH);
	struct ur_obj_dm *dm;
	u32 log_align;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, &log_align) ||
	    log_align > 12 || !length || length > UR_MAX_DM_BYTES)
		return -EINVAL;
	if (ur_quota_take(&cmd->dev->dm_bytes, cmd->file->uid, (u32)length))
		return -ENOMEM;
	dm = ur_object_new(cmd->file, &dm_type);
	err = -ENOMEM;
	if (!dm)
		goto err_give;
	err = place(cmd->file, dm, length);
	if (err)
		goto err_abort;
	dm->length = length;
	cmd->created = &dm->obj;
	err = ur_udata_out(cmd, &dm->map, sizeof(dm->map));
	return err ? err
		   : ur_attr_set(cmd, UVERBS_ATTR_ALLOC_DM_HANDLE,
				 dm->obj.handle);
err_abort:
	ur_object_abort(&dm->obj);
err_give:
	ur_quota_give(&cmd->dev->dm_bytes, cmd->file->uid, (u32)length);
	return err;
}

int ur_m_query_dm(struct ur_cmd *cmd)
{
	struct ur_obj_dm *dm = ur_attr_obj(cmd, UROCE_ATTR_DM_QUERY_HANDLE);
	struct uroce_query_dm_resp resp = {.map = dm->map,
					   .length = dm->length};

	return ur_attr_out(cmd, UROCE_ATTR_DM_QUERY_RESP, &resp, sizeof(resp));
}

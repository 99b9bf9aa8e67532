// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters objects: packets and bytes matched by the flow rules that use them. The provider
 * maps indices of the user's array to counters.
 */
#include <errno.h>
#include "engine/ground/limits.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

#define PREFER_CACHED (1u << 0) /* enum ib_uverbs_read_counters_flags */

static int destroy_counters(struct ur_object *obj)
{
	return 0;
}

static const struct ur_object_type counters_type = {
	.id = UVERBS_OBJECT_COUNTERS,
	.name = "counters objects",
	.size = sizeof(struct ur_obj_counters),
	.max = UR_MAX_COUNTERS,
	.destroy = destroy_counters,
};

int ur_m_create_counters(struct ur_cmd *cmd)
{
	struct ur_obj_counters *c;

	/* Counters exist only where flows do. */
	if (!ur_has_raw(cmd->dev))
		return -EOPNOTSUPP;
	c = ur_object_new(cmd->file, &counters_type);
	if (!c)
		return -ENOMEM;
	cmd->created = &c->obj;
	return ur_attr_set(cmd, UVERBS_ATTR_CREATE_COUNTERS_HANDLE,
			   c->obj.handle);
}

int ur_m_read_counters(struct ur_cmd *cmd)
{
	const struct ur_obj_counters *c =
		ur_attr_obj(cmd, UVERBS_ATTR_READ_COUNTERS_HANDLE);
	/* The provider adds what its engine has counted. */
	static const u64 values[2];
	u32 flags;

	if (ur_attr_u32(cmd, UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags))
		return -EINVAL;
	if (flags & ~PREFER_CACHED)
		return -EOPNOTSUPP;
	/* As in the kernel, an object without flows cannot be read. */
	if (!c->obj.users)
		return -EINVAL;
	return ur_attr_out(cmd, UVERBS_ATTR_READ_COUNTERS_BUFF, values,
			   sizeof(values));
}

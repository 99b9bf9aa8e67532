// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <rdma/ib_user_ioctl_cmds.h>

#include "device/uverbs/given_up.h"
#include "kernel-abi/uroce-ring.h"

static u32 handle_at(const struct ur_ufile *file, u32 i)
{
	return __atomic_load_n(&file->info.db->given_up[i], __ATOMIC_RELAXED);
}

void ur_given_up_take(struct ur_ufile *file)
{
	for (u32 i = 0; i < UROCE_GIVEN_UP; i++) {
		struct ur_object *mr;

		if (!handle_at(file, i))
			continue;
		mr = ur_object_get(
			file, UVERBS_OBJECT_MR,
			__atomic_exchange_n(&file->info.db->given_up[i], 0,
					    __ATOMIC_ACQ_REL));
		/* One that is in use was none to give up, and stays. */
		if (mr)
			ur_object_destroy(mr);
	}
}

bool ur_is_given_up(const struct ur_object *obj)
{
	if (obj->type->id != UVERBS_OBJECT_MR || !obj->file->ectx)
		return false;
	for (u32 i = 0; i < UROCE_GIVEN_UP; i++)
		if (handle_at(obj->file, i) == obj->handle)
			return true;
	return false;
}

/* A client may have put one there more than once. */
u32 ur_given_up_count(struct ur_ufile *file)
{
	u32 handle[UROCE_GIVEN_UP], n = 0;

	if (!file->ectx)
		return 0;
	for (u32 i = 0; i < UROCE_GIVEN_UP; i++) {
		u32 j = 0;

		handle[i] = handle_at(file, i);
		while (handle[j] != handle[i])
			j++;
		n += j == i && ur_object_get(file, UVERBS_OBJECT_MR, handle[i]);
	}
	return n;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common part of all commands that register a region. Control lock held. */
#ifndef UR_DEVICE_UVERBS_OBJ_MR_H
#define UR_DEVICE_UVERBS_OBJ_MR_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

/* Returns whether all bits of access are known. */
bool ur_access_known(u32 access);
/* Returns 0, or -EINVAL where access has an unknown bit, or remote rights
 * without the local one that they need. */
int ur_mr_check_access(u32 access);
/* Sets the on-demand paging fields of *range from access and range. Returns 0, or -EINVAL if
 * the address range wraps. */
int ur_mr_check_range(struct ur_mr_place *range);
/*
 * Checks that the range is there, with the rights that its access needs. It may take
 * as long as the client's page faults, so the control lock is released meanwhile. The file's objects
 * do not change, since its commands run one at a time. Returns 0, -EFAULT, or -EACCES where the
 * client's memory cannot be reached.
 */
int ur_mr_look(struct ur_cmd *cmd, const struct ur_mr_place *range);
/* Makes the region's object, which uses pd and dm (NULL: no device memory), in *ret, and sets
 * cmd->created. Returns 0, or -errno with *ret as it was. */
int ur_mr_make(struct ur_cmd *cmd, struct ur_obj_pd *pd, struct ur_obj_dm *dm,
	       struct ur_mr_place *range, struct ur_obj_mr **ret);

#endif

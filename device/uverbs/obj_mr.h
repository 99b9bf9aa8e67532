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
/* Sets the on-demand paging fields of attr from access and range. Returns 0, or -EINVAL if
 * the address range wraps. */
int ur_mr_check_range(struct ur_emr_attr *attr);
/*
 * Touches the region's memory, as the engine requires (-EAGAIN, ur_emr_must_look()), and
 * sets attr->looked. Releases the control lock meanwhile, so that nobody else waits for the
 * client's pages. The file's objects do not change, since its commands run one at a time.
 * Returns 0, or -EFAULT if the memory does not exist.
 */
int ur_mr_look(struct ur_cmd *cmd, struct ur_emr_attr *attr);
/* Unmaps the remains of a region: after the control lock is released, so that nobody else
 * waits for it, or at once if the file is closing. */
void ur_mr_unmap(struct ur_ufile *file, const struct ur_emr_left *left);
/*
 * Registers the region and makes its object, which uses pd and dm (NULL: no
 * device memory), in *ret, and sets cmd->created. Descriptors in attr stay the
 * caller's. Returns 0, or -errno with *ret as it was.
 */
int ur_mr_make(struct ur_cmd *cmd, struct ur_obj_pd *pd, struct ur_obj_dm *dm,
	       struct ur_emr_attr *attr, struct ur_obj_mr **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the forms of registration come to. */
#ifndef UR_DEVICE_OBJ_MR_H
#define UR_DEVICE_OBJ_MR_H

#include <rdma/ib_user_ioctl_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

/* 0, or -EINVAL: access has a bit that is not known, or remote rights without
 * the local one they need. */
int ur_mr_check_access(u32 access);
/* 0, or -EINVAL: the range of addresses wraps. Sets what access and range say
 * about paging. */
int ur_mr_check_range(struct ur_emr_attr *attr);
/*
 * After -EAGAIN of the engine: look at the memory and say so in attr. The control
 * lock is let go meanwhile, so that nobody else waits for the pages of this
 * client; what belongs to its file stays as it is, since its commands come one
 * at a time. 0, or -EFAULT: it is not there.
 */
int ur_mr_look(struct ur_cmd *cmd, struct ur_emr_attr *attr);
/*
 * Register and make the object, which uses pd and dm (NULL: no device memory);
 * cmd->created is set. Descriptors in attr stay the caller's. 0 or -errno, and
 * then *ret is as it was.
 */
int ur_mr_make(struct ur_cmd *cmd, struct ur_obj_pd *pd, struct ur_obj_dm *dm,
	       struct ur_emr_attr *attr, struct ur_obj_mr **ret);

#endif

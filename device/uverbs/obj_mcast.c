// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast membership of UD queue pairs. As in the kernel, attaching the same group twice
 * is one membership, and detaching a group that is not attached is EINVAL.
 */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include "device/quota.h"
#include "device/uverbs/obj_qp.h"
#include "util/assert.h"

static int find_group(const struct ur_obj_qp *qp, const u8 *gid)
{
	for (u32 i = 0; i < qp->n_mcast; i++)
		if (!memcmp(qp->mcast[i], gid, 16))
			return (int)i;
	return -1;
}

/* A group of a program in another network namespace takes a socket of uroced. */
static int set_far(const struct ur_ufile *file, u32 slot, const u8 *gid,
		   bool attach)
{
	int err = attach ? ur_quota_take_fds(file->uid, 1) : 0;

	if (err)
		return err;
	err = ur_engine_grant_group(file->dev->engine, slot, gid, attach);
	if (!attach || err)
		ur_quota_give_fds(file->uid, 1);
	return err;
}

/* An engine in a program joins by itself. */
static int set_member(const struct ur_obj_qp *qp, const u8 *gid, bool attach)
{
	return qp->obj.file->far
		       ? set_far(qp->obj.file, ur_slot_of(qp->qpc->qpn), gid,
				 attach)
		       : 0;
}

int ur_qp_leave(struct ur_obj_qp *qp, u32 i)
{
	struct ur_ufile *file = qp->obj.file;
	int err = set_member(qp, qp->mcast[i], false);

	if (!err)
		ur_groups_leave(&file->dev->groups, file->uid, qp->mcast[i]);
	return err;
}

int ur_w_attach_mcast(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_attach_mcast *req = in;
	struct ur_obj_qp *qp = ur_qp_get(cmd->file, req->qp_handle);
	int err;

	if (!qp || qp->type != UR_QPT_UD || !ur_gid_is_mcast(req->gid))
		return -EINVAL;
	if (find_group(qp, req->gid) >= 0)
		return 0;
	if (qp->n_mcast == UR_QP_MAX_MCAST)
		return -ENOMEM;
	err = ur_groups_enter(&cmd->dev->groups, cmd->file->uid, req->gid);
	if (err)
		return err;
	err = set_member(qp, req->gid, true);
	if (err)
		ur_groups_leave(&cmd->dev->groups, cmd->file->uid, req->gid);
	else
		memcpy(qp->mcast[qp->n_mcast++], req->gid, 16);
	return err;
}

int ur_w_detach_mcast(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_detach_mcast *req = in;
	struct ur_obj_qp *qp = ur_qp_get(cmd->file, req->qp_handle);
	int err, i;

	if (!qp)
		return -EINVAL;
	i = find_group(qp, req->gid);
	if (i < 0)
		return -EINVAL;
	err = ur_qp_leave(qp, (u32)i);
	if (!err) {
		ur_assert((u32)i < qp->n_mcast);
		qp->n_mcast--;
		memmove(qp->mcast[i], qp->mcast[qp->n_mcast], 16);
	}
	return err;
}

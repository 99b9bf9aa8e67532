// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles, and the check of all paths in verbs. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/static_rate.h"
#include "device/uverbs/uverbs_cmd.h"

int ur_path_from_ah(struct ur_device *dev, const struct ib_uverbs_ah_attr *attr,
		    struct ur_epath *path)
{
	const struct ib_uverbs_global_route *grh = &attr->grh;
	const struct ur_gid *g;

	/* RoCE addresses only by the GRH. */
	if (attr->port_num != 1 || !attr->is_global)
		return -EINVAL;
	g = ur_gid_get(dev, grh->sgid_index);
	if (!g || ur_gid_is_zero(grh->dgid))
		return -EINVAL;
	if (!ur_gid_is_mcast(grh->dgid) &&
	    ur_gid_is_v4(g->gid) != ur_gid_is_v4(grh->dgid))
		return -EINVAL;
	memset(path, 0, sizeof(*path));
	memcpy(path->sgid, g->gid, 16);
	memcpy(path->dgid, grh->dgid, 16);
	path->sgid_index = grh->sgid_index;
	path->flow_label = grh->flow_label & 0xfffff;
	path->traffic_class = grh->traffic_class;
	path->hop_limit = grh->hop_limit;
	path->sl = attr->sl;
	path->v1 = g->type == UR_GID_ROCE_V1;
	return 0;
}

static int destroy_ah(struct ur_object *obj)
{
	struct ur_obj_ah *ah = ur_obj_ah_of(obj);

	ur_object_unuse(ah->pd);
	return 0;
}

static const struct ur_object_type ah_type = {
	.id = UVERBS_OBJECT_AH,
	.name = "address handles",
	.size = sizeof(struct ur_obj_ah),
	.destroy = destroy_ah,
};

int ur_w_create_ah(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_ah *req = in;
	struct ib_uverbs_create_ah_resp *resp = out;
	const struct uroce_create_ah_resp udata = {0};
	struct ur_obj_pd *pd =
		ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
	struct ur_epath path;
	struct ur_obj_ah *ah;
	u64 bps;
	int err;

	if (!pd)
		return -EINVAL;
	err = ur_path_from_ah(cmd->dev, &req->attr, &path);
	if (!err)
		err = ur_static_rate_bps(req->attr.static_rate, &bps);
	/* Only queue pairs support a static rate. */
	if (!err && bps)
		err = -EOPNOTSUPP;
	if (!err)
		err = ur_engine_check_path(cmd->dev->engine, &path);
	if (err)
		return err;
	ah = ur_object_new(cmd->file, &ah_type);
	if (!ah)
		return -ENOMEM;
	ah->path = path;
	ah->pd = pd;
	ur_object_use(pd);
	cmd->created = &ah->obj;
	resp->ah_handle = ah->obj.handle;
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

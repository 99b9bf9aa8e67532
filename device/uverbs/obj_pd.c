// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains: a number that every key and queue carries. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include "engine/ground/limits.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

static int destroy_pd(struct ur_object *obj)
{
	ur_numbers_give(&obj->file->dev->pdns, ur_obj_pd_of(obj)->pdn);
	return 0;
}

static const struct ur_object_type pd_type = {
	.id = UVERBS_OBJECT_PD,
	.name = "protection domains",
	.size = sizeof(struct ur_obj_pd),
	.destroy = destroy_pd,
};

_Static_assert(UR_MAX_PD <= 1u << UROCE_DOMAIN_BITS, "providers know that");

int ur_w_alloc_pd(struct ur_cmd *cmd, const void *in, void *out)
{
	struct ib_uverbs_alloc_pd_resp *resp = out;
	struct ur_obj_pd *pd = ur_object_new(cmd->file, &pd_type);
	struct uroce_alloc_pd_resp udata = {0};

	if (!pd)
		return -ENOMEM;
	pd->pdn = ur_numbers_take(&cmd->dev->pdns);
	if (!pd->pdn) {
		ur_object_abort(&pd->obj);
		return -ENOMEM;
	}
	cmd->created = &pd->obj;
	resp->pd_handle = pd->obj.handle;
	udata.pdn = pd->pdn;
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

int ur_m_engine_pd(struct ur_cmd *cmd)
{
	const struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UROCE_ATTR_ENGINE_PD_HANDLE);
	const struct uroce_alloc_pd_resp resp = {.pdn = pd->pdn};

	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_PD_RESP, &resp, sizeof(resp));
}

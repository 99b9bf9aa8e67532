// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flow rules: converts the command (flow_parts.c) to a key and a mask, and makes the
 * objects. Creating one needs CAP_NET_RAW, like its queue pair. */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <string.h>
#include "device/client_rights.h"
#include "engine/ground/limits.h"
#include "device/uverbs/raw/flow_parts.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

/* enum ibv_flow_flags */
#define ALLOW_LOOP_BACK (1u << 0)
#define DONT_TRAP	(1u << 1)
#define EGRESS		(1u << 2)

_Static_assert(UR_FLOW_NORMAL == 0 && UR_FLOW_SNIFFER == 3,
	       "types of rules go to the engine as they are");

static int destroy_flow(struct ur_object *obj)
{
	struct ur_obj_flow *flow = ur_obj_flow_of(obj);

	ur_object_unuse(flow->qp);
	ur_object_unuse(flow->counters);
	return 0;
}

static const struct ur_object_type flow_type = {
	.id = UVERBS_OBJECT_FLOW,
	.name = "flow rules",
	.size = sizeof(struct ur_obj_flow),
	.max = UR_MAX_FLOW,
	.destroy = destroy_flow,
};

/* Makes the kernel's checks, in its order. */
static int check_head(const struct ib_uverbs_create_flow *req, u32 in_len)
{
	const struct ib_uverbs_flow_attr *a = &req->flow_attr;

	if (req->comp_mask ||
	    a->flags & ~(ALLOW_LOOP_BACK | DONT_TRAP | EGRESS))
		return -EINVAL;
	if (a->flags & EGRESS)
		return -EOPNOTSUPP;
	if ((a->flags & DONT_TRAP) && a->type != UR_FLOW_NORMAL)
		return -EINVAL;
	if (a->num_of_specs > UR_FLOW_PARTS || a->type > UR_FLOW_SNIFFER)
		return -EINVAL;
	if (a->size > in_len - sizeof(*req) ||
	    a->size > UR_FLOW_CORE_MAX - sizeof(*req))
		return -EINVAL;
	if (a->reserved[0] || a->reserved[1] || a->port != 1)
		return -EINVAL;
	return 0;
}

static void note(const struct ib_uverbs_flow_attr *a,
		 const struct ur_flow_parts *parts,
		 struct uroce_engine_flow *asked)
{
	*asked = (struct uroce_engine_flow){
		.type = a->type,
		.priority = a->priority,
		.drop = parts->drop,
		.dont_trap = !!(a->flags & DONT_TRAP),
		.allow_loop_back = !!(a->flags & ALLOW_LOOP_BACK),
	};
	memcpy(asked->key, &parts->key, sizeof(asked->key));
	memcpy(asked->mask, &parts->mask, sizeof(asked->mask));
}

int ur_x_create_flow(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_flow *req = in;
	struct ib_uverbs_create_flow_resp *resp = out;
	struct ur_obj_counters *counters = NULL;
	struct ur_obj_qp *qp = ur_qp_get(cmd->file, req->qp_handle);
	struct ur_flow_parts parts;
	struct ur_obj_flow *flow;
	int err;

	if (!ur_client_may_raw(cmd->file->session))
		return -EPERM;
	err = check_head(req, cmd->in_len);
	if (!err)
		err = ur_flow_parts_read(&parts, &req->flow_attr,
					 (const u8 *)(req + 1));
	if (err)
		return err;
	if (!qp)
		return -EINVAL;
	if (qp->type != UR_QPT_RAW_PACKET)
		return qp->type == UR_QPT_UD ? -EOPNOTSUPP : -EINVAL;
	if (parts.counted) {
		counters = ur_object_get(cmd->file, UVERBS_OBJECT_COUNTERS,
					 parts.counters);
		if (!counters)
			return -EINVAL;
	}
	flow = ur_object_new(cmd->file, &flow_type);
	if (!flow)
		return -ENOMEM;
	flow->qp = qp;
	flow->counters = counters;
	note(&req->flow_attr, &parts, &flow->asked);
	ur_object_use(qp);
	ur_object_use(counters);
	cmd->created = &flow->obj;
	resp->flow_handle = flow->obj.handle;
	return 0;
}

int ur_x_destroy_flow(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_destroy_flow *req = in;
	struct ur_object *flow =
		ur_object_get(cmd->file, UVERBS_OBJECT_FLOW, req->flow_handle);

	if (req->comp_mask || !flow)
		return -EINVAL;
	return ur_object_destroy(flow);
}

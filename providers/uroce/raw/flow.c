// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flow rules: the library parses their parts, the device checks them, and the
 * queue pair's engine matches frames. */
#include "providers/uroce/raw/ectx_raw.h"

/* Returns the counters object that a part of the rule names, or NULL. */
static struct uroce_counters *counters_of(const struct ibv_flow_attr *attr)
{
	const u8 *part = (const u8 *)(attr + 1);
	struct ibv_flow_spec_counter_action count;

	/* Programs concatenate parts of any size, so they are unaligned. */
	for (u32 i = 0; i < attr->num_of_specs; i++) {
		memcpy(&count, part, offsetof(typeof(count), counters));
		if (count.type == IBV_FLOW_SPEC_ACTION_COUNT) {
			memcpy(&count, part, sizeof(count));
			return ur_to_counters(count.counters);
		}
		part += count.size;
	}
	return NULL;
}

static int cmd_create(struct ibv_qp *qp, struct uroce_flow *flow,
		      struct ibv_flow_attr *attr,
		      struct uroce_counters *counters)
{
	int err = counters ? ur_ectx_renew_counters(counters) : 0;

	return err ? err : ibv_cmd_create_flow(qp, &flow->ibv, attr, NULL, 0);
}

static int create_flow(struct uroce_qp *qp, struct uroce_flow *flow,
		       struct ibv_flow_attr *attr)
{
	struct uroce_counters *counters = qp->engine ? counters_of(attr) : NULL;
	int err = UR_ECTX_OLD(ur_ectx_old_qp(qp),
			      cmd_create(&qp->ibv, flow, attr, counters));

	if (err)
		return err;
	err = ur_ectx_create_flow(qp, flow, counters);
	if (err)
		ibv_cmd_destroy_flow(&flow->ibv);
	return err;
}

struct ibv_flow *uroce_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr)
{
	struct uroce_flow *flow = calloc(1, sizeof(*flow));
	int err;

	if (!flow)
		return NULL;
	err = create_flow(ur_to_qp(qp), flow, attr);
	if (err)
		return ur_fail(flow, err);
	return &flow->ibv;
}

int uroce_destroy_flow(struct ibv_flow *ibv)
{
	struct uroce_flow *flow = ur_to_flow(ibv);
	struct uroce_context *ctx = ur_to_ctx(ibv->context);
	int err = ur_ectx_forgive(ctx, ibv_cmd_destroy_flow(ibv));

	if (err)
		return err;
	ur_ectx_destroy_flow(ctx, flow);
	free(flow);
	return 0;
}

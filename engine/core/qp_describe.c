// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <string.h>
#include "engine/engine_queues.h"

static void describe_path(struct uroce_engine_qp *to,
			  const struct ur_epath *path)
{
	memcpy(to->sgid, path->sgid, sizeof(to->sgid));
	memcpy(to->dgid, path->dgid, sizeof(to->dgid));
	to->sgid_index = path->sgid_index;
	to->flow_label = path->flow_label;
	to->traffic_class = path->traffic_class;
	to->hop_limit = path->hop_limit;
	to->nobodys = path->nobodys;
	to->sl = path->sl;
	to->v1 = path->v1;
	to->have_path = 1;
}

void ur_qp_describe(const struct ur_qp_attr *attr, const struct ur_epath *path,
		    struct uroce_engine_qp *to)
{
	*to = (struct uroce_engine_qp){
		.state = attr->state,
		.path_mtu = attr->path_mtu,
		.qkey = attr->qkey,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qpn = attr->dest_qpn,
		.access = attr->access,
		.rate_limit = attr->rate_limit,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.en_sqd_async_notify = attr->en_sqd_async_notify,
		.sq_draining = attr->sq_draining,
		.static_bps = attr->static_bps,
	};
	if (path)
		describe_path(to, path);
}

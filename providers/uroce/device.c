// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queries of the device and its ports. */
#include <stdio.h>

#include "ectx.h"
#include "uroce.h"
#include "util/os/clock.h"

/* The part of enum ibv_rx_hash_fields that the device supports. */
#define HASH_FIELDS                                                           \
	(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 | \
	 IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_TCP |                    \
	 IBV_RX_HASH_DST_PORT_TCP | IBV_RX_HASH_SRC_PORT_UDP |                \
	 IBV_RX_HASH_DST_PORT_UDP)

int uroce_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct {
		struct ib_uverbs_ex_query_device_resp core;
		struct uroce_query_device_resp drv;
	} resp = {0};
	size_t resp_size = sizeof(resp);
	u64 fw;
	int err;

	err = UR_ECTX_TRY(context, NULL,
			  ibv_cmd_query_device_any(context, input, attr,
						   attr_size, &resp.core,
						   &resp_size));
	if (err)
		return err;
	ur_ectx_begin(ur_to_ctx(context));
	fw = resp.core.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u%s", (unsigned int)(fw >> 32) & 0xffff,
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff,
		 resp.drv.synthetic ? "-uroce" : "");
	if (resp.core.rss_caps.supported_qpts &&
	    attr_size >= offsetof(struct ibv_device_attr_ex, max_wq_type_rq)) {
		attr->rss_caps.rx_hash_fields_mask = HASH_FIELDS;
		attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	}
	if (attr_size >= offsetof(struct ibv_device_attr_ex, raw_packet_caps))
		attr->packet_pacing_caps = (struct ibv_packet_pacing_caps){
			.qp_rate_limit_min = resp.drv.rate_limit_min,
			.qp_rate_limit_max = resp.drv.rate_limit_max,
			.supported_qpts = resp.drv.rate_limit_qpts,
		};
	return 0;
}

int uroce_query_port(struct ibv_context *context, uint8_t port,
		     struct ibv_port_attr *attr)
{
	UR_REQ(ib_uverbs_query_port, ) req = {0};
	int err = UR_ECTX_TRY(
		context, NULL,
		ibv_cmd_query_port(context, port, attr, &req, sizeof(req)));

	if (!err)
		ur_ectx_begin(ur_to_ctx(context));
	return err;
}

/* By an attribute of the kernel that the oldest headers lack. */
int uroce_query_port_speed(struct ibv_context *context, uint32_t port,
			   uint64_t *speed)
{
	UR_CMDB(2) b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff}};
	struct ib_uverbs_ioctl_hdr hdr = {
		.object_id = UVERBS_OBJECT_DEVICE,
		.method_id = UROCE_METHOD_QUERY_PORT_SPEED,
	};

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	b.attr[0] = (struct ib_uverbs_attr){
		.attr_id = UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = sizeof(u64),
		.data = port,
	};
	b.attr[1] = (struct ib_uverbs_attr){
		.attr_id = UROCE_ATTR_QUERY_PORT_SPEED_RESP,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = sizeof(*speed),
		.data = (uintptr_t)speed,
	};
	b.cmdb.next_attr = b.attr + 2;
	b.cmdb.last_attr = b.attr + 2;
	return execute_ioctl(context, &b.cmdb);
}

int uroce_query_rt_values(struct ibv_context *context,
			  struct ibv_values_ex *values)
{
	u32 want = values->comp_mask;

	values->comp_mask = 0;
	if (want & ~(u32)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (want & IBV_VALUES_MASK_RAW_CLOCK) {
		/* The clock of uroce_cqe.timestamp_ns. */
		ur_kernel_clock(CLOCK_MONOTONIC_RAW, &values->raw_clock);
		values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	}
	return 0;
}

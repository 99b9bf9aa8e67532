// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device attributes, port attributes, GID entries. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/ground/limits.h"
#include "device/port.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/query.h"
#include "device/uverbs/uverbs_cmd.h"

#define PAGE_SIZE_CAP 0xfffff000
#define ATOMIC_HCA    1 /* enum ibv_atomic_cap */

#define CAP_FLAGS                                                            \
	(IB_UVERBS_DEVICE_BAD_PKEY_CNTR | IB_UVERBS_DEVICE_BAD_QKEY_CNTR |   \
	 IB_UVERBS_DEVICE_CURR_QP_STATE_MOD |                                \
	 IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |                                \
	 IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN | \
	 IB_UVERBS_DEVICE_SRQ_RESIZE | IB_UVERBS_DEVICE_MEM_WINDOW |         \
	 IB_UVERBS_DEVICE_XRC | IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS |        \
	 IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B)

/* enum ibv_odp_general_caps, ibv_odp_transport_cap_bits */
#define ODP_SUPPORT	 (1u << 0)
#define ODP_IMPLICIT	 (1u << 1)
#define ODP_SEND	 (1u << 0)
#define ODP_RECV	 (1u << 1)
#define ODP_WRITE	 (1u << 2)
#define ODP_READ	 (1u << 3)
#define ODP_ATOMIC	 (1u << 4)
#define ODP_SRQ_RECV	 (1u << 5)
#define ODP_FLUSH	 (1u << 6)
#define ODP_ATOMIC_WRITE (1u << 7)
#define ODP_ALL                                                    \
	(ODP_SEND | ODP_RECV | ODP_WRITE | ODP_READ | ODP_ATOMIC | \
	 ODP_SRQ_RECV | ODP_FLUSH | ODP_ATOMIC_WRITE)

u32 ur_num_comp_vectors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 2)
		return 2;
	return n > 64 ? 64 : (u32)n;
}

u64 ur_device_cap_flags(void)
{
	return CAP_FLAGS;
}

static u64 cap_flags(const struct ur_device *dev)
{
	return ur_has_raw(dev)
		       ? CAP_FLAGS | IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING
		       : CAP_FLAGS;
}

/* enum ibv_rx_hash_fields is in the provider's part of the response. */
static void fill_rss(const struct ur_device *dev,
		     struct ib_uverbs_ex_query_device_resp *r)
{
	if (!ur_has_raw(dev))
		return;
	r->rss_caps.supported_qpts = 1u << IB_UVERBS_QPT_RAW_PACKET;
	r->rss_caps.max_rwq_indirection_tables = UR_MAX_RWQ_TABLE;
	r->rss_caps.max_rwq_indirection_table_size = UR_RSS_TABLE_MAX;
	r->max_wq_type_rq = UR_MAX_WQ;
}

static void fill_device(const struct ur_device *dev,
			struct ib_uverbs_query_device_resp *r)
{
	const struct ur_limits *l = &dev->daemon->limits;
	const struct ur_like *like = dev->daemon->like;
	u64 guid = __builtin_bswap64(dev->node_guid);

	r->fw_ver = like->fw_ver;
	r->hw_ver = like->hw_ver;
	r->node_guid = guid;
	r->sys_image_guid = guid;
	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = PAGE_SIZE_CAP;
	r->vendor_id = like->vendor_id;
	r->vendor_part_id = like->vendor_part_id;
	r->max_qp = l->max_qp;
	r->max_qp_wr = l->max_qp_wr;
	r->device_cap_flags = (u32)cap_flags(dev);
	r->max_sge = l->max_sge;
	r->max_sge_rd = l->max_sge_rd;
	r->max_cq = l->max_cq;
	r->max_cqe = l->max_cqe;
	r->max_mr = l->max_mr;
	r->max_pd = l->max_pd;
	r->max_qp_rd_atom = (u8)l->max_rd_atom;
	r->max_res_rd_atom = UR_MAX_RES_RD_ATOM;
	r->max_qp_init_rd_atom = (u8)l->max_init_rd_atom;
	r->atomic_cap = ATOMIC_HCA;
	r->max_mw = l->max_mw;
	r->max_mcast_grp = UR_MCAST_GROUPS_MAX;
	r->max_mcast_qp_attach = UR_MCAST_MEMBERS_MAX;
	r->max_total_mcast_qp_attach =
		UR_MCAST_GROUPS_MAX * UR_MCAST_MEMBERS_MAX;
	r->max_ah = l->max_ah;
	r->max_srq = l->max_srq;
	r->max_srq_wr = l->max_srq_wr;
	r->max_srq_sge = l->max_srq_sge;
	r->max_pkeys = 1;
	r->local_ca_ack_delay = UR_CA_ACK_DELAY;
	r->phys_port_cnt = 1;
}

int ur_w_query_device(struct ur_cmd *cmd, const void *in, void *out)
{
	fill_device(cmd->dev, out);
	return 0;
}

int ur_x_query_device(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_query_device *req = in;
	struct ib_uverbs_ex_query_device_resp *r = out;
	const struct uroce_query_device_resp udata = {
		.synthetic = !!cmd->dev->daemon->like->word,
		.rate_limit_min = 1,
		.rate_limit_max = UR_MAX_RATE_KBPS,
		.rate_limit_qpts =
			1u << IB_UVERBS_QPT_RC | 1u << IB_UVERBS_QPT_UC |
			1u << IB_UVERBS_QPT_UD | 1u << IB_UVERBS_QPT_RAW_PACKET,
	};

	if (req->comp_mask || req->reserved)
		return -EINVAL;
	fill_device(cmd->dev, &r->base);
	r->response_length = ur_min_u32(cmd->out_len, sizeof(*r));
	r->odp_caps.general_caps = ODP_SUPPORT | ODP_IMPLICIT;
	r->odp_caps.per_transport_caps.rc_odp_caps = ODP_ALL;
	r->odp_caps.per_transport_caps.uc_odp_caps =
		ODP_SEND | ODP_RECV | ODP_WRITE | ODP_SRQ_RECV;
	r->odp_caps.per_transport_caps.ud_odp_caps =
		ODP_SEND | ODP_RECV | ODP_SRQ_RECV;
	r->xrc_odp_caps = ODP_ALL;
	/* Completions carry nanoseconds of CLOCK_MONOTONIC_RAW. */
	r->timestamp_mask = UINT64_MAX;
	r->hca_core_clock = 1000000; /* kHz */
	r->device_cap_flags_ex = cap_flags(cmd->dev);
	r->cq_moderation_caps.max_cq_moderation_count = UINT16_MAX;
	r->cq_moderation_caps.max_cq_moderation_period = UINT16_MAX;
	r->max_dm_size = UR_MAX_DM_BYTES;
	fill_rss(cmd->dev, r);
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

int ur_w_query_port(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_query_port *req = in;

	if (req->port_num != 1)
		return -EINVAL;
	ur_fill_port(cmd->dev, out);
	return 0;
}

int ur_m_query_port(struct ur_cmd *cmd)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};

	if (ur_attr_u64(cmd, UVERBS_ATTR_QUERY_PORT_PORT_NUM) != 1)
		return -EINVAL;
	ur_fill_port(cmd->dev, &resp.legacy_resp);
	return ur_attr_out(cmd, UVERBS_ATTR_QUERY_PORT_RESP, &resp,
			   sizeof(resp));
}

int ur_m_query_port_speed(struct ur_cmd *cmd)
{
	u64 speed;

	if (ur_attr_u64(cmd, UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM) != 1)
		return -EINVAL;
	speed = ur_port_speed100(cmd->dev);
	return ur_attr_out(cmd, UROCE_ATTR_QUERY_PORT_SPEED_RESP, &speed,
			   sizeof(speed));
}

static void fill_gid(const struct ur_device *dev, u32 index,
		     struct ib_uverbs_gid_entry *e)
{
	const struct ur_gid *g = ur_gid_get(dev, index);

	memset(e, 0, sizeof(*e));
	memcpy(e->gid, g->gid, 16);
	e->gid_index = index;
	e->port_num = 1;
	e->gid_type = g->type == UR_GID_ROCE_V1 ? IB_UVERBS_GID_TYPE_ROCE_V1
						: IB_UVERBS_GID_TYPE_ROCE_V2;
	e->netdev_ifindex = g->ifindex;
}

int ur_m_query_gid_entry(struct ur_cmd *cmd)
{
	struct ib_uverbs_gid_entry e;
	u64 port = ur_attr_u64(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
	u64 index = ur_attr_u64(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);

	if (ur_attr_u64(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS))
		return -EOPNOTSUPP;
	if (port != 1 || index >= UR_GID_MAX)
		return -EINVAL;
	if (!ur_gid_get(cmd->dev, (u32)index))
		return -ENODATA;
	fill_gid(cmd->dev, (u32)index, &e);
	return ur_attr_out(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e,
			   sizeof(e));
}

int ur_m_query_gid_table(struct ur_cmd *cmd)
{
	u64 size = ur_attr_u64(cmd, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	u32 len = ur_attr_len(cmd, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	u64 n = 0, count = ur_gid_count(cmd->dev);
	struct ib_uverbs_gid_entry *table;
	int err;

	if (ur_attr_u64(cmd, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS))
		return -EOPNOTSUPP;
	/* A longer entry would need padding; no release uses one. */
	if (size != sizeof(*table) || len / size < count)
		return -EINVAL;
	table = calloc(count + 1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (u32 i = 0; i < UR_GID_MAX && n < count; i++)
		if (ur_gid_get(cmd->dev, i))
			fill_gid(cmd->dev, i, &table[n++]);
	err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table,
			  n * sizeof(*table));
	free(table);
	return err ? err
		   : ur_attr_out(cmd,
				 UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
				 &n, sizeof(n));
}

int ur_m_info_handles(struct ur_cmd *cmd)
{
	const struct ur_handles *h = &cmd->file->handles;
	u64 type = ur_attr_u64(cmd, UVERBS_ATTR_INFO_OBJECT_ID);
	u32 room = ur_attr_len(cmd, UVERBS_ATTR_INFO_HANDLES_LIST) / 4;
	u32 list[256], n = 0;
	int err;

	if (room > UR_ARRAY_SIZE(list))
		room = UR_ARRAY_SIZE(list);
	for (u32 i = 0; i < h->size && n < room; i++)
		if (h->slot[i] && h->slot[i]->type->id == type)
			list[n++] = h->slot[i]->handle;
	err = ur_attr_out(cmd, UVERBS_ATTR_INFO_TOTAL_HANDLES, &n, sizeof(n));
	return err ? err
		   : ur_attr_out(cmd, UVERBS_ATTR_INFO_HANDLES_LIST, list,
				 n * sizeof(*list));
}

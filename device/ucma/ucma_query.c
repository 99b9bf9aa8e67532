// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The source and destination addresses of an id, in the four forms of the ABI. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "device/ucma/ucma.h"

#define SELECT_EQ  2 /* IB_SA_EQ */
#define PATH_FLAGS (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

/* The device, if id has one yet. */
static void put_device(const struct ucma_id *id, void *node_guid, u8 *port_num,
		       void *pkey)
{
	u16 full = htons(0xffff);

	if (!id->dev)
		return;
	ur_put_be64(node_guid, id->dev->node_guid);
	*port_num = 1;
	if (pkey)
		memcpy(pkey, &full, sizeof(full));
}

int ucma_query_route(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_query *in = cmd->in;
	struct rdma_ucm_query_route_resp *out = (void *)cmd->out;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	struct ib_user_path_rec *path = &out->ib_route[0];

	if (!id)
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	out->ibdev_index = UINT32_MAX; /* none: match by GUID */
	memcpy(&out->src_addr, &id->src,
	       id->src.sa.sa_family == AF_INET ? sizeof(id->src.in)
					       : sizeof(id->src.in6));
	memcpy(&out->dst_addr, &id->dst,
	       id->dst.sa.sa_family == AF_INET ? sizeof(id->dst.in)
					       : sizeof(id->dst.in6));
	put_device(id, &out->node_guid, &out->port_num, NULL);
	cmd->out_len = sizeof(*out);
	if (!id->dev)
		return 0;
	memcpy(path->dgid, id->dgid, 16);
	memcpy(path->sgid, id->sgid, 16);
	path->pkey = htons(0xffff);
	if (!id->has_path)
		return 0;
	out->num_paths = 1;
	path->flow_label = htonl(id->flow_label);
	path->reversible = 1;
	path->mtu = id->path_mtu;
	path->hop_limit = id->hop_limit;
	path->traffic_class = id->tos;
	path->sl = id->tos >> 5;
	path->mtu_selector = SELECT_EQ;
	path->rate_selector = SELECT_EQ;
	path->packet_life_time_selector = SELECT_EQ;
	path->packet_life_time = UCMA_PACKET_LIFE_TIME;
	return 0;
}

static void query_addr(const struct ucma_id *id, struct ucma_cmd *cmd)
{
	struct rdma_ucm_query_addr_resp *out = (void *)cmd->out;

	out->ibdev_index = UINT32_MAX;
	out->src_size = (u16)ucma_sa_size(&id->src);
	memcpy(&out->src_addr, &id->src, out->src_size);
	out->dst_size = (u16)ucma_sa_size(&id->dst);
	memcpy(&out->dst_addr, &id->dst, out->dst_size);
	put_device(id, &out->node_guid, &out->port_num, &out->pkey);
	cmd->out_len = sizeof(*out);
}

static void put_ib(struct __kernel_sockaddr_storage *to, const u8 *gid,
		   const struct ucma_id *id, u16 port)
{
	struct ur_sockaddr_ib ib = {.sib_family = AF_IB,
				    .sib_pkey = htons(0xffff)};

	memcpy(ib.sib_addr, gid, 16);
	ur_put_be64(&ib.sib_sid, ur_ip_cm_service_id(id->ps, port));
	ur_put_be64(&ib.sib_sid_mask, UINT64_MAX);
	memcpy(to, &ib, sizeof(ib));
}

static void query_gid(const struct ucma_id *id, struct ucma_cmd *cmd)
{
	struct rdma_ucm_query_addr_resp *out = (void *)cmd->out;

	out->ibdev_index = UINT32_MAX;
	put_device(id, &out->node_guid, &out->port_num, &out->pkey);
	out->src_size = sizeof(struct ur_sockaddr_ib);
	put_ib(&out->src_addr, id->sgid, id, ucma_sa_port(&id->src));
	out->dst_size = sizeof(struct ur_sockaddr_ib);
	put_ib(&out->dst_addr, id->dgid, id, ucma_sa_port(&id->dst));
	cmd->out_len = sizeof(*out);
}

/* IBA 15.2.5.16, PathRecord. */
static void pack_path(const struct ucma_id *id, u8 rec[64])
{
	memset(rec, 0, 64);
	memcpy(rec + 8, id->dgid, 16);
	memcpy(rec + 24, id->sgid, 16);
	ur_put_be32(rec + 44, (id->flow_label & 0xfffff) << 8 | id->hop_limit);
	rec[48] = id->tos;
	rec[49] = 0x80; /* reversible, no count */
	ur_put_be16(rec + 50, 0xffff);
	ur_put_be16(rec + 52, id->tos >> 5);
	rec[54] = (u8)(SELECT_EQ << 6 | id->path_mtu);
	rec[55] = SELECT_EQ << 6;
	rec[56] = SELECT_EQ << 6 | UCMA_PACKET_LIFE_TIME;
}

static void query_path(const struct ucma_id *id, struct ucma_cmd *cmd)
{
	struct rdma_ucm_query_path_resp *out = (void *)cmd->out;
	struct ib_path_rec_data *data = out->path_data;

	out->num_paths = id->has_path;
	cmd->out_len = sizeof(*out);
	if (!id->has_path || cmd->out_bytes < sizeof(*out) + sizeof(*data))
		return;
	data->flags = PATH_FLAGS;
	pack_path(id, (u8 *)data->path_rec);
	cmd->out_len += sizeof(*data);
}

int ucma_query(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_query *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	u32 addr_min = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);

	if (!id)
		return -EINVAL;
	switch (in->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		if (cmd->out_bytes < addr_min)
			return -ENOSPC;
		query_addr(id, cmd);
		return 0;
	case RDMA_USER_CM_QUERY_PATH:
		query_path(id, cmd);
		return 0;
	case RDMA_USER_CM_QUERY_GID:
		if (cmd->out_bytes < addr_min)
			return -ENOSPC;
		query_gid(id, cmd);
		return 0;
	default:
		return -ENOSYS;
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indirection tables, and queue pairs that spread frames over a table's work queues by a
 * hash of the headers.
 */
#include <errno.h>
#include "engine/ground/limits.h"
#include "device/memory.h"
#include "device/uverbs/obj_qp.h"

#define TOEPLITZ (1u << 0) /* enum ibv_rx_hash_function_flags */

#define IPV4 (UR_RSS_SRC_IPV4 | UR_RSS_DST_IPV4)
#define IPV6 (UR_RSS_SRC_IPV6 | UR_RSS_DST_IPV6)
#define TCP  (UR_RSS_SRC_PORT_TCP | UR_RSS_DST_PORT_TCP)
#define UDP  (UR_RSS_SRC_PORT_UDP | UR_RSS_DST_PORT_UDP)
#define ALL  (IPV4 | IPV6 | TCP | UDP)

static int destroy_table(struct ur_object *obj)
{
	struct ur_obj_rwq_table *t = ur_obj_rwq_table_of(obj);

	for (u32 i = 0; i < t->size; i++)
		ur_object_unuse(t->wq[i]);
	return 0;
}

static const struct ur_object_type table_type = {
	.id = UVERBS_OBJECT_RWQ_IND_TBL,
	.name = "indirection tables",
	.size = sizeof(struct ur_obj_rwq_table),
	.kib = UR_KIB_RWQ_TABLE,
	.max = UR_MAX_RWQ_TABLE,
	.destroy = destroy_table,
};

int ur_x_create_rwq_table(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_rwq_ind_table *req = in;
	struct ib_uverbs_ex_create_rwq_ind_table_resp *resp = out;
	struct ur_obj_wq *wq[UR_RSS_TABLE_MAX];
	struct ur_obj_rwq_table *t;
	u32 size;

	if (req->comp_mask)
		return -EOPNOTSUPP;
	if (req->log_ind_tbl_size >= 32 ||
	    1u << req->log_ind_tbl_size > UR_RSS_TABLE_MAX)
		return -EINVAL;
	size = 1u << req->log_ind_tbl_size;
	/* The handles are padded to eight bytes. */
	if (cmd->in_len < sizeof(*req) + size * sizeof(req->wq_handles[0]))
		return -ENOSPC;
	for (u32 i = 0; i < size; i++) {
		wq[i] = ur_object_get(cmd->file, UVERBS_OBJECT_WQ,
				      req->wq_handles[i]);
		if (!wq[i])
			return -EINVAL;
	}
	t = ur_object_new(cmd->file, &table_type);
	if (!t)
		return -ENOMEM;
	t->size = size;
	memcpy(t->wq, wq, size * sizeof(wq[0]));
	for (u32 i = 0; i < size; i++)
		ur_object_use(wq[i]);
	cmd->created = &t->obj;
	resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	resp->ind_tbl_handle = t->obj.handle;
	resp->ind_tbl_num = t->obj.number;
	return 0;
}

int ur_x_destroy_rwq_table(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_destroy_rwq_ind_table *req = in;
	struct ur_object *t = ur_object_get(
		cmd->file, UVERBS_OBJECT_RWQ_IND_TBL, req->ind_tbl_handle);

	if (req->comp_mask)
		return -EOPNOTSUPP;
	return t ? ur_object_destroy(t) : -EINVAL;
}

/* ---- queue pairs ---- */

static int check_fields(u64 fields, u32 size)
{
	if (fields & ~(u64)ALL)
		return -EOPNOTSUPP;
	/* Like other drivers, allows one protocol per layer. Without fields nothing is
	 * hashed, which requires a single queue. */
	if (((fields & IPV4) && (fields & IPV6)) ||
	    ((fields & TCP) && (fields & UDP)))
		return -EINVAL;
	return fields || size == 1 ? 0 : -EINVAL;
}

int ur_rss_check(const struct ur_cmd *cmd, const struct ur_qp_args *a)
{
	struct uroce_create_rss_qp_req req;

	if (a->type != IB_UVERBS_QPT_RAW_PACKET)
		return -EOPNOTSUPP;
	if (a->cap.max_recv_wr || a->cap.max_recv_sge || a->srq || a->recv_cq)
		return -EINVAL;
	ur_udata_in(cmd, &req, sizeof(req));
	if (req.rsv)
		return -EINVAL;
	if (req.function != TOEPLITZ)
		return -EOPNOTSUPP;
	if (req.key_len != UR_RSS_KEY_BYTES)
		return -EINVAL;
	return check_fields(req.fields, a->table->size);
}

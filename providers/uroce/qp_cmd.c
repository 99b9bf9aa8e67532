// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands that make and modify queue pairs, in their forms. */
#include <string.h>

#include "ectx.h"

/* Creates a queue pair with an indirection table. The library passes the table,
 * the driver's part the hash. */
static int cmd_create_rss(struct ibv_context *context, struct uroce_qp *qp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct uroce_create_qp_resp *drv)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	UR_REQ_EX(ib_uverbs_ex_create_qp, struct uroce_create_rss_qp_req drv)
	req = {.drv = {.fields = hash->rx_hash_fields_mask,
		       .function = hash->rx_hash_function,
		       .key_len = hash->rx_hash_key_len,
		       .flags = qp->number ? UROCE_QP_F_AGAIN : 0,
		       .number = qp->number}};
	UR_RESP(ib_uverbs_ex_create_qp_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	int err;

	if (hash->rx_hash_key_len != sizeof(req.drv.key))
		return EINVAL;
	memcpy(req.drv.key, hash->rx_hash_key, sizeof(req.drv.key));
	err = ibv_cmd_create_qp_ex2(context, qp, attr, &req, sizeof(req), &resp,
				    sizeof(resp), NULL);
	*drv = resp.drv;
	return err;
}

/* Creation flags need the extended command; all else uses the old one. */
int ur_qp_cmd_create(struct ibv_context *context, struct uroce_qp *qp,
		     struct ibv_qp_init_attr_ex *attr,
		     struct uroce_create_qp_resp *drv)
{
	UR_REQ(ib_uverbs_create_qp, struct uroce_create_qp_req drv) req = {0};
	UR_RESP(ib_uverbs_create_qp_resp, struct uroce_create_qp_resp drv)
	resp = {0};
	UR_REQ_EX(ib_uverbs_ex_create_qp, struct uroce_create_qp_req drv)
	req_ex = {0};
	UR_RESP(ib_uverbs_ex_create_qp_resp, struct uroce_create_qp_resp drv)
	resp_ex = {0};
	int err;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		return cmd_create_rss(context, qp, attr, drv);
	if (ur_to_ctx(context)->imported)
		req.drv.flags = req_ex.drv.flags = UROCE_QP_F_SHARED;
	if (qp->number)
		req.drv = (struct uroce_create_qp_req){UROCE_QP_F_AGAIN,
						       qp->number};
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) {
		err = ibv_cmd_create_qp_ex2(context, qp, attr, &req_ex,
					    sizeof(req_ex), &resp_ex,
					    sizeof(resp_ex), NULL);
		*drv = resp_ex.drv;
	} else {
		err = ibv_cmd_create_qp_ex(context, qp, attr, &req, sizeof(req),
					   &resp, sizeof(resp));
		*drv = resp.drv;
	}
	return err;
}

int ur_qp_cmd_open(struct ibv_context *context, struct uroce_qp *qp,
		   struct ibv_qp_open_attr *attr)
{
	UR_REQ(ib_uverbs_open_qp, struct uroce_create_qp_req drv) req = {0};
	UR_RESP(ib_uverbs_create_qp_resp, struct uroce_create_qp_resp drv)
	resp = {0};

	return ibv_cmd_open_qp(context, qp, UR_VQP_ROOM, attr, &req,
			       sizeof(req), &resp, sizeof(resp));
}

/* A rate needs the extended command. */
int ur_qp_cmd_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	UR_REQ(ib_uverbs_modify_qp, ) req = {0};
	UR_REQ_EX(ib_uverbs_ex_modify_qp, ) req_ex = {0};
	struct ib_uverbs_ex_modify_qp_resp resp = {0};

	if (mask & IBV_QP_RATE_LIMIT)
		return ibv_cmd_modify_qp_ex(qp, attr, mask, &req_ex,
					    sizeof(req_ex), &resp,
					    sizeof(resp));
	return ibv_cmd_modify_qp(qp, attr, mask, &req, sizeof(req));
}

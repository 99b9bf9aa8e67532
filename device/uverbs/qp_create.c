// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The create command of queue pairs, in its three forms. */
#include <errno.h>
#include "device/uverbs/obj_qp.h"

static void fill_resp(const struct ur_obj_qp *qp,
		      struct ib_uverbs_create_qp_resp *resp)
{
	const struct ur_qp_caps *caps = &qp->qpc->caps;

	resp->qp_handle = qp->obj.handle;
	resp->qpn = qp->qpc->qpn;
	resp->max_send_wr = caps->max_send_wr;
	resp->max_recv_wr = caps->max_recv_wr;
	resp->max_send_sge = caps->max_send_sge;
	resp->max_recv_sge = caps->max_recv_sge;
	resp->max_inline_data = caps->max_inline;
}

/* Looks up the handles of the write forms. The type determines which of them are used; an
 * unknown one is EINVAL, as in the kernel. */
static int fill_handles(struct ur_ufile *f, struct ur_qp_args *a,
			const struct ib_uverbs_ex_create_qp *req)
{
	if (a->type == IB_UVERBS_QPT_XRC_TGT) {
		a->xrcd = ur_object_get(f, UVERBS_OBJECT_XRCD, req->pd_handle);
		return 0;
	}
	a->pd = ur_object_get(f, UVERBS_OBJECT_PD, req->pd_handle);
	if (req->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) {
		a->table = ur_object_get(f, UVERBS_OBJECT_RWQ_IND_TBL,
					 req->rwq_ind_tbl_handle);
		if (!a->table || req->is_srq)
			return -EINVAL;
	}
	/* Only a queue pair with a table may lack a send queue. */
	if (!a->table || req->max_send_wr)
		a->send_cq =
			ur_object_get(f, UVERBS_OBJECT_CQ, req->send_cq_handle);
	if (a->type == IB_UVERBS_QPT_XRC_INI || a->table)
		return 0;
	a->recv_cq = ur_object_get(f, UVERBS_OBJECT_CQ, req->recv_cq_handle);
	if (!req->is_srq)
		return 0;
	a->srq = ur_object_get(f, UVERBS_OBJECT_SRQ, req->srq_handle);
	return a->srq ? 0 : -EINVAL;
}

static int create_qp(struct ur_cmd *cmd,
		     const struct ib_uverbs_ex_create_qp *req,
		     struct ib_uverbs_create_qp_resp *resp)
{
	struct ur_qp_args a = {
		.type = req->qp_type,
		.flags = req->create_flags,
		.user_handle = req->user_handle,
		.cap = {req->max_send_wr, req->max_recv_wr, req->max_send_sge,
			req->max_recv_sge, req->max_inline_data},
		.sq_sig_all = req->sq_sig_all,
		.event_fd = -1,
	};
	struct ur_obj_qp *qp;
	int err = fill_handles(cmd->file, &a, req);

	if (!err)
		err = ur_qp_make(cmd, &a, &qp);
	if (!err)
		fill_resp(qp, resp);
	return err;
}

int ur_w_create_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_create_qp *req = in;
	const struct ib_uverbs_ex_create_qp wide = {
		.user_handle = req->user_handle,
		.pd_handle = req->pd_handle,
		.send_cq_handle = req->send_cq_handle,
		.recv_cq_handle = req->recv_cq_handle,
		.srq_handle = req->srq_handle,
		.max_send_wr = req->max_send_wr,
		.max_recv_wr = req->max_recv_wr,
		.max_send_sge = req->max_send_sge,
		.max_recv_sge = req->max_recv_sge,
		.max_inline_data = req->max_inline_data,
		.sq_sig_all = req->sq_sig_all,
		.qp_type = req->qp_type,
		.is_srq = req->is_srq,
	};

	return create_qp(cmd, &wide, out);
}

int ur_x_create_qp(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_qp *req = in;
	struct ib_uverbs_ex_create_qp_resp *resp = out;
	int err;

	if (req->comp_mask & ~IB_UVERBS_CREATE_QP_SUP_COMP_MASK)
		return -EINVAL;
	err = create_qp(cmd, req, &resp->base);
	if (!err)
		resp->response_length = ur_min_u32(cmd->out_len, sizeof(*resp));
	return err;
}

int ur_m_create_qp(struct ur_cmd *cmd)
{
	struct ur_qp_args a = {
		.user_handle =
			ur_attr_u64(cmd, UVERBS_ATTR_CREATE_QP_USER_HANDLE),
		.pd = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_QP_PD_HANDLE),
		.xrcd = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE),
		.send_cq =
			ur_attr_obj(cmd, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE),
		.recv_cq =
			ur_attr_obj(cmd, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE),
		.srq = ur_attr_obj(cmd, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE),
		.table = ur_attr_obj(cmd,
				     UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE),
		.event_fd = ur_attr_fd(cmd, UVERBS_ATTR_CREATE_QP_EVENT_FD),
	};
	struct ib_uverbs_create_qp_resp resp = {0};
	struct ib_uverbs_qp_cap cap;
	struct ur_obj_qp *qp;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_CREATE_QP_TYPE, &a.type) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_CREATE_QP_FLAGS, &a.flags))
		return -EINVAL;
	if (ur_attr_given(cmd, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		return -EOPNOTSUPP;
	ur_attr_in(cmd, UVERBS_ATTR_CREATE_QP_CAP, &a.cap, sizeof(a.cap));
	err = ur_qp_make(cmd, &a, &qp);
	if (err)
		return err;
	fill_resp(qp, &resp);
	cap = (struct ib_uverbs_qp_cap){resp.max_send_wr, resp.max_recv_wr,
					resp.max_send_sge, resp.max_recv_sge,
					resp.max_inline_data};
	err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap,
			  sizeof(cap));
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
				  &resp.qpn, sizeof(resp.qpn));
	return err ? err
		   : ur_attr_set(cmd, UVERBS_ATTR_CREATE_QP_HANDLE,
				 qp->obj.handle);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

char page[4096] __attribute__((aligned(4096)));

int64_t make_pd(struct user *u)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp = {0};
	int64_t ret = client_legacy(u->sock, IB_USER_VERBS_CMD_ALLOC_PD, &req,
				    sizeof(req), &resp, sizeof(resp));

	u->pd = resp.pd_handle;
	return ret;
}

int64_t make_cq(struct user *u)
{
	struct ib_uverbs_create_cq req = {.cqe = 1, .comp_channel = -1};
	struct ib_uverbs_create_cq_resp resp = {0};
	int64_t ret = client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
				    sizeof(req), &resp, sizeof(resp));

	u->cq = resp.cq_handle;
	return ret;
}

int64_t make_xrcd(struct user *u)
{
	struct ib_uverbs_open_xrcd req = {.fd = UINT32_MAX, .oflags = O_CREAT};
	struct ib_uverbs_open_xrcd_resp resp = {0};
	int64_t ret = client_legacy(u->sock, IB_USER_VERBS_CMD_OPEN_XRCD, &req,
				    sizeof(req), &resp, sizeof(resp));

	u->xrcd = resp.xrcd_handle;
	return ret;
}

int64_t make_srq(struct user *u)
{
	struct ib_uverbs_create_srq req = {
		.pd_handle = u->pd, .max_wr = 1, .max_sge = 1};
	struct ib_uverbs_create_srq_resp resp = {0};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_SRQ, &req,
			     sizeof(req), &resp, sizeof(resp));
}

int64_t make_qp_of(struct user *u, uint8_t type, uint32_t domain,
		   uint32_t *handle)
{
	struct ib_uverbs_create_qp req = {.pd_handle = domain,
					  .send_cq_handle = u->cq,
					  .recv_cq_handle = u->cq,
					  .max_send_wr = 1,
					  .max_recv_wr = 1,
					  .max_send_sge = 1,
					  .max_recv_sge = 1,
					  .qp_type = type};
	struct ib_uverbs_create_qp_resp resp = {0};
	int64_t ret = client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_QP, &req,
				    sizeof(req), &resp, sizeof(resp));

	*handle = resp.qp_handle;
	return ret;
}

int64_t make_qp(struct user *u)
{
	uint32_t handle;

	return make_qp_of(u, IB_UVERBS_QPT_XRC_TGT, u->xrcd, &handle);
}

int64_t make_mr(struct user *u)
{
	struct {
		struct ib_uverbs_reg_mr core;
		struct uroce_reg_mr_req udata;
	} req = {.core = {.start = (uintptr_t)page,
			  .length = sizeof(page),
			  .hca_va = (uintptr_t)page,
			  .pd_handle = u->pd,
			  .access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE}};
	struct ib_uverbs_reg_mr_resp resp = {0};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_REG_MR, &req,
			     sizeof(req), &resp, sizeof(resp));
}

int64_t make_mw(struct user *u)
{
	struct ib_uverbs_alloc_mw req = {.pd_handle = u->pd, .mw_type = 1};
	struct ib_uverbs_alloc_mw_resp resp = {0};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_ALLOC_MW, &req,
			     sizeof(req), &resp, sizeof(resp));
}

int64_t make_ah(struct user *u)
{
	struct ib_uverbs_create_ah req = {
		.pd_handle = u->pd,
		.attr = {.is_global = 1,
			 .port_num = 1,
			 .grh = {.dgid = {[10] = 0xff, 0xff, 127, 0, 0, 1}}}};
	struct ib_uverbs_create_ah_resp resp = {0};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_CREATE_AH, &req,
			     sizeof(req), &resp, sizeof(resp));
}

int64_t make_dm(struct user *u)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[4];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_DM,
			 .method_id = UVERBS_METHOD_DM_ALLOC,
			 .num_attrs = 4}};
	struct uroce_alloc_dm_resp resp;
	static const uint16_t ids[4] = {
		UVERBS_ATTR_ALLOC_DM_HANDLE, UVERBS_ATTR_ALLOC_DM_LENGTH,
		UVERBS_ATTR_ALLOC_DM_ALIGNMENT, UVERBS_ATTR_UHW_OUT};
	const uint64_t data[4] = {0, 4096, 0, (uintptr_t)&resp};
	static const uint16_t lens[4] = {0, 8, 4, sizeof(resp)};

	for (int i = 0; i < 4; i++)
		cmd.attr[i] = (struct ib_uverbs_attr){.attr_id = ids[i],
						      .len = lens[i],
						      .flags = 1,
						      .data = data[i]};
	return client_ioctl(u->sock, &cmd);
}

int64_t join_group(struct user *u, uint32_t qp, uint32_t group)
{
	struct ib_uverbs_attach_mcast mc = {.gid = {[10] = 0xff,
						    0xff,
						    239,
						    1,
						    (uint8_t)(group >> 8),
						    (uint8_t)group},
					    .qp_handle = qp};

	return client_legacy(u->sock, IB_USER_VERBS_CMD_ATTACH_MCAST, &mc,
			     sizeof(mc), NULL, 0);
}

int64_t make_group(struct user *u)
{
	int64_t ret;

	if (u->groups % 32 == 0)
		CHECK_EQ(make_qp_of(u, IB_UVERBS_QPT_UD, u->pd, &u->ud), 0);
	ret = join_group(u, u->ud, u->groups + u->first_group);
	u->groups += !ret;
	return ret;
}

int64_t make_id(struct user *u)
{
	struct rdma_ucm_create_id_resp resp = {0};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id core;
	} cmd = {.hdr = {RDMA_USER_CM_CMD_CREATE_ID, sizeof(cmd.core),
			 sizeof(resp)},
		 .core = {.ps = RDMA_PS_UDP, .response = (uintptr_t)&resp}};
	int64_t ret = client_write(u->cm, &cmd, sizeof(cmd));

	return ret > 0 ? 0 : ret;
}

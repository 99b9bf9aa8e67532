// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The write form of commands: a table from number to handler, with sizes. write(2) and the
 * INVOKE_WRITE ioctl both end in ur_write_invoke().
 *
 * A legacy command has a core of fixed size, followed by the driver's data; the response
 * has the same layout. An extended command states both sizes; a core longer than known must
 * be zero in the rest.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/uverbs_cmd.h"

#define MAX_IN	1088
#define MAX_OUT 512

struct method {
	u16 in_min, in_full;
	u16 out_min, out_full;
	int (*fn)(struct ur_cmd *cmd, const void *in, void *out);
	bool without_context; /* allowed before GET_CONTEXT */
	/* In place of fn: the type of object that the command destroys, and where its handle
	 * is. The response is zeros. */
	u16 destroys, handle_at;
};

#define END_OF(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#define IN(type)                                   \
	.in_min = sizeof(struct ib_uverbs_##type), \
	.in_full = sizeof(struct ib_uverbs_##type)
#define OUT(type)                                   \
	.out_min = sizeof(struct ib_uverbs_##type), \
	.out_full = sizeof(struct ib_uverbs_##type)
#define IN_EX(type, last)                                \
	.in_min = END_OF(struct ib_uverbs_##type, last), \
	.in_full = sizeof(struct ib_uverbs_##type)
#define OUT_EX(type, last)                                \
	.out_min = END_OF(struct ib_uverbs_##type, last), \
	.out_full = sizeof(struct ib_uverbs_##type)

/* clang-format off */
/* A command with a request and a response, with a request alone, and one that destroys an object. */
#define ASKS(command, in, out, handler) \
	[IB_USER_VERBS_CMD_##command] = {IN(in), OUT(out), handler}
#define SETS(command, in, handler) \
	[IB_USER_VERBS_CMD_##command] = {IN(in), .fn = handler}
#define ENDS(command, in, object, handle, ...)                                       \
	[IB_USER_VERBS_CMD_##command] = {IN(in), .destroys = UVERBS_OBJECT_##object, \
		.handle_at = offsetof(struct ib_uverbs_##in, handle), ##__VA_ARGS__}
/* Extended ones: last_in, last_out are the last members that must be there. */
#define ASKS_EX(command, in, last_in, out, last_out, handler) \
	[IB_USER_VERBS_EX_CMD_##command] = {IN_EX(in, last_in), OUT_EX(out, last_out), handler}
#define SETS_EX(command, in, last_in, handler) \
	[IB_USER_VERBS_EX_CMD_##command] = {IN_EX(in, last_in), .fn = handler}

static const struct method legacy[] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = {IN(get_context), OUT(get_context_resp), ur_w_get_context,
					   .without_context = true},
	ASKS(QUERY_DEVICE, query_device, query_device_resp, ur_w_query_device),
	ASKS(QUERY_PORT, query_port, query_port_resp, ur_w_query_port),
	ASKS(ALLOC_PD, alloc_pd, alloc_pd_resp, ur_w_alloc_pd),
	ENDS(DEALLOC_PD, dealloc_pd, PD, pd_handle),
	ASKS(CREATE_AH, create_ah, create_ah_resp, ur_w_create_ah),
	ENDS(DESTROY_AH, destroy_ah, AH, ah_handle),
	ASKS(REG_MR, reg_mr, reg_mr_resp, ur_w_reg_mr),
	ASKS(REREG_MR, rereg_mr, rereg_mr_resp, ur_w_rereg_mr),
	ENDS(DEREG_MR, dereg_mr, MR, mr_handle),
	ASKS(ALLOC_MW, alloc_mw, alloc_mw_resp, ur_w_alloc_mw),
	ENDS(DEALLOC_MW, dealloc_mw, MW, mw_handle),
	ASKS(CREATE_COMP_CHANNEL, create_comp_channel, create_comp_channel_resp,
	     ur_w_create_comp_channel),
	ASKS(CREATE_CQ, create_cq, create_cq_resp, ur_w_create_cq),
	/* the kernel requires only cqe of the response */
	[IB_USER_VERBS_CMD_RESIZE_CQ] = {.in_min = 16, .in_full = 16, .out_min = 4, .out_full = 8,
					 .fn = ur_w_resize_cq},
	ENDS(DESTROY_CQ, destroy_cq, CQ, cq_handle, OUT(destroy_cq_resp)),
	SETS(REQ_NOTIFY_CQ, req_notify_cq, ur_w_req_notify_cq),
	ASKS(CREATE_QP, create_qp, create_qp_resp, ur_w_create_qp),
	ASKS(OPEN_QP, open_qp, create_qp_resp, ur_w_open_qp),
	ASKS(QUERY_QP, query_qp, query_qp_resp, ur_w_query_qp),
	SETS(MODIFY_QP, modify_qp, ur_w_modify_qp),
	ENDS(DESTROY_QP, destroy_qp, QP, qp_handle, OUT(destroy_qp_resp)),
	SETS(ATTACH_MCAST, attach_mcast, ur_w_attach_mcast),
	SETS(DETACH_MCAST, detach_mcast, ur_w_detach_mcast),
	ASKS(CREATE_SRQ, create_srq, create_srq_resp, ur_w_create_srq),
	ASKS(CREATE_XSRQ, create_xsrq, create_srq_resp, ur_w_create_xsrq),
	SETS(MODIFY_SRQ, modify_srq, ur_w_modify_srq),
	ASKS(QUERY_SRQ, query_srq, query_srq_resp, ur_w_query_srq),
	ENDS(DESTROY_SRQ, destroy_srq, SRQ, srq_handle, OUT(destroy_srq_resp)),
	ASKS(OPEN_XRCD, open_xrcd, open_xrcd_resp, ur_w_open_xrcd),
	ENDS(CLOSE_XRCD, close_xrcd, XRCD, xrcd_handle),
};

static const struct method extended[] = {
	ASKS_EX(QUERY_DEVICE, ex_query_device, reserved, ex_query_device_resp, response_length,
		ur_x_query_device),
	ASKS_EX(CREATE_CQ, ex_create_cq, reserved, ex_create_cq_resp, response_length, ur_x_create_cq),
	ASKS_EX(CREATE_QP, ex_create_qp, comp_mask, ex_create_qp_resp, response_length, ur_x_create_qp),
	[IB_USER_VERBS_EX_CMD_MODIFY_QP] = {IN_EX(ex_modify_qp, base), .out_min = 0,
					    .out_full = sizeof(struct ib_uverbs_ex_modify_qp_resp),
					    .fn = ur_x_modify_qp},
#if UROCE_WITH_RAW_PACKET
	/* the rule's parts follow the fixed part */
	[IB_USER_VERBS_EX_CMD_CREATE_FLOW] = {.in_min = sizeof(struct ib_uverbs_create_flow),
					      .in_full = UR_FLOW_CORE_MAX, OUT(create_flow_resp),
					      .fn = ur_x_create_flow},
	[IB_USER_VERBS_EX_CMD_DESTROY_FLOW] = {IN(destroy_flow), .fn = ur_x_destroy_flow},
	ASKS_EX(CREATE_WQ, ex_create_wq, create_flags, ex_create_wq_resp, response_length, ur_x_create_wq),
	SETS_EX(MODIFY_WQ, ex_modify_wq, curr_wq_state, ur_x_modify_wq),
	ASKS_EX(DESTROY_WQ, ex_destroy_wq, wq_handle, ex_destroy_wq_resp, reserved, ur_x_destroy_wq),
	/* the handles follow the fixed part */
	[IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL] = {
		.in_min = sizeof(struct ib_uverbs_ex_create_rwq_ind_table),
		.in_full = sizeof(struct ib_uverbs_ex_create_rwq_ind_table) +
			   UR_RSS_TABLE_MAX * sizeof(__u32),
		OUT_EX(ex_create_rwq_ind_table_resp, ind_tbl_num), .fn = ur_x_create_rwq_table},
	SETS_EX(DESTROY_RWQ_IND_TBL, ex_destroy_rwq_ind_table, ind_tbl_handle, ur_x_destroy_rwq_table),
#endif
	SETS_EX(MODIFY_CQ, ex_modify_cq, reserved, ur_x_modify_cq),
};
/* clang-format on */

static const struct method *find_method(u32 command)
{
	u32 n = command & IB_USER_VERBS_CMD_COMMAND_MASK;
	const struct method *m = NULL;

	if (command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		if (n < UR_ARRAY_SIZE(extended))
			m = &extended[n];
	} else if (n < UR_ARRAY_SIZE(legacy)) {
		m = &legacy[n];
	}
	return m && (m->fn || m->destroys) ? m : NULL;
}

static bool command_known(u32 command)
{
	return !(command & ~(IB_USER_VERBS_CMD_COMMAND_MASK |
			     IB_USER_VERBS_CMD_FLAG_EXTENDED));
}

static int run(struct ur_cmd *cmd, const struct method *m, const u8 *in,
	       u8 *out)
{
	struct ur_object *obj;
	u32 handle;

	if (m->fn)
		return m->fn(cmd, in, out);
	memcpy(&handle, in + m->handle_at, sizeof(handle));
	obj = ur_object_get(cmd->file, m->destroys, handle);
	return obj ? ur_object_destroy(obj) : -EINVAL;
}

/* Copies the core up to the known size; the rest must be zero. */
static int core_in(struct ur_cmd *cmd, const struct ur_core *core, u32 known,
		   u8 *in)
{
	u8 tail[64];
	u32 n = core->in_len < known ? core->in_len : known;

	memset(in, 0, known);
	if (core->in_inline) {
		memcpy(in, &core->in_addr, n < 8 ? n : 8);
		return 0;
	}
	if (ur_session_read(cmd->file->session, core->in_addr, in, n))
		return -EFAULT;
	for (u32 off = n; off < core->in_len; off += sizeof(tail)) {
		u32 len = core->in_len - off;

		if (len > sizeof(tail))
			len = sizeof(tail);
		if (ur_session_read(cmd->file->session, core->in_addr + off,
				    tail, len))
			return -EFAULT;
		for (u32 i = 0; i < len; i++)
			if (tail[i])
				return -EOPNOTSUPP;
	}
	return 0;
}

int ur_write_invoke(struct ur_cmd *cmd, u32 command, const struct ur_core *core)
{
	const struct method *m = find_method(command);
	struct ur_loop *loop = cmd->dev->daemon->loop;
	u8 in[MAX_IN], out[MAX_OUT] = {0};
	u32 out_len;
	int err;

	if (!command_known(command))
		return -EINVAL;
	if (!m)
		return -EOPNOTSUPP;
	if (core->in_len < m->in_min || core->out_len < m->out_min)
		return -ENOSPC;
	err = core_in(cmd, core, m->in_full, in);
	if (err)
		return err;
	cmd->in_len = core->in_len;
	cmd->out_len = core->out_len;
	ur_loop_lock(loop);
	ur_destroy_hint_take(cmd->file);
	if (!cmd->file->has_context && !m->without_context)
		err = -EINVAL;
	else
		err = run(cmd, m, in, out);
	ur_loop_unlock(loop);
	out_len = core->out_len < m->out_full ? core->out_len : m->out_full;
	if (!err)
		err = ur_cmd_out(cmd, core->out_addr, out, out_len);
	return err;
}

/* Copies the driver's request, for either form. */
static int take_udata(struct ur_cmd *cmd, u64 addr, u32 len)
{
	cmd->udata_in_len = len < UR_UDATA_MAX ? len : UR_UDATA_MAX;
	if (!len)
		return 0;
	return ur_session_read(cmd->file->session, addr, cmd->udata,
			       cmd->udata_in_len);
}

static int write_legacy(struct ur_cmd *cmd, const struct ib_uverbs_cmd_hdr *hdr,
			u64 addr, u64 len)
{
	const struct method *m = find_method(hdr->command);
	struct ur_core core = {0};
	u64 response = 0;
	int err;

	if (hdr->in_words * 4u != len)
		return -EINVAL;
	if (!m)
		return -EOPNOTSUPP;
	if (len < sizeof(*hdr) + m->in_full ||
	    hdr->out_words * 4u < m->out_full)
		return -ENOSPC;
	addr += sizeof(*hdr);
	len -= sizeof(*hdr);
	if (m->out_full &&
	    ur_session_read(cmd->file->session, addr, &response, 8))
		return -EFAULT;
	core.in_addr = addr;
	core.in_len = m->in_full;
	core.out_addr = response;
	core.out_len = m->out_full;
	err = take_udata(cmd, addr + m->in_full, (u32)len - m->in_full);
	if (err)
		return err;
	if (m->out_full) {
		cmd->udata_out_addr = response + m->out_full;
		cmd->udata_out_len = hdr->out_words * 4u - m->out_full;
	}
	return ur_write_invoke(cmd, hdr->command, &core);
}

static int write_extended(struct ur_cmd *cmd,
			  const struct ib_uverbs_cmd_hdr *hdr, u64 addr,
			  u64 len)
{
	struct ib_uverbs_ex_cmd_hdr ex;
	struct ur_core core = {0};
	int err;

	if (len < sizeof(*hdr) + sizeof(ex))
		return -EINVAL;
	if (ur_session_read(cmd->file->session, addr + sizeof(*hdr), &ex,
			    sizeof(ex)))
		return -EFAULT;
	addr += sizeof(*hdr) + sizeof(ex);
	len -= sizeof(*hdr) + sizeof(ex);
	if ((hdr->in_words + ex.provider_in_words) * 8u != len ||
	    ex.cmd_hdr_reserved)
		return -EINVAL;
	if (!ex.response != (!hdr->out_words && !ex.provider_out_words))
		return -EINVAL;
	core.in_addr = addr;
	core.in_len = hdr->in_words * 8u;
	core.out_addr = ex.response;
	core.out_len = hdr->out_words * 8u;
	cmd->udata_out_addr = ex.response + core.out_len;
	cmd->udata_out_len = ex.provider_out_words * 8u;
	err = take_udata(cmd, addr + core.in_len, ex.provider_in_words * 8u);
	if (err)
		return err;
	return ur_write_invoke(cmd, hdr->command, &core);
}

s64 ur_uverbs_write(void *arg, u64 addr, u64 len)
{
	struct ur_ufile *file = arg;
	struct ib_uverbs_cmd_hdr hdr;
	struct ur_cmd cmd;
	int err;

	if (len < sizeof(hdr) || len > INT32_MAX)
		return -EINVAL;
	if (ur_session_read(file->session, addr, &hdr, sizeof(hdr)))
		return -EFAULT;
	if (!command_known(hdr.command))
		return -EINVAL;
	ur_cmd_init(&cmd, file);
	if (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		err = write_extended(&cmd, &hdr, addr, len);
	else
		err = write_legacy(&cmd, &hdr, addr, len);
	err = ur_cmd_finish(&cmd, err);
	return err ? err : (s64)len;
}

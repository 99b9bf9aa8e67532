// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Engines of this process: found, asked for, and what the device made made in
 * them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define ACCESS_BITS                                         \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
/* Further access flags, which need nothing. */
#define ACCESS_HINTS IBV_ACCESS_RELAXED_ORDERING

/* Returns 1 where it is asked for, 0, or -EINVAL. */
static int asked_for(void)
{
	const char *s = secure_getenv("UROCE_ENGINE");

	if (!s || !*s || !strcmp(s, "device"))
		return 0;
	return strcmp(s, "process") ? -EINVAL : 1;
}

/* It lies beside this library, and is loaded for good. */
static const struct uroce_door *find_door(void)
{
	const struct uroce_door *door;
	char path[4096];
	const char *slash;
	Dl_info here;
	void *lib;
	int n;

	if (!dladdr((void *)(uintptr_t)find_door, &here) || !here.dli_fname)
		return NULL;
	slash = strrchr(here.dli_fname, '/');
	n = snprintf(path, sizeof(path), "%.*s%s",
		     slash ? (int)(slash + 1 - here.dli_fname) : 0,
		     here.dli_fname, UROCE_DOOR_LIBRARY);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!lib)
		return NULL;
	door = dlsym(lib, UROCE_DOOR_SYMBOL);
	return door && door->version == UROCE_DOOR_VERSION ? door : NULL;
}

/* A driver method with one attribute in, or none (in_id 0), and one out. */
static int call_method(struct ibv_context *context, u16 object, u16 method,
		       u16 in_id, u32 in_len, u64 in, u16 out_id, void *out,
		       u16 out_len)
{
	UR_CMDB(2) b = {.cmdb = {.uhw_in_idx = 0xff, .uhw_out_idx = 0xff}};
	struct ib_uverbs_ioctl_hdr hdr = {.object_id = object,
					  .method_id = method};
	struct ib_uverbs_attr *a = b.attr;

	memcpy(b.cmdb.hdr, &hdr, sizeof(b.cmdb.hdr));
	if (in_id)
		*a++ = (struct ib_uverbs_attr){
			.attr_id = in_id,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.len = (u16)in_len,
			.data = in,
		};
	*a++ = (struct ib_uverbs_attr){
		.attr_id = out_id,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = out_len,
		.data = (uintptr_t)out,
	};
	b.cmdb.next_attr = b.cmdb.last_attr = a;
	return execute_ioctl(context, &b.cmdb);
}

static void posted(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->door->posted(ctx->guest);
}

int ur_guest_open(struct uroce_context *ctx,
		  struct uroce_alloc_ucontext_resp *resp)
{
	struct uroce_engine_open open = {0};
	struct uroce_guest_info info;
	int err = asked_for();

	if (err <= 0)
		return -err;
	ctx->door = find_door();
	if (!ctx->door || resp->adverse)
		return EOPNOTSUPP;
	err = call_method(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			  UROCE_METHOD_ENGINE_OPEN, 0, 0, 0,
			  UROCE_ATTR_ENGINE_OPEN_RESP, &open, sizeof(open));
	if (err == EPROTONOSUPPORT) /* it is older */
		return EOPNOTSUPP;
	if (!err)
		err = -ctx->door->open(&open, &ctx->guest, &info);
	if (err)
		return err;
	ctx->guest_fd = info.fd;
	resp->db_map_off = info.db_map_off;
	resp->db_map_len = info.db_map_len;
	ctx->db.posted = posted;
	ctx->db.arg = ctx;
	return 0;
}

void ur_guest_close(struct uroce_context *ctx)
{
	if (ctx->guest)
		ctx->door->close(ctx->guest);
}

void *ur_guest_op(const struct uroce_context *ctx, enum ur_op op)
{
	static const enum ur_op has[] = {
		UR_OP_alloc_parent_domain,
		UR_OP_alloc_pd,
		UR_OP_alloc_td,
		UR_OP_create_cq,
		UR_OP_create_cq_ex,
		UR_OP_create_qp,
		UR_OP_create_qp_ex,
		UR_OP_dealloc_pd,
		UR_OP_dealloc_td,
		UR_OP_dereg_mr,
		UR_OP_destroy_cq,
		UR_OP_destroy_qp,
		UR_OP_free_context,
		UR_OP_modify_qp,
		UR_OP_poll_cq,
		UR_OP_post_recv,
		UR_OP_post_send,
		UR_OP_query_device_ex,
		UR_OP_query_ece,
		UR_OP_query_port,
		UR_OP_query_port_speed,
		UR_OP_query_qp,
		UR_OP_query_qp_data_in_order,
		UR_OP_query_rt_values,
		UR_OP_reg_mr,
		UR_OP_set_ece,
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(has); i++)
		if (has[i] == op)
			return ur_ops[op];
	return NULL;
}

int ur_guest_create_cq(struct uroce_context *ctx, struct uroce_cq *cq,
		       struct uroce_create_cq_resp *resp)
{
	return ctx->guest ? -ctx->door->create_cq(ctx->guest, resp->entries,
						  &cq->guest, resp)
			  : 0;
}

int ur_guest_create_qp(struct uroce_context *ctx, struct uroce_qp *qp,
		       const struct ibv_qp_init_attr_ex *attr,
		       struct uroce_create_qp_resp *resp)
{
	struct uroce_guest_qp_init init = {
		.qpn = qp->ibv.qp_num,
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = attr->cap.max_recv_wr,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = attr->cap.max_recv_sge,
		.max_inline = attr->cap.max_inline_data,
		.sq_sig_all = attr->sq_sig_all,
	};

	if (!ctx->guest)
		return 0;
	init.pdn = ur_to_pd(attr->pd)->pdn;
	init.send_cq = ur_to_cq(attr->send_cq)->guest;
	init.recv_cq = ur_to_cq(attr->recv_cq)->guest;
	return -ctx->door->create_qp(ctx->guest, &init, &qp->guest, resp);
}

/* The engine gets the socket of an address with the first connection from it. */
static int borrow(struct uroce_context *ctx, const struct uroce_engine_qp *attr)
{
	struct uroce_engine_socket s = {.fd = -1};
	int err;

	if (ctx->door->has_gid(ctx->guest, attr->sgid_index, attr->sgid))
		return 0;
	err = call_method(
		&ctx->ibv, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_SOCKET,
		UROCE_ATTR_ENGINE_SOCKET_INDEX, sizeof(attr->sgid_index),
		attr->sgid_index, UROCE_ATTR_ENGINE_SOCKET_RESP, &s, sizeof(s));
	if (err)
		return err;
	err = memcmp(s.gid, attr->sgid, sizeof(s.gid))
		      ? EAGAIN /* it has changed since */
		      : -ctx->door->borrow(ctx->guest, attr->sgid_index, s.gid,
					   s.fd);
	if (err)
		close(s.fd);
	return err;
}

int ur_guest_modify_qp(struct uroce_context *ctx, struct uroce_qp *qp, int mask)
{
	struct uroce_engine_qp attr;
	int err;

	if (!ctx->guest)
		return 0;
	err = call_method(&ctx->ibv, UVERBS_OBJECT_QP, UROCE_METHOD_ENGINE_QP,
			  UROCE_ATTR_ENGINE_QP_HANDLE, 0, qp->ibv.handle,
			  UROCE_ATTR_ENGINE_QP_RESP, &attr, sizeof(attr));
	if (!err && (mask & IBV_QP_AV))
		err = borrow(ctx, &attr);
	return err ? err
		   : -ctx->door->modify_qp(qp->guest, &attr,
					   (u32)(mask & ~IBV_QP_CUR_STATE));
}

void ur_guest_query_qp(const struct uroce_context *ctx,
		       const struct uroce_qp *qp, struct ibv_qp_attr *attr)
{
	struct uroce_engine_qp now;

	if (!ctx->guest)
		return;
	ctx->door->query_qp(qp->guest, &now);
	attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)now.state;
	attr->rq_psn = now.rq_psn;
	attr->sq_psn = now.sq_psn;
}

int ur_guest_reg_mr(struct uroce_context *ctx, struct uroce_mr *mr,
		    const struct ibv_pd *pd, u64 addr, u64 length, u64 iova,
		    int access)
{
	const struct uroce_guest_mr_init init = {
		.key = mr->vmr.ibv_mr.lkey,
		.pdn = ur_to_pd(pd)->pdn,
		.access = (u32)access & ACCESS_BITS,
		.addr = addr,
		.length = length,
		.iova = iova,
	};

	if (access & ~(ACCESS_BITS | ACCESS_HINTS))
		return EOPNOTSUPP;
	return -ctx->door->reg_mr(ctx->guest, &init, &mr->guest);
}

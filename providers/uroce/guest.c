// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Engines of this process: the library is found, the device is asked. Objects are
 * made in guest_objects.c. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

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

static void posted(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->door->posted(ctx->guest);
}

/* Returns whether the device lends no engine to this context, which then has the
 * device's: it may not, all are lent, users are kept apart, or it is older. */
static bool is_not_lent(int err)
{
	return err == EPERM || err == EBUSY || err == EOPNOTSUPP ||
	       err == EPROTONOSUPPORT;
}

/* The engine has copies. */
static void close_lent(const struct uroce_engine_open *open)
{
	close(open->own_fd);
	for (u32 i = 0; i < UR_ARRAY_SIZE(open->out_fd); i++)
		if (open->out_fd[i] >= 0)
			close(open->out_fd[i]);
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
	if (!ctx->door)
		return EOPNOTSUPP;
	if (resp->adverse)
		return 0;
	err = ur_guest_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_OPEN, 0, 0, 0,
			    UROCE_ATTR_ENGINE_OPEN_RESP, &open, sizeof(open));
	if (is_not_lent(err))
		return 0;
	if (err)
		return err;
	err = -ctx->door->open(&open, ctx->ibv.cmd_fd, &ctx->guest, &info);
	close_lent(&open);
	if (err)
		return err;
	ctx->guest_fd = info.fd;
	resp->db_map_off = info.db_map_off;
	resp->db_map_len = info.db_map_len;
	ctx->db.posted = posted;
	ctx->db.own = info.own;
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
		UR_OP_advise_mr,
		UR_OP_alloc_dm,
		UR_OP_alloc_mw,
		UR_OP_alloc_null_mr,
		UR_OP_alloc_parent_domain,
		UR_OP_alloc_pd,
		UR_OP_alloc_td,
		UR_OP_bind_mw,
		UR_OP_create_ah,
		UR_OP_create_cq,
		UR_OP_create_cq_ex,
		UR_OP_create_qp,
		UR_OP_create_qp_ex,
		UR_OP_create_srq,
		UR_OP_create_srq_ex,
		UR_OP_dealloc_mw,
		UR_OP_dealloc_pd,
		UR_OP_dealloc_td,
		UR_OP_dereg_mr,
		UR_OP_destroy_ah,
		UR_OP_destroy_cq,
		UR_OP_destroy_qp,
		UR_OP_destroy_srq,
		UR_OP_free_context,
		UR_OP_free_dm,
		UR_OP_modify_cq,
		UR_OP_modify_qp,
		UR_OP_modify_qp_rate_limit,
		UR_OP_modify_srq,
		UR_OP_poll_cq,
		UR_OP_post_recv,
		UR_OP_post_send,
		UR_OP_post_srq_recv,
		UR_OP_query_device_ex,
		UR_OP_query_ece,
		UR_OP_query_port,
		UR_OP_query_port_speed,
		UR_OP_query_qp,
		UR_OP_query_qp_data_in_order,
		UR_OP_query_rt_values,
		UR_OP_query_srq,
		UR_OP_reg_dm_mr,
		UR_OP_reg_mr,
		UR_OP_req_notify_cq,
		UR_OP_rereg_mr,
		UR_OP_resize_cq,
		UR_OP_set_ece,
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(has); i++)
		if (has[i] == op)
			return ur_ops[op];
	return NULL;
}

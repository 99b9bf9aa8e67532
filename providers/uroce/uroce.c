// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The driver: the devices that it matches, its operations, contexts.
 *
 * Nothing here depends on the process behind the device: a context is a uverbs
 * file, commands go through libibverbs, and queues are memory mapped from the
 * file.
 */
#include <sched.h>

#include "adverse.h"
#include "allowed.h"
#include "ectx.h"
#include "uroce.h"
#include "util/os/high_fd.h"

#define OURS(name) (void *)uroce_##name
#define NONE(name) NULL
#if UROCE_WITH_RAW_PACKET
#define RAW(name) OURS(name)
#else
#define RAW(name) NULL
#endif

void *const ur_ops[UR_OP_COUNT] = {
#define UR_OP(name, first, whose) whose(name),
#include "ops.def"
#undef UR_OP
};

static const struct ur_layout *layout;
u32 ur_vqp_tail;

/* Empty polls before yielding; UROCE_POLL_YIELD=0 spins, for a machine with
 * cores to spare. Four is enough to see a completion that is on its way. */
static u32 poll_yield_setting(void)
{
	const char *s = secure_getenv("UROCE_POLL_YIELD");

	return s ? (u32)strtoul(s, NULL, 0) : 4;
}

/* Returns whether polling takes processors from the engines (poller.h). */
static bool few_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 &&
	       CPU_COUNT(&set) <= 2;
}

static struct uroce_context *alloc_ctx(struct ibv_device *device, int cmd_fd)
{
	uintptr_t off =
		offsetof(struct uroce_context, ibv) - layout->context_off;
	struct uroce_context *ctx;

	ctx = _verbs_init_and_alloc_context(device, cmd_fd, sizeof(*ctx),
					    (void *)off, RDMA_DRIVER_UNKNOWN);
	if (ctx) {
		ctx->layout = layout;
		ur_list_init(&ctx->engine_node);
		ctx->db.wake_fd = -1;
		ctx->destroy_hint_fd = ctx->first_cmd_fd = -1;
		pthread_mutex_init(&ctx->destroys, NULL);
		pthread_mutex_init(&ctx->shares, NULL);
		ur_list_init(&ctx->regions);
		pthread_mutex_init(&ctx->modifies, NULL);
	}
	return ctx;
}

/* Stores the device's response in the context. req NULL: no settings were
 * requested. */
int ur_context_begin(struct uroce_context *ctx,
		     const struct uroce_alloc_ucontext_req *req,
		     const struct uroce_alloc_ucontext_resp *resp)
{
	int err = ur_adverse_take(ctx, req, resp);

	if (err)
		return err;
	if (resp->sq_bb != UROCE_SQ_BB ||
	    resp->cqe_size != sizeof(struct uroce_cqe) ||
	    resp->db_map_len < sizeof(struct uroce_db_page))
		return EPROTO;
	ctx->db.page = ur_map(&ctx->ibv, resp->db_map_off, resp->db_map_len);
	if (!ctx->db.page)
		return errno;
	ctx->db_len = resp->db_map_len;
	ctx->db.slots = UROCE_DB_SLOTS;
	ctx->max_inline = ur_min_u32(resp->max_inline, UROCE_MAX_INLINE);
	ctx->max_sge = ur_min_u32(resp->max_sge, UROCE_MAX_SGE);
	ur_ectx_take_answer(ctx, resp);
	return 0;
}

static int setup_ctx(struct uroce_context *ctx,
		     const struct uroce_alloc_ucontext_req *req,
		     const struct uroce_alloc_ucontext_resp *resp)
{
	u8 ops[UR_OPS_MAX_BYTES] = {0};
	int err = ur_context_begin(ctx, req, resp);

	if (err)
		return err;
	ur_calls_probe();
	ctx->yield_after = poll_yield_setting();
	ctx->few_cpus = few_processors();

	for (unsigned int i = 0; i < UR_OP_COUNT; i++) {
		int off = ur_pabi_op_offset(layout->pabi, i);
		void *op = ur_adverse_op(ctx, i);

		if (off >= 0)
			memcpy(ops + off, &op, sizeof(void *));
	}
	verbs_set_ops(ur_vctx(ctx), ops);
	return 0;
}

static void destroy_ctx(struct uroce_context *ctx)
{
	for (unsigned int i = 0; i < UR_QP_TABLE; i++)
		free(ctx->qp_table[i]);
	ur_unmap(ctx->db.page, ctx->db_len);
	ur_unmap(ctx->device_page, ctx->device_page_len);
	ur_map_end(ctx);
	ur_ectx_close(ctx);
	if (ctx->destroy_hint_fd >= 0)
		close(ctx->destroy_hint_fd);
	pthread_mutex_destroy(&ctx->modifies);
	pthread_mutex_destroy(&ctx->destroys);
	pthread_mutex_destroy(&ctx->shares);
	verbs_uninit_context(ur_vctx(ctx));
	free(ctx);
}

static void *uroce_alloc_context(struct ibv_device *device, int cmd_fd,
				 void *private_data)
{
	struct uroce_alloc_ucontext_req req = {0};
	struct uroce_alloc_ucontext_resp resp;
	struct uroce_context *ctx = alloc_ctx(device, cmd_fd);
	int err;

	if (!ctx)
		return NULL;
	err = ur_adverse_ask(&req);
	if (!err)
		err = ur_context_get(ctx, &req, &resp);
	if (!err)
		err = ur_ectx_open(ctx, &resp);
	if (!err)
		err = setup_ctx(ctx, &req, &resp);
	if (err) {
		destroy_ctx(ctx);
		return ur_fail(NULL, err);
	}
	return ur_vctx(ctx);
}

static void *uroce_import_context(struct ibv_device *device, int cmd_fd)
{
	struct uroce_alloc_ucontext_resp resp = {0};
	UR_CMDB(1) link;
	struct uroce_context *ctx = alloc_ctx(device, cmd_fd);
	int err;

	if (!ctx)
		return NULL;
	ur_cmdb_uhw_out(&link.cmdb, link.attr, UVERBS_OBJECT_DEVICE,
			UVERBS_METHOD_QUERY_CONTEXT, &resp, sizeof(resp));
	err = ibv_cmd_query_context(&ctx->ibv, &link.cmdb);
	if (!err)
		err = ur_ectx_open_import(ctx, &resp);
	if (!err)
		err = setup_ctx(ctx, NULL, &resp);
	if (err) {
		destroy_ctx(ctx);
		return ur_fail(NULL, err);
	}
	return ur_vctx(ctx);
}

void uroce_free_context(struct ibv_context *context)
{
	destroy_ctx(ur_to_ctx(context));
}

static struct verbs_device *uroce_alloc_device(struct verbs_sysfs_dev *sysfs)
{
	struct uroce_device *dev = calloc(1, sizeof(*dev));

	return dev ? &dev->vdev : NULL;
}

static void uroce_uninit_device(struct verbs_device *vdev)
{
	free(ur_container_of(vdev, struct uroce_device, vdev));
}

static const struct verbs_match_ent match_table[] = {
	{.u.driver_id = UROCE_DRIVER_ID, .kind = VERBS_MATCH_DRIVER_ID},
	{.u.modalias = "rdma_device:*Nuroce*", .kind = VERBS_MATCH_MODALIAS},
	/* device/modalias of a device with another name */
	{.u.modalias = "uroce", .kind = VERBS_MATCH_MODALIAS},
	{.kind = VERBS_MATCH_SENTINEL},
};

static const struct verbs_device_ops device_ops = {
	.name = "uroce",
	.match_min_abi_version = UROCE_UVERBS_ABI_VERSION,
	.match_max_abi_version = UROCE_UVERBS_ABI_VERSION,
	.match_table = match_table,
	.alloc_context = uroce_alloc_context,
	.import_context = uroce_import_context,
	.alloc_device = uroce_alloc_device,
	.uninit_device = uroce_uninit_device,
};

/* Finds the place of verbs_qp.comp_mask in this library, which moved twice
 * under the number 34: sets a bit at each known place, and lets the library
 * read it. If that fails, extended QPs are refused. */
static u32 probe_vqp_tail(void)
{
	static const u32 known[] = {344, 352, 360};
	u32 mask = VERBS_QP_EX;

	for (unsigned int i = 0; i < UR_ARRAY_SIZE(known); i++) {
		_Alignas(16) u8 vqp[512] = {0};
		u32 at = known[i] + (u32)UR_MUTEX_MORE;

		memcpy(vqp + at, &mask, sizeof(mask));
		if (ibv_qp_to_qp_ex((struct ibv_qp *)(void *)vqp))
			return at;
	}
	return 0;
}

const struct verbs_device_ops *ur_provider_init(enum ur_pabi pabi)
{
	layout = &ur_pabi_layouts[pabi];
	ur_vqp_tail = probe_vqp_tail();
	ur_ectx_part = ur_ectx_begin_anew;
	return &device_ops;
}

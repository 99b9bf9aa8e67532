// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The private ABI of libibverbs as declared in providers/uroce/pabi.h:
 * sizes and offsets as measured on the releases, the operations table of each
 * layout, and every function against the installed library's versions.
 */
#include <dlfcn.h>

#include "providers/uroce/uroce.h"
#include "tests/check.h"

#define SIZE(t, n)	_Static_assert(sizeof(t) == (n), #t)
#define OFFSET(t, m, n) _Static_assert(offsetof(t, m) == (n), #t "." #m)

SIZE(struct ibv_device, 664);
SIZE(struct verbs_device, 712);
OFFSET(struct verbs_device, ops, 664);
OFFSET(struct verbs_device, refcount, 672);
OFFSET(struct verbs_device, entry, 680);
OFFSET(struct verbs_device, sysfs, 696);
OFFSET(struct verbs_device, core_support, 704);
SIZE(struct verbs_device_ops, 72);
OFFSET(struct verbs_device_ops, match_table, 16);
OFFSET(struct verbs_device_ops, match_device, 32);
OFFSET(struct verbs_device_ops, alloc_context, 40);
OFFSET(struct verbs_device_ops, import_context, 48);
OFFSET(struct verbs_device_ops, alloc_device, 56);
OFFSET(struct verbs_device_ops, uninit_device, 64);
SIZE(struct verbs_match_ent, 24);
SIZE(struct ibv_context, 328 + UR_MUTEX_MORE);
SIZE(struct ibv_mr, 48);
SIZE(struct verbs_mr, 56);
OFFSET(struct verbs_mr, mr_type, 48);
OFFSET(struct verbs_mr, access, 52);
SIZE(struct verbs_cq, 288 + UR_MUTEX_MORE);
SIZE(struct verbs_srq, 160 + UR_MUTEX_MORE);
OFFSET(struct verbs_srq, srq_type, 128 + UR_MUTEX_MORE);
OFFSET(struct verbs_srq, xrcd, 136 + UR_MUTEX_MORE);
OFFSET(struct verbs_srq, cq, 144 + UR_MUTEX_MORE);
OFFSET(struct verbs_srq, srq_num, 152 + UR_MUTEX_MORE);
SIZE(struct ibv_qp, 160 + UR_MUTEX_MORE);
SIZE(struct verbs_xrcd, 16);
SIZE(struct verbs_dm, 40);
SIZE(struct ibv_command_buffer, 56);
OFFSET(UR_CMDB(1), attr, 56);

struct golden {
	enum ur_op op;
	int off[UR_PABI_COUNT];
};

/* Measured with the headers of 44, 57, 59, 62, 64 and 65. */
static const struct golden table[] = {
	{UR_OP_advise_mr, {0, 0, 0, 0, 0, 0}},
	{UR_OP_alloc_buf, {-1, -1, -1, -1, 8, 8}},
	{UR_OP_alloc_dmah, {-1, -1, 16, 16, 24, 24}},
	{UR_OP_alloc_mw, {16, 16, 24, 24, 32, 32}},
	{UR_OP_async_event, {56, 56, 64, 64, 72, 72}},
	{UR_OP_create_ah, {104, 104, 112, 112, 120, 120}},
	{UR_OP_create_comp_cntr, {-1, -1, -1, -1, -1, 128}},
	{UR_OP_create_wq, {192, 192, 200, 200, 208, 216}},
	{UR_OP_dealloc_dmah, {-1, -1, 208, 208, 216, 224}},
	{UR_OP_dealloc_mw, {200, 200, 216, 216, 224, 232}},
	{UR_OP_destroy_qp, {272, 272, 288, 288, 296, 312}},
	{UR_OP_dm_export_dmabuf_fd, {-1, -1, -1, 328, 336, 352}},
	{UR_OP_free_buf, {-1, -1, -1, -1, 344, 360}},
	{UR_OP_free_context, {312, 312, 328, 336, 352, 368}},
	{UR_OP_modify_cq, {360, 360, 376, 384, 400, 432}},
	{UR_OP_poll_cq, {424, 424, 440, 448, 464, 496}},
	{UR_OP_post_srq_recv, {456, 456, 472, 480, 496, 528}},
	{UR_OP_query_port, {480, 480, 496, 504, 520, 568}},
	{UR_OP_query_port_speed, {-1, -1, -1, 512, 528, 576}},
	{UR_OP_query_qp, {488, 488, 504, 520, 536, 584}},
	{UR_OP_read_err_comp_cntr, {-1, -1, -1, -1, -1, 632}},
	{UR_OP_reg_mr, {544, 544, 560, 576, 592, 656}},
	{UR_OP_reg_mr_ex, {-1, -1, 568, 584, 600, 664}},
	{UR_OP_set_ece, {576, 576, 600, 616, 632, 704}},
	{UR_OP_unimport_pd, {600, 600, 624, 640, 656, 736}},
};

static const char *const functions[] = {
	"verbs_register_driver_34",
#define UR_FN(name) #name,
#include "providers/uroce/functions.def"
#undef UR_FN
};

static void check_tables(void)
{
	for (unsigned int p = 0; p < UR_PABI_COUNT; p++) {
		for (unsigned int i = 0; i < UR_ARRAY_SIZE(table); i++)
			CHECK_EQ(ur_pabi_op_offset(p, table[i].op),
				 table[i].off[p]);
		CHECK(ur_pabi_layouts[p].context_off <=
		      offsetof(struct uroce_context, ibv));
	}
	CHECK_EQ(ur_pabi_layouts[UR_PABI_34].context_off,
		 offsetof(struct verbs_context, context));
	CHECK(sizeof(struct ibv_qp_ex) + 16 <= UR_VQP_ROOM);
}

int main(void)
{
	void *lib;

	check_tables();
	lib = dlopen("libibverbs.so.1", RTLD_NOW);
	CHECK(lib);
	if (!dlvsym(lib, "verbs_register_driver_34", "IBVERBS_PRIVATE_34"))
		SKIP("the installed libibverbs has another private ABI");
	for (unsigned int i = 0; i < UR_ARRAY_SIZE(functions); i++)
		if (!dlvsym(lib, functions[i], "IBVERBS_PRIVATE_34")) {
			fprintf(stderr, "no %s\n", functions[i]);
			return 1;
		}
	/* The probe finds one of the three places. */
	ur_provider_init(UR_PABI_34);
	CHECK(ur_vqp_tail == 344 + UR_MUTEX_MORE ||
	      ur_vqp_tail == 352 + UR_MUTEX_MORE ||
	      ur_vqp_tail == 360 + UR_MUTEX_MORE);
	return 0;
}

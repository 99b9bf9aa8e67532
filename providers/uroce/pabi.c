// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The differences between the layouts of the private ABI, as data, and the two
 * commands whose arguments moved. */
#include "pabi.h"

static const u8 op_first[UR_OP_COUNT] = {
#define UR_OP(name, first, whose) [UR_OP_##name] = first,
#include "ops.def"
#undef UR_OP
};

/* Entries were added at the front of verbs_context by 59, 62 and 64. */
const struct ur_layout ur_pabi_layouts[UR_PABI_COUNT] = {
	[UR_PABI_34] = {UR_PABI_34, 320},   [UR_PABI_57] = {UR_PABI_57, 320},
	[UR_PABI_59A] = {UR_PABI_59A, 344}, [UR_PABI_59B] = {UR_PABI_59B, 352},
	[UR_PABI_64] = {UR_PABI_64, 368},   [UR_PABI_65] = {UR_PABI_65, 368},
};

int ur_pabi_op_offset(enum ur_pabi pabi, enum ur_op op)
{
	int off = 0;

	if (op_first[op] > pabi)
		return -1;
	for (unsigned int i = 0; i < op; i++)
		off += op_first[i] <= pabi ? (int)sizeof(void *) : 0;
	return off;
}

int ur_cmd_get_context(const struct ur_layout *layout, void *vctx, void *cmd,
		       size_t cmd_size, void *resp, size_t resp_size)
{
	if (layout->pabi >= UR_PABI_57) {
		int (*fn)(void *, void *, size_t, void *, void *, size_t) =
			(void *)ibv_cmd_get_context;

		return fn(vctx, cmd, cmd_size, NULL, resp, resp_size);
	} else {
		int (*fn)(void *, void *, size_t, void *, size_t) =
			(void *)ibv_cmd_get_context;

		return fn(vctx, cmd, cmd_size, resp, resp_size);
	}
}

int ur_cmd_create_cq_ex(const struct ur_layout *layout,
			struct ibv_context *context,
			const struct ibv_cq_init_attr_ex *attr,
			struct verbs_cq *cq, void *cmd, size_t cmd_size,
			void *resp, size_t resp_size, u32 cmd_flags)
{
	if (layout->pabi >= UR_PABI_59A) {
		int (*fn)(struct ibv_context *,
			  const struct ibv_cq_init_attr_ex *, void *,
			  struct verbs_cq *, void *, size_t, void *, size_t,
			  u32) = (void *)ibv_cmd_create_cq_ex;

		return fn(context, attr, NULL, cq, cmd, cmd_size, resp,
			  resp_size, cmd_flags);
	} else {
		int (*fn)(struct ibv_context *,
			  const struct ibv_cq_init_attr_ex *, struct verbs_cq *,
			  void *, size_t, void *, size_t, u32) =
			(void *)ibv_cmd_create_cq_ex;

		return fn(context, attr, cq, cmd, cmd_size, resp, resp_size,
			  cmd_flags);
	}
}

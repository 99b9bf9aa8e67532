// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions: checks, creation, queries, destruction. mr_reg.c has the commands that
 * register one, in all forms.
 */
#include <errno.h>
#include <stdlib.h>
#include "device/fault.h"
#include "engine/ground/user.h"
#include "device/uverbs/obj_mr.h"

#define ACCESS_KNOWN                                                     \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED |        \
	 IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB |         \
	 UR_ACCESS_FLUSH_GLOBAL | UR_ACCESS_FLUSH_PERSISTENT |           \
	 IB_UVERBS_ACCESS_OPTIONAL_RANGE)

bool ur_access_known(u32 access)
{
	return !(access & ~ACCESS_KNOWN);
}

int ur_mr_check_access(u32 access)
{
	if (!ur_access_known(access))
		return -EINVAL;
	/* IBA: remote write and atomic need local write. */
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE |
		       IB_UVERBS_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

int ur_mr_check_range(struct ur_mr_place *r)
{
	if (r->access & IB_UVERBS_ACCESS_ON_DEMAND)
		r->on_demand = true;
	if (r->on_demand && !r->addr && r->length == UINT64_MAX) {
		r->implicit = true;
		return 0;
	}
	if (r->length && r->addr + r->length - 1 < r->addr)
		return -EINVAL;
	if (r->length && r->iova + r->length - 1 < r->iova)
		return -EINVAL;
	return 0;
}

int ur_mr_look(struct ur_cmd *cmd, const struct ur_mr_place *r)
{
	struct ur_loop *loop = cmd->dev->daemon->loop;
	int err;

	if (r->null || r->file || r->elsewhere || (!r->implicit && !r->length))
		return 0;
	if (!ur_user_mem_reaches(r->mem))
		return -EACCES;
	if (r->on_demand)
		return 0;
	ur_loop_unlock(loop);
	err = ur_user_look(r->mem, r->addr, r->length,
			   ur_user_rights_for(r->access), r->seen);
	ur_loop_lock(loop);
	return err;
}

static int destroy_mr(struct ur_object *obj)
{
	struct ur_obj_mr *mr = ur_obj_mr_of(obj);

	ur_table_remove(&obj->file->dev->keys, mr->key >> 8);
	ur_user_mem_put(mr->range.mem);
	ur_object_unuse(mr->pd);
	ur_object_unuse(mr->dm);
	return 0;
}

static const struct ur_object_type mr_type = {
	.id = UVERBS_OBJECT_MR,
	.name = "memory regions",
	.size = sizeof(struct ur_obj_mr),
	.destroy = destroy_mr,
};

int ur_mr_make(struct ur_cmd *cmd, struct ur_obj_pd *pd, struct ur_obj_dm *dm,
	       struct ur_mr_place *range, struct ur_obj_mr **ret)
{
	struct ur_obj_mr *mr;
	u64 none;
	int err;

	if (ur_fault_of_device(cmd->dev, UR_FAULT_REG_ENOMEM, &none))
		return -ENOMEM;
	range->mem = cmd->file->session->mem;
	err = ur_mr_look(cmd, range);
	if (err)
		return err;
	mr = ur_object_new(cmd->file, &mr_type);
	if (!mr)
		return -ENOMEM;
	err = ur_key_new(cmd->dev, &mr->obj, &mr->key);
	if (err) {
		ur_object_abort(&mr->obj);
		return err;
	}
	mr->pd = pd;
	mr->dm = dm;
	mr->range = *range;
	ur_user_mem_get(mr->range.mem);
	ur_object_use(pd);
	ur_object_use(dm);
	cmd->created = &mr->obj;
	*ret = mr;
	return 0;
}

/* Checks a range to be advised. The pages are in the client's page table, and its provider has them put there. */
static int check_advice(const struct ur_cmd *cmd, const struct ur_obj_pd *pd,
			bool write, const struct ib_uverbs_sge *sge)
{
	const struct ur_object *obj =
		ur_table_lookup(&cmd->dev->keys, sge->lkey >> 8);
	const struct ur_obj_mr *mr;
	u64 at;

	if (!obj || obj->file != cmd->file || obj->type->id != UVERBS_OBJECT_MR)
		return -ENOENT;
	mr = ur_obj_mr_of(obj);
	if (mr->key != sge->lkey || mr->pd != pd)
		return -ENOENT;
	if (write && !(mr->range.access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EPERM;
	at = sge->addr - mr->range.iova;
	return sge->addr < mr->range.iova || at > mr->range.length ||
			       sge->length > mr->range.length - at
		       ? -EINVAL
		       : 0;
}

int ur_m_advise_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	u32 len = ur_attr_len(cmd, UVERBS_ATTR_ADVISE_MR_SGE_LIST);
	u32 n = len / sizeof(struct ib_uverbs_sge), advice, flags;
	struct ib_uverbs_sge *list;
	int err = 0;

	if (ur_attr_u32(cmd, UVERBS_ATTR_ADVISE_MR_ADVICE, &advice) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_ADVISE_MR_FLAGS, &flags) || !n ||
	    len % sizeof(*list))
		return -EINVAL;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	list = malloc(len);
	if (!list)
		return -ENOMEM;
	ur_attr_in(cmd, UVERBS_ATTR_ADVISE_MR_SGE_LIST, list, len);
	for (u32 i = 0; i < n && !err; i++)
		err = check_advice(
			cmd, pd,
			advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			&list[i]);
	free(list);
	return err;
}

int ur_m_query_mr(struct ur_cmd *cmd)
{
	struct ur_obj_mr *mr = ur_attr_obj(cmd, UVERBS_ATTR_QUERY_MR_HANDLE);
	int err;

	err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->key, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->key,
				  4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH,
				  &mr->range.length, 8);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_IOVA,
				  &mr->range.iova, 8);
	return err;
}

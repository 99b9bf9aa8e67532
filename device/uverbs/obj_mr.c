// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions: checks, creation, queries, destruction. mr_reg.c has the commands that
 * register one, in all forms.
 */
#include <errno.h>
#include <stdlib.h>
#include "device/fault.h"
#include "engine/ground/limits.h"
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

int ur_mr_check_range(struct ur_emr_attr *attr)
{
	if (attr->access & IB_UVERBS_ACCESS_ON_DEMAND)
		attr->on_demand = true;
	if (attr->on_demand && !attr->addr && attr->length == UINT64_MAX) {
		attr->implicit = true;
		return 0;
	}
	if (attr->length && attr->addr + attr->length - 1 < attr->addr)
		return -EINVAL;
	if (attr->length && attr->iova + attr->length - 1 < attr->iova)
		return -EINVAL;
	return 0;
}

struct unmapping {
	struct ur_loop_after after;
	struct ur_loop *loop;
	struct ur_emr_left left;
};

static void unmap(struct ur_loop_after *after)
{
	struct unmapping *u = ur_container_of(after, struct unmapping, after);

	ur_emr_unmap(&u->left);
	ur_loop_lock(u->loop);
	ur_emr_unmapped(&u->left);
	ur_loop_unlock(u->loop);
	free(u);
}

/* While the file is being closed, unmaps at once with the lock released: nothing may still
 * be charged once close() has returned. */
static void unmap_now(struct ur_loop *loop, const struct ur_emr_left *left)
{
	bool aside = ur_loop_step_aside(loop);

	ur_emr_unmap(left);
	if (aside)
		ur_loop_lock(loop);
	ur_emr_unmapped(left);
}

void ur_mr_unmap(struct ur_ufile *file, const struct ur_emr_left *left)
{
	struct ur_loop *loop = file->dev->daemon->loop;
	struct unmapping *u;

	if (!left->map)
		return;
	if (file->closing) {
		unmap_now(loop, left);
		return;
	}
	u = malloc(sizeof(*u));
	if (!u) {
		unmap_now(loop, left);
		return;
	}
	u->left = *left;
	u->loop = loop;
	ur_loop_after(loop, &u->after, unmap);
}

static int destroy_mr(struct ur_object *obj)
{
	struct ur_obj_mr *mr = ur_obj_mr_of(obj);
	struct ur_emr_left left;
	int err = ur_emr_dereg(mr->mr, &left);

	if (err)
		return err;
	/* Hides the region from listings, since ur_mr_unmap() may release the lock. */
	mr->mr = NULL;
	ur_mr_unmap(obj->file, &left);
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

int ur_mr_look(struct ur_cmd *cmd, struct ur_emr_attr *attr)
{
	struct ur_loop *loop = cmd->dev->daemon->loop;
	int err;

	ur_loop_unlock(loop);
	err = ur_emr_look(attr);
	ur_loop_lock(loop);
	attr->looked = !err;
	return err;
}

static int try_mr(struct ur_cmd *cmd, const struct ur_emr_attr *attr,
		  struct ur_obj_mr **ret)
{
	struct ur_obj_mr *mr = ur_object_new(cmd->file, &mr_type);
	int err;

	if (!mr)
		return -ENOMEM;
	err = ur_emr_reg(cmd->file->ectx, attr, &mr->mr);
	if (err)
		ur_object_abort(&mr->obj);
	*ret = mr;
	return err;
}

int ur_mr_make(struct ur_cmd *cmd, struct ur_obj_pd *pd, struct ur_obj_dm *dm,
	       struct ur_emr_attr *attr, struct ur_obj_mr **ret)
{
	struct ur_obj_mr *mr;
	u64 none;
	int err;

	if (ur_fault_of_device(cmd->dev, UR_FAULT_REG_ENOMEM, &none))
		return -ENOMEM;
	attr->mem = cmd->file->session->mem;
	err = ur_emr_must_look(attr) ? ur_mr_look(cmd, attr) : 0;
	if (!err)
		err = try_mr(cmd, attr, &mr);
	if (err)
		return err;
	mr->pd = pd;
	mr->dm = dm;
	mr->length = attr->length;
	mr->iova = attr->iova;
	mr->access = attr->access;
	ur_object_use(pd);
	ur_object_use(dm);
	cmd->created = &mr->obj;
	*ret = mr;
	return 0;
}

int ur_w_dereg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_dereg_mr *req = in;
	struct ur_obj_mr *mr =
		ur_object_get(cmd->file, UVERBS_OBJECT_MR, req->mr_handle);

	return mr ? ur_object_destroy(&mr->obj) : -EINVAL;
}

int ur_m_advise_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	u32 len = ur_attr_len(cmd, UVERBS_ATTR_ADVISE_MR_SGE_LIST);
	u32 n = len / sizeof(struct ib_uverbs_sge), advice, flags;
	struct ib_uverbs_sge *list;
	struct ur_sge *sge;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_ADVISE_MR_ADVICE, &advice) ||
	    ur_attr_u32(cmd, UVERBS_ATTR_ADVISE_MR_FLAGS, &flags) || !n ||
	    len % sizeof(*list))
		return -EINVAL;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	list = malloc(len);
	sge = calloc(n, sizeof(*sge));
	err = -ENOMEM;
	if (list && sge) {
		ur_attr_in(cmd, UVERBS_ATTR_ADVISE_MR_SGE_LIST, list, len);
		for (u32 i = 0; i < n; i++) {
			sge[i].addr = list[i].addr;
			sge[i].length = list[i].length;
			sge[i].lkey = list[i].lkey;
		}
		err = ur_ectx_advise(cmd->file->ectx, pd->pdn, advice, flags,
				     sge, n);
	}
	free(list);
	free(sge);
	return err;
}

int ur_m_query_mr(struct ur_cmd *cmd)
{
	struct ur_obj_mr *mr = ur_attr_obj(cmd, UVERBS_ATTR_QUERY_MR_HANDLE);
	u32 key = ur_emr_key(mr->mr);
	int err;

	err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &key, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &key, 4);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH,
				  &mr->length, 8);
	if (!err)
		err = ur_attr_out(cmd, UVERBS_ATTR_QUERY_MR_RESP_IOVA,
				  &mr->iova, 8);
	return err;
}

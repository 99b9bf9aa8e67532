// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions, between control and the transport: registered, changed,
 * given up. Mapping (app_mem.c) may take long, so the calling thread does it,
 * not the engine.
 */
#include <errno.h>
#include <stdlib.h>
#include "device/engine/engine_impl.h"
#include "device/engine/poll_loop.h"

static int reg(struct ur_engine *engine, void *arg)
{
	struct ur_emr *mr = arg;
	struct ur_mr_attr attr;
	int ret;

	ur_app_mem_describe(mr, &attr);
	ret = ur_mr_create(engine->port, &attr, &mr->mr);
	if (ret)
		return ret;
	mr->key = ur_mr_key(mr->mr);
	ur_list_add_tail(&mr->ectx->mrs, &mr->node);
	return 0;
}

int ur_emr_reg(struct ur_ectx *ectx, const struct ur_emr_attr *attr,
	       struct ur_emr **ret_mr)
{
	struct ur_emr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (!mr)
		return -ENOMEM;
	mr->ectx = ectx;
	mr->attr = *attr;
	ur_list_init(&mr->node);
	ret = ur_app_mem_attach(mr);
	if (ret)
		goto err_free;
	ret = ur_engine_call(ectx->engine, reg, mr);
	if (ret)
		goto err_detach;
	*ret_mr = mr;
	return 0;
err_detach:
	ur_app_mem_detach(mr);
err_free:
	free(mr);
	return ret;
}

struct rereg_args {
	struct ur_emr *mr;
	struct ur_emr next; /* what it is to be; then what it was */
};

static int rereg(struct ur_engine *engine, void *arg)
{
	struct rereg_args *a = arg;
	struct ur_emr *mr = a->mr, old = *mr;
	struct ur_mr_attr attr;
	int ret;

	ur_app_mem_describe(&a->next, &attr);
	attr.mem = mr;
	ret = ur_mr_rereg(mr->mr, &attr);
	if (ret)
		return ret;
	mr->attr = a->next.attr;
	mr->map = a->next.map;
	mr->map_len = a->next.map_len;
	mr->direct = a->next.direct;
	mr->dm = a->next.dm;
	a->next = old;
	return 0;
}

/* Other rights to memory that is not mapped here. */
static bool must_look(const struct ur_emr *mr)
{
	const struct ur_emr_attr *a = &mr->attr;

	return !mr->map && !mr->dm && !a->on_demand && !a->null_mr && a->length;
}

int ur_emr_rereg(struct ur_emr *mr, u32 flags, const struct ur_emr_attr *attr)
{
	struct rereg_args a = {.mr = mr, .next = *mr};
	int ret;

	if ((flags & UR_REREG_ACCESS) && !(flags & UR_REREG_TRANS) &&
	    !attr->looked && must_look(mr))
		return -EAGAIN;
	if (flags & UR_REREG_TRANS) {
		a.next.attr = *attr;
		a.next.attr.pd = mr->attr.pd;
		a.next.attr.access = mr->attr.access;
		a.next.map = NULL;
		a.next.dm = NULL;
		a.next.direct = NULL;
		ret = ur_app_mem_attach(&a.next);
		if (ret)
			return ret;
	}
	if (flags & UR_REREG_PD)
		a.next.attr.pd = attr->pd;
	if (flags & UR_REREG_ACCESS)
		a.next.attr.access = attr->access;
	ret = ur_engine_call(mr->ectx->engine, rereg, &a);
	/* Either the new memory, refused, or the old, no longer needed. */
	if (flags & UR_REREG_TRANS)
		ur_app_mem_detach(&a.next);
	return ret;
}

void ur_emr_place(const struct ur_emr *mr, struct ur_emr_attr *attr)
{
	attr->mem = mr->attr.mem;
	attr->addr = mr->attr.addr;
	attr->length = mr->attr.length;
}

u32 ur_emr_key(const struct ur_emr *mr)
{
	return mr->key;
}

static int dereg(struct ur_engine *engine, void *arg)
{
	struct ur_emr *mr = arg;
	int ret;

	ur_poll_settle_all(engine, mr->ectx);
	ret = ur_mr_destroy(mr->mr);
	if (ret)
		return ret;
	ur_list_del(&mr->node);
	return 0;
}

int ur_emr_dereg(struct ur_emr *mr)
{
	int ret = ur_engine_call(mr->ectx->engine, dereg, mr);

	if (ret)
		return ret;
	ur_app_mem_detach(mr);
	free(mr);
	return 0;
}

struct advise_args {
	struct ur_ectx *ectx;
	u32 pd;
	const struct ur_sge *sge;
	u32 num_sge;
	bool write;
};

static int advise(struct ur_engine *engine, void *arg)
{
	struct advise_args *a = arg;

	for (u32 i = 0; i < a->num_sge; i++) {
		const struct ur_emr *found =
			ur_mr_find(engine->port, a->sge[i].lkey);

		if (!found || found->ectx != a->ectx || found->attr.pd != a->pd)
			return -ENOENT;
		if (a->write && !(found->attr.access & UR_ACCESS_LOCAL_WRITE))
			return -EPERM;
		if (a->sge[i].addr < found->attr.iova ||
		    a->sge[i].addr - found->attr.iova > found->attr.length ||
		    a->sge[i].length > found->attr.length - (a->sge[i].addr -
							     found->attr.iova))
			return -EINVAL;
	}
	return 0;
}

int ur_ectx_advise(struct ur_ectx *ectx, u32 pd, u32 advice, u32 flags,
		   const struct ur_sge *sge, u32 num_sge)
{
	/* The pages are in the client's page table, and its provider has them
	 * put there. */
	struct advise_args a = {ectx, pd, sge, num_sge, advice == 1};

	if (advice > 2 || flags > 1)
		return -EOPNOTSUPP;
	return ur_engine_call(ectx->engine, advise, &a);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains, and what libibverbs builds from them: thread domains,
 * which promise that one thread at a time uses a queue, and parent domains,
 * which pass a thread domain to the queues made with them.
 */
#include "ectx.h"
#include "uroce.h"

struct uroce_pd *ur_pd_get(struct ibv_pd *ibpd)
{
	struct uroce_pd *pd = ur_to_pd(ibpd);

	if (pd->contained)
		pd = pd->contained;
	if (pd->imported)
		return NULL;
	__atomic_add_fetch(&pd->objects, 1, __ATOMIC_RELAXED);
	return pd;
}

void ur_pd_put(struct uroce_pd *pd)
{
	if (pd)
		__atomic_sub_fetch(&pd->objects, 1, __ATOMIC_RELAXED);
}

struct ibv_pd *uroce_alloc_pd(struct ibv_context *context)
{
	UR_REQ(ib_uverbs_alloc_pd, ) req = {0};
	UR_RESP(ib_uverbs_alloc_pd_resp, struct uroce_alloc_pd_resp drv)
	resp = {0};
	struct uroce_pd *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return NULL;
	err = UR_ECTX_TRY(context, NULL,
			  ibv_cmd_alloc_pd(context, &pd->ibv, &req, sizeof(req),
					   &resp, sizeof(resp)));
	if (err)
		return ur_fail(pd, err);
	ur_ectx_begin(ur_to_ctx(context));
	pd->recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					 __ATOMIC_ACQUIRE);
	pd->pdn = ur_ectx_domain(resp.drv.pdn, pd->recoveries);
	return &pd->ibv;
}

static int dealloc_parent(struct uroce_pd *pd)
{
	if (pd->td)
		__atomic_sub_fetch(&pd->td->refs, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&pd->contained->refs, 1, __ATOMIC_RELAXED);
	free(pd);
	return 0;
}

int uroce_dealloc_pd(struct ibv_pd *ibpd)
{
	struct uroce_pd *pd = ur_to_pd(ibpd);
	int err;

	if (pd->contained)
		return dealloc_parent(pd);
	if (__atomic_load_n(&pd->refs, __ATOMIC_RELAXED))
		return EBUSY;
	err = ur_ectx_forgive_unused(
		ur_to_ctx(ibpd->context), ibv_cmd_dealloc_pd(ibpd),
		__atomic_load_n(&pd->objects, __ATOMIC_RELAXED));
	if (!err)
		free(pd);
	return err;
}

struct ibv_pd *
uroce_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr)
{
	struct uroce_pd *pd, *contained;

	if (!attr->pd || ur_to_pd(attr->pd)->contained)
		return ur_fail(NULL, EINVAL);
	/* Allocators are accepted and not used: the device allocates the queue
	 * memory. */
	if (attr->comp_mask & ~(u32)(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT))
		return ur_fail(NULL, EOPNOTSUPP);
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	contained = ur_to_pd(attr->pd);
	pd->ibv.context = contained->ibv.context;
	pd->ibv.handle = contained->ibv.handle;
	pd->pdn = contained->pdn;
	pd->contained = contained;
	__atomic_add_fetch(&contained->refs, 1, __ATOMIC_RELAXED);
	if (attr->td) {
		pd->td = ur_to_td(attr->td);
		__atomic_add_fetch(&pd->td->refs, 1, __ATOMIC_RELAXED);
	}
	return &pd->ibv;
}

struct ibv_td *uroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr)
{
	struct uroce_td *td;

	if (attr->comp_mask)
		return ur_fail(NULL, EOPNOTSUPP);
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv.context = context;
	return &td->ibv;
}

int uroce_dealloc_td(struct ibv_td *ibtd)
{
	struct uroce_td *td = ur_to_td(ibtd);

	if (__atomic_load_n(&td->refs, __ATOMIC_RELAXED))
		return EBUSY;
	free(td);
	return 0;
}

/* Asks for the number that the domain has in engines. */
static int import(struct uroce_context *ctx, struct uroce_pd *pd)
{
	struct uroce_alloc_pd_resp resp;
	int err;

	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_PD, UROCE_METHOD_ENGINE_PD,
			   UROCE_ATTR_ENGINE_PD_HANDLE, 0, pd->ibv.handle,
			   UROCE_ATTR_ENGINE_PD_RESP, &resp, sizeof(resp));
	if (err)
		return err;
	pd->recoveries = __atomic_load_n(&ctx->recoveries, __ATOMIC_ACQUIRE);
	pd->pdn = ur_ectx_domain(resp.pdn, pd->recoveries);
	return 0;
}

struct ibv_pd *uroce_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct uroce_pd *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return NULL;
	pd->ibv.context = context;
	pd->ibv.handle = handle;
	pd->imported = true;
	err = import(ur_to_ctx(context), pd);
	if (err)
		return ur_fail(pd, err);
	return &pd->ibv;
}

void uroce_unimport_pd(struct ibv_pd *pd)
{
	free(ur_to_pd(pd));
}

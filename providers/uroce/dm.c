// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Device memory: a mapping of the uverbs file. Copies are of whole 4-byte
 * words, as on the hardware that brought the verb and as programs test for.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ectx.h"
#include "uroce.h"

#define COPY_UNIT 4

static bool inside(const struct uroce_dm *dm, u64 off, size_t len)
{
	return off <= dm->length && len <= dm->length - off;
}

static int memcpy_to_dm(struct ibv_dm *ibdm, uint64_t off, const void *src,
			size_t len)
{
	struct uroce_dm *dm = ur_to_dm(ibdm);

	if (!inside(dm, off, len) || (off | len) % COPY_UNIT)
		return EFAULT;
	memcpy(dm->map + off, src, len);
	return 0;
}

static int memcpy_from_dm(void *dst, struct ibv_dm *ibdm, uint64_t off,
			  size_t len)
{
	struct uroce_dm *dm = ur_to_dm(ibdm);

	if (!inside(dm, off, len) || (off | len) % COPY_UNIT)
		return EFAULT;
	memcpy(dst, dm->map + off, len);
	return 0;
}

static int setup_dm(struct ibv_context *context, struct uroce_dm *dm,
		    const struct uroce_alloc_dm_resp *resp, size_t length)
{
	if (resp->map_len < length)
		return EPROTO;
	dm->map =
		ur_map_at(context, UR_OF_DEVICE, resp->map_off, resp->map_len);
	if (!dm->map)
		return errno;
	dm->map_len = resp->map_len;
	dm->length = length;
	dm->recoveries = __atomic_load_n(&ur_to_ctx(context)->recoveries,
					 __ATOMIC_ACQUIRE);
	dm->vdm.dm.memcpy_to_dm = memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = memcpy_from_dm;
	return 0;
}

static int cmd_alloc_dm(struct ibv_context *context,
			struct ibv_alloc_dm_attr *attr, struct uroce_dm *dm,
			struct uroce_alloc_dm_resp *resp)
{
	UR_CMDB(1) link;

	ur_cmdb_uhw_out(&link.cmdb, link.attr, UVERBS_OBJECT_DM,
			UVERBS_METHOD_DM_ALLOC, resp, sizeof(*resp));
	return ibv_cmd_alloc_dm(context, attr, &dm->vdm, &link.cmdb);
}

struct ibv_dm *uroce_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr)
{
	struct uroce_alloc_dm_resp resp = {0};
	struct uroce_dm *dm;
	int err;

	if (attr->comp_mask)
		return ur_fail(NULL, EINVAL);
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	err = UR_ECTX_TRY(context, NULL,
			  cmd_alloc_dm(context, attr, dm, &resp));
	if (err)
		goto err_free;
	err = setup_dm(context, dm, &resp, attr->length);
	if (err)
		goto err_cmd;
	return &dm->vdm.dm;

err_cmd:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	return ur_fail(dm, err);
}

int uroce_free_dm(struct ibv_dm *ibdm)
{
	struct uroce_dm *dm = ur_to_dm(ibdm);
	int err = ur_ectx_forgive_unused(
		ur_to_ctx(ibdm->context), ibv_cmd_free_dm(&dm->vdm),
		__atomic_load_n(&dm->objects, __ATOMIC_RELAXED));

	if (err)
		return err;
	/* Gives the pages back: the device grants this range of its file no more. */
	syscall(SYS_madvise, dm->map, dm->map_len, MADV_REMOVE);
	ur_unmap(dm->map, dm->map_len);
	free(dm);
	return 0;
}

/* Device memory of a uroced that was killed is ordinary memory to the next
 * one. */
static int reg_as_memory(struct ibv_pd *pd, u8 *addr, size_t length,
			 unsigned int access, struct uroce_mr *mr)
{
	const struct uroce_reg_mr_req drv = {.flags = UROCE_MR_F_SEEN};
	int err;

	if (!(access & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	err = ur_cmd_reg_mr(pd, addr, length, (uintptr_t)addr, (int)access,
			    &drv, &mr->vmr);
	if (err)
		return err;
	mr->vmr.ibv_mr.addr = NULL;
	return 0;
}

static int cmd_reg_dm_mr(struct uroce_context *ctx, struct ibv_pd *pd,
			 struct uroce_dm *dm, u64 offset, size_t length,
			 unsigned int access, struct uroce_mr *mr)
{
	int err = UR_ECTX_TRY(&ctx->ibv, pd,
			      ibv_cmd_reg_dm_mr(pd, &dm->vdm, offset, length,
						access, &mr->vmr, NULL));

	return dm->recoveries != ctx->recoveries &&
			       (err == EINVAL || err == ENOENT)
		       ? reg_as_memory(pd, dm->map + offset, length, access, mr)
		       : err;
}

static int try_dm_mr(struct ibv_pd *pd, struct uroce_dm *dm, u64 offset,
		     size_t length, unsigned int access, struct uroce_mr *mr)
{
	struct uroce_context *ctx = ur_to_ctx(pd->context);
	int err = cmd_reg_dm_mr(ctx, pd, dm, offset, length, access, mr);

	if (err)
		return err;
	err = ur_ectx_reg_mr(ctx, mr, pd, 0, (uintptr_t)dm->map + offset,
			     length, 0, (int)access);
	if (err)
		ibv_cmd_dereg_mr(&mr->vmr);
	return err;
}

struct ibv_mr *uroce_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct uroce_dm *dm = ur_to_dm(ibdm);
	struct uroce_mr *mr;
	int err;

	if (!inside(dm, offset, length))
		return ur_fail(NULL, EINVAL);
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = UR_ECTX_NUMBERED(try_dm_mr(pd, dm, offset, length, access, mr));
	if (err)
		return ur_fail(mr, err);
	__atomic_add_fetch(&dm->objects, 1, __ATOMIC_RELAXED);
	mr->dm = dm;
	mr->pd = ur_pd_get(pd);
	return &mr->vmr.ibv_mr;
}

struct ibv_dm *uroce_import_dm(struct ibv_context *context, uint32_t handle)
{
	struct uroce_query_dm_resp resp = {0};
	struct uroce_dm *dm = calloc(1, sizeof(*dm));
	int err;

	if (!dm)
		return NULL;
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->vdm.dm.context = context;
	/* The driver's own method, since an importer has no response of ALLOC. */
	err = ur_ectx_call(context, UVERBS_OBJECT_DM, UROCE_METHOD_DM_QUERY,
			   UROCE_ATTR_DM_QUERY_HANDLE, 0, handle,
			   UROCE_ATTR_DM_QUERY_RESP, &resp, sizeof(resp));
	if (!err)
		err = setup_dm(context, dm, &resp.map, resp.length);
	if (err)
		return ur_fail(dm, err);
	return &dm->vdm.dm;
}

void uroce_unimport_dm(struct ibv_dm *ibdm)
{
	struct uroce_dm *dm = ur_to_dm(ibdm);

	ur_unmap(dm->map, dm->map_len);
	free(dm);
}

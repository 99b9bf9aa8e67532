/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions in all their forms. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/limits.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

#define ACCESS_FLUSH_GLOBAL	(1u << 8)
#define ACCESS_FLUSH_PERSISTENT (1u << 9)
#define ACCESS_KNOWN                                                     \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED |        \
	 IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB |         \
	 ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT |                 \
	 IB_UVERBS_ACCESS_OPTIONAL_RANGE)

#define REREG_TRANS  (1u << 0) /* enum ibv_rereg_mr_flags */
#define REREG_PD     (1u << 1)
#define REREG_ACCESS (1u << 2)

static int check_access(u32 access)
{
	if (access & ~ACCESS_KNOWN)
		return -EINVAL;
	/* IBA: remote write and atomic need local write. */
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE |
		       IB_UVERBS_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

static int destroy_mr(struct ur_object *obj)
{
	struct ur_obj_mr *mr = (struct ur_obj_mr *)obj;
	int err = ur_emr_dereg(mr->mr);

	if (err)
		return err;
	ur_object_unuse(mr->pd);
	ur_object_unuse(mr->dm);
	return 0;
}

static const struct ur_object_type mr_type = {
	.id = UVERBS_OBJECT_MR,
	.name = "memory regions",
	.size = sizeof(struct ur_obj_mr),
	.max = UR_MAX_MR,
	.destroy = destroy_mr,
};

/*
 * Nobody else waits for the pages of this client. What belongs to its file
 * stays as it is, since its commands come one at a time.
 */
static int look(struct ur_cmd *cmd, struct ur_emr_attr *attr)
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

static int make_mr(struct ur_cmd *cmd, struct ur_obj_pd *pd,
		   struct ur_obj_dm *dm, struct ur_emr_attr *attr,
		   struct ur_obj_mr **ret)
{
	struct ur_obj_mr *mr;
	int err;

	attr->mem = cmd->file->session->mem;
	err = try_mr(cmd, attr, &mr);
	if (err == -EAGAIN) {
		err = look(cmd, attr);
		if (!err)
			err = try_mr(cmd, attr, &mr);
	}
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

/* What the driver's request adds; *fd is the caller's to close. */
static int shared_memory(struct ur_cmd *cmd, struct ur_emr_attr *attr, int *fd)
{
	struct uroce_reg_mr_req req;

	*fd = -1;
	ur_udata_in(cmd, &req, sizeof(req));
	if (req.flags & ~(UROCE_MR_F_SHARED | UROCE_MR_F_NULL) || req.rsv)
		return -EINVAL;
	attr->null_mr = req.flags & UROCE_MR_F_NULL;
	if (!(req.flags & UROCE_MR_F_SHARED))
		return 0;
	*fd = ur_session_fget(cmd->file->session, req.shm_fd);
	if (*fd < 0)
		return *fd;
	attr->shm_fd = *fd;
	attr->shm_off = req.shm_off;
	return 0;
}

static int check_range(struct ur_emr_attr *attr)
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

int ur_w_reg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_reg_mr *req = in;
	struct ib_uverbs_reg_mr_resp *resp = out;
	struct ur_obj_pd *pd =
		ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
	struct ur_emr_attr attr = {
		.access = req->access_flags,
		.addr = req->start,
		.length = req->length,
		.iova = req->hca_va,
		.shm_fd = -1,
		.dmabuf_fd = -1,
	};
	struct ur_obj_mr *mr;
	int err, fd;

	/* The same place within a page, as the kernel demands. */
	if ((req->start & 4095) != (req->hca_va & 4095) &&
	    !(req->access_flags & IB_UVERBS_ACCESS_ZERO_BASED))
		return -EINVAL;
	if (!pd)
		return -EINVAL;
	err = check_access(req->access_flags);
	if (!err)
		err = check_range(&attr);
	if (err)
		return err;
	attr.pd = pd->pdn;
	err = shared_memory(cmd, &attr, &fd);
	if (err)
		return err;
	err = make_mr(cmd, pd, NULL, &attr, &mr);
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	resp->mr_handle = mr->obj.handle;
	resp->lkey = resp->rkey = ur_emr_key(mr->mr);
	return 0;
}

int ur_w_rereg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_rereg_mr *req = in;
	struct ib_uverbs_rereg_mr_resp *resp = out;
	struct ur_obj_mr *mr =
		ur_object_get(cmd->file, UVERBS_OBJECT_MR, req->mr_handle);
	struct ur_emr_attr attr = {
		.mem = cmd->file->session->mem, .shm_fd = -1, .dmabuf_fd = -1};
	struct ur_obj_pd *pd = NULL;
	u32 flags = req->flags;
	int err = 0, fd = -1;

	if (!mr || !flags || (flags & ~(REREG_TRANS | REREG_PD | REREG_ACCESS)))
		return -EINVAL;
	if (mr->dm)
		return -EINVAL;
	attr.pd = mr->pd->pdn;
	attr.access = mr->access;
	attr.addr = attr.iova = mr->iova;
	attr.length = mr->length;
	if (flags & REREG_ACCESS) {
		attr.access = req->access_flags;
		err = check_access(attr.access);
	}
	if (!err && (flags & REREG_TRANS)) {
		if ((req->start & 4095) != (req->hca_va & 4095))
			return -EINVAL;
		attr.addr = req->start;
		attr.length = req->length;
		attr.iova = req->hca_va;
		err = check_range(&attr);
		if (!err)
			err = shared_memory(cmd, &attr, &fd);
	}
	if (err)
		return err;
	if (flags & REREG_PD) {
		pd = ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
		err = pd ? 0 : -EINVAL;
		if (pd)
			attr.pd = pd->pdn;
	}
	if (!err)
		err = ur_emr_rereg(mr->mr, flags, &attr);
	if (err == -EAGAIN) {
		err = look(cmd, &attr);
		if (!err)
			err = ur_emr_rereg(mr->mr, flags, &attr);
	}
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	if (pd) {
		ur_object_unuse(mr->pd);
		mr->pd = pd;
		ur_object_use(pd);
	}
	mr->access = attr.access;
	mr->length = attr.length;
	mr->iova = attr.iova;
	resp->lkey = resp->rkey = ur_emr_key(mr->mr);
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

/* The answer of both registrations that come as attributes. */
static int say_keys(struct ur_cmd *cmd, struct ur_obj_mr *mr, u16 handle,
		    u16 lkey, u16 rkey)
{
	u32 key = ur_emr_key(mr->mr);
	int err = ur_attr_out(cmd, lkey, &key, sizeof(key));

	if (!err)
		err = ur_attr_out(cmd, rkey, &key, sizeof(key));
	return err ? err : ur_attr_set(cmd, handle, mr->obj.handle);
}

int ur_m_reg_dmabuf_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
	struct ur_emr_attr attr = {
		.pd = pd->pdn,
		.dmabuf_off =
			ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_OFFSET),
		.length = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_LENGTH),
		.iova = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_IOVA),
		.shm_fd = -1,
	};
	struct ur_obj_mr *mr;
	u64 number = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_FD);
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
			&attr.access))
		return -EINVAL;
	err = check_access(attr.access);
	if (!err)
		err = check_range(&attr);
	if (err)
		return err;
	if (attr.access & IB_UVERBS_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if ((attr.dmabuf_off & 4095) != (attr.iova & 4095) ||
	    attr.dmabuf_off + attr.length < attr.dmabuf_off)
		return -EINVAL;
	attr.dmabuf_fd = ur_session_fget(cmd->file->session, (int)(u32)number);
	if (attr.dmabuf_fd < 0)
		return attr.dmabuf_fd;
	err = make_mr(cmd, pd, NULL, &attr, &mr);
	close(attr.dmabuf_fd);
	if (err)
		return err;
	return say_keys(cmd, mr, UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
			UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY);
}

int ur_m_reg_dm_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct ur_obj_dm *dm =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	struct ur_emr_attr attr = {
		.pd = pd->pdn,
		.dm = dm->dm,
		.dm_off = ur_attr_u64(cmd, UVERBS_ATTR_REG_DM_MR_OFFSET),
		.length = ur_attr_u64(cmd, UVERBS_ATTR_REG_DM_MR_LENGTH),
		.shm_fd = -1,
		.dmabuf_fd = -1,
	};
	struct ur_obj_mr *mr;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, &attr.access))
		return -EINVAL;
	err = check_access(attr.access);
	if (err)
		return err;
	/* Addressed by offset, always. */
	if (!(attr.access & IB_UVERBS_ACCESS_ZERO_BASED) ||
	    attr.dm_off > dm->length || attr.length > dm->length - attr.dm_off)
		return -EINVAL;
	err = make_mr(cmd, pd, dm, &attr, &mr);
	if (err)
		return err;
	return say_keys(cmd, mr, UVERBS_ATTR_REG_DM_MR_HANDLE,
			UVERBS_ATTR_REG_DM_MR_RESP_LKEY,
			UVERBS_ATTR_REG_DM_MR_RESP_RKEY);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands that register memory: REG_MR, REREG_MR, dma-buf, device memory.
 */
#include <errno.h>
#include "device/uverbs/maps.h"
#include "device/uverbs/obj_mr.h"

#define PAGE 4096u

/* Returns whether both have the same offset within a page. */
static bool same_in_page(u64 a, u64 b)
{
	return !((a ^ b) & (PAGE - 1));
}

/* Returns whether the range touches no page: zero bytes at a page boundary. Linux refuses a
 * region that pins no page. */
static bool no_pages(u64 start, u64 length)
{
	return !length && same_in_page(start, 0);
}

/* Returns the first address: 0 for zero-based access, whatever iova is. */
static u64 first_address(u32 access, u64 iova)
{
	return access & IB_UVERBS_ACCESS_ZERO_BASED ? 0 : iova;
}

/* Reads the driver's part of the request. */
static int read_flags(struct ur_cmd *cmd, struct ur_emr_attr *attr)
{
	struct uroce_reg_mr_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	if (req.flags & ~(UROCE_MR_F_NULL | UROCE_MR_F_SEEN |
			  UROCE_MR_F_ELSEWHERE) ||
	    req.rsv)
		return -EINVAL;
	attr->elsewhere = req.flags & UROCE_MR_F_ELSEWHERE;
	if (attr->elsewhere &&
	    ((req.flags & UROCE_MR_F_NULL) || attr->on_demand))
		return -EINVAL;
	attr->null_mr = req.flags & UROCE_MR_F_NULL;
	attr->seen = req.flags & UROCE_MR_F_SEEN;
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
		.iova = first_address(req->access_flags, req->hca_va),
		.dmabuf_fd = -1,
	};
	struct ur_obj_mr *mr;
	int err;

	/* The kernel requires equal offsets within a page. */
	if (!same_in_page(req->start, req->hca_va) &&
	    !(req->access_flags & IB_UVERBS_ACCESS_ZERO_BASED))
		return -EINVAL;
	if (!pd || no_pages(req->start, req->length))
		return -EINVAL;
	err = ur_mr_check_access(req->access_flags);
	if (!err)
		err = ur_mr_check_range(&attr);
	if (err)
		return err;
	attr.pd = pd->pdn;
	err = read_flags(cmd, &attr);
	if (err)
		return err;
	err = ur_mr_make(cmd, pd, NULL, &attr, &mr);
	if (err)
		return err;
	resp->mr_handle = mr->obj.handle;
	resp->lkey = resp->rkey = ur_emr_key(mr->mr);
	return 0;
}

static int rereg(struct ur_cmd *cmd, struct ur_obj_mr *mr, u32 flags,
		 const struct ur_emr_attr *attr)
{
	struct ur_emr_left left;
	int err = ur_emr_rereg(mr->mr, flags, attr, &left);

	ur_mr_unmap(cmd->file, &left);
	return err;
}

int ur_w_rereg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_rereg_mr *req = in;
	struct ib_uverbs_rereg_mr_resp *resp = out;
	struct ur_obj_mr *mr =
		ur_object_get(cmd->file, UVERBS_OBJECT_MR, req->mr_handle);
	struct ur_emr_attr attr = {.mem = cmd->file->session->mem,
				   .dmabuf_fd = -1};
	struct ur_obj_pd *pd = NULL;
	u32 flags = req->flags;
	int err = 0;

	if (!mr || !flags ||
	    (flags & ~(UR_REREG_TRANS | UR_REREG_PD | UR_REREG_ACCESS)))
		return -EINVAL;
	if (mr->dm)
		return -EINVAL;
	attr.pd = mr->pd->pdn;
	attr.access = mr->access;
	attr.addr = attr.iova = mr->iova;
	attr.length = mr->length;
	if (flags & UR_REREG_ACCESS) {
		attr.access = req->access_flags;
		err = ur_mr_check_access(attr.access);
		/* Toggling zero-based access changes the addresses, hence the translation. */
		if (!err && !(flags & UR_REREG_TRANS) &&
		    ((attr.access ^ mr->access) & IB_UVERBS_ACCESS_ZERO_BASED))
			err = -EOPNOTSUPP;
	}
	if (!err && (flags & UR_REREG_TRANS)) {
		if (!same_in_page(req->start, req->hca_va) ||
		    no_pages(req->start, req->length))
			return -EINVAL;
		attr.addr = req->start;
		attr.length = req->length;
		attr.iova = first_address(attr.access, req->hca_va);
		err = ur_mr_check_range(&attr);
		if (!err)
			err = read_flags(cmd, &attr);
	}
	if (err)
		return err;
	if (flags & UR_REREG_PD) {
		pd = ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
		err = pd ? 0 : -EINVAL;
		if (pd)
			attr.pd = pd->pdn;
	}
	if (!err)
		err = rereg(cmd, mr, flags, &attr);
	if (err == -EAGAIN) {
		if (!(flags & UR_REREG_TRANS))
			ur_emr_place(mr->mr, &attr);
		err = ur_mr_look(cmd, &attr);
		if (!err)
			err = rereg(cmd, mr, flags, &attr);
	}
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

/* Fills the response of both ioctl registrations. */
static int say_keys(struct ur_cmd *cmd, struct ur_obj_mr *mr, u16 handle,
		    u16 lkey, u16 rkey)
{
	u32 key = ur_emr_key(mr->mr);
	int err = ur_attr_out(cmd, lkey, &key, sizeof(key));

	if (!err)
		err = ur_attr_out(cmd, rkey, &key, sizeof(key));
	return err ? err : ur_attr_set(cmd, handle, mr->obj.handle);
}

/* Programs probe for dma-buf support with an invalid descriptor and no pages: any error but
 * EOPNOTSUPP means yes. */
static int take_file(struct ur_cmd *cmd, int number, struct ur_emr_attr *attr)
{
	int fd = ur_session_fget(cmd->file->session, number, NULL);

	if (fd < 0)
		return fd == -EBADF ? -EOPNOTSUPP : fd;
	attr->dmabuf_fd = fd;
	return ur_emr_takes_file(fd) ? 0 : -EOPNOTSUPP;
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
	};
	struct ur_obj_mr *mr;
	u64 number = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_FD);
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
			&attr.access))
		return -EINVAL;
	err = take_file(cmd, (int)(u32)number, &attr);
	if (!err)
		err = ur_mr_check_access(attr.access);
	if (!err)
		err = ur_mr_check_range(&attr);
	if (err)
		return err;
	if (attr.access & IB_UVERBS_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if (!same_in_page(attr.dmabuf_off, attr.iova) ||
	    no_pages(attr.dmabuf_off, attr.length) ||
	    attr.dmabuf_off + attr.length < attr.dmabuf_off)
		return -EINVAL;
	attr.iova = first_address(attr.access, attr.iova);
	if (!ur_region_room(cmd->file, attr.length))
		return -ENOMEM;
	err = ur_mr_make(cmd, pd, NULL, &attr, &mr);
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
		.dmabuf_fd = -1,
	};
	struct ur_obj_mr *mr;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, &attr.access))
		return -EINVAL;
	err = ur_mr_check_access(attr.access);
	if (err)
		return err;
	/* Device memory is always addressed by offset. */
	if (!(attr.access & IB_UVERBS_ACCESS_ZERO_BASED) ||
	    attr.dm_off > dm->length || attr.length > dm->length - attr.dm_off)
		return -EINVAL;
	err = ur_mr_make(cmd, pd, dm, &attr, &mr);
	if (err)
		return err;
	return say_keys(cmd, mr, UVERBS_ATTR_REG_DM_MR_HANDLE,
			UVERBS_ATTR_REG_DM_MR_RESP_LKEY,
			UVERBS_ATTR_REG_DM_MR_RESP_RKEY);
}

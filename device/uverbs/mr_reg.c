// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands that register memory: REG_MR, REREG_MR, dma-buf, device memory.
 */
#include <errno.h>
#include <sys/stat.h>
#include "device/uverbs/obj_mr.h"

#define PAGE 4096u

/* enum ibv_rereg_mr_flags, named as in Linux */
#define IB_MR_REREG_TRANS     (1u << 0)
#define IB_MR_REREG_PD	      (1u << 1)
#define IB_MR_REREG_ACCESS    (1u << 2)
#define IB_MR_REREG_SUPPORTED 7u

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
static int read_flags(struct ur_cmd *cmd, struct ur_mr_place *range)
{
	struct uroce_reg_mr_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	if (req.flags & ~(UROCE_MR_F_NULL | UROCE_MR_F_SEEN |
			  UROCE_MR_F_ELSEWHERE) ||
	    req.rsv)
		return -EINVAL;
	range->elsewhere = req.flags & UROCE_MR_F_ELSEWHERE;
	if (range->elsewhere &&
	    ((req.flags & UROCE_MR_F_NULL) || range->on_demand))
		return -EINVAL;
	range->null = req.flags & UROCE_MR_F_NULL;
	range->seen = req.flags & UROCE_MR_F_SEEN;
	return 0;
}

int ur_w_reg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_reg_mr *req = in;
	struct ib_uverbs_reg_mr_resp *resp = out;
	struct ur_obj_pd *pd =
		ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
	struct ur_mr_place range = {
		.access = req->access_flags,
		.addr = req->start,
		.length = req->length,
		.iova = first_address(req->access_flags, req->hca_va),
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
		err = ur_mr_check_range(&range);
	if (!err)
		err = read_flags(cmd, &range);
	if (!err)
		err = ur_mr_make(cmd, pd, NULL, &range, &mr);
	if (err)
		return err;
	resp->mr_handle = mr->obj.handle;
	resp->lkey = resp->rkey = mr->key;
	return 0;
}

/* Fills *next with the region as the command changes it. Returns 0 or -errno. */
static int changed(struct ur_cmd *cmd, const struct ib_uverbs_rereg_mr *req,
		   const struct ur_obj_mr *mr, struct ur_mr_place *next)
{
	int err = 0;

	*next = mr->range;
	if (req->flags & IB_MR_REREG_ACCESS) {
		next->access = req->access_flags;
		err = ur_mr_check_access(next->access);
		/* Toggling zero-based access changes the addresses, hence the translation. */
		if (!err && !(req->flags & IB_MR_REREG_TRANS) &&
		    ((next->access ^ mr->range.access) &
		     IB_UVERBS_ACCESS_ZERO_BASED))
			err = -EOPNOTSUPP;
	}
	if (err || !(req->flags & IB_MR_REREG_TRANS))
		return err;
	if (!same_in_page(req->start, req->hca_va) ||
	    no_pages(req->start, req->length))
		return -EINVAL;
	*next = (struct ur_mr_place){
		.access = next->access,
		.addr = req->start,
		.length = req->length,
		.iova = first_address(next->access, req->hca_va),
		.mem = cmd->file->session->mem,
	};
	err = ur_mr_check_range(next);
	return err ? err : read_flags(cmd, next);
}

int ur_w_rereg_mr(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_rereg_mr *req = in;
	struct ib_uverbs_rereg_mr_resp *resp = out;
	struct ur_obj_mr *mr =
		ur_object_get(cmd->file, UVERBS_OBJECT_MR, req->mr_handle);
	struct ur_obj_pd *pd = NULL;
	struct ur_mr_place next;
	u32 flags = req->flags;
	int err;

	if (!mr || !flags || (flags & ~IB_MR_REREG_SUPPORTED) || mr->dm)
		return -EINVAL;
	err = changed(cmd, req, mr, &next);
	if (err)
		return err;
	if (flags & IB_MR_REREG_PD) {
		pd = ur_object_get(cmd->file, UVERBS_OBJECT_PD, req->pd_handle);
		if (!pd)
			return -EINVAL;
	}
	if (flags & (IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS)) {
		err = ur_mr_look(cmd, &next);
		if (err)
			return err;
	}
	if (pd) {
		ur_object_unuse(mr->pd);
		mr->pd = pd;
		ur_object_use(pd);
	}
	ur_user_mem_get(next.mem);
	ur_user_mem_put(mr->range.mem);
	mr->range = next;
	resp->lkey = resp->rkey = mr->key;
	return 0;
}

/* Fills the response of both ioctl registrations. */
static int put_keys(struct ur_cmd *cmd, struct ur_obj_mr *mr, u16 handle,
		    u16 lkey, u16 rkey)
{
	int err = ur_attr_out(cmd, lkey, &mr->key, sizeof(mr->key));

	if (!err)
		err = ur_attr_out(cmd, rkey, &mr->key, sizeof(mr->key));
	return err ? err : ur_attr_set(cmd, handle, mr->obj.handle);
}

/* Programs probe for dma-buf support with an invalid descriptor and no pages: any error but
 * EOPNOTSUPP means yes. */
static int take_file(struct ur_cmd *cmd, int number, int *file)
{
	int fd = ur_session_fget(cmd->file->session, number, NULL);

	if (fd < 0)
		return fd == -EBADF ? -EOPNOTSUPP : fd;
	*file = fd;
	return ur_emr_takes_file(fd) ? 0 : -EOPNOTSUPP;
}

/* Returns whether the file, which cannot shrink, has the range. */
static bool has_range(int fd, u64 off, u64 length)
{
	struct stat st;

	return length && !fstat(fd, &st) && st.st_size >= 0 &&
	       off <= (u64)st.st_size && length <= (u64)st.st_size - off;
}

/* The provider maps the file, or passes it to an engine process. */
int ur_m_reg_dmabuf_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
	struct ur_mr_place range = {
		.length = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_LENGTH),
		.iova = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_IOVA),
		.file = true,
	};
	u64 off = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
	u64 number = ur_attr_u64(cmd, UVERBS_ATTR_REG_DMABUF_MR_FD);
	struct ur_obj_mr *mr;
	int err, fd;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
			&range.access))
		return -EINVAL;
	err = take_file(cmd, (int)(u32)number, &fd);
	if (!err)
		err = ur_mr_check_access(range.access);
	if (!err)
		err = ur_mr_check_range(&range);
	if (err)
		return err;
	if (range.access & IB_UVERBS_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if (!same_in_page(off, range.iova) || no_pages(off, range.length) ||
	    off + range.length < off)
		return -EINVAL;
	if (!has_range(fd, off, range.length))
		return -EOPNOTSUPP;
	range.iova = first_address(range.access, range.iova);
	err = ur_mr_make(cmd, pd, NULL, &range, &mr);
	if (err)
		return err;
	return put_keys(cmd, mr, UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
			UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY);
}

int ur_m_reg_dm_mr(struct ur_cmd *cmd)
{
	struct ur_obj_pd *pd =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct ur_obj_dm *dm =
		ur_attr_obj(cmd, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	struct ur_mr_place range = {
		.length = ur_attr_u64(cmd, UVERBS_ATTR_REG_DM_MR_LENGTH),
		.file = true,
	};
	u64 off = ur_attr_u64(cmd, UVERBS_ATTR_REG_DM_MR_OFFSET);
	struct ur_obj_mr *mr;
	int err;

	if (ur_attr_u32(cmd, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, &range.access))
		return -EINVAL;
	err = ur_mr_check_access(range.access);
	if (err)
		return err;
	/* Device memory is always addressed by offset. */
	if (!(range.access & IB_UVERBS_ACCESS_ZERO_BASED) || off > dm->length ||
	    range.length > dm->length - off)
		return -EINVAL;
	err = ur_mr_make(cmd, pd, dm, &range, &mr);
	if (err)
		return err;
	return put_keys(cmd, mr, UVERBS_ATTR_REG_DM_MR_HANDLE,
			UVERBS_ATTR_REG_DM_MR_RESP_LKEY,
			UVERBS_ATTR_REG_DM_MR_RESP_RKEY);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * XRC domains. One opened with a descriptor is shared by all who open the same
 * inode on the same device; it ends with its last handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/objects.h"
#include "device/uverbs_cmd.h"

static void xrcd_put(struct ur_xrcd *x)
{
	if (--x->refs)
		return;
	ur_list_del(&x->node);
	free(x);
}

static int destroy_xrcd(struct ur_object *obj)
{
	xrcd_put(((struct ur_obj_xrcd *)obj)->xrcd);
	return 0;
}

static const struct ur_object_type xrcd_type = {
	.id = UVERBS_OBJECT_XRCD,
	.size = sizeof(struct ur_obj_xrcd),
	.destroy = destroy_xrcd,
};

static struct ur_xrcd *find_inode(struct ur_device *dev, const struct stat *st)
{
	ur_list_for_each(it, &dev->daemon->xrcds) {
		struct ur_xrcd *x = ur_list_entry(it, struct ur_xrcd, node);

		if (x->dev == dev && x->shared && x->inode_dev == st->st_dev &&
		    x->inode == st->st_ino)
			return x;
	}
	return NULL;
}

static struct ur_xrcd *new_xrcd(struct ur_device *dev)
{
	static u32 number;
	struct ur_xrcd *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->dev = dev;
	if (!++number)
		number = 1;
	x->number = number;
	ur_list_init(&x->targets);
	ur_list_add_tail(&dev->daemon->xrcds, &x->node);
	return x;
}

/* The inode stays pinned by nothing of ours: the caller keeps the descriptor
 * open as long as it wants the identity to hold, as with the kernel. */
static int find_or_make(struct ur_cmd *cmd, int number, u32 oflags,
			struct ur_xrcd **ret)
{
	struct ur_xrcd *x = NULL;
	struct stat st;
	int fd;

	if (number == -1) {
		x = new_xrcd(cmd->dev);
		*ret = x;
		return x ? 0 : -ENOMEM;
	}
	fd = ur_session_fget(cmd->file->session, number);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EBADF;
	}
	close(fd);
	x = find_inode(cmd->dev, &st);
	if (!x && !(oflags & O_CREAT))
		return -EAGAIN;
	if (x && (oflags & O_EXCL))
		return -EINVAL;
	if (!x) {
		x = new_xrcd(cmd->dev);
		if (!x)
			return -ENOMEM;
		x->shared = true;
		x->inode_dev = st.st_dev;
		x->inode = st.st_ino;
	}
	*ret = x;
	return 0;
}

int ur_w_open_xrcd(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_open_xrcd *req = in;
	struct ib_uverbs_open_xrcd_resp *resp = out;
	struct ur_obj_xrcd *obj;
	struct ur_xrcd *x;
	int err;

	err = find_or_make(cmd, (int)req->fd, req->oflags, &x);
	if (err)
		return err;
	x->refs++;
	obj = ur_object_new(cmd->file, &xrcd_type);
	if (!obj) {
		xrcd_put(x);
		return -ENOMEM;
	}
	obj->xrcd = x;
	cmd->created = &obj->obj;
	resp->xrcd_handle = obj->obj.handle;
	return 0;
}

int ur_w_close_xrcd(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_close_xrcd *req = in;
	struct ur_obj_xrcd *x =
		ur_object_get(cmd->file, UVERBS_OBJECT_XRCD, req->xrcd_handle);

	return x ? ur_object_destroy(&x->obj) : -EINVAL;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC domains. A domain opened with a descriptor is shared by all files that open the same
 * inode on the same device; it ends with its last handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/ground/limits.h"
#include "device/uverbs/objects.h"
#include "device/quota.h"
#include "device/uverbs/uverbs_cmd.h"
#include "util/assert.h"

/* Without the lock: this may be the file's last descriptor, and its file system slow. */
static void close_file(struct ur_loop_after *after)
{
	struct ur_xrcd *x = ur_container_of(after, struct ur_xrcd, after);

	close(x->fd);
	ur_loop_lock(x->loop);
	ur_quota_give_fds(x->uid, 1);
	ur_loop_unlock(x->loop);
	free(x);
}

static void xrcd_put(struct ur_xrcd *x)
{
	ur_assert(x->refs);
	if (--x->refs)
		return;
	ur_assert(ur_list_empty(&x->targets));
	ur_numbers_give(&x->dev->xrcdns, x->number);
	ur_list_del(&x->node);
	if (x->shared)
		ur_loop_after(x->loop, &x->after, close_file);
	else
		free(x);
}

_Static_assert(UR_MAX_XRCD <= 1u << UROCE_DOMAIN_BITS, "providers know that");

static int destroy_xrcd(struct ur_object *obj)
{
	xrcd_put(ur_obj_xrcd_of(obj)->xrcd);
	return 0;
}

static const struct ur_object_type xrcd_type = {
	.id = UVERBS_OBJECT_XRCD,
	.name = "XRC domains",
	.size = sizeof(struct ur_obj_xrcd),
	.max = UR_MAX_XRCD,
	.destroy = destroy_xrcd,
};

static struct ur_xrcd *find_inode(struct ur_device *dev,
				  const struct ur_file_id *id)
{
	ur_list_each(struct ur_xrcd, x, &dev->daemon->xrcds, node) {
		if (x->dev == dev && x->shared && ur_file_id_same(&x->id, id))
			return x;
	}
	return NULL;
}

static struct ur_xrcd *new_xrcd(struct ur_cmd *cmd)
{
	struct ur_device *dev = cmd->dev;
	struct ur_xrcd *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->number = ur_numbers_take(&dev->xrcdns);
	if (!x->number) {
		free(x);
		return NULL;
	}
	x->dev = dev;
	x->refs = 1;
	x->loop = dev->daemon->loop;
	ur_list_init(&x->targets);
	ur_list_add_tail(&dev->daemon->xrcds, &x->node);
	return x;
}

/* Opens the inode (O_PATH), independent of the open file: the caller may close fd. */
static int pin_inode(struct ur_loop *loop, int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ur_loop_unlock(loop);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	ur_loop_lock(loop);
	return fd;
}

/* Hashes the file's identity: engines outlive uroced, and the next uroced must give the
 * same number. */
static u32 number_of(const struct ur_file_id *id)
{
	const u8 *at = (const u8 *)id;
	u32 sum = 2166136261u;

	for (size_t i = 0; i < sizeof(*id); i++)
		sum = (sum ^ at[i]) * 16777619u;
	return sum | 1u << 31;
}

/* Returns whether another file's domain in that engine has the number. */
static bool is_taken(const struct ur_device *dev,
		     const struct ur_shared_engine *home, u32 number)
{
	ur_list_each(const struct ur_xrcd, x, &dev->daemon->xrcds, node) {
		if (x->home == home && x->home_number == number)
			return true;
	}
	return false;
}

/* Makes a domain for the inode fd. */
static int new_shared(struct ur_cmd *cmd, int fd, const struct ur_file_id *id,
		      struct ur_xrcd **ret)
{
	struct ur_shared_engine *home = cmd->file->shared;
	struct ur_xrcd *x;

	if ((home && is_taken(cmd->dev, home, number_of(id))) ||
	    ur_quota_take_fds(cmd->file->uid, 1)) {
		close(fd);
		return -EMFILE;
	}
	x = new_xrcd(cmd);
	if (!x) {
		ur_quota_give_fds(cmd->file->uid, 1);
		close(fd);
		return -ENOMEM;
	}
	x->shared = true;
	x->id = *id;
	x->fd = fd;
	x->uid = cmd->file->uid;
	x->home = home;
	x->home_number = home ? number_of(id) : 0;
	*ret = x;
	return 0;
}

/* All objects of a domain belong to one engine, since only its thread may touch them. */
static int enter_domain(struct ur_cmd *cmd, struct ur_xrcd *x)
{
	/* A shared engine serves one user only. */
	if (x->home != cmd->file->shared)
		return x->uid == cmd->file->uid ? -EOPNOTSUPP : -EPERM;
	ur_assert(x->refs);
	x->refs++;
	return 0;
}

/* *ret gets a reference. */
static int find_or_make(struct ur_cmd *cmd, int number, u32 oflags,
			struct ur_xrcd **ret)
{
	struct ur_file_id id;
	int fd, pinned = -1;

	if (number == -1) {
		*ret = new_xrcd(cmd);
		return *ret ? 0 : -ENOMEM;
	}
	fd = ur_session_fget(cmd->file->session, number, &id);
	if (fd < 0)
		return fd;
	/* Before the lookup, since this releases the lock. */
	if (oflags & O_CREAT) {
		pinned = pin_inode(cmd->dev->daemon->loop, fd);
		if (pinned < 0)
			return pinned;
	}
	*ret = find_inode(cmd->dev, &id);
	if (!*ret)
		return pinned < 0 ? -EAGAIN : new_shared(cmd, pinned, &id, ret);
	if (pinned >= 0)
		close(pinned);
	return oflags & O_EXCL ? -EINVAL : enter_domain(cmd, *ret);
}

int ur_w_open_xrcd(struct ur_cmd *cmd, const void *in, void *out)
{
	const struct ib_uverbs_open_xrcd *req = in;
	struct ib_uverbs_open_xrcd_resp *resp = out;
	struct uroce_open_xrcd_resp udata = {0};
	struct ur_obj_xrcd *obj;
	struct ur_xrcd *x;
	int err;

	if (req->oflags & ~(u32)(O_CREAT | O_EXCL))
		return -EINVAL;
	err = find_or_make(cmd, (int)req->fd, req->oflags, &x);
	if (err)
		return err;
	obj = ur_object_new(cmd->file, &xrcd_type);
	if (!obj) {
		xrcd_put(x);
		return -ENOMEM;
	}
	obj->xrcd = x;
	cmd->created = &obj->obj;
	resp->xrcd_handle = obj->obj.handle;
	if (x->home)
		udata = (struct uroce_open_xrcd_resp){x->home_number,
						      UROCE_XRCD_F_SHARED};
	else if (cmd->file->slot && !x->shared)
		udata.number = x->number;
	return ur_udata_out(cmd, &udata, sizeof(udata));
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device/uverbs/destroy_hint.h"

/* The client shares this eventfd and can clear O_NONBLOCK, hence RWF_NOWAIT. Returns 1, 0
 * (empty) or -errno. */
static int read_now(int fd, u64 *value)
{
	struct iovec iov = {value, sizeof(*value)};

	if (preadv2(fd, &iov, 1, -1, RWF_NOWAIT) == sizeof(*value))
		return 1;
	return errno == EAGAIN ? 0 : -errno;
}

int ur_destroy_hint_open(struct ur_ufile *file)
{
	int err = ur_quota_take_fds(file->uid, 1), fd;
	u64 none;

	if (err)
		return err;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = fd < 0 ? -errno : read_now(fd, &none);
	if (!err) {
		file->destroy_hint_fd = fd;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	ur_quota_give_fds(file->uid, 1);
	return err;
}

void ur_destroy_hint_close(struct ur_ufile *file)
{
	if (!file->destroy_hint_fd)
		return;
	close(file->destroy_hint_fd);
	file->destroy_hint_fd = 0;
	ur_quota_give_fds(file->uid, 1);
}

static struct ur_object *look_for_object(struct ur_ufile *file)
{
	u64 hint;
	u32 type;

	if (!file->destroy_hint && file->destroy_hint_fd &&
	    read_now(file->destroy_hint_fd, &hint) == 1)
		file->destroy_hint = hint;
	type = file->destroy_hint & UROCE_HINT_QP ? UVERBS_OBJECT_QP
						  : UVERBS_OBJECT_MR;
	return file->destroy_hint
		       ? ur_object_get(file, type,
				       file->destroy_hint & ~UROCE_HINT_QP)
		       : NULL;
}

void ur_destroy_hint_take(struct ur_ufile *file)
{
	struct ur_object *obj = look_for_object(file);

	file->destroy_hint = 0;
	/* An object in use was named by mistake, and stays. */
	if (obj)
		ur_object_destroy(obj);
}

bool ur_destroy_is_hinted(const struct ur_object *obj)
{
	return (obj->type->id == UVERBS_OBJECT_MR ||
		obj->type->id == UVERBS_OBJECT_QP) &&
	       look_for_object(obj->file) == obj;
}

u32 ur_destroy_hint_count(struct ur_ufile *file, u32 type)
{
	const struct ur_object *obj = look_for_object(file);

	return obj && obj->type->id == type;
}

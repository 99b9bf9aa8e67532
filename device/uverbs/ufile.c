// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Opens and closes uverbs files, and has what the two command decoders share. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/memory.h"
#include "device/memfd.h"
#include "device/session.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "device/uverbs/qp_class.h"
#include "device/uverbs/shared_engine.h"
#include "util/assert.h"

/* The file is sparse, so only touched pages cost memory. The size never changes. */
static int make_memfd(void)
{
	int fd = ur_memfd("uverbs");
	int err;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, UR_UFILE_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
		    0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void ufile_event(struct ur_device_file *on_device, u64 element, u32 type)
{
	struct ur_ufile *file = ur_ufile_of(on_device);

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	if (type == UR_EVENT_GID_CHANGE)
		ur_program_engine_wake(file);
	for (u32 i = 0; i < file->handles.size; i++) {
		struct ur_object *obj = file->handles.slot[i];

		if (obj && obj->type->id == UVERBS_OBJECT_ASYNC_EVENT)
			ur_async_push(ur_obj_async_of(obj), element, type);
	}
}

static const struct ur_device *ufile_device(const void *file)
{
	return ((const struct ur_ufile *)file)->dev;
}

static const struct ur_device_file_ops on_device_ops = {
	.event = ufile_event,
	.class_changed = ur_qp_class_changed,
};

struct ur_ufile *ur_ufile_of(struct ur_device_file *file)
{
	if (file->ops != &on_device_ops)
		return NULL;
	return ur_container_of(file, struct ur_ufile, on_device);
}

struct ur_ufile *ur_ufile_next(const struct ur_device *dev,
			       const struct ur_ufile *file)
{
	const struct ur_list *at = file ? &file->on_device.node : &dev->files;

	for (at = at->next; at != &dev->files; at = at->next) {
		struct ur_ufile *next = ur_ufile_of(
			ur_list_entry(at, struct ur_device_file, node));

		if (next)
			return next;
	}
	return NULL;
}

static void end_apart(const struct ur_device *dev,
		      const struct ur_engine_process *process)
{
	ur_ufile_for_each(file, dev)
		if (file->apart == process ||
		    (file->shared && file->shared->process == process))
			ur_session_hang_up_file(dev->daemon, file);
}

void ur_ufile_end_apart(const struct ur_daemon *daemon,
			const struct ur_engine_process *process)
{
	ur_list_for_each(it, &daemon->devices)
		end_apart(ur_list_entry(it, struct ur_device, node), process);
	ur_list_for_each(it, &daemon->gone)
		end_apart(ur_list_entry(it, struct ur_device, node), process);
}

static int ufile_open(struct ur_session *s, const char *name, void **ret,
		      int *shown, u64 *rdev)
{
	struct ur_device *dev;
	struct ur_ufile *file;
	char rest;
	u32 n;
	int err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (sscanf(name, "uverbs%u%c", &n, &rest) != 1)
		return -ENOENT;
	dev = ur_device_by_uverbs(s->daemon, n);
	if (!dev)
		return -ENXIO;
	if (ur_memory_take(s->uid, UR_KIB_FILE))
		return -ENOMEM;
	err = ur_quota_take_fds(s->uid, UR_FDS_UVERBS);
	if (err)
		goto err_memory;
	file = calloc(1, sizeof(*file));
	err = file ? file->memfd = make_memfd() : -ENOMEM;
	if (err < 0)
		goto err_free;
	file->session = s;
	file->dev = dev;
	file->uid = s->uid;
	file->opener = s->id;
	ur_list_init(&file->imports);
	file->id = ++s->daemon->next_file;
	file->on_device.ops = &on_device_ops;
	ur_list_add_tail(&dev->files, &file->on_device.node);
	shown[0] = file->memfd;
	*rdev = dev->rdev;
	*ret = file;
	return 0;
err_free:
	free(file);
	ur_quota_give_fds(s->uid, UR_FDS_UVERBS);
err_memory:
	ur_memory_give(s->uid, UR_KIB_FILE);
	return err;
}

static void ufile_close_fd(void *arg, u64 cookie)
{
	struct ur_ufile *file = arg;
	struct ur_obj_chan *chan;
	struct ur_obj_async *async;

	chan = ur_object_get(file, UVERBS_OBJECT_COMP_CHANNEL, cookie);
	if (chan)
		ur_chan_closed(chan);
	async = ur_object_get(file, UVERBS_OBJECT_ASYNC_EVENT, cookie);
	if (async)
		ur_async_closed(async);
}

static void ufile_attach(void *arg, struct ur_session *s)
{
	((struct ur_ufile *)arg)->session = s;
}

/* Without the lock: this may free gigabytes of device memory. */
static void close_memory(struct ur_loop_after *after)
{
	struct ur_ufile *file = ur_container_of(after, struct ur_ufile, after);

	close(file->memfd);
	ur_loop_lock(file->loop);
	ur_quota_give_fds(file->uid, UR_FDS_UVERBS);
	ur_loop_unlock(file->loop);
	free(file);
}

static void ufile_close(void *arg)
{
	struct ur_ufile *file = arg;
	struct ur_loop *loop = file->dev->daemon->loop;

	file->loop = loop;
	file->closing = true;
	file->async = NULL;
	ur_object_destroy_all(file);
	file->has_context = false;
	if (file->slot)
		ur_program_engine_end(file);
	ur_memory_give(file->uid, UR_KIB_FILE);
	ur_list_del(&file->on_device.node);
	ur_device_file_closed(file->dev);
	ur_loop_after(loop, &file->after, close_memory);
}

const struct ur_file_ops ur_ufile_ops = {
	.open = ufile_open,
	.device = ufile_device,
	.ioctl = ur_uverbs_ioctl,
	.write = ur_uverbs_write,
	.attach = ufile_attach,
	.close_fd = ufile_close_fd,
	.close = ufile_close,
};

void ur_cmd_init(struct ur_cmd *cmd, struct ur_ufile *file)
{
	memset(cmd, 0, offsetof(struct ur_cmd, room));
	cmd->file = file;
	cmd->dev = file->dev;
	cmd->outs_tail = &cmd->outs;
}

static struct ur_out *new_out(struct ur_cmd *cmd, size_t len)
{
	size_t n = ur_align_up(sizeof(struct ur_out) + len, 8);
	u8 *at = cmd->room + cmd->room_used;

	if (n > sizeof(cmd->room) - cmd->room_used)
		return malloc(n);
	cmd->room_used += (u32)n;
	return (struct ur_out *)at;
}

static void free_out(struct ur_cmd *cmd, struct ur_out *o)
{
	u8 *at = (u8 *)o;

	if (at < cmd->room || at >= cmd->room + sizeof(cmd->room))
		free(o);
}

int ur_cmd_out(struct ur_cmd *cmd, u64 addr, const void *data, size_t len)
{
	struct ur_out *o;

	if (!len)
		return 0;
	o = new_out(cmd, len);
	if (!o)
		return -ENOMEM;
	o->next = NULL;
	o->addr = addr;
	o->len = len;
	memcpy(o->data, data, len);
	*cmd->outs_tail = o;
	cmd->outs_tail = &o->next;
	return 0;
}

int ur_cmd_finish(struct ur_cmd *cmd, int ret)
{
	struct ur_loop *loop = cmd->dev->daemon->loop;

	while (cmd->outs) {
		struct ur_out *o = cmd->outs;

		if (!ret)
			ret = ur_session_write(cmd->file->session, o->addr,
					       o->data, o->len);
		cmd->outs = o->next;
		free_out(cmd, o);
	}
	if (ret && cmd->created) {
		ur_loop_lock(loop);
		ur_object_destroy(cmd->created);
		ur_loop_unlock(loop);
	}
	return ret;
}

void ur_udata_in(const struct ur_cmd *cmd, void *dst, size_t len)
{
	size_t n = cmd->udata_in_len;

	if (n > len)
		n = len;
	memset(dst, 0, len);
	memcpy(dst, cmd->udata, n);
}

int ur_udata_out(struct ur_cmd *cmd, const void *src, size_t len)
{
	if (len > cmd->udata_out_len)
		len = cmd->udata_out_len;
	return ur_cmd_out(cmd, cmd->udata_out_addr, src, len);
}

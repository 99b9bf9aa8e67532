// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels and asynchronous event files. To the client they are plain
 * descriptors, named in a command by number. The client may state with the command which of
 * its event files that is. Otherwise an upcall asks for the descriptor, and its identity is
 * compared: only the socket that was made here is accepted.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/uverbs/objects.h"
#include "device/memory.h"
#include "device/quota.h"
#include "device/reaper.h"
#include "device/uverbs/uverbs_cmd.h"
#include "util/os/event_pair.h"

/* A socket pair each. */
#define EVENT_FDS 2

/*
 * Shuts down the sending end, of which the client may have a copy: nothing can be sent any
 * more, and a reader gets the end of the file. Returns whether there is unread data. That
 * may be the client's, with descriptors whose close blocks as long as the client wants.
 */
static bool shut(int tx)
{
	int bytes = 0;

	shutdown(tx, SHUT_WR);
	return ioctl(tx, SIOCOUTQ, &bytes) < 0 || bytes;
}

static void close_reader(const struct ur_ufile *file, int rx, bool is_full)
{
	if (is_full)
		ur_reap(file->dev->daemon->loop, file->uid, rx);
	else
		close(rx);
}

/* The kernel doubles it; UR_KIB_EVENTS accounts for that. */
#define SNDBUF_BYTES (128 << 10)

/* Makes the socket pair of an event file: one datagram is one event, and the application uses read(). The engines that
 * send events have copies of the sending end. */
static int open_pair(int *tx, int *rx)
{
	int fd[2], bytes = SNDBUF_BYTES, err = ur_event_pair(fd);

	if (err)
		return err;
	if (setsockopt(fd[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes,
		       sizeof(bytes)) < 0)
		setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	*tx = fd[0];
	*rx = fd[1];
	return 0;
}

static void close_pair(const struct ur_ufile *file, int tx, int rx)
{
	bool is_full = shut(tx);

	close(tx);
	close_reader(file, rx, is_full);
}

void ur_async_push(const struct ur_obj_async *async, u64 element, u32 type)
{
	const struct ib_uverbs_async_event_desc desc = {.element = element,
							.event_type = type};

	send(async->tx, &desc, sizeof(desc), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int destroy_chan(struct ur_object *obj)
{
	struct ur_obj_chan *chan = ur_obj_chan_of(obj);

	close_pair(obj->file, chan->tx, chan->rx);
	ur_quota_give_fds(obj->file->uid, EVENT_FDS);
	return 0;
}

static const struct ur_object_type chan_type = {
	.id = UVERBS_OBJECT_COMP_CHANNEL,
	.size = sizeof(struct ur_obj_chan),
	.kib = UR_KIB_EVENTS,
	.destroy = destroy_chan,
};

static int destroy_async(struct ur_object *obj)
{
	struct ur_obj_async *async = ur_obj_async_of(obj);

	if (obj->file->async == async)
		obj->file->async = NULL;
	close_pair(obj->file, async->tx, async->rx);
	ur_quota_give_fds(obj->file->uid, EVENT_FDS);
	return 0;
}

static const struct ur_object_type async_type = {
	.id = UVERBS_OBJECT_ASYNC_EVENT,
	.size = sizeof(struct ur_obj_async),
	.kib = UR_KIB_EVENTS,
	.destroy = destroy_async,
};

void ur_chan_closed(struct ur_obj_chan *chan)
{
	chan->closed = true;
	if (!chan->obj.users)
		ur_object_destroy(&chan->obj);
}

void ur_async_closed(struct ur_obj_async *async)
{
	async->closed = true;
	if (async->obj.file->async == async)
		async->obj.file->async = NULL;
	if (!async->obj.users)
		ur_object_destroy(&async->obj);
}

void ur_chan_put(struct ur_obj_chan *chan)
{
	ur_object_unuse(chan);
	if (chan && chan->closed && !chan->obj.users)
		ur_object_destroy(&chan->obj);
}

void ur_async_put(struct ur_obj_async *async)
{
	ur_object_unuse(async);
	if (async && async->closed && !async->obj.users)
		ur_object_destroy(&async->obj);
}

/* Finds the object of that type whose socket has that number in the client. */
static int find_by_fd(struct ur_ufile *file, int number, u32 type,
		      struct ur_object **ret)
{
	u32 kind = type == UVERBS_OBJECT_COMP_CHANNEL ? UROCE_TUN_COMP
						      : UROCE_TUN_ASYNC;
	struct ur_file_id id;
	int fd;

	*ret = ur_object_get(file, type,
			     ur_session_known(file->session, number, kind));
	if (*ret)
		return 0;
	fd = ur_session_fget(file->session, number, &id);
	if (fd < 0)
		return fd;
	for (u32 i = 0; i < file->handles.size; i++) {
		struct ur_object *obj = file->handles.slot[i];

		if (!obj || obj->type->id != type)
			continue;
		if (!ur_file_id_same(&id, type == UVERBS_OBJECT_COMP_CHANNEL
						  ? &ur_obj_chan_of(obj)->id
						  : &ur_obj_async_of(obj)->id))
			continue;
		*ret = obj;
		return 0;
	}
	*ret = NULL;
	/* An earlier uroced may have made it; then the program's engine sends to it. */
	return ur_handles_follow(&file->handles) ? 0 : -EBADF;
}

int ur_chan_from_fd(struct ur_ufile *file, int number,
		    struct ur_obj_chan **chan)
{
	struct ur_object *obj;
	int err;

	*chan = NULL;
	if (number < 0)
		return 0;
	err = find_by_fd(file, number, UVERBS_OBJECT_COMP_CHANNEL, &obj);
	if (err)
		return err;
	if (obj)
		*chan = ur_obj_chan_of(obj);
	ur_object_use(obj);
	return 0;
}

int ur_async_from_fd(struct ur_ufile *file, int number,
		     struct ur_obj_async **async)
{
	struct ur_object *obj;
	int err;

	if (number < 0) {
		*async = file->async;
		ur_object_use(*async);
		return 0;
	}
	err = find_by_fd(file, number, UVERBS_OBJECT_ASYNC_EVENT, &obj);
	if (err)
		return err;
	*async = obj ? ur_obj_async_of(obj) : NULL;
	ur_object_use(obj);
	return 0;
}

/*
 * Installs an event file in the client. The object gets a user meanwhile, since the client
 * may close the file over another connection.
 */
static int install(struct ur_object *obj, u32 kind, const int fd[2],
		   const bool *closed)
{
	int ret;

	ur_object_use(obj);
	ret = ur_session_install_events(obj->file->session, kind, obj->handle,
					fd);
	ur_object_unuse(obj);
	return ret >= 0 && *closed ? -EBADF : ret;
}

static int make_async(struct ur_ufile *file, struct ur_obj_async **ret,
		      int *number)
{
	struct ur_obj_async *async = ur_object_new(file, &async_type);
	int err, fd[2] = {-1, -1};

	if (!async)
		return -ENOMEM;
	err = open_pair(&async->tx, &async->rx);
	if (err)
		goto err_abort;
	fd[0] = async->rx;
	ur_file_id(fd[0], &async->id);
	err = install(&async->obj, UROCE_TUN_ASYNC, fd, &async->closed);
	if (err < 0)
		goto err_destroy;
	if (!file->async)
		file->async = async;
	*ret = async;
	*number = err;
	return 0;
err_destroy:
	ur_object_hide(&async->obj);
	close_pair(file, async->tx, async->rx);
err_abort:
	ur_object_abort(&async->obj);
	return err;
}

int ur_async_new(struct ur_ufile *file, struct ur_obj_async **ret, int *number)
{
	int err = ur_quota_take_fds(file->uid, EVENT_FDS);

	if (err)
		return err;
	err = make_async(file, ret, number);
	if (err)
		ur_quota_give_fds(file->uid, EVENT_FDS);
	return err;
}

/*
 * Makes a channel and returns its number in the client. A program with an engine gets the
 * sending end at once, so that the channel still works if uroced is killed before a CQ uses
 * it. This adds no right: the client may read the events anyway.
 */
static int make_chan(struct ur_ufile *file)
{
	struct ur_obj_chan *chan = ur_object_new(file, &chan_type);
	int err, fd[2] = {-1, -1};

	if (!chan)
		return -ENOMEM;
	err = open_pair(&chan->tx, &chan->rx);
	if (err)
		goto err_abort;
	fd[0] = chan->rx;
	ur_file_id(fd[0], &chan->id);
	if (file->slot)
		fd[1] = chan->tx;
	err = install(&chan->obj, UROCE_TUN_COMP, fd, &chan->closed);
	if (err >= 0)
		return err;
	ur_object_hide(&chan->obj);
	close_pair(file, chan->tx, chan->rx);
err_abort:
	ur_object_abort(&chan->obj);
	return err;
}

int ur_w_create_comp_channel(struct ur_cmd *cmd, const void *in, void *out)
{
	struct ib_uverbs_create_comp_channel_resp *resp = out;
	int ret = ur_quota_take_fds(cmd->file->uid, EVENT_FDS);

	if (ret)
		return ret;
	ret = make_chan(cmd->file);
	if (ret < 0) {
		ur_quota_give_fds(cmd->file->uid, EVENT_FDS);
		return ret;
	}
	resp->fd = (u32)ret;
	return 0;
}

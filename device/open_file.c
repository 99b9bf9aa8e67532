// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Open files: creates, joins, uses and leaves them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include "device/open_file.h"
#include "util/assert.h"

_Static_assert(UR_FILE_KINDS > UROCE_TUN_UVERBS &&
		       UR_FILE_KINDS > UROCE_TUN_RDMA_CM &&
		       UR_FILE_KINDS > UROCE_TUN_UMAD,
	       "kinds of files that are opened are indices");

static const struct ur_file_ops *ops_of(const struct ur_session *s, u32 kind)
{
	return kind < UR_FILE_KINDS ? s->daemon->file_ops[kind] : NULL;
}

static struct ur_open_file *new_file(const struct ur_session *s, u32 kind)
{
	struct ur_open_file *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	if (getrandom(&o->cookie, sizeof(o->cookie), 0) != sizeof(o->cookie))
		o->cookie = 0; /* cannot be joined */
	o->ops = ops_of(s, kind);
	o->kind = kind;
	o->uid = s->uid;
	o->refs = 1;
	return o;
}

static void begin_file(struct ur_session *s, struct ur_open_file *o,
		       const int *shown, struct uroce_tun_msg *reply)
{
	ur_file_id(shown[0], &o->id); /* cannot fail for our own descriptor */
	pthread_mutex_init(&o->lock, NULL);
	o->current = s;
	ur_assert(!s->open && o->file);
	ur_list_add_tail(&s->daemon->files, &o->node);
	s->open = o;
	reply->opened.cookie = o->cookie;
	reply->opened.rdev = o->rdev;
}

int ur_open_file_new(struct ur_session *s, const struct uroce_tun_msg *msg,
		     struct uroce_tun_msg *reply, int *shown)
{
	const struct ur_file_ops *ops = ops_of(s, msg->kind);
	struct ur_open_file *o;
	int err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (!ops)
		return -ENXIO;
	o = new_file(s, msg->kind);
	if (!o)
		return -ENOMEM;
	err = ops->open(s, msg->name, &o->file, shown, &o->rdev);
	if (err) {
		free(o);
		return err;
	}
	begin_file(s, o, shown, reply);
	return 0;
}

/* The upper half of msg->open.fd is the number of replies the client has received. */
static int reattach(struct ur_session *s, const struct uroce_tun_msg *msg,
		    struct uroce_tun_msg *reply, int *shown)
{
	const struct ur_file_ops *ops = ops_of(s, msg->kind);
	u32 number = (u32)msg->open.fd;
	struct ur_file_id id = {0};
	struct ur_open_file *o;
	int fd, err;

	fd = number <= INT32_MAX ? ur_session_fget(s, (int)number, &id)
				 : -EBADF;
	if (fd < 0)
		return fd;
	o = new_file(s, msg->kind);
	if (!o)
		return -ENOMEM;
	err = ops->reattach(s, &id, fd, (u32)(msg->open.fd >> 32), &o->file,
			    shown, &o->rdev);
	if (err) {
		free(o);
		return err;
	}
	begin_file(s, o, shown, reply);
	return 0;
}

static int join_file(struct ur_session *s, struct ur_open_file *o,
		     struct uroce_tun_msg *reply)
{
	if (!o->ops->attach)
		return -EOPNOTSUPP;
	ur_assert(!s->open && o->refs);
	o->refs++;
	s->open = o;
	reply->opened.cookie = o->cookie;
	reply->opened.rdev = o->rdev;
	return 0;
}

int ur_open_file_join(struct ur_session *s, const struct uroce_tun_msg *msg,
		      struct uroce_tun_msg *reply, int *shown)
{
	const struct ur_file_ops *ops = ops_of(s, msg->kind);
	struct ur_file_id id = {0};

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (!msg->open.cookie && ops && ops->reattach)
		return reattach(s, msg, reply, shown);
	if (!msg->open.cookie) {
		int fd = msg->open.fd <= INT32_MAX
				 ? ur_session_fget(s, (int)msg->open.fd, &id)
				 : -EBADF;

		if (fd < 0)
			return fd;
	}
	ur_list_each(struct ur_open_file, o, &s->daemon->files, node) {
		if (o->kind != msg->kind)
			continue;
		if (msg->open.cookie
			    ? o->cookie == msg->open.cookie && o->uid == s->uid
			    : ur_file_id_same(&o->id, &id))
			return join_file(s, o, reply);
	}
	return -ENOENT;
}

static void attach(struct ur_open_file *o, struct ur_session *s)
{
	o->ops->attach(o->file, s);
	__atomic_store_n(&o->current, s, __ATOMIC_RELEASE);
}

s64 ur_open_file_command(struct ur_session *s, const struct uroce_tun_msg *msg)
{
	struct ur_open_file *o = s->open;
	s64 ret;

	if (!o)
		return -EBADF;
	ur_assert(!ur_loop_mine(s->daemon->loop));
	pthread_mutex_lock(&o->lock);
	/* Where it is this session, no other thread changes that: o->lock is held. */
	if (o->ops->attach &&
	    __atomic_load_n(&o->current, __ATOMIC_ACQUIRE) != s) {
		ur_loop_lock(s->daemon->loop);
		attach(o, s);
		ur_loop_unlock(s->daemon->loop);
	}
	s->took_ahead = msg->op == UROCE_TUN_WRITE &&
			msg->call.request & UROCE_TUN_TAKEN;
	s->has_created = msg->op == UROCE_TUN_WRITE &&
			 msg->call.request & UROCE_TUN_CREATED;
	s->created = msg->created;
	if (msg->op == UROCE_TUN_IOCTL)
		ret = o->ops->ioctl ? o->ops->ioctl(o->file, msg->call.request,
						    msg->call.arg)
				    : -ENOTTY;
	else
		ret = o->ops->write ? o->ops->write(o->file, msg->call.arg,
						    msg->call.len)
				    : -EINVAL;
	pthread_mutex_unlock(&o->lock);
	return ret;
}

void ur_open_file_closed_fds(struct ur_session *s)
{
	struct ur_open_file *o = s->open;

	if (!s->n_closed)
		return;
	ur_loop_lock(s->daemon->loop);
	for (u32 i = 0; i < s->n_closed && o; i++)
		if (o->ops->close_fd)
			o->ops->close_fd(o->file, s->closed[i]);
	ur_loop_unlock(s->daemon->loop);
	s->n_closed = 0;
}

void ur_open_file_leave(struct ur_session *s)
{
	struct ur_open_file *o = s->open;

	ur_assert(ur_loop_mine(s->daemon->loop));
	ur_assert(o && o->refs);
	if (--o->refs == 0) {
		/* close() may release the lock in between. */
		ur_list_del(&o->node);
		o->ops->close(o->file);
		pthread_mutex_destroy(&o->lock);
		free(o);
		return;
	}
	/* Another session's command may be running: the file must keep working on that
	 * session's memory. */
	if (o->current != s)
		return;
	ur_list_each(struct ur_session, other, &s->daemon->sessions, node) {
		if (other == s || other->open != o)
			continue;
		attach(o, other);
		return;
	}
}

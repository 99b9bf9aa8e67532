// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroced's side of the keeper, and the descriptors of an earlier uroced. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/ground/keep.h"
#include "engine/ground/log.h"
#include "util/assert.h"
#include "util/os/scm.h"

#define ANSWER_MS 1000
/* Time for the first reply, which the keeper sends only after the former uroced's link has ended. */
#define FIRST_MS 2000

struct left {
	struct ur_kept what;
	int fd; /* -1: taken */
};

static struct {
	pthread_mutex_t lock;
	int link; /* -1: none */
	const struct ur_keep_store
		*store; /* in the keeper's place; NULL: none */
	bool stays;
	struct left *left;
	u32 n;
} keep = {.lock = PTHREAD_MUTEX_INITIALIZER, .link = -1};

/* ---- messages, with the lock held ---- */

static void lose(int err)
{
	ur_log("the keeper is gone (%s): connections end with this process",
	       strerror(-err));
	close(keep.link);
	keep.link = -1;
}

static int send_msg(u32 op, const struct ur_kept *what, int fd)
{
	struct ur_keep_msg msg = {.version = UR_KEEP_VERSION, .op = op};
	struct iovec iov = {.iov_base = &msg, .iov_len = sizeof(msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	union ur_scm scm;

	if (what)
		msg.what = *what;
	ur_scm_put(&mh, &scm, &fd, fd >= 0);
	return sendmsg(keep.link, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) ==
			       sizeof(msg)
		       ? 0
		       : -errno;
}

/* Receives a message. *fd is -1 if it has no descriptor. */
static int receive_kept(struct ur_keep_msg *msg, int *fd, int ms)
{
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct pollfd p = {.fd = keep.link, .events = POLLIN};
	union ur_scm scm;
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	ssize_t n;

	*fd = -1;
	if (poll(&p, 1, ms) != 1)
		return -ETIMEDOUT;
	n = recvmsg(keep.link, &mh, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -errno;
	if (!n)
		return -EPIPE;
	ur_scm_take(&mh, fd, 1, close);
	if (n == sizeof(*msg) && msg->version == UR_KEEP_VERSION &&
	    !(mh.msg_flags & MSG_CTRUNC))
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return n == sizeof(*msg) && msg->version == UR_KEEP_VERSION ? -EMFILE
								    : -EPROTO;
}

static int ask(u32 op, const struct ur_kept *what, int fd)
{
	struct ur_keep_msg msg = {0};
	int err = send_msg(op, what, fd), none = -1;

	if (!err)
		err = receive_kept(&msg, &none, ANSWER_MS);
	if (!err && msg.op != UR_KEEP_DONE)
		err = -EPROTO;
	if (none >= 0)
		close(none);
	if (err) {
		lose(err);
		return 0;
	}
	return msg.ret;
}

/* ---- storing ---- */

static bool has_keeper(void)
{
	return (keep.store && !keep.stays) || keep.link >= 0;
}

static int put(const struct ur_kept *what, int fd)
{
	return keep.store ? keep.store->put(what, fd)
			  : ask(UR_KEEP_PUT, what, fd);
}

static void drop(const struct ur_kept *what)
{
	if (keep.store)
		keep.store->drop(what);
	else
		ask(UR_KEEP_DROP, what, -1);
}

static void say_settled(void)
{
	if (keep.store)
		keep.store->settled();
	else if (keep.link >= 0)
		ask(UR_KEEP_SETTLED, NULL, -1);
}

static int add_left(const struct ur_kept *what, int fd)
{
	struct left *more = realloc(keep.left, (keep.n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	keep.left = more;
	keep.left[keep.n++] = (struct left){*what, fd};
	return 0;
}

static int take_in(const struct ur_keep_msg *msg, int fd)
{
	if (msg->op != UR_KEEP_HERE || fd < 0 || keep.n == UR_KEEP_MAX)
		return -EPROTO;
	return add_left(&msg->what, fd);
}

static int take_all(void)
{
	struct ur_keep_msg msg;
	int fd, err;

	for (;;) {
		err = receive_kept(&msg, &fd, FIRST_MS);
		if (err)
			return err;
		if (msg.op == UR_KEEP_DONE)
			return msg.ret;
		err = take_in(&msg, fd);
		if (!err)
			continue;
		if (fd >= 0)
			close(fd);
		return err;
	}
}

static void close_left(void)
{
	for (u32 i = 0; i < keep.n; i++)
		if (keep.left[i].fd >= 0)
			close(keep.left[i].fd);
	free(keep.left);
	keep.left = NULL;
	keep.n = 0;
}

int ur_keep_begin(int link)
{
	int err;

	ur_assert(keep.link < 0 && !keep.store && !keep.n && link >= 0);
	pthread_mutex_lock(&keep.lock);
	keep.link = link;
	err = take_all();
	if (err) {
		close_left();
		if (err == -EPROTO)
			send_msg(UR_KEEP_END, NULL, -1);
		close(link);
		keep.link = -1;
	}
	pthread_mutex_unlock(&keep.lock);
	return err;
}

void ur_keep_use(const struct ur_keep_store *store)
{
	ur_assert(keep.link < 0 && !keep.n);
	keep.store = store;
}

int ur_keep_left(const struct ur_kept *what, int fd)
{
	int err;

	ur_assert(keep.store && fd >= 0);
	err = add_left(what, fd);
	if (err)
		close(fd);
	return err;
}

bool ur_keep_stay(void)
{
	pthread_mutex_lock(&keep.lock);
	keep.stays = keep.store && keep.store->has_program(0);
	pthread_mutex_unlock(&keep.lock);
	return keep.stays;
}

bool ur_keep_stays(pid_t pid, uid_t uid)
{
	bool stays;

	pthread_mutex_lock(&keep.lock);
	stays = keep.stays &&
		keep.store->has_program(ur_kept_process(pid, uid));
	pthread_mutex_unlock(&keep.lock);
	return stays;
}

int ur_keep_put(const struct ur_kept *what, int fd)
{
	int err = 0;

	ur_assert(fd >= 0 && what->kind);
	pthread_mutex_lock(&keep.lock);
	if (has_keeper())
		err = put(what, fd);
	pthread_mutex_unlock(&keep.lock);
	return err;
}

int ur_keep_renumber(const struct ur_kept *what, int fd)
{
	int err = 0;

	ur_assert(fd >= 0 && what->kind);
	pthread_mutex_lock(&keep.lock);
	if (has_keeper() && keep.store)
		keep.store->renumber(what);
	else if (has_keeper())
		err = put(what, fd);
	pthread_mutex_unlock(&keep.lock);
	return err;
}

void ur_keep_drop(const struct ur_kept *what)
{
	pthread_mutex_lock(&keep.lock);
	if (has_keeper())
		drop(what);
	pthread_mutex_unlock(&keep.lock);
}

int ur_keep_take(struct ur_kept *what)
{
	int fd = -1;

	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && fd < 0; i++) {
		struct left *l = &keep.left[i];

		if (l->fd < 0 || !ur_kept_is_same(&l->what, what))
			continue;
		fd = l->fd;
		l->fd = -1;
		what->value = l->what.value;
	}
	pthread_mutex_unlock(&keep.lock);
	return fd;
}

bool ur_keep_next(u32 kind, u32 device, u32 *at, struct ur_kept *what)
{
	bool found = false;

	pthread_mutex_lock(&keep.lock);
	for (; *at < keep.n && !found; ++*at) {
		const struct left *l = &keep.left[*at];

		found = l->fd >= 0 && l->what.kind == kind &&
			l->what.device == device;
		if (found)
			*what = l->what;
	}
	pthread_mutex_unlock(&keep.lock);
	return found;
}

bool ur_keep_has_left_life(u64 process)
{
	bool found = false;

	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && !found; i++)
		found = keep.left[i].what.kind == UR_KEPT_LIFE &&
			keep.left[i].what.value == process;
	pthread_mutex_unlock(&keep.lock);
	return found;
}

void ur_keep_forget(void)
{
	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && has_keeper(); i++)
		if (keep.left[i].fd >= 0)
			drop(&keep.left[i].what);
	say_settled();
	close_left();
	pthread_mutex_unlock(&keep.lock);
}

/* The keeper closes its copies before its end of the link, so ports are free when that hangs up. */
void ur_keep_end(void)
{
	struct ur_keep_msg msg;
	int none;

	pthread_mutex_lock(&keep.lock);
	if (keep.link >= 0) {
		if (!send_msg(UR_KEEP_END, NULL, -1))
			receive_kept(&msg, &none, ANSWER_MS);
		close(keep.link);
		keep.link = -1;
	}
	if (keep.store && !keep.stays) {
		keep.store->end();
		keep.store = NULL;
	}
	close_left();
	pthread_mutex_unlock(&keep.lock);
}

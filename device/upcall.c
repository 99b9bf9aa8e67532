// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Upcalls to a client in the middle of its command, and the descriptors in its replies. The
 * client determines what happens when such a file is queried or closed (FUSE, SO_LINGER),
 * and that may block for ever. So the client's own thread does it, without the control
 * lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/quota.h"
#include "device/session.h"
#include "device/tunnel.h"
#include "util/assert.h"
#include "util/os/scm.h"

bool ur_session_note_closed(struct ur_session *s, u64 cookie)
{
	if (s->n_closed == UR_ARRAY_SIZE(s->closed))
		return false;
	s->closed[s->n_closed++] = cookie;
	return true;
}

void ur_session_give_back(struct ur_session *s)
{
	while (s->n_shown) {
		ur_assert(s->n_shown <= UR_ARRAY_SIZE(s->shown));
		close(s->shown[--s->n_shown]);
	}
}

/* Adds the first descriptor to s->shown and closes the rest. */
static int keep_fd(struct ur_session *s, int *fds)
{
	int fd = fds[0];

	if (fd >= 0 && s->n_shown < UR_ARRAY_SIZE(s->shown)) {
		s->shown[s->n_shown++] = fd;
		fds[0] = -1;
	} else if (fd >= 0) {
		fd = -EMFILE; /* no command needs so many */
	}
	ur_scm_close(fds, UROCE_TUN_MAX_FDS);
	return fd;
}

/* Receives the reply to an upcall. Returns its descriptor, -1 or -ENFILE; *err: the
 * connection is broken. */
static int hear(struct ur_session *s, struct uroce_tun_msg *msg, int *err)
{
	int fds[UROCE_TUN_MAX_FDS];

	for (*err = 0; !*err;) {
		*err = ur_daemon_recv(s->sock, msg, fds);
		if (*err)
			break;
		if (msg->op == UROCE_TUN_FD)
			return keep_fd(s, fds);
		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
		if (msg->op != UROCE_TUN_CLOSE_FD ||
		    !ur_session_note_closed(s, msg->closed.cookie))
			*err = -EPROTO;
	}
	shutdown(s->sock, SHUT_RDWR);
	return -1;
}

static int converse(struct ur_session *s, struct uroce_tun_msg *msg, int *err)
{
	*err = ur_daemon_send(s->sock, msg, NULL, 0);
	if (!*err)
		return hear(s, msg, err);
	shutdown(s->sock, SHUT_RDWR);
	return -1;
}

int ur_session_fget(struct ur_session *s, int number, struct ur_file_id *id)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FGET, .ret = number};
	int fd, err;

	if (number < 0)
		return -EBADF;
	if (ur_quota_take_fds(s->uid, 1))
		return -ENFILE;
	s->shown_fds++;
	ur_loop_unlock(s->daemon->loop);
	fd = converse(s, &msg, &err);
	if (fd >= 0 && id && ur_file_id(fd, id))
		fd = -EBADF;
	ur_loop_lock(s->daemon->loop);
	if (err)
		return -EPIPE;
	return fd == -1 ? -EBADF : fd;
}

int ur_session_ask_proof(struct ur_session *s, u32 right)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_PROVE, .kind = right};
	int fd, err;

	if (!(s->features & UROCE_TUN_F_PROVE))
		return -EPERM;
	ur_loop_unlock(s->daemon->loop);
	fd = converse(s, &msg, &err);
	ur_loop_lock(s->daemon->loop);
	if (err)
		return -EPIPE;
	return fd == -1 ? -EPERM : fd;
}

u64 ur_session_known(const struct ur_session *s, int number, u32 kind)
{
	for (u32 i = 0; i < UROCE_TUN_MAX_KNOWN && s->known[i].kind; i++)
		if (s->known[i].fd == number && s->known[i].kind == kind)
			return s->known[i].cookie;
	return 0;
}

/* ---- descriptors of ours ---- */

static void give_charge(struct ur_session *s)
{
	ur_assert(ur_loop_mine(s->daemon->loop));
	if (s->held_fds)
		ur_quota_give_fds(s->uid, s->held_fds);
	s->held_fds = 0;
}

/* One descriptor for a moment is part of each session's charge. */
static int take_charge(struct ur_session *s, const int *fds, u32 n)
{
	u32 all = 0;
	int err;

	ur_assert(ur_loop_mine(s->daemon->loop) && !s->held_fds);
	for (u32 i = 0; i < n; i++)
		all += fds[i] >= 0;
	all -= all > 0;
	err = all ? ur_quota_take_fds(s->uid, all) : 0;
	if (!err)
		s->held_fds = all;
	return err;
}

int ur_session_hold_fds(struct ur_session *s, const int *fds, u32 n, int *held)
{
	int err = take_charge(s, fds, n);

	for (u32 i = 0; i < n; i++) {
		held[i] = -1;
		if (err || fds[i] < 0)
			continue;
		held[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
		if (held[i] < 0)
			err = -errno;
	}
	if (!err)
		return 0;
	ur_scm_close(held, n); /* cannot block: they are copies */
	give_charge(s);
	return err;
}

void ur_session_let_go_fds(struct ur_session *s, int *held, u32 n)
{
	ur_scm_close(held, n);
	if (!s->held_fds)
		return;
	ur_loop_lock(s->daemon->loop);
	give_charge(s);
	ur_loop_unlock(s->daemon->loop);
}

/* Sends n descriptors and closes held. Returns the number of the first one in the client,
 * or -errno. Without the lock. */
static int install(struct ur_session *s, u32 kind, u64 cookie, int *held, u32 n)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_INSTALL,
				    .kind = kind,
				    .install.cookie = cookie};
	int err = ur_daemon_send(s->sock, &msg, held, n);

	ur_scm_close(held, n);
	if (err)
		shutdown(s->sock, SHUT_RDWR);
	else
		hear(s, &msg, &err);
	if (err)
		return -EPIPE;
	if (msg.ret > INT32_MAX || msg.ret < -4095)
		return -EIO;
	return (int)msg.ret;
}

int ur_session_install_all(struct ur_session *s, const int *fds, u32 n,
			   s32 *numbers)
{
	int held[UR_INSTALL_MAX], err;

	ur_assert(n <= UR_INSTALL_MAX);
	err = ur_session_hold_fds(s, fds, n, held);
	if (err)
		return err;
	ur_loop_unlock(s->daemon->loop);
	for (u32 i = 0; i < n && !err; i++) {
		numbers[i] = -1;
		if (held[i] < 0)
			continue;
		numbers[i] = install(s, UROCE_TUN_PLAIN, 0, &held[i], 1);
		if (numbers[i] < 0)
			err = numbers[i];
	}
	ur_scm_close(held, n);
	ur_loop_lock(s->daemon->loop);
	give_charge(s);
	return err;
}

int ur_session_install(struct ur_session *s, int fd)
{
	s32 number;
	int err = ur_session_install_all(s, &fd, 1, &number);

	return err ? err : number;
}

int ur_session_install_events(struct ur_session *s, u32 kind, u64 cookie,
			      const int fd[2])
{
	bool both = fd[1] >= 0 && (s->features & UROCE_TUN_F_SENDERS);
	u32 n = both ? 2 : 1;
	int held[2], ret = ur_session_hold_fds(s, fd, n, held);

	if (ret)
		return ret;
	ur_loop_unlock(s->daemon->loop);
	ret = install(s, kind, cookie, held, n);
	ur_loop_lock(s->daemon->loop);
	give_charge(s);
	return ret;
}

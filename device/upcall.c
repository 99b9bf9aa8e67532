// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Questions to a client in the middle of its command, and the descriptors that
 * it answers with. The client chooses what a descriptor's file does when
 * somebody asks about it or closes it (FUSE, SO_LINGER), and that may take for
 * ever: so the client's own thread does it, without the control lock.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/session.h"
#include "device/tunnel.h"
#include "util/assert.h"

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

/* The first of them is the session's now, the rest nobody's. */
static int keep_fd(struct ur_session *s, int *fds)
{
	int fd = fds[0];

	if (fd >= 0 && s->n_shown < UR_ARRAY_SIZE(s->shown)) {
		s->shown[s->n_shown++] = fd;
		fds[0] = -1;
	} else if (fd >= 0) {
		fd = -EMFILE; /* no command asks for so many */
	}
	ur_daemon_close_fds(fds);
	return fd;
}

/* One question to the client. Its answer's descriptor, or -1, -ENFILE; *err:
 * the conversation cannot go on. */
static int converse(struct ur_session *s, struct uroce_tun_msg *msg,
		    const int *given, u32 n, int *err)
{
	int fds[UROCE_TUN_MAX_FDS];

	*err = ur_daemon_send(s->sock, msg, given, n);
	while (!*err) {
		*err = ur_daemon_recv(s->sock, msg, fds);
		if (*err)
			break;
		if (msg->op == UROCE_TUN_FD)
			return keep_fd(s, fds);
		ur_daemon_close_fds(fds);
		if (msg->op != UROCE_TUN_CLOSE_FD ||
		    !ur_session_note_closed(s, msg->closed.cookie))
			*err = -EPROTO;
	}
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
	fd = converse(s, &msg, NULL, 0, &err);
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
	fd = converse(s, &msg, NULL, 0, &err);
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

static int install(struct ur_session *s, u32 kind, u64 cookie, const int *fds,
		   u32 n)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_INSTALL,
				    .kind = kind,
				    .install.cookie = cookie};
	int err;

	ur_loop_unlock(s->daemon->loop);
	converse(s, &msg, fds, n, &err);
	ur_loop_lock(s->daemon->loop);
	if (err)
		return -EPIPE;
	if (msg.ret > INT32_MAX || msg.ret < -4095)
		return -EIO;
	return (int)msg.ret;
}

int ur_session_install(struct ur_session *s, u32 kind, u64 cookie, int fd)
{
	return install(s, kind, cookie, &fd, 1);
}

int ur_session_install_events(struct ur_session *s, u32 kind, u64 cookie,
			      const int fd[2])
{
	bool both = fd[1] >= 0 && (s->features & UROCE_TUN_F_SENDERS);

	return install(s, kind, cookie, fd, both ? 2 : 1);
}

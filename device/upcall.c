/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Questions to a client in the middle of its command. */
#include <errno.h>
#include <sys/socket.h>
#include "device/session.h"
#include "device/tunnel.h"

bool ur_session_note_closed(struct ur_session *s, u64 cookie)
{
	if (s->n_closed == UR_ARRAY_SIZE(s->closed))
		return false;
	s->closed[s->n_closed++] = cookie;
	return true;
}

/* One question to the client. Lock held on entry and return, free between. */
static int ask(struct ur_session *s, struct uroce_tun_msg *msg, const int *fd,
	       int *answer_fds)
{
	int err;

	ur_loop_unlock(s->daemon->loop);
	err = ur_tunnel_send(s->sock, msg, fd, fd ? 1 : 0);
	while (!err) {
		err = ur_tunnel_recv(s->sock, msg, answer_fds);
		if (err || msg->op == UROCE_TUN_FD)
			break;
		ur_tunnel_close_fds(answer_fds);
		if (msg->op != UROCE_TUN_CLOSE_FD ||
		    !ur_session_note_closed(s, msg->cookie))
			err = -EPROTO;
	}
	ur_loop_lock(s->daemon->loop);
	if (err) /* the conversation cannot go on */
		shutdown(s->sock, SHUT_RDWR);
	return err;
}

int ur_session_fget(struct ur_session *s, int number)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FGET, .ret = number};
	int fds[UROCE_TUN_MAX_FDS], fd;

	if (number < 0)
		return -EBADF;
	if (ask(s, &msg, NULL, fds))
		return -EPIPE;
	fd = fds[0];
	fds[0] = -1;
	ur_tunnel_close_fds(fds);
	return fd < 0 && fd != -ENFILE ? -EBADF : fd;
}

int ur_session_install(struct ur_session *s, u32 kind, u64 cookie, int fd)
{
	struct uroce_tun_msg msg = {
		.op = UROCE_TUN_INSTALL, .kind = kind, .cookie = cookie};
	int fds[UROCE_TUN_MAX_FDS];

	if (ask(s, &msg, &fd, fds))
		return -EPIPE;
	ur_tunnel_close_fds(fds);
	if (msg.ret > INT32_MAX || msg.ret < -4095)
		return -EIO;
	return (int)msg.ret;
}
